#!/bin/sh
# What gfxsim's command takes and says: arguments by name and offset, numbers and types, messages.
# Usage: command.sh GFXSIM ASSEMBLY.hsaco MEMORY.hsaco LDS_BOUNDS.hsaco OUT_OF_BOUNDS.hsaco WAIT_LOAD.hsaco; the first has axpy and
# reverse with arguments a, b, c, n, the second by_value, the others are planted faults
set -e
gfxsim=$1 assembly=$2 memory=$3 lds=$4 bounds=$5 wait=$6
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong() {
  echo "command: $*"
  cat "$folder/error" "$folder/text" 2>/dev/null
  exit 1
}
# refused STATUS TEXT ARGUMENT...: the command fails with this status, and says TEXT on stderr.
refused() {
  status=$1 text=$2
  shift 2
  code=0
  "$gfxsim" "$@" >"$folder/text" 2>"$folder/error" || code=$?
  [ "$code" = "$status" ] || wrong "exit status $code instead of $status: $*"
  grep -q -- "$text" "$folder/error" || wrong "no '$text': $*"
}

# ---- Help ----
for help in --help -h help; do
  "$gfxsim" $help >"$folder/text"
  for command in info run profile time exec; do grep -q "gfxsim $command" "$folder/text" || wrong "$help names no $command"; done
done
for command in info run profile time exec; do
  "$gfxsim" $command --help >"$folder/text" 2>"$folder/error" || wrong "$command --help: exit status $?"
  grep -q "^Usage: gfxsim $command" "$folder/text" || wrong "$command --help: no usage"
  [ ! -s "$folder/error" ] || wrong "$command --help prints to stderr"
done
refused 2 'usage: gfxsim COMMAND'
refused 2 'must be info, run, profile, time or exec' runn

# ---- Arguments in order, by name, by offset, and both ----
python3 - "$folder" <<'PYTHON'
import struct, sys
def save(name, descr, form, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(values))
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open("%s/%s.npy" % (sys.argv[1], name), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), form), *values))
save("a", "<f4", "f", [float(i) for i in range(64)])
save("b", "<f4", "f", [0.5] * 64)
for name, descr, form in (("i1", "|i1", "b"), ("u1", "|u1", "B"), ("i2", "<i2", "h"), ("u2", "<u2", "H"), ("i4", "<i4", "i"),
                          ("u4", "<u4", "I"), ("i8", "<i8", "q"), ("u8", "<u8", "Q"), ("b1", "|b1", "B"), ("fp8", "|V1", "B")):
    save(name, descr, form, [i % 2 for i in range(512)])
PYTHON
check() { # the values of c: 3 a + 0.5
  python3 - "$folder/c.npy" "$1" <<'PYTHON'
import struct, sys
c = struct.unpack("<64f", open(sys.argv[1], "rb").read()[-256:])
assert list(c) == [3 * i + 0.5 if i < int(sys.argv[2]) else 0 for i in range(64)], c
PYTHON
  rm "$folder/c.npy"
}
axpy() { "$gfxsim" run "$assembly" --kernel axpy --grid 1 --block 64 "$@"; }
a=in:$folder/a.npy b=in:$folder/b.npy c=out:$folder/c.npy:f32:64
axpy --arg $a --arg $b --arg $c --arg 64 && check 64
axpy --arg n=40 --arg c=$c --arg b=$b --arg a=$a && check 40
axpy --arg 24=64 --arg 0x10=$c --arg 8=$b --arg 0=$a && check 64
axpy --arg $a --arg $b --arg n=9 --arg c=$c && check 9
axpy --arg $a --arg $b --arg $c --arg 24/1=64 && check 64
axpy --arg c=$c --arg a=$a --arg b=$b && check 0 # n is not named: 0
refused 2 'no argument of this name' run "$assembly" --kernel axpy --grid 1 --block 64 --arg m=1
refused 2 'were given by --arg' run "$assembly" --kernel axpy --grid 1 --block 64 --arg n=1 --arg 24=2
refused 2 'were given by --arg' run "$assembly" --kernel axpy --grid 1 --block 64 --arg zeros:4 --arg a=zeros:4
refused 2 'has 28 bytes of arguments' run "$assembly" --kernel axpy --grid 1 --block 64 --arg 28=1
refused 2 'OFFSET/BYTES=VALUE' run "$assembly" --kernel axpy --grid 1 --block 64 --arg 24/9=1
refused 2 'takes 4' run "$assembly" --kernel axpy --grid 1 --block 64 --arg zeros:4

