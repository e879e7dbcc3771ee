#!/bin/sh
# test_command.sh TANDEM-LEARN README HIP FOLDER LIBRARY: the command line as a user meets it: what it refuses, files that it writes, a
# missing compiler, a wrong one, and a GPU: HIP is yes where this build has gfxsim, whose LIBRARY then stands in for ROCm's.
set -u
learn=$1 readme=$2 hip=$3 folder=$4 library=$5
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
bad=0

# says STATUS PHRASE COMMAND...
says() {
  status=$1 phrase=$2
  shift 2
  "$@" >out 2>&1
  got=$?
  if [ $got -ne "$status" ] || ! grep -qF -- "$phrase" out; then
    echo "$*: exit $got, must be $status with '$phrase'; it said:"
    cat out
    bad=1
  fi
}

says 2 'COMMAND: must be one of' "$learn"
says 2 "COMMAND = 'tri': must be one of" "$learn" tri axpy
says 2 "PAGE = '99': must be the number of a page" "$learn" ask 99
says 2 'one PAGE must be given' "$learn" ask
says 1 'no number was given' "$learn" ask 4 --seed 3 </dev/null
says 2 "NAME = 'axpi': no such exercise" "$learn" show axpi
says 2 'show: NAME: must be given' "$learn" show
says 2 'try omp-axpy: FILE: must be given' "$learn" try omp-axpy
says 2 "'x': list takes no argument" "$learn" list x
says 2 "'b': scores takes one FILE" "$learn" scores a b
says 2 "'b': try takes no more arguments" "$learn" try omp-axpy a.c b
says 2 "FILE = 'none.c': can't be opened" "$learn" try omp-axpy none.c
mkfifo pipe.c
says 2 "FILE = 'pipe.c': is a pipe: must be a regular file" "$learn" try omp-axpy pipe.c
says 1 'pipe.c: is a pipe: must be a regular file' "$learn" scores pipe.c
says 2 '--hint: unknown option' "$learn" list --hint 3
says 2 "--hints = '-1': must be a whole number from 1 to 99" "$learn" show axpy --hints -1
says 2 "--hints = '2000000000': must be a whole number from 1 to 99" "$learn" show axpy --hints 2000000000
for seconds in inf nan -1 x; do
  says 2 "--seconds = '$seconds': must be 0.001 to 3600 seconds" "$learn" try omp-axpy "$folder/omp-axpy/start.c" --seconds $seconds
