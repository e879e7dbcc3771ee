#!/bin/sh
# Installs what the tests need, builds with gcc and clang 19, checks the warnings of clang 22, and runs the tests. Ends with:
# N passed, N failed, N skipped
# Use: sh tools/test.sh [--all] [--full] [STEP...]
#      sh tools/test.sh --list     prints the names of the steps
# Without a STEP what takes about 23 minutes on two cores is run: one part of $halves, another with each commit. The last lines name what is
# left to --full, which runs everything: the steps of $more, the suite `long`, and the sanitizers on tandem-learn, the ladders, most of
# gfxsim's own tests and Python. STEP names steps to run, as gcc or sanitize: each of them whole. A step that passed before on the same
# sources, compilers and processor is not run again, unless --all is given. What the compilers and tests
# print is in build-test/STEP.log.
set -eu
cd "$(dirname "$0")/.."
# After format two lanes run beside each other: gcc, mpi, site and offload-sm_90 in one, the others in the other.
# .github/workflows/test.yml has a job for each (tools/test_steps.sh).
steps="format gcc mpi clang-19 clang-22 sanitize threads fuzz python site offload-sm_90 offload-gfx942"
# Of these the ones that only --full runs, or their name: what clang-19 compiles at -O3 the step sanitize compiles at -O1, with the same
# warnings; a few seconds of fuzzing find little; nothing here can run what is built for sm_90, and pages in
# a browser change rarely.
more="clang-19 fuzz site offload-sm_90"
all='' full=''
while :; do
  case ${1-} in
    --list)
      echo "$steps" | tr ' ' '\n'
      exit 0
      ;;
    --all) all=--all ;;
    --full) full=--full ;;
    -*)
      echo "test: $1: unknown; use: sh tools/test.sh [--all] [--full] [STEP...]" >&2
      exit 2
      ;;
    *) break ;;
  esac
  shift
done
only="$*"
for name in $only; do
  case " $steps " in *" $name "*) ;; *)
    echo "test: $name: unknown step; the steps: $steps" >&2
    exit 2
    ;;
  esac
done

quick= # not empty: without what only --full runs
[ "$only$full" != "" ] || quick=yes
# A short run has one of these two parts, another with each commit, as the sets that are run in parts (test/check/part.sh): the sanitizers
# and the warnings of clang-22, or the OpenMP path for gfx942. Each takes a processor 8 to 10 minutes.
halves="sanitize,threads,clang-22 offload-gfx942"
other= # the steps that this run leaves to a run of another commit
if [ "$quick" != "" ]; then
  offset=$(sh test/check/part.sh true | sed -n 's/^parts: TANDEM_CHECK_OFFSET=//p')
  case $((offset / 4096 % 2)) in 0) other=${halves#* } ;; *) other=${halves% *} ;; esac
  other=$(echo "$other" | tr ',' ' ')
fi

# The steps that may be skipped, by system: ID and VERSION_ID of /etc/os-release. Any other skipped step counts as failed.
expected_skips() {
  case $1 in
    "ubuntu 24.04") echo gfxsim hip clang-22 site ;; # neither LLVM 22 nor Chromium in its package sources
  esac
}
logs=build-test lane=
jobs=$(nproc)
# Instruction sets above AVX2 that this processor has: all steps but gcc compile no others. gcc does, and clang-22 checks their syntax.
levels="-Dhost_levels=$(sh tools/levels.sh)"

# Tests run beside each other, so there are more threads than cores: threads that wait must not spin.
export OMP_WAIT_POLICY=passive
# Some tests ask for more memory than there is: malloc returns NULL, and the sanitizer must not end the program.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:handle_sigill=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

# The tests' timeouts are for a machine that does nothing else. Here two lanes run, and builds beside them.
patience="--timeout-multiplier 6"
export MESON_TESTTHREADS=$((jobs + 1))

say() { printf 'test: %s\n' "$*"; }
have() { command -v "$1" >/dev/null; }
# shellcheck disable=SC1091 # the system's own
system=$(. /etc/os-release 2>/dev/null && echo "${ID-} ${VERSION_ID-}") || system="an unknown system"

