#!/bin/sh
# Every program × mode with a standard output that can't be written (/dev/full): exit status 1, and a line on standard error that says so.
# A program of the build that is neither listed here nor a test's own fails. Usage: test_output.sh BUILD SOURCE
set -eu
build=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ -c /dev/full ] || {
  echo "output: there is no /dev/full here"
  exit 77
}
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive TANDEM_DEVICE=host TANDEM_BACKEND=omp
ran=0 bad=0 known=

# full PROGRAM ARGUMENTS...: what it prints is lost. Programs that this build leaves out are not run.
full() {
  program=$1
  shift
  known="$known $program "
  [ -x "$build/$program" ] || return 0
  "$build/$program" "$@" </dev/null >/dev/full 2>"$folder/said" && status=0 || status=$?
  ran=$((ran + 1))
  if [ "$status" -ne 1 ] || ! grep -q "standard output: can't be written: " "$folder/said"; then
    echo "output: $program $*: exit status $status, and said: $(cat "$folder/said")"
    bad=1
  fi
}

full test/tandem-check --help
full test/tandem-check --usage
full test/tandem-check add 3x5
full test/tandem-check add --device host --list
full test/amx/tandem-check-amx --help
full bench/tandem-bench --help
full bench/tandem-bench add 8x8 --repeats 1 --hot --check-time 0.01
full bench/tandem-bench add 8x8 --repeats 1 --hot --check-time 0.01 --list --json "$folder/bench.json"
[ -s "$folder/bench.json" ] || { echo "output: --json is not written when standard output fails" && bad=1; }
for command in order tune ladder; do full bench/tandem-bench $command --help; done
full bench/tandem-bench order 512x512x512
full bench/tandem-bench tune add 8x8 --device host --min-time 0.001 --check-time 0.01
full bench/tandem-bench add 8x8 --repeats 1 --hot --check-time 0.01 --csv /dev/stdout
full bench/tandem-cuts --help
full bench/tandem-estimates --help
full run/tandem-run --help
full run/tandem-run add --help
python3 - "$folder/a.npy" <<'END'
import struct, sys
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
head += " " * (64 - 11 - len(head) % 64) + "\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<4f", 1, 2, 3, 4))
END
full run/tandem-run add --a "$folder/a.npy" --b "$folder/a.npy" --out "$folder/sum.npy"
[ -s "$folder/sum.npy" ] || { echo "output: --out is not written when standard output fails" && bad=1; }
full learn/tandem-learn --help
full learn/tandem-learn list
full learn/tandem-learn show omp-axpy
full learn/tandem-learn show omp-axpy --start "$folder/my.c"
full learn/tandem-learn try omp-axpy "$source/learn/exercises/omp-axpy/start.c"
printf '2026-01-01T00:00Z\tgemm\tA\tsim:gfx950\t1\t1\tMFMA\t1\t1\t1\n' >"$folder/scores"
full learn/tandem-learn scores "$folder/scores"
full docs/tandem-draw --help
full docs/tandem-draw chip
full docs/tandem-draw roofline "$source/docs/pictures/roofline-add.json"
for command in info run profile; do full sim/gfxsim $command --help; done
object=$(find "$build" -name '*.hsaco' | head -n 1)
[ -z "$object" ] || full sim/gfxsim info "$object"
full examples/tiny-llama/tiny-llama --help
tiny="examples/tiny-llama/tiny-llama --device host --preset tiny --input 1x4 --repeats 1"
# shellcheck disable=SC2086 # words
{
  full $tiny
  full $tiny --profile
  full $tiny --compare
  full $tiny --generate 2
  echo 1 2 3 4 5 >"$folder/ids"
  full $tiny --loss "$folder/ids"
}
known="$known test/hip/hip-launch "
unset TANDEM_DEVICE TANDEM_BACKEND
for chip in gfx950 gfx942; do # the first that this build has kernels for
  if [ -x "$build/test/hip/hip-launch" ] && "$build/test/hip/hip-launch" sim:$chip >/dev/null 2>&1; then
    full test/hip/hip-launch sim:$chip
    break
  fi
done
# Started only by tandem-learn, which reads what it writes.
known="$known learn/tandem-learn-run "
# Prints nothing on standard output: its picture is a file.
known="$known bench/ranks-picture "
# Times of minutes: its output goes through the same handler.
known="$known sim/test/gfxsim-bench "

# Every program of the build is one of these or a test's own.
for program in $(ninja -C "$build" -t targets all | sed -n 's/: c_LINKER.*//p' | grep -v '[.]so' | sort); do
  case "$known" in *" $program "*) continue ;; esac
  case $program in
    *-test | *-planted | test/api/* | test/hopper/* | test/hip/hip-* | test/hip/headers-ours | sim/test/* | sim/*/test/* | fuzz/*) ;;
    *) echo "output: $program is not listed in test/test_output.sh: run its modes there" && bad=1 ;;
  esac
done
[ $ran -gt 0 ] || bad=1
echo "output: $ran runs"
exit $bad