# ---- Numbers: scale of by_value is at 8, its result 0.25 scale + 0 ----
scale() { # VALUE EXPECTED
  "$gfxsim" run "$memory" --kernel by_value --grid 1 --block 64 --arg zeros:256 --arg zeros:4 --arg "out:$folder/c.npy:f32:64" \
    --arg "{0=1;4=64;24/8=$1}"
  got=$(tail -c 256 "$folder/c.npy" | od -An -tf4 -j8 -N4 | tr -d ' ')
  [ "$got" = "$2" ] || wrong "$1 became $got, must be $2"
}
scale 1.5 1.5
scale 1e-5 1e-05
scale 25E-2 0.25
scale 0x1p-3 0.125
scale -0x1.8p1 -3
scale inf inf
scale -inf -inf
refused 2 'must be a number' run "$assembly" --kernel axpy --grid 1 --block 64 --arg n=1e-5x
refused 2 'must be a number of 4 bytes' run "$assembly" --kernel axpy --grid 1 --block 64 --arg n=0x1e10ffff1

# ---- Files of every type: what is read is what is saved ----
for type in i1:i8 u1:u8 i2:i16 u2:u16 i4:i32 u4:u32 i8:i64 u8:u64 b1:bool fp8:u8; do
  axpy --arg "inout:$folder/${type%:*}.npy:$folder/saved.npy" --arg $b --arg zeros:256 --arg 0
  sed 's/|V1/|u1/' "$folder/${type%:*}.npy" | cmp - "$folder/saved.npy" || wrong "$type is not saved as it was read"
done
for type in i8 i16 i32 i64 u8 u16 u32 u64 bool f16 f32 f64 bf16 fp8 bf8 fp4; do
  axpy --arg $a --arg $b --arg "out:$folder/c.npy:$type:4x128" --arg 0
done
[ "$(tail -c 256 "$folder/c.npy" | wc -c)" = 256 ] && grep -q "'descr': '|u1'.*'shape': (4, 64)" "$folder/c.npy" || wrong 'fp4 is no two in a byte'
refused 2 'must be even' run "$assembly" --kernel axpy --grid 1 --block 64 --arg zeros:4 --arg zeros:4 --arg "out:$folder/c.npy:fp4:3" --arg 0
refused 2 'types f16 f32 f64 i8' run "$assembly" --kernel axpy --grid 1 --block 64 --arg zeros:4 --arg zeros:4 --arg "out:$folder/c.npy:f31:3" --arg 0

# ---- Kernels ----
refused 2 '^  reverse$' run "$assembly" --kernel reverso --grid 1 --block 64
grep -q '^  axpy$' "$folder/error" && grep -q 'has 2 kernels, but not this one' "$folder/error" || wrong 'the kernels are not listed'
refused 2 '^  axpy$' run "$assembly" --grid 1 --block 64
cp "$assembly" "$folder/none.hsaco"
python3 - "$folder/none.hsaco" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"amdhsa.kernels")
data[at:at + 14] = b"amdhsa.kernelz"
open(sys.argv[1], "wb").write(data)
PYTHON
refused 1 "none.hsaco: " run "$folder/none.hsaco" --grid 1 --block 64
refused 1 "none.hsaco: " info "$folder/none.hsaco"

# ---- Findings ----
fault() { # HSACO: as faults.c launches it
  "$gfxsim" run "$1" --grid 2 --block 128 --threads 1 --arg "$2" --arg "$3" --arg zeros:16384 --arg 64 2>"$folder/error" && wrong 'no finding'
  true
}
fault "$lds" zeros:16384 "out:$folder/lost.npy:i32:4096"
grep -q -- '--lds BYTES adds dynamic LDS' "$folder/error" || wrong 'no word of --lds'
grep -q 'outputs not saved: 1; the launch did not end' "$folder/error" || wrong 'no word of outputs that are not saved'
[ ! -e "$folder/lost.npy" ] || wrong 'saved after a fault'
"$gfxsim" run "$lds" --grid 2 --block 128 --arg zeros:16384 --arg "out:$folder/kept.npy:i32:4096" --arg zeros:16384 --arg 64 \
  --save-partial 2>"$folder/error" && wrong 'no finding'
[ -e "$folder/kept.npy" ] || wrong '--save-partial saved nothing'
fault "$wait" zeros:16384 "out:$folder/wait.npy:i32:4096"
[ -e "$folder/wait.npy" ] && grep -q 'outputs saved: 1; the findings above' "$folder/error" || wrong 'a finding that goes on'
fault "$bounds" 0 zeros:16384
grep -q 'address 0x' "$folder/error" || wrong 'no address'
refused 1 'address 0x0' run "$assembly" --kernel reverse --grid 1 --block 64 --arg n=64 --arg c=zeros:256

