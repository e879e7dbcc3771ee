#!/bin/sh
# Result files of tandem-bench, tandem-run and the scripts: a full disk and a kill leave what was there, a link stays a link, pipes and
# /dev/stdout are written to. Usage: test_results.sh TANDEM-BENCH TANDEM-RUN SOURCE
set -eu
bench=$1 run=$2 source=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive TANDEM_DEVICE=host TANDEM_BACKEND=omp TMPDIR="$folder"
bad=0
wrong() {
  echo "results: $*"
  bad=1
}
leftovers() { find . -name '*.tandem-tmp' | wc -l; }

# LLVM's libomp writes a file of its own when it starts, and SIGXFSZ would end the program there: then the shell ignores the signal.
signal=
sh -c 'ulimit -f 0; "$1" add 8x8 --repeats 1 --hot --check-time 0.01' sh "$bench" >/dev/null 2>&1 || signal="trap '' XFSZ;"

# full FILE WORDS COMMAND...: no byte can be written to a file; standard output is not a file.
full() {
  file=$1 words=$2
  shift 2
  echo before >"$file"
  # shellcheck disable=SC2016 # the inner shell's $@
  said=$(sh -c "$signal"'ulimit -f 0; "$@"' sh "$@" 2>&1 </dev/null) && status=0 || status=$?
  [ "$status" -eq 1 ] || wrong "$*: exit status $status on a full disk: $said"
  case $said in *"$words"*) ;; *) wrong "$*: said no '$words': $said" ;; esac
  [ "$(cat "$file")" = before ] || wrong "$*: $file was changed"
  [ "$(leftovers)" -eq 0 ] || wrong "$*: left $(find . -name '*tandem-*')"
}
set -- "$bench" add 8x8 --repeats 1 --hot --check-time 0.01
for option in json csv markdown; do full out.$option "'out.$option': can't be written: File too large" "$@" --$option out.$option; done
full out.svg "--plot = 'out.svg': " "$@" --plot out.svg
"$@" --plot out.svg >/dev/null
grep -q '</svg>' out.svg || wrong "--plot drew nothing"
full my.tuned "'my.tuned': can't be written: File too large" "$bench" tune add 8x8 --device host --min-time 0.001 --check-time 0.01 --out my.tuned

# A link stays, its target keeps its permissions; standard output and pipes get the text.
echo before >real.json
chmod 640 real.json
ln -s real.json link.json
"$@" --json link.json >/dev/null
if ! [ -L link.json ] || [ "$(stat -c %a real.json)" != 640 ] || ! grep -q '"rows"' real.json; then wrong "--json through a link"; fi
"$@" --csv /dev/stdout | grep -q '^case,device' || wrong "--csv /dev/stdout in a pipe"
"$@" --csv /dev/stdout >both
if ! grep -q '^case,device' both || ! grep -q '1 measured' both; then wrong "--csv /dev/stdout in a file"; fi
"$@" --json /dev/null >/dev/null || wrong "--json /dev/null"
mkfifo pipe
grep -c '"rows"' pipe >found &
reader=$!
"$@" --json pipe >/dev/null || wrong "--json to a pipe"
wait $reader || wrong "the pipe got no JSON"

# Killed at any moment: the old array or the new one, never a part. Twice, so that both are of the same size: 1 MiB.
python3 - <<'END'
import struct
for name, value in (("a", 1.0), ("b", 2.0)):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (512, 512), }".ljust(117) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<f", value) * 512 * 512)
END
"$run" add --a a.npy --b a.npy --out one.npy >/dev/null
"$run" add --a b.npy --b b.npy --out two.npy >/dev/null
cp one.npy sum.npy
kills=0 left=0
for pause in 0.005 0.010 0.015 0.020 0.025 0.030 0.035 0.040 0.050 0.060 0.008 0.012 0.018 0.022; do
  for input in a b; do
    "$run" add --a $input.npy --b $input.npy --out sum.npy >/dev/null 2>&1 &
    writer=$!
    sleep $pause
    if kill -9 $writer 2>/dev/null; then kills=$((kills + 1)); fi
    wait $writer 2>/dev/null || :
    cmp -s sum.npy one.npy || cmp -s sum.npy two.npy || wrong "kill after $pause s: sum.npy is neither array"
  done
done
left=$(leftovers)
[ "$left" -le $kills ] || wrong "$left files left by $kills kills"
rm -f ./*.tandem-tmp

# The scripts' own.
echo before >text
echo after | sh "$source/bench/record/replace.sh" text
[ "$(cat text)" = after ] || wrong "replace.sh"
chmod 604 text
head -c 100000 /dev/zero >large
(
  trap '' XFSZ # an error of cat, not its end
  ulimit -f 0
  sh "$source/bench/record/replace.sh" text <large 2>/dev/null
) && wrong "replace.sh: a full disk went unnoticed"
if [ "$(cat text)" != after ] || [ "$(stat -c %a text)" != 604 ]; then wrong "replace.sh: text was changed"; fi
mkdir -p tree/bench/record
cp "$source/bench/record/put_part.sh" "$source/bench/record/replace.sh" tree/bench/record
echo one | sh tree/bench/record/put_part.sh name host.sh
cp tree/bench/results/name.md kept
mv tree/bench/results/name.md tree/bench/results/page.md # a part is found in whatever page it is
echo two | sh tree/bench/record/put_part.sh name host.sh
sed s/one/two/ kept | cmp - tree/bench/results/page.md || wrong "put_part.sh"
cp kept tree/bench/results/page.md
cp kept tree/bench/results/other.md
echo two | sh tree/bench/record/put_part.sh name host.sh 2>/dev/null && wrong "put_part.sh: a part in two pages"
rm tree/bench/results/other.md
sed '/: end/d' kept >tree/bench/results/page.md
echo two | sh tree/bench/record/put_part.sh name host.sh 2>/dev/null && wrong "put_part.sh: a part without an end"
grep -q one tree/bench/results/page.md || wrong "put_part.sh: a part without an end was changed"
PYTHONPATH=$source/bench/record python3 - <<'END' || wrong "replace.py"
import os, resource, signal
from replace import replacing
open("text", "w").write("before")
os.chmod("text", 0o604)
try:
    with replacing("text") as file:
        file.write("half")
        raise RuntimeError
except RuntimeError:
    pass
assert open("text").read() == "before"
with replacing("text") as file:
    file.write("whole")
assert open("text").read() == "whole" and os.stat("text").st_mode & 0o777 == 0o604
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    with replacing("text") as file:
        file.write("x" * 100000)
    raise SystemExit("a full disk went unnoticed")
except OSError:
    pass
assert open("text").read() == "whole"
END
[ "$(leftovers)" -eq 0 ] || wrong "left $(find . -name '*tandem-*')"
sh "$source/tools/stale-notes.sh" # of those above that could write no byte, where LLVM's libomp was theirs
echo "results: $kills kills, $left temporary files left by them"
exit $bad
