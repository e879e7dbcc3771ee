#!/bin/sh
# Builds the fuzz targets (fuzz/) with clang-19's sanitizers and runs them beside each other.
# Use: sh tools/fuzz.sh [SECONDS]     of each target, default 60
# A failing input is left in build-fuzz/TARGET-crash-...; run it again with: build-fuzz/fuzz/TARGET FILE
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
build="build-fuzz"

[ -f $build/build.ninja ] ||
  CC=clang-19 meson setup $build -Dwerror=true -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dladder=false -Ddebug=false \
    '-Dhost_levels=[]' -Dc_args=-gline-tables-only
targets="npy case safetensors tokenizer tuned"
skipped=0
if grep -q 'build fuzz/object:' $build/build.ninja; then
  targets="$targets object bundle aql"
else
  echo "object, bundle, aql: skipped: what gfxsim needs is not here"
  skipped=3
fi
# shellcheck disable=SC2046,SC2086 # lists of words
ninja -C $build -j "$(nproc)" $(printf 'fuzz/%s ' $targets)

# New inputs stay in a folder of the build; the seeds of the repository are only read.
for target in $targets; do
  seeds=fuzz/corpus/$target/
  mkdir -p "$build/corpus/$target"
  "$build/fuzz/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$build/$target-" "$build/corpus/$target" "$seeds" >"$build/$target.log" 2>&1 &
  eval "job_$(echo "$target" | tr - _)=$!"
done
passed=0 failed=0
for target in $targets; do
  eval "job=\$job_$(echo "$target" | tr - _)"
  # shellcheck disable=SC2154 # set by the eval above
  if wait "$job"; then
    passed=$((passed + 1))
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log") inputs in $seconds s, none failed"
  else
    failed=$((failed + 1))
    echo "$target: FAILED"
    tail -n 60 "$build/$target.log"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