sh tools/setup.sh --test || [ $? = 3 ] # 3: a package is left out, and the steps that need it are skipped
mkdir -p $logs
: >$logs/counts
# Steps that run in the background end with this script.
trap 'trap - INT TERM; kill 0' INT TERM

# ---- A step is a function. Its output goes to a log, and the last "N passed, N failed, N skipped" in it counts ----

# What a step's result depends on: every file of the tree, the compilers, the processor. The part of the simulated sets that is run
# (test/check/part.sh) changes with the commit. It counts only if the caller named it, so that no step runs again after a commit of
# what was tested.
fingerprint() {
  {
    echo "part: ${TANDEM_CHECK_OFFSET:-}; quick: $quick"
    git ls-files -co --exclude-standard -z | xargs -0 sha256sum
    for compiler in gcc clang-19 clang-22 clang-format-19 llvm-config-22; do $compiler --version 2>&1 | head -n 1; done
    pkg-config --modversion libelf libdw msgpack-c msgpack 2>&1
    grep -m 2 -E '^(model name|flags)' /proc/cpuinfo
  } | sha256sum
}
if have git && git rev-parse --git-dir >/dev/null 2>&1; then now=$(fingerprint); else now=; all=--all; fi

# Runs a function in a shell of its own, whose processes are those of the step alone, also while another lane's end. The second line
# of `times` has the CPU seconds, user and system, of all that have ended and were waited for.
measured() {
  ("$@" && status=0 || status=$?
  times >"$logs/times$lane"
  exit $status)
}
cpu_seconds() {
  awk 'NR == 2 {for (i = 1; i <= 2; i++) {split($i, part, /[ms]/); sum += part[1] * 60 + part[2]}} END {printf "%d\n", sum}' "$logs/times$lane"
}

count() { # PASSED FAILED SKIPPED
  echo "$1 $2 $3" >>$logs/counts
}

# asked NAME: did the caller name this step, or none and this is one of those that are run then?
asked() {
  case " $only " in *" $1 "*) return 0 ;; '  ') ;; *) return 1 ;; esac
  [ "$quick" != "" ] || return 0
  case " $more $other " in *" $1 "*) return 1 ;; esac
}

# step NAME FUNCTION ARGS...: runs the function, unless the step's stamp shows that it passed on these sources.
step() {
  asked "$1" || return 0
  name=$1 log=$logs/$1.log stamp=$logs/$1.passed
  shift
  start=$(date +%s)
  if [ "$all" = "" ] && [ "$(head -n 1 "$stamp" 2>/dev/null)" = "$now" ]; then
    result=$(sed -n 2p "$stamp")
    note="as in its last run: nothing changed"
  else
    rm -f "$stamp"
    sh tools/stale-notes.sh
    measured "$@" >"$log" 2>&1 && status=0 || status=$?
    result=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    case $status:$result in
      0:*\ 0\ failed*) printf '%s\n%s\n' "$now" "$result" >"$stamp" ;;
      0:?*) ;;
      *:*\ [1-9]*\ failed*) ;;
      *) result="0 passed, 1 failed, 0 skipped" ;;
    esac
    note="$(($(date +%s) - start)) s, $(cpu_seconds) s of CPU time"
  fi
  {
    say "$name: $result ($note)"
    sed -n 's/^cases: /test:     tandem-check ran cases: /p; s/^left to other steps.*/test:     &/p' "$log"
    sed -n 's/^ *[0-9]*\/[0-9]* \(.*[^ ]\)  *SKIP .*/test:     skipped: \1/p' "$log"
    case $result in *\ 0\ failed*) ;; *)
      tail -n 40 "$log" | sed 's/^/    /'
      say "$name: all of it is in $log"
      ;;
    esac
  } >"$logs/$name.said"
  cat "$logs/$name.said" # at once: another lane prints too
  # shellcheck disable=SC2046 # three numbers
  count $(echo "$result" | tr -dc '0-9 ')
}
skip() { # NAME REASON
  asked "$1" || return 0
  case " $(expected_skips "$system") " in
    *" $1 "*)
      say "$1: skipped, as expected on $system: $2"
      count 0 0 1
      ;;
    *)
      say "$1: FAILED: it can't be skipped on $system: $2"
      count 0 1 0
      ;;
  esac
}

one_passed() { echo "1 passed, 0 failed, 0 skipped"; }