done
says 0 'hint 2 of 3' "$learn" show omp-axpy --hints 9
says 0 'my.c: the start of omp-axpy' "$learn" show omp-axpy --start my.c
cmp my.c "$folder/omp-axpy/start.c" || bad=1
echo mine >my.c
says 1 "--start = 'my.c': exists already" "$learn" show omp-axpy --start my.c
[ "$(cat my.c)" = mine ] || bad=1
says 1 "--start = 'none/my.c'" "$learn" show omp-axpy --start none/my.c
says 1 'verdict: does not compile' "$learn" try omp-axpy my.c
says 2 "must end in .hip" "$learn" try axpy my.c
says 2 "--device = 'sim:gfx950': must be host or omp:N" "$learn" try omp-axpy my.c --device sim:gfx950
says 2 "--device = 'omp:x': must be host or omp:N" "$learn" try omp-axpy my.c --device omp:x
says 77 "--device = 'omp:0': " "$learn" try omp-axpy "$folder/omp-axpy/solution.c" --device omp:0
says 2 'has no scoreboard' "$learn" try omp-axpy my.c --score me
says 77 "--compiler = 'nobody-cc': no such program" "$learn" try omp-axpy my.c --compiler nobody-cc
says 1 'false says:' "$learn" try omp-axpy my.c --compiler false
says 77 'made no object' "$learn" try omp-axpy my.c --compiler true
says 77 "this folder can't be made" env TMPDIR=/nowhere "$learn" try omp-axpy my.c
# Inputs are new for each try, unless a seed is given. The sandbox is described, and its layers can be left out.
says 2 "--seed = 'x': must be" "$learn" try omp-axpy my.c --seed x
says 2 "--without = 'files': must be of landlock, namespaces, seccomp" "$learn" try omp-axpy "$folder/omp-axpy/start.c" --without files
solution=$folder/omp-axpy/solution.c
says 0 'sandbox: ' "$learn" try omp-axpy "$solution"
sed -n 's/.*seed //p' out >seeds
says 0 'missing: Landlock (left out by --without)' "$learn" try omp-axpy "$solution" --without landlock
sed -n 's/.*seed //p' out >>seeds
[ "$(sort -u seeds | wc -l)" = 2 ] || { echo "two tries had the inputs of seed: $(cat seeds)"; bad=1; }
says 0 'inputs of seed 5' "$learn" try omp-axpy "$solution" --seed 5 --without landlock,namespaces,seccomp
# LLVM's OpenMP library leaves a file in /dev/shm, named by process and user, when a program is ended. A later program, of which it is
# process 2 again, must not meet it.
left=/dev/shm/__KMP_REGISTERED_LIB_2_$(id -u) made=
if [ -w /dev/shm ] && [ ! -e "$left" ] && ! grep -q 'missing: a /dev/shm of its own' out; then
  echo '0x10000-cafe0001-libomp.so.5' >"$left"
  made=$left
  trap 'rm -rf "$work"; rm -f "$made"' EXIT
fi
# Folders that other users can't enter: root's child then stays root, unless Landlock says what it may read in spite of that.
mkdir -m 700 private
cp "$learn" "$learn-run" private
mkdir private/tmp
says 0 'verdict: right' private/tandem-learn try omp-axpy "$solution" --without landlock
says 0 'verdict: right' env TMPDIR="$work/private/tmp" "$learn" try omp-axpy "$solution" --without landlock
[ "$(id -u)" != 0 ] || grep -q "missing: a separate user (/.*: Permission denied)" out || {
  echo "a private TMPDIR: it said: $(cat out)"
  bad=1
}
[ -z "$(ls private/tmp)" ] || bad=1
head -c 5000000 /dev/zero >long.c
says 1 'the file has more than 4 MiB' "$learn" try omp-axpy long.c
# Names are no options, and nothing passes through a shell.
cp -- "$folder/omp-axpy/solution.c" "-o a;b \$(touch c) '\".c"
says 0 'verdict: right' "$learn" try omp-axpy -- "-o a;b \$(touch c) '\".c"
[ ! -e c ] || bad=1
cp -- "$folder/omp-axpy/solution.c" @options.c
says 0 'verdict: right' "$learn" try omp-axpy @options.c
# Archer accuses right reductions of tasks: then races are not looked for, and the verdict says so.
cat >tasks.c <<'CODE'
void dot(float *out, const float *x, const float *y, int n) {
  float sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int c = 0; c < 4; c++) {
#pragma omp task firstprivate(c) in_reduction(+ : sum)
    for (int i = c; i < n; i += 4) sum += x[i] * y[i];
  }
  *out = sum;
}
CODE
says 0 'verdict: right, but races were not looked for' "$learn" try omp-dot tasks.c
# Behind the last hint there are no more.
says 1 'more hints: --hints 3' "$learn" try omp-axpy "$folder/omp-axpy/start.c" --hints 2
says 1 'hint 3 of 3' "$learn" try omp-axpy "$folder/omp-axpy/start.c" --hints 3
grep -q 'more hints' out && bad=1

# An interrupt ends what runs, and leaves nothing behind.
mkdir tmp
cat >endless.c <<'EOF'
void axpy(float *out, const float *x, const float *y, int n) {
  for (volatile int i = 0; i < n; i = 0) out[i] = x[i] + y[i];
}
EOF
TMPDIR=$work/tmp "$learn" try omp-axpy endless.c --seconds 100 >out 2>&1 &
for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do # until the compiler's folder shows that it catches signals
  [ -z "$(ls tmp)" ] || break
  sleep 0.1
