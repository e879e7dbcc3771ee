#!/bin/sh
# Structures by value and random buffers on gfxsim's command line.
# Usage: arguments.sh GFXSIM FILE.hsaco: with the kernel by_value(a, unused, c, matrix)
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() { # STRUCTURE
  "$1" run "$2" --kernel by_value --grid 1 --block 64 --arg zeros:256 --arg zeros:4 --arg "out:$folder/c.npy:f32:64" --arg "$3"
}
# rows 1, columns 64, scale 2.5, flags[0] 7, offset 0.5, map[1] 3; a is 0.
run "$1" "$2" '{0=1;4=64;8=2.5;12/1=7;24/8=0.5;34/2=3}'
python3 - "$folder/c.npy" <<'PYTHON'
import struct, sys
c = struct.unpack("<64f", open(sys.argv[1], "rb").read()[-256:])
assert list(c) == [0.5 + (7 if i % 5 == 0 else 0) + (3 if i % 7 == 1 else 0) for i in range(64)], c
PYTHON
for wrong in '{0=1' '{x=1}' '{0/9=1}' '{46/4=1}' '{0/=1}' '{48=zeros:4}' '{0}'; do
  if run "$1" "$2" "$wrong" 2>"$folder/error"; then echo "arguments: $wrong must be refused"; exit 1; fi
  grep -q '^gfxsim: --arg' "$folder/error" || { echo "arguments: $wrong: no message"; exit 1; }
done

# ---- random: the bits of each type, through a kernel that copies 4 floats' worth of bytes ----
scalars='{0=1;4=4096;8=1.0}'
copy() { # TYPE:SHAPE FILE: at least 16 KiB
  "$1" run "$2" --kernel by_value --grid 64 --block 64 --arg "random:$3" --arg random:u8:4 --arg "out:$folder/$4.npy:f32:4096" --arg "$scalars" \
    --no-check all
}
copy "$1" "$2" f32:4096 first
copy "$1" "$2" f32:64x64 second
cmp "$folder/first.npy" "$folder/second.npy"
for type in bf16:8192 fp8:16384 bf8:128x128 fp4:32768 i32:4096 f64:2048; do copy "$1" "$2" $type "${type%:*}"; done
python3 - "$folder" <<'PYTHON'
import struct, sys
def read(name, form): return struct.unpack("<" + form, open(f"{sys.argv[1]}/{name}.npy", "rb").read()[-16384:])
def normal(name, values):
    mean = sum(values) / len(values); variance = sum(v * v for v in values) / len(values) - mean * mean
    assert abs(mean) < 0.08 and 0.85 < variance < 1.1 and max(map(abs, values)) <= 3.5, (name, mean, variance)
normal("f32", read("first", "4096f"))
normal("bf16", [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in read("bf16", "8192H")])
normal("bf8", [struct.unpack("<e", struct.pack("<H", v << 8))[0] for v in read("bf8", "16384B")])
e4m3 = lambda v: (-1) ** (v >> 7) * (8 + (v & 7)) / 8 * 2.0 ** ((v >> 3 & 15) - 7) if v & 0x7f else 0
normal("fp8", [e4m3(v) for v in read("fp8", "16384B")])
PYTHON
for wrong in random:64 random:f31:64 random:f32 random:f32:0 random:f32:64:1; do
  if "$1" run "$2" --kernel by_value --grid 1 --block 64 --arg "$wrong" --arg 0 --arg 0 --arg '{0=1}' 2>"$folder/error"; then echo "arguments: $wrong must be refused"; exit 1; fi
  grep -q '^gfxsim: --arg' "$folder/error" || { echo "arguments: $wrong: no message"; exit 1; }
done