# Prints the counts of `meson test`; a bad exit status counts as a failure. The tests that the step leaves to others are counted.
left_out= # suites
only_suites= # empty: all, which are built
meson_tests() { # BUILD
  which='' built=--no-rebuild
  for suite in $only_suites; do which="$which --suite $suite" built=; done
  for suite in $left_out; do which="$which --no-suite $suite"; done
  # shellcheck disable=SC2086 # words
  meson test -C "$1" $built $patience --print-errorlogs $which && status=0 || status=$?
  # shellcheck disable=SC2086 # words
  left=$(($(listed "$1") - $(listed "$1" $which)))
  [ "$left" = 0 ] && [ "$(listed "$1")" -gt 0 ] || echo "left to other steps${quick:+ and to --full}: $left tests"
  awk '/^test: / {name = $2 ~ /^tandem/ ? $4 : $2} # with suites: test: PROJECT / NAME
    name ~ /^check(-[0-9]|$)/ && /^[0-9]+ passed, [0-9]+ failed/ {cases += $1 + $3}
    /^parts: / {parts = "; of sets that are run in parts, those of " $2}
    END {print "cases: " cases + 0 parts}' \
    "$1/meson-logs/testlog.txt"
  count_tests "$1"
}
# How many tests there are: listed BUILD OPTIONS...
listed() {
  folder=$1
  shift
  meson test -C "$folder" --no-rebuild --list "$@" 2>/dev/null | grep -c ' / '
}
# The counts of the last `meson test`, whose exit status is in $status.
count_tests() { # BUILD
  awk -v status="$status" '/^(Ok|Expected Fail):/ {ok += $NF} /^(Fail|Unexpected Pass|Timeout):/ {bad += $NF} /^Skipped:/ {skip += $NF}
    END {if (status != 0 && bad == 0) bad = 1; printf "%d passed, %d failed, %d skipped\n", ok, bad, skip}' \
    "$1/meson-logs/testlog.txt"
}

# Debugging information would be a fifth of the compilers' time, and no test looks at it. The sanitizers print lines: they get a table.
configure() { # BUILD COMPILER OPTIONS...
  dir=$1 compiler=$2
  shift 2
  case "$*" in *b_sanitize*) set -- -Ddebug=false -Dc_args=-gline-tables-only "$@" ;; *) set -- -Ddebug=false "$@" ;; esac
  # A folder with other options, for example from before gfxsim's libraries were installed, is made again.
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/options" 2>/dev/null)" != "$compiler $*" ]; then
    rm -rf "$dir" && CC=$compiler meson setup "$dir" -Dwerror=true "$@" && echo "$compiler $*" >"$dir/options"
  fi
}
configure_and_build() { # BUILD COMPILER OPTIONS...
  configure "$@" || return 1
  # From Meson 1.7 on (Debian 13), `all` is without what only tests and benchmarks need.
  compile -C "$dir" -j "$jobs" all meson-test-prereq meson-benchmark-prereq
}
# In larger pages of memory, where glibc can (2.35), compilers take 7 % less; clang is busy with its own memory for minutes.
compile() {
  GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ninja "$@"
}

build_and_test() { # "SUITES LEFT OUT" BUILD COMPILER OPTIONS...
  left_out="$1${quick:+ long}" only_suites=
  shift
  configure_and_build "$@" -Dtests=true && built=0 || built=$?
  : >"$logs/$dir.built" # another lane may wait for it
  [ $built = 0 ] && meson_tests "$1"
}
# Tests whose result does not depend on the compiler run once: scripts, tools and very long rows in the gcc step. A short run also leaves
# out tandem-learn's, the ladders', and gfxsim's own tests except those that the suite `threads` has as well; all of them take half of the
# step, and the step gcc runs them. Meson builds what the tests need.
sanitized_tests() { # BUILD COMPILER OPTIONS...
  if [ "$quick" = "" ]; then
    build_and_test 'script ranks' "$@"
    return
  fi
  left_out="script long ranks" only_suites="op api hopper tool docs files case run llama threads"
  configure "$@" -Dtests=true && meson_tests "$1"
}
# The suites `op` and `api`: Meson builds what they need.
compiler_tests() {
  left_out="script long hopper" only_suites="op api"
  configure build-clang-19 clang-19 -Dsim=disabled -Dladder=false "$levels" -Dtests=true && meson_tests build-clang-19
}
# The warnings of clang-22 in every C file, the tests' too.
warnings() {
  configure build-clang-22 clang-22 -Dsim=disabled -Doptimization=0 -Dtests=true && python3 tools/syntax.py build-clang-22 && one_passed
}

