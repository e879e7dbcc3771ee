#!/bin/sh
# Counts both paths of one simulated MI300X side by side, with the host's times and OpenBLAS's beside them, and writes that part of
# bench/RESULTS.md.
# Use: sh bench/record/sides.sh [BUILD [BUILD-GFX942]]    BUILD: has gfxsim; default build. BUILD-GFX942: default build-gfx942, made by
#      CC=clang-19 meson setup build-gfx942 -Dsim=disabled -Domp_offload=gfx942 -Dtdm_backend=hip -Dhip_archs=gfx942
#      sh bench/record/sides.sh --print [BUILD [BUILD-GFX942]]   prints the tables and writes nothing
set -eu
cd "$(dirname "$0")/../.."
print=no
if [ "${1-}" = --print ]; then
  print=yes
  shift
fi
gfxsim=${1:-build}/sim/gfxsim bench=${2:-build-gfx942}/bench/tandem-bench
for program in "$gfxsim" "$bench"; do
  [ -x "$program" ] || {
    echo "sides.sh: $program: not there: see the head of this script" >&2
    exit 2
  }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# side OP SHAPE OPTION...: three tables, of which the first case begins each.
number=0
side() {
  echo "sides.sh: gfxsim exec --no-check all tandem-bench $* --device host,omp:0,hip:0" >&2
  "$gfxsim" exec --no-check all "$bench" "$@" --device host,omp:0,hip:0 --min-time 0.2 --markdown "$folder/$number.md" >"$folder/out" 2>&1 || {
    cat "$folder/out" >&2
    exit 1
  }
  number=$((number + 1))
}
side add 64x1024
side rmsnorm 64x1024 --dtype bf16
side softmax 64x1024 --dtype bf16
side rope 1x64x4x128 --dtype bf16
side cross_entropy 16x8192 --dtype bf16
side gemm 64x64x64 --dtype f32 --peer openblas
side gemm 128x128x128 --dtype bf16 --layout nt
side swiglu 128x64x128 --dtype bf16
side attention 1x1x1x64x64x64 --dtype bf16

# rows KIND: the lines of that table of all runs, under one head. Tables begin with "| case |", and their second column tells them.
rows() {
  awk -v kind="$1" '
    FNR == 1 { inside = 0 }
    !/^\|/ { inside = 0 }
    /^\| case \|/ { inside = $0 ~ kind; if (inside && headed++) { getline; next } }
    inside' "$folder"/?.md
}
{
  cat <<'TEXT'
## Both paths of one chip

`sh bench/record/sides.sh` made this part: each case by one command, such as

```
gfxsim exec --no-check all build-gfx942/bench/tandem-bench rmsnorm 64x1024 --dtype bf16 --device host,omp:0,hip:0
```

The OpenMP path (`omp:0`) and the HIP path (`hip:0`) ran on one simulated MI300X, as the code objects that a real one would get.
Instructions are those that waves executed; "memory" are vector and scalar accesses. "Clocks at least" is what the longest pipe needs
for the counted work on a CU that has work, with cold caches: a bound, not a time. The cases are small, so that a simulator runs each
in seconds: most of the 304 CUs have no work, and a kernel's start weighs more than in a large case.

TEXT
  printf 'The kernels are those of commit %s.\n\n' "$(git log -1 --format=%h -- include src offload hip)"
  rows 'clocks at least'
  printf '\nThe pipe bounds, in percent of the floor:\n\n'
  rows 'floor, clocks . pipes'
  printf '\nTimes of the host beside, which are not to be compared with clocks:\n\n'
  rows '10-90'
  printf '\n%s\n%s\n%s\n' '```' "$(sed -n '/^tandem .* on /,/^load average/p' "$folder/0.md")" '```'
} >"$folder/part"
if [ $print = yes ]; then cat "$folder/part"; else sh bench/record/put_part.sh sides sides.sh <"$folder/part"; fi