# ---- The order of waves ----
axpy --arg $a --arg $b --arg $c --arg 64 --turn 1 --seed 12345678901 && check 64
"$gfxsim" profile "$assembly" --kernel axpy --grid 4 --block 64 --arg n=0 --seed 3 --turn 2 >"$folder/text"
refused 2 'must not be negative' run "$assembly" --kernel axpy --grid 1 --block 64 --turn -1
refused 2 'must be barrier' run "$assembly" --kernel axpy --grid 1 --block 64 --check race

# ---- Bad usage is told from findings, and names the option with its value ----
bad() { # TEXT COMMAND OPTION...
  text=$1 command=$2
  shift 2
  refused 2 "^gfxsim: $text" "$command" "$assembly" --kernel axpy --block 64 --arg n=0 "$@"
}
bad '--grid -1: must be one to three numbers' run --grid -1
bad '--grid 1,: must be one to three numbers' run --grid 1,
bad '--grid 1,2,3,4: must be one to three numbers' run --grid 1,2,3,4
bad 'time: grid = 0,1,1, .*must be 1 or more' time --grid 0
bad 'run: workgroups = .5-3.: must be' run --grid 1 --workgroups 5-3
bad 'profile: --reports -1: must not be negative' profile --grid 1 --reports -1
bad 'run: --lds -1: must not be negative' run --grid 1 --lds -1
bad 'run: --threads -5: must not be negative' run --grid 1 --threads -5
bad 'run: threads = 2000: must be' run --grid 1 --threads 2000
bad 'run: stack_bytes = 2000000000: must be' run --grid 1 --stack 2000000000
bad 'chip = .gfx000.: must be' run --grid 1 --chip gfx000
bad 'chip: xcds=2: xcds must be given once' run --grid 1 --chip gfx950,xcds=1,xcds=2
bad '.*is for gfx950: the device is gfx942' run --grid 1 --chip gfx942
# A device with little LDS loads the code object, runs the kernel that fits, and refuses the other one.
"$gfxsim" run "$assembly" --kernel axpy --grid 1 --block 64 --chip gfx950,lds_bytes=64 --arg n=0 >"$folder/text" 2>"$folder/error" ||
  wrong 'a kernel without LDS does not run'
refused 2 "^gfxsim: run: dynamic_lds = 0: with the kernel's 256 bytes above the 64 of gfx950" \
  run "$assembly" --kernel reverse --grid 1 --block 64 --chip gfx950,lds_bytes=64 --arg n=0
bad '--lds 99999999999: number too large' run --grid 1 --lds 99999999999
bad '--lds=99999999999: number too large' run --grid 1 --lds=99999999999
bad '--lds=abc: invalid' run --grid 1 --lds=abc
bad '--rounds 99999999999: number too large' time --grid 1 --rounds 99999999999
bad '--arg abc: must be' run --grid 1 --arg a=abc
bad 'time: model: .x=.: must be' time --grid 1 --model x=
bad 'time: trace_cus = .5-1.: must be' time --grid 1 --trace "$folder/trace" --trace-cus 5-1
bad 'time: --timeline-clocks abc: must be' time --grid 1 --timeline "$folder/t.svg" --timeline-clocks abc
bad 'time: --trace /nowhere/x: can.t be written' time --grid 1 --trace /nowhere/x
refused 2 '--block 0,x: must be one to three' run "$assembly" --kernel axpy --grid 1 --block 0,x
refused 2 'must be 1 or more' run "$assembly" --kernel axpy --grid 1 --block 0 --arg n=0
refused 2 '^gfxsim: time: FILE = /nowhere: ' time /nowhere --grid 1 --block 1
refused 1 'ELF' run "$0" --grid 1 --block 1 --chip gfx950

# ---- Samples ----
"$gfxsim" profile "$assembly" --kernel axpy --grid 64 --block 64 --arg n=0 --workgroups 8 >"$folder/text"
grep -q 'error of the sample (95 %.*instructions 0 %' "$folder/text" || wrong 'a sample says no error'
"$gfxsim" profile "$assembly" --kernel axpy --grid 64 --block 64 --arg n=0 --workgroups 0-7 >"$folder/text"
grep -q 'not known: the workgroups were named' "$folder/text" || wrong 'a named sample says no error'