# Threads: what the suite `threads` needs is built with ThreadSanitizer and run. With the Archer library of LLVM's libomp the sanitizer
# knows OpenMP's regions and barriers; without it each region would be a race. gcc's runtime has no such library. At -O1 the kernels
# compile in a tenth of the time, and every access is still instrumented. $checked: as for the step sanitize.
threads() { # OPTIONS...
  configure build-tsan clang-19 -Db_sanitize=thread -Db_lundef=false -Dtests=true -Dladder=false -Doptimization=1 "$checked" "$@" || return 1
  archer=
  for folder in "$PWD/build-tools/libomp-19/usr/lib/llvm-19/lib" /usr/lib/llvm-19/lib; do
    [ "$archer" != "" ] || ! [ -f "$folder/libarcher.so" ] || archer=$folder/libarcher.so
  done
  [ "$archer" != "" ] || {
    echo "no libarcher.so of LLVM 19: it is in the package libomp5-19 or libomp-19-dev, which tools/setup.sh --test installs"
    return 1
  }
  [ -x /usr/lib/llvm-19/bin/llvm-symbolizer ] || {
    echo "no llvm-symbolizer of LLVM 19, without which tsan.supp names no function: it is in the package llvm-19, which tools/setup.sh --test installs"
    return 1
  }
  # shellcheck disable=SC2086 # words
  OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS="exitcode=66 allocator_may_return_null=1 ignore_noninstrumented_modules=1 suppressions=$PWD/test/threads/tsan.supp" \
    meson test -C build-tsan $patience --print-errorlogs --suite threads && status=0 || status=$?
  count_tests build-tsan
}

# tiny-llama --ranks, by processes of mpirun that share this machine's cores. Where the gcc step has not been run, only what they need.
mpi_tests() {
  # shellcheck disable=SC2086 # words
  configure build-gcc gcc $gcc_options -Dtests=true &&
    ninja -C build-gcc -j "$jobs" examples/tiny-llama/tiny-llama || return 1
  # With Meson's own build of what the test needs: its targets differ with the backend.
  # shellcheck disable=SC2086 # words
  meson test -C build-gcc $patience --print-errorlogs --suite ranks && status=0 || status=$?
  count_tests build-gcc
}

