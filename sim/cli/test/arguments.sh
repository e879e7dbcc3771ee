#!/bin/sh
# Structures by value on gfxsim's command line.
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
