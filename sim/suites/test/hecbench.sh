#!/bin/sh
# Checks sim/suites/hecbench.sh on a small suite of its own: one program for each class that it knows, with the tests' own HIP header.
# Use: sh hecbench.sh GFXSIM SIM_FOLDER BUILD_TOOLS
# Exit 77, skipped: without clang++-19.
set -u
gfxsim=$1 script=$2/hecbench.sh header=$2/../hip/test/hip.h tools=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
ok() { # TEXT: the last command's status says whether it holds
  if [ $? -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    [ -e "$work/shown" ] || sed 's/^/  /' "$work/log"
    : >"$work/shown" # one log is enough
  fi
}

suite=$work/suite
mkdir -p "$suite/src/shared-cuda" "$work/include/hip"
cp "$header" "$work/include/hip/hip_runtime.h"
: >"$work/include/hip/hip_version.h"
# program NAME ARGUMENTS STATEMENTS: in HeCBench's form; `n` is the number that follows the program's name.
program() {
  mkdir -p "$suite/src/$1-hip"
  # shellcheck disable=SC2016 # make's
  printf 'CC = hipcc\nLAUNCHER =\nprogram = main\nsource = main.cu\nobj = $(source:.cu=.o)\nCFLAGS := -O2 -I../shared-cuda\n$(program): $(obj)
\t$(CC) $(CFLAGS) $(obj) -o $@\n%%.o: %%.cu ../shared-cuda/reference.h\n\t$(CC) $(CFLAGS) -c $< -o $@\nrun: $(program)\n\t$(LAUNCHER) ./$(program) %s\n' "$2" \
    >"$suite/src/$1-hip/Makefile"
  printf '#include <hip/hip_runtime.h>\n#include "reference.h"\nint main(int argc, char **argv) {\n  int n = argc > 1 ? atoi(argv[argc - 1]) : 0;\n%s\n}\n' "$3" \
    >"$suite/src/$1-hip/main.cu"
}
cat >"$suite/src/shared-cuda/reference.h" <<'END'
__global__ void fill(int *p) { p[__builtin_amdgcn_workitem_id_x()] = 7; }
static int last(int count) { /* of 64 that the kernel wrote, in memory for so many */
  int *p, host = 0;
  (void)!hipMalloc((void **)&p, count * sizeof(int));
  fill<<<1, 64>>>(p);
  (void)!hipMemcpy(&host, p + count - 1, sizeof host, hipMemcpyDeviceToHost);
  return host;
}
END
program passes '12 100' '  printf("%s after %d, size %d\n0 failures\n", last(64) == 7 ? "PASS" : "FAIL", n, atoi(argv[1]));'
program silent '1' '  return last(64) != 7;'
program differs '1' '  printf("%s\n", last(64) == 8 ? "PASS" : "FAIL"); return 0;'
program leaves '1' '  return last(64) == 7 ? 3 : 0;'
program finds '1' '  last(60); return puts("PASS") < 0;'
program graph '1' '  void *graph; return last(64) != 7 || hipGraphCreate(&graph, 0) != hipSuccess;'
program host '1' '  printf("PASS\n");'
program spins '1' '  last(64); for (volatile int go = 1; go;) continue;'
program broken '1' '  return missing;'
program library '1' '  return 0;'
echo '#include <hipcub/hipcub.hpp>' >"$suite/src/library-hip/more.h"
program borrows '../other-omp/in/text 1' '  FILE *f = fopen(argv[1], "r"); return puts(f && last(64) == 7 && fgetc(f) == 65 ? "PASS" : "FAIL") < 0;'
mkdir -p "$suite/src/other-cuda/in" "$suite/src/other-omp"
echo A | gzip >"$suite/src/other-cuda/in/text.gz"
program lacks '../other-omp/in/missing 1' '  return 0;'
program data '1' '  return 0;'
: >"$suite/src/data-hip/input.txt.dvc"
mkdir "$suite/src/none-hip"

run() {
  sh "$script" "$suite" --gfxsim "$gfxsim" --tools "$tools" --headers "$work/include" --flags '-nogpuinc -nogpulib' --out "$work/out" --limit 3 "$@" \
    >"$work/log" 2>&1
}
# An incomplete copy of gfxsim, which can't run programs.
built=$(dirname "$gfxsim")
mkdir -p "$work/part/hip" && cp "$gfxsim" "$built/libgfxsim.so.0" "$work/part" && cp "$built/hip/libamdhip64.so.6" "$work/part/hip"
for bad in --count '--count 0' '--seed x' '--repeat 0' '--size 0' '-j 0' '--limit 1.5' --what 'missing-hip' "--headers $work" "--gfxsim $work/none" "--gfxsim $work/part/gfxsim"; do
  # shellcheck disable=SC2086 # an option and its value
  run $bad
  [ $? -eq 2 ] && grep -q '^hecbench.sh: ' "$work/log" && grep -q '^Use: ' "$work/log"
  ok "bad arguments: $bad"
done
sh "$script" >"$work/log" 2>&1
[ $? -eq 2 ]
ok 'no suite'

run
status=$?
if [ $status -eq 77 ]; then
  cat "$work/log"
  exit 77
fi
[ $status -eq 1 ]
ok 'the exit status with a failed program'
for line in '^14 folders' '^left out: 1 without the target run; 2 whose data are not there; by library: hipcub 1$' '^chosen: 10$' '^borrows-hip: passed$' '^passes-hip: passed$' '^silent-hip: no verdict$' \
  '^differs-hip: failed: FAIL$' '^leaves-hip: failed: exit status 3$' '^finds-hip: [a-z ]*, 1 findings: .*out of bounds: writes 4 bytes' \
  '^graph-hip: refused: not served: hipGraphCreate' '^host-hip: without a launch' '^spins-hip: time limit: 3 s of CPU time, 1 launches$' \
  "^broken-hip: not built: use of undeclared identifier 'missing'" ' 1 refused, 1 without a launch, 1 time limit, 1 not built, 1 with findings, of 10$'; do
  grep -q -- "$line" "$work/log"
  ok "a line with: $line"
done
grep -q '^PASS after 100, size 12$' "$work/out/passes-hip/run.out"
ok "the Makefile's arguments"
[ ! -e "$suite/src/passes-hip/main" ] && [ ! -e "$work/out/passes-hip/tree" ]
ok 'the suite is as it was'

# What was judged is kept, until the program changes.
echo '// changed' >>"$suite/src/silent-hip/main.cu"
run 's[!p]*-hip' passes-hip
status=$?
[ $status -eq 0 ] && grep -q '^1 of them are in ' "$work/log" && [ "$(grep -c '^silent-hip: no verdict$' "$work/log")" -eq 1 ] &&
  grep -q '^1 passed, 1 no verdict, 0 failed, .* of 2$' "$work/log"
ok 'goes on'
run passes-hip --repeat 5
grep -q '^PASS after 5, size 12$' "$work/out/passes-hip/run.out"
ok 'fewer repeats'
run passes-hip --size 4
grep -q '^PASS after 25, size 3$' "$work/out/passes-hip/run.out"
ok 'smaller sizes'
run passes-hip --size 8 --repeat 5
grep -q '^PASS after 5, size 6$' "$work/out/passes-hip/run.out"
ok 'fewer repeats of smaller sizes'
echo '#define HIP_VERSION_MAJOR 5' >"$work/include/hip/hip_version.h"
run passes-hip
grep -q '^passes-hip: passed$' "$work/log" && grep -q 'libamdhip64.so.5' "$work/out/rocm/lib/libamdhip64.so"
ok 'the library of the headers'

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