# The host's kernels for AVX-512 and more have no target regions: an offload build is without them.
host_only_once="-Dhost_levels=[]"
# The gfx942 build is tandem-check and tandem-bench, which gfxsim executes; everything else of an offload build, except the tests, is in the step for sm_90, and
# so are the ladders. gfxsim of the gcc step executes the programs of sim/hsa/test, sim/suites/vv.sh and sim/suites/hecbench.sh on small
# suites, a small run of tandem-bench, and the standard sets: those of gemm, swiglu and attention, which take minutes, in parts, and of
# the rows of the matrix units all of gemm's and swiglu's. HIP programs are built here too: the gcc step may lack what clang-19 needs for
# them, and the device libraries for printf in kernels.
build_gfx942() {
  configure build-offload-gfx942 clang-19 -Dsim=disabled -Domp_offload=gfx942 -Dladder=false "$host_only_once" &&
    compile -C "$dir" -j "$jobs" test/tandem-check bench/tandem-bench
}
# The targets of a build that are gfxsim and the libraries that gfxsim exec gives to programs.
runtimes() { # BUILD
  ninja -C "$1" -t targets all | sed -n 's/^\(sim\/gfxsim\|sim\/.*lib[a-z0-9-]*\.so[.0-9]*\): .*/\1/p' | grep -v '\.p/'
}
offload_gfx942() {
  build_gfx942 || return 1
  gfxsim=build-gcc/sim/gfxsim offload=build-offload-gfx942
  if [ "$sim" = -Dsim=disabled ]; then
    echo "gfxsim can't be built here: nothing was executed"
    echo "1 passed, 0 failed, 19 skipped"
    return
  fi
  # Where the gcc step has not been run, as in a job of its own: only gfxsim and its runtimes.
  # shellcheck disable=SC2046,SC2086 # words
  [ -x $gfxsim ] || { configure build-gcc gcc $gcc_options -Dtests=true && ninja -C build-gcc -j "$jobs" $(runtimes build-gcc); } || return 1
  good=1 bad=0
  tally() { if "$@"; then good=$((good + 1)); else bad=$((bad + 1)); fi; }
  tally sh sim/hsa/test/openmp.sh $gfxsim sim/hsa/test build-tools
  tally sh sim/suites/test/vv.sh $gfxsim sim/suites build-tools
  tally sh sim/hip/test/programs.sh $gfxsim build-gcc/sim/hip sim/hip/test build-tools clang-19
  tally sh sim/suites/test/hecbench.sh $gfxsim sim/suites build-tools
  for op in add cross_entropy embedding rmsnorm rope silu_mul softmax; do
    tally $gfxsim exec $offload/test/tandem-check $op --device omp:0 --cover
  done
  for op_every in "gemm 24" "swiglu 8" "attention 12"; do
    tally sh test/check/part.sh $gfxsim exec $offload/test/tandem-check "${op_every% *}" --device omp:0 --cover --every "${op_every#* }"
  done
  # Two micro tiles, and beta: each element of C has to be finished once.
  tally $gfxsim exec $offload/test/tandem-check gemm --dtype f32 --layout tn --set beta=0.5,fill=exact 8x16x4 --device omp:0 \
    --kernel omp
  for op in gemm swiglu; do
    tally $gfxsim exec $offload/test/tandem-check $op --device omp:0 --kernel omp_gpu_mma
  done
  tally sh test/check/part.sh $gfxsim exec $offload/test/tandem-check attention --device omp:0 --kernel omp_gpu_mma --every 8
  tally sh bench/test/test_exec.sh $gfxsim $offload/bench/tandem-bench omp:0 gfx942
  echo "$good passed, $bad failed, 0 skipped"
  [ $bad -eq 0 ]
}

offload_sm_90() {
  configure_and_build build-offload-sm_90 clang-19 -Dsim=disabled -Domp_offload=sm_90 "$host_only_once" && one_passed
}

# The web edition in a headless Chromium. Where the gcc step has not been run, as in a job of its own, only tandem-draw is built.
site() {
  # shellcheck disable=SC2086 # words
  configure build-gcc gcc $gcc_options -Dtests=true && ninja -C build-gcc docs/tandem-draw && sh tools/test_site.sh build-gcc
}

# The form of C files; clang-format leaves comments as they are, and does not see long ones. Scripts that no test runs, such as those that
# record figures on GPUs, at least parse. The start of the debug exercise lacks a semicolon, on purpose. A line "// try" is a command of
# learn's tests.
format() {
  folders="include src offload hip ladder learn case test bench run examples fuzz tools sim docs python"
  # shellcheck disable=SC2086 # words
  find $folders \( -name '*.[ch]' -o -name '*.hip' \) ! -path learn/exercises/debug/start.hip >$logs/format-files &&
    xargs clang-format-19 --dry-run -Werror <$logs/format-files &&
    xargs awk 'length > 128 && !/^\/\/ try / {print FILENAME ":" FNR ": " length " characters, must be at most 128"; long = 1} END {exit long}' \
      <$logs/format-files &&
    find $folders -name '*.sh' -print0 | xargs -0 -n 1 sh -n &&
    find $folders -name '*.py' -print0 |
    xargs -0 python3 -c 'import ast, sys; [ast.parse(open(name, encoding="utf-8").read(), name) for name in sys.argv[1:]]' &&
    one_passed
}

# ---- All of them ----

step format format
# gfxsim in the gcc and sanitizer steps, whose clang-19 warns of it too; the HIP path, which it executes, in the gcc step.
if have llvm-config-22 && have clang-22 && pkg-config --exists libelf libdw && { pkg-config --exists msgpack-c || pkg-config --exists msgpack; }; then
  sim=-Dsim=enabled backend=-Dtdm_backend=hip
else
  sim=-Dsim=disabled backend=-Dtdm_backend=omp
  skip gfxsim "needs clang-22, llvm-22-dev, libelf-dev, libdw-dev and msgpack-c, which this system lacks"
  skip hip "needs clang-22 and gfxsim"
