#!/bin/sh
# Builds C tests of the OpenMP Validation and Verification suite for gfx942, and runs each under `gfxsim exec` and on the host.
# Use: sh sim/suites/vv.sh FOLDER [OPTION...] [TEST...]
#   FOLDER        a copy of github.com/OpenMP-Validation-and-Verification/OpenMP_VV
#   TEST          a file or folder below FOLDER/tests, or a pattern ('5.0/*/test_target_*'); default: 4.5 5.0 5.1
#   --count N     a random sample of N tests, which is printed;  --seed S  another sample, 1 to 2147483646, default 1
#   -j N          so many tests at once, default 1
#   --limit N     seconds of CPU time for each program, default 120; by the clock it may take ten times as long, and a minute
#   --out FOLDER  keeps results.tsv and each test's output, default build-vv. A test is not run again for the same gfxsim
#   --gfxsim FILE the program to use, default build/sim/gfxsim
#   --tools FOLDER  where `sh tools/setup.sh --offload gfx942` has put LLVM's parts, default build-tools
# Only tests with a target construct are chosen. Each is one of:
#   passed            its own verdict, and a kernel was launched
#   failed            the host passes, gfx942 does not
#   refused           clang 19 does not compile it, or it fails or skips itself on the host as well
#   without a launch  its own verdict, but all of it ran on the host
# Programs with findings are one of these, and counted once more. Exit status: 0; 1 when a test failed; 77 without clang 19 or its runtime.

# shellcheck source=sim/suites/suite.sh
. "$(dirname "$0")/suite.sh"
flags='-g -O2 -fopenmp -DVERBOSE_MODE=1'
tab=$(printf '\t')

# What follows up to "main" judges one test, in a process of its own.

# build NAME [OFFLOAD FLAGS]: the device code is optimised when it is linked: LLVM 19 crashes there at -O0.
# The host's program needs libomptarget too: omp_target_alloc and its kin are there. In LLVM 19 they crash unless images have been
# registered: main has compiled an object that registers none.
build() {
  name=$1
  shift
  library='' start=''
  [ "$name" != host ] || start=$VV_OUT/start.o
  case $test in
    *_static_lib.c) # the suite's makefile gives this kind its library
      # shellcheck disable=SC2086 # lists of words
      clang-19 $flags "$@" "-I$VV_INCLUDE" -c "$VV_SUITE/ompvv/libompvv.c" -o "$out/$name.lib.o" 2>"$out/$name.build" || return 1
      rm -f "$out/$name.lib.a"
      ar rcs "$out/$name.lib.a" "$out/$name.lib.o"
      library=$out/$name.lib.a
      ;;
  esac
  # shellcheck disable=SC2086
  clang-19 $flags "$@" "-I$VV_SUITE/ompvv" "-I$VV_INCLUDE" "-L$VV_LLVM" "-Wl,-rpath,$VV_LLVM" "$VV_SUITE/tests/$test" \
    ${library:+"$library"} ${start:+"$start"} -lomptarget -lm -o "$out/$name" 2>"$out/$name.build"
}

# The first error of a build, without the path, which may have tabs.
build_error() {
  error=$(sed -n -e 's/.*: \(undefined reference .*\)/\1/p' -e 's/.*error: //p' "$out/$1.build" | head -n 1 | tr '\t' ' ')
  echo "${error:-clang ended without an error line}"
}

# execute NAME COMMAND...: sets status. The program may leave files where it runs.
execute() {
  name=$1
  shift
  mkdir -p "$out/work"
  # shellcheck disable=SC3045 # dash, bash and busybox have both
  (cd "$out/work" && ulimit -c 0 && ulimit -t "$VV_LIMIT" && env ${variable:+"$variable"} timeout -k 5 $((60 + 10 * VV_LIMIT)) "$@") \
    </dev/null >"$out/$name.log" 2>&1
  status=$?
  rm -rf "$out/work"
}

# Why a program did not pass: sets cause. NAME STATUS
explain() {
  case $2 in
    124 | 137 | 152) cause="time limit ($VV_LIMIT s)" ;;
    *)
      cause=$(sed -n -e '/\[OMPVV_ERROR: /{s/^[^]]*\] *//p;q;}' "$out/$1.log" | tr '\t' ' ')
      [ -n "$cause" ] || cause=$(grep -i -m 1 'error:\|assert' "$out/$1.log" | tr '\t' ' ')
      cause="exit status $2${cause:+: $cause}"
      ;;
  esac
  if grep -q '^\[OMPVV_RESULT: .*Test skipped' "$out/$1.log"; then cause='skips itself'; fi
}

# Sets verdict to passed or not, and cause.
judge_run() { # NAME STATUS
  verdict=not cause=
  if [ "$2" -eq 0 ] && ! grep -q '^\[OMPVV_RESULT: .*Test \(skipped\|failed\)' "$out/$1.log"; then
    verdict=passed
  else
    explain "$1" "$2"
  fi
}

