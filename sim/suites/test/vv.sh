#!/bin/sh
# Checks sim/suites/vv.sh on a small suite of its own: one test for each class that it knows.
# Use: sh vv.sh GFXSIM SIM_FOLDER BUILD_TOOLS
# Exit 77, skipped: as openmp.sh.
set -u
gfxsim=$1 script=$2/vv.sh tools=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
ok() { # TEXT: the last command's status says whether it holds
  if [ $? -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $1"
    tail -n 30 "$work/log" | sed 's/^/  /'
  fi
}

suite=$work/suite
mkdir -p "$suite/ompvv" "$suite/tests/5.0/a" "$suite/tests/5.1/b"
cat >"$suite/ompvv/ompvv.h" <<'END'
#include <omp.h>
#include <stdio.h>
#define REPORT(errors) return printf("[OMPVV_RESULT: x] Test %s.\n", (errors) ? "failed" : "passed"), (errors) != 0
END
program() { # NAME STATEMENTS
  printf '#include "ompvv.h"\nint main(void) {\n  int n = 0;\n%s\n}\n' "$2" >"$suite/tests/$1.c"
}
program 5.0/a/passes '
#pragma omp target \
  map(tofrom : n)
  n = !omp_is_initial_device();
  REPORT(n != 1 && omp_get_num_devices() > 0);'
program 5.0/a/differs '
  omp_target_free(omp_target_alloc(4, omp_get_default_device()), omp_get_default_device()); /* first of all */
#pragma omp target map(tofrom : n)
  n = !omp_is_initial_device();
  if (n) fprintf(stderr, "[OMPVV_ERROR: x] n is %d\n", n);
  REPORT(n);'
program 5.0/a/broken '
#pragma omp target map(tofrom : missing)
  n = 1;
  REPORT(n);'
program 5.0/a/skips '
#pragma omp target map(tofrom : n)
  n = 1;
  return puts("[OMPVV_RESULT: x] Test skipped."), 0;'
program 5.1/b/host '
#pragma omp target if (0) map(tofrom : n)
  n = 1;
  REPORT(n != 1);'
program 5.1/b/finds '
  int *p = &n;
#pragma omp target is_device_ptr(p) if (omp_get_num_devices() > 0)
  *p = 1;
  REPORT(0);'
program 5.1/b/test_omp_num_teams_env_3 '
#pragma omp target map(tofrom : n)
  n = 1;
  REPORT(n + omp_get_max_teams() != 4);'
program 5.1/b/spins '
#pragma omp target map(tofrom : n)
  n = 1;
  for (volatile int go = 1; go;) continue;
  REPORT(0);'
program 5.0/a/plain '
#pragma omp parallel
  n = 1;
  REPORT(0);'

run() {
  sh "$script" "$suite" --gfxsim "$gfxsim" --tools "$tools" --out "$work/out" --limit 20 "$@" >"$work/log" 2>&1
}
# An incomplete copy of gfxsim, which can't run programs.
built=$(dirname "$gfxsim")
mkdir -p "$work/part/hsa" && cp "$gfxsim" "$built/libgfxsim.so.0" "$work/part" && cp "$built/hsa/libhsa-runtime64.so" "$work/part/hsa"
for bad in --count --count=3 '--count 0' '--count x' '--seed 2147483647' '-j 0' '--limit 1.5' --what 6.0 "--gfxsim $work/none" "--gfxsim $work/part/gfxsim"; do
  # shellcheck disable=SC2086 # an option and its value
  run $bad
  [ $? -eq 2 ] && grep -q '^vv.sh: ' "$work/log" && grep -q '^Use: ' "$work/log"
  ok "bad arguments: $bad"
done
sh "$script" >"$work/log" 2>&1
[ $? -eq 2 ]
ok 'no suite'
sh "$script" "$work" >"$work/log" 2>&1
[ $? -eq 2 ]
ok 'not a suite'

run '5.?/[ab]/[!s]*' 5.0/a/skips.c
status=$?
if [ $status -eq 77 ]; then
  cat "$work/log"
  exit 77
fi
[ $status -eq 1 ]
ok 'the exit status with a failed test'
for line in '^7 C tests with a target construct, of 8$' '^5.0/a/passes.c: passed$' \
  '^5.0/a/differs.c: failed: exit status 1: n is 1$' '^5.0/a/broken.c: refused: does not compile: ' \
  '^5.0/a/skips.c: refused: on the host: skips itself; ' '^5.1/b/host.c: no-launch: no kernel was launched: ' \
  '^5.1/b/finds.c: failed, 1 findings: .*did not ask for unified shared memory' \
  '^5.1/b/test_omp_num_teams_env_3.c: passed$' '^2 passed, 2 failed, 2 refused, 1 without a launch, 1 with findings$'; do
  grep -q -- "$line" "$work/log"
  ok "a line with: $line"
done

# What was judged is kept; a line that an interrupted run left unfinished is not.
sed -i -e '/passes/d' -e '/differs/s/\t[^\t]*$//' "$work/out/results.tsv"
run 5.0/a
grep -q '^2 of them are in ' "$work/log" && [ "$(grep -c '^5.0/a/.*: passed$\|^5.0/a/differs.c: failed' "$work/log")" -eq 3 ] &&
  grep -q '^1 passed, 1 failed, 2 refused, 0 without a launch, 0 with findings$' "$work/log"
ok 'goes on'
run 5.0/a/passes.c
ok 'the exit status without a failed test'
run '5.1/b/[!s]*' --count 1 --seed 5
first=$(sed -n '3p' "$work/log")
run '5.1/b/[!s]*' --count 1 --seed 5
[ "$first" = "$(sed -n '3p' "$work/log")" ]
ok 'the same seed, the same sample'
run 5.1/b/spins.c --limit 1
grep -q '^5.1/b/spins.c: refused: on the host: time limit (1 s); on gfx942: time limit (1 s)' "$work/log"
ok 'the time limit'

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