done
[ "$turn" = 20 ] || sleep 0.5
kill -TERM $!
wait $!
got=$?
if [ $got -ne 77 ] || ! grep -q interrupted out || [ -n "$(ls tmp)" ]; then
  echo "an interrupt: exit $got, left '$(ls tmp)', said: $(cat out)"
  bad=1
fi

# The README names every exercise with its line.
"$learn" list >exercises
while read -r name language title; do
  grep -qF "| \`$name\` | $title |" "$readme" || {
    echo "README.md: must have a row '$name' ($language) with '$title'"
    bad=1
  }
done <exercises

if [ "$hip" = yes ]; then
  solution=$folder/gemm/solution.hip
  says 2 "--device = 'host': must be sim:gfx950" "$learn" try gemm "$solution" --device host
  says 2 "must be 1 to 40 printable" "$learn" try gemm "$solution" --score ''
  says 2 "must be 1 to 40 printable" "$learn" try gemm "$solution" --score ' '
  says 2 'not with --seed or --without' "$learn" try gemm "$solution" --score me --seed 5
  says 0 'tandem-learn-scores.tsv: a line for me' "$learn" try gemm "$solution" --score me
  says 1 'scores.tsv: a line for you' "$learn" try gemm "$folder/gemm/start.hip" --score you --scores scores.tsv
  cat tandem-learn-scores.tsv >>scores.tsv
  says 0 'clocks' "$learn" scores scores.tsv
  [ "$(sed -n 2p out | sed 's/.* //')" = me ] || bad=1 # the fewest predicted clocks are first
  says 1 "'/dev/full': can't be written: No space left" "$learn" try gemm "$solution" --score me --scores /dev/full
  echo 'no line of ours' >>scores.tsv
  says 1 'scores.tsv: line 3: is not a line' "$learn" scores scores.tsv
  # What gfxsim time predicts of the user's kernel.
  says 0 'row_sum on gfx950' "$learn" try row-sum "$folder/row-sum/solution.hip" --trace trace.svg
  grep -q 'clocks of waves, by source line' out && grep -q 'solution.hip:[0-9]*: .*vmcnt' out && grep -q 'matrix unit' trace.svg || {
    echo "--trace: must name lines and waits, and draw the waves; it said: $(cat out)"
    bad=1
  }
  says 1 "--trace = '/dev/full': can't be written: No space left" "$learn" try row-sum "$folder/row-sum/solution.hip" --trace /dev/full
  says 2 'only simulated chips have one, not hip:0' "$learn" try row-sum "$folder/row-sum/solution.hip" --trace trace.svg --device hip:0
  # Without ROCm; then with gfxsim's library in its place.
  says 77 "--device = 'hip:0': no libamdhip64.so.7" "$learn" try gemm "$solution" --device hip:0
  ln -s "$library" libamdhip64.so.7
  export LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" GFXSIM_CHIP=gfx950
  says 0 'verdict: right' "$learn" try axpy "$folder/axpy/solution.hip" --device hip:0
  says 1 'verdict: not everything was written' "$learn" try lds-banks "$folder/lds-banks/start.hip" --device hip:0
  cat >stray.hip <<'EOF'
extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
  if (i == 0) out[n + 2] = 1;
}
EOF
  says 1 '8 bytes after the end of out' "$learn" try axpy stray.hip --device hip:0
  says 1 'the GPU reports hipErrorLaunchFailure' "$learn" try race "$folder/race/start.hip" --device hip:0
  says 77 'hipSetDevice: hipErrorInvalidDevice' "$learn" try axpy stray.hip --device hip:3
else
  says 77 'this build has no gfxsim' "$learn" try axpy "$folder/axpy/solution.hip"
fi
exit $bad