row() { # CLASS LAUNCHES FINDINGS CAUSE
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$test" "$key" "$1" "$2" "$3" "$(echo "$4" | cut -c 1-200)" >>"$VV_OUT/results.tsv"
  printf '%s: %s%s%s\n' "$test" "$1" "$([ "$3" -eq 0 ] || echo ", $3 findings")" "${4:+: $4}"
}

judge() {
  test=$1
  out=$VV_OUT/$(echo "${test%.c}" | tr / _)
  key=$VV_KEY-$(checksum "$VV_SUITE/tests/$test")
  mkdir -p "$out" || exit 1
  # The suite's makefile: test_NAME_env_VALUE runs with that variable.
  variable=$(basename "$test" .c | sed -n 's/^test_\(.*\)_env_\(.*\)$/\1 \2/p')
  [ -z "$variable" ] || variable=$(echo "${variable% *}" | tr '[:lower:]' '[:upper:]')=${variable#* }

  if ! build host; then
    row refused 0 0 "does not compile: $(build_error host)"
    return
  fi
  execute host "$out/host"
  judge_run host "$status"
  on_host=$verdict host_cause=$cause
  if ! build device --offload-arch=gfx942 -foffload-lto "--rocm-device-lib-path=$VV_DEVICE"; then
    row refused 0 0 "does not compile for gfx942: $(build_error device)"
    return
  fi
  # gfxsim's status is 1 when there were findings: the program's own is kept in a file.
  rm -f "$out/status"
  # shellcheck disable=SC2016 # expanded by that sh
  execute device "$VV_GFXSIM" exec sh -c '"$1"; echo $? >"$2"' sh "$out/device" "$out/status"
  counts=$(sed -n 's/^gfxsim: gfx942: \([0-9]*\) launches, \([0-9]*\) findings, .*/\1 \2/p' "$out/device.log" | tail -n 1)
  if [ -z "$counts" ]; then
    counts='0 0'
    [ $status -ne 0 ] || status=1
  elif [ -s "$out/status" ]; then
    status=$(cat "$out/status")
  fi
  judge_run device "$status"
  launches=${counts% *} findings=${counts#* }
  # A finding's first line: the kind and what happened. The program's own lines are others.
  first=$(sed -n '/^[a-z][A-Za-z ]*: /p' "$out/device.log" | grep -v '^gfxsim: ' | head -n 1 | tr '\t' ' ')
  [ "$findings" -eq 0 ] || cause="${cause:+$cause; }$first"
  if [ $verdict = passed ]; then
    [ "$launches" -gt 0 ] || cause=$(sed -n 's/^gfxsim: \(no .*\)/\1/p' "$out/device.log" | head -n 1)
    if [ "$launches" -gt 0 ]; then row passed "$launches" "$findings" "$cause"; else row no-launch 0 "$findings" "$cause"; fi
  elif [ $on_host = passed ]; then
    row failed "$launches" "$findings" "$cause"
  else
    row refused "$launches" "$findings" "on the host: $host_cause; on gfx942: $cause"
  fi
}

if [ "${1-}" = --judge ]; then
  judge "$2"
  rm -f "$out/host" "$out/device" "$out"/*.lib.[oa] "$out/status"
  exit 0
fi

# main

root=$(cd "$(dirname "$0")/../.." && pwd)
suite='' patterns='' count=0 seed=1 jobs=1 limit=120 out=build-vv gfxsim=$root/build/sim/gfxsim tools=$root/build-tools
while [ $# -gt 0 ]; do
  case $1 in
    --count | --seed | -j | --limit | --out | --gfxsim | --tools)
      [ $# -ge 2 ] || usage "$1: needs a value"
      case $1 in
        --count) whole "$1" "$2" 1 100000 && count=$2 ;;
        --seed) whole "$1" "$2" 1 2147483646 && seed=$2 ;;
        -j) whole "$1" "$2" 1 1024 && jobs=$2 ;;
        --limit) whole "$1" "$2" 1 86400 && limit=$2 ;;
        --out) out=$2 ;;
        --gfxsim) gfxsim=$2 ;;
        --tools) tools=$2 ;;
      esac
      shift
      ;;
    -h | --help) help ;;
    -*) usage "$1: unknown option" ;;
    *)
      if [ -z "$suite" ]; then suite=$1; else patterns="$patterns $1"; fi
      ;;
  esac
  shift
done
[ -n "$suite" ] || usage "needs the suite's folder"
[ -f "$suite/ompvv/ompvv.h" ] || usage "$suite: no ompvv/ompvv.h: not the suite's folder"
[ -d "$suite/tests" ] || usage "$suite: no tests/: not the suite's folder"
suite=$(cd "$suite" && pwd)

command -v clang-19 >/dev/null || skip "no clang-19"
[ -x "$gfxsim" ] || usage "$gfxsim: no such program; build it, or give --gfxsim FILE"
gfxsim=$(cd "$(dirname "$gfxsim")" && pwd)/$(basename "$gfxsim")
[ ! -d "$tools" ] || tools=$(cd "$tools" && pwd) # programs keep the path of LLVM's libraries
VV_LLVM=$(first_with libomptarget-amdgpu-gfx942.bc "$tools/libomp-19/usr/lib/llvm-19/lib" /usr/lib/llvm-19/lib)
[ -n "$VV_LLVM" ] || skip "no libomptarget-amdgpu-gfx942.bc"
VV_DEVICE=$(device_libraries "$tools")
[ -n "$VV_DEVICE" ] || skip "no ockl.bc"
VV_INCLUDE=$(first_with omp.h "$VV_LLVM/clang/19/include" /usr/lib/llvm-19/lib/clang/19/include)

# A row of results.tsv counts for the gfxsim, the limit, the flags, the host's start and the text of the test that it was made with.
mkdir -p "$out" || exit 1
VV_OUT=$(cd "$out" && pwd)
start='struct images { int count; void *images, *first, *last; };
void __tgt_register_lib(struct images *images);
static struct images none;
__attribute__((constructor)) static void start(void) { __tgt_register_lib(&none); }'
echo "$start" | clang-19 -x c -c - -o "$VV_OUT/start.o" || exit 1
folder=$(dirname "$gfxsim")
library=$(first_with libhsa-runtime64.so "$folder/hsa" "$folder/../lib/gfxsim")
[ -n "$library" ] || usage "$gfxsim: no libhsa-runtime64.so beside it"
runs_programs "$gfxsim"
VV_KEY=$(echo "$limit $flags $start" | checksum "$gfxsim" "$library/libhsa-runtime64.so" "$library/../libgfxsim.so.0" -)
export VV_KEY VV_OUT VV_LLVM VV_DEVICE VV_INCLUDE VV_SUITE="$suite" VV_LIMIT="$limit" VV_GFXSIM="$gfxsim"
touch "$VV_OUT/results.tsv" || exit 1

# A target construct: in a directive, which may go on over lines, in one of ompvv.h's macros, or a routine on device memory.
with_target() {
  # shellcheck disable=SC2016 # awk's
  xargs awk '
    FNR == 1 { text = "" }
    { text = text $0 }
    /\\$/ { sub(/\\$/, " ", text); next }
    text ~ /pragma *omp.*target|omp::.*target|omp_target_|OMPVV_TEST[A-Z_]*(OFFLOADING|SHARED_ENVIRONMENT)/ { found[FILENAME] }
    { text = "" }
    END { for (name in found) print name }'
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set -f
for pattern in ${patterns:-4.5 5.0 5.1}; do
  set +f
  # shellcheck disable=SC2086 # a pattern
  (cd "$suite/tests" && find $pattern -name '*.c' -type f) >"$work/found" 2>/dev/null
  [ -s "$work/found" ] || usage "$pattern: no C test below $suite/tests"
  cat "$work/found"
done | sort -u >"$work/all"
[ -s "$work/all" ] || exit 2
(cd "$suite/tests" && with_target <"$work/all") | sort >"$work/chosen"
[ -s "$work/chosen" ] || usage "no test with a target construct was chosen"
echo "$(wc -l <"$work/chosen") C tests with a target construct, of $(wc -l <"$work/all")"
take_sample

# What was judged before is not run again. Keys are of this gfxsim and of the test's text as it is now.
while read -r test; do
  echo "$test$tab$VV_KEY-$(checksum "$suite/tests/$test")"
done <"$work/chosen" >"$work/keys"
judge_remaining
echo
awk -F '\t' '
  function line(name, a) { printf "%-8s %7d %7d %7d %17d %14d\n", name, a["passed"], a["failed"], a["refused"], a["no-launch"], a["f"] }
  { split($1, path, "/"); v = path[1]; of[v]; n[v, $3]++; n["all", $3]++; if ($5 > 0) { n[v, "f"]++; n["all", "f"]++ } }
  function show(v) { for (c in word) a[word[c]] = n[v, word[c]]; line(v, a) }
  BEGIN { split("passed failed refused no-launch f", word, " ")
          printf "%-8s %7s %7s %7s %17s %14s\n", "tests", "passed", "failed", "refused", "without a launch", "with findings" }
  END { m = 0; for (v in of) name[++m] = v
        for (i = 1; i <= m; i++) for (k = i + 1; k <= m; k++) if (name[k] < name[i]) { t = name[i]; name[i] = name[k]; name[k] = t }
        for (i = 1; i <= m; i++) show(name[i])
        show("all") }' "$work/rows"
echo
awk -F '\t' '$3 != "passed" || $5 > 0 { printf "%s: %s%s: %s\n", $1, $3, ($5 > 0 ? " with " $5 " findings" : ""), $6 }' "$work/rows"
missing=$(($(wc -l <"$work/chosen") - $(wc -l <"$work/rows")))
[ "$missing" -eq 0 ] || echo "$missing tests have no result"
awk -F '\t' -v missing="$missing" '{ n[$3]++; if ($5 > 0) findings++ }
  END { printf "%d passed, %d failed, %d refused, %d without a launch, %d with findings\n", n["passed"], n["failed"], n["refused"],
          n["no-launch"], findings; exit n["failed"] > 0 || missing > 0 }' "$work/rows"