fi
# The steps mpi, site and offload-gfx942 go on with the folder of the gcc step: other options would make it again, which takes minutes.
gcc_options="$sim $backend -Dpython=yes"

offload_step() { # CHIP
  asked "offload-$1" || return 0
  if ! sh tools/setup.sh --offload "$1" >"$logs/offload-setup.log" 2>&1; then
    skip "offload-$1" "$(tail -n 1 $logs/offload-setup.log)"
  elif [ "$1" = gfx942 ]; then
    step offload-gfx942 offload_gfx942
  else # without the tests: the step sanitize compiles them with the same clang-19
    step offload-sm_90 offload_sm_90
  fi
}

# Two lanes run beside each other, of about the same length: links, installations, and tests that run alone leave a processor without work.
rm -f $logs/build-gcc.built
{
  lane=-sanitize fetching='' beside=
  # The build for gfx942 ends with a link of minutes, which uses one processor: it begins at once, and its step waits for it. The
  # environments arrive while the sanitizers' builds compile; python.sh itself says what is missing.
  if [ "$only" = "" ]; then
    if asked offload-gfx942; then
      { sh tools/setup.sh --offload gfx942 && build_gfx942; } >$logs/offload-gfx942-beside.log 2>&1 &
      beside=$!
    fi
    sh tools/python.sh ${quick:+--quick} --fetch >$logs/fetch.log 2>&1 &
    fetching=$!
  fi
  # The tools and tandem-learn read files and lines that others wrote. With the Python module, which the step python tests. clang compiles
  # the kernels of one set of instructions above AVX2 at most, and in a short run none: with the checks of the sanitizers all four take it
  # minutes. What the others read and write beyond their arrays meets tandem-check's guard pages in the steps gcc and clang-19.
  checked=${levels%%,*}
  [ "$quick" = "" ] || checked="-Dhost_levels=[]"
  step sanitize sanitized_tests build-sanitize clang-19 $sim -Db_sanitize=address,undefined -Db_lundef=false -Dpython=yes \
    -Doptimization=1 "$checked"
  [ "$fetching" = "" ] || wait "$fetching" || true
  step python sh tools/python.sh ${quick:+--quick} build-sanitize
  # clang-19 has the kernels and their API, at -O3; it compiles the tools in the step sanitize.
  step clang-19 compiler_tests
  if have clang-22; then
    step clang-22 warnings
  else
    skip clang-22 "not in this system's package sources"
  fi
  step threads threads $sim
  step fuzz sh tools/fuzz.sh 10 # seconds of each target
  # gfxsim of the gcc step: its folder is free once it is built, or once the other lane has ended.
  if asked offload-gfx942; then
    [ "$beside" = "" ] || wait "$beside" || true # the step builds what is missing then, and so has the errors in its log
    until [ -e $logs/build-gcc.built ]; do sleep 1; done
  fi
  offload_step gfx942
} &
second_lane=$!

# The suite `exec` is scripts that the step offload-gfx942 runs as well, with the device libraries.
elsewhere=ranks
[ "$only" != "" ] || elsewhere="ranks exec"
# shellcheck disable=SC2086 # words
step gcc build_and_test "$elsewhere" build-gcc gcc $gcc_options
if have mpirun && { pkg-config --exists ompi-c || pkg-config --exists mpich; }; then
  step mpi mpi_tests
else
  skip mpi "no Open MPI and no MPICH in this system's package sources"
fi
if ! asked site; then
  :
elif sh tools/setup.sh --site >$logs/site-setup.log 2>&1; then
  step site site
else
  skip site "$(tail -n 1 $logs/site-setup.log)"
fi
offload_step sm_90
: >$logs/build-gcc.built
wait $second_lane || count 0 1 0 # it has said why
[ "$quick" = "" ] || say "left to runs of other commits: the steps $other"
[ "$quick" = "" ] || say "left to sh tools/test.sh --full: the steps $more, the suite long, and the sanitizers on tandem-learn, tandem-bench's command line, the ladders, most of gfxsim's own tests and Python"

awk '{passed += $1; failed += $2; skipped += $3} END {printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0}' \
  $logs/counts
