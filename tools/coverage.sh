#!/bin/sh
# Lists the lines of offload/, hip/ (host code) and src/ that no test executes: builds with gcc's --coverage, runs each test on its own.
# Use: sh tools/coverage.sh [-j N] [TEST...]     without names: all tests except gfxsim's and tandem-learn's own; with
#                                             names: these anew, the results of others are kept
# Leaves in build-coverage/: lines.tsv   FILE LINE TESTS: every line with code; no tests: nothing executes it
#                            missed.txt  FILE:LINE: TEXT of those
#                            tests.tsv   TEST SECONDS STATUS: CPU time, exit status
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)
if [ "${1-}" = -j ]; then
  jobs=$2
  shift 2
fi
build=build-coverage
# Only the library is counted: the simulator would take three times as long.
[ -f $build/build.ninja ] || CC=gcc meson setup $build -Ddebug=false -Doptimization=2 -Dtests=true -Dladder=false -Dsim=enabled -Dtdm_backend=hip \
  '-Dc_args=--coverage -fprofile-filter-files=.*/(offload|hip|src)/[^.]*[.][ch]' -Dc_link_args=--coverage ${COVERAGE_MESON-}
ninja -C $build build.ninja >/dev/null # a changed meson.build
export OMP_WAIT_POLICY=passive
exec python3 tools/mutate/coverage.py $build "$jobs" "$@"
