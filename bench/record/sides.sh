#!/bin/sh
# How many times faster the HIP path is than the OpenMP path, op by op, both on one simulated MI300X: by counts, and by the clocks that
# gfxsim's model of time predicts. Writes the part sides of the pages in bench/results, and sides-gfx942.json there.
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

# side OP SHAPE OPTION...: the same case on both paths
number=10
side() {
  number=$((number + 1))
  echo "sides.sh: gfxsim exec --no-check all tandem-bench $* --device omp:0,hip:0 --time" >&2
  "$gfxsim" exec --no-check all "$bench" "$@" --device omp:0,hip:0 --time --json "$folder/$number.json" --markdown "$folder/$number.md" \
    >"$folder/out" 2>&1 || {
    cat "$folder/out" >&2
    exit 1
  }
}
# A short case and a longer one of each op
side add 64x1024
side add 1024x2048 --dtype bf16
side embedding 64x256x1024 --dtype bf16
side embedding 512x1024x4096 --dtype bf16
side silu_mul 64x1024 --dtype bf16
side silu_mul 512x4096 --dtype bf16
side rmsnorm 64x1024 --dtype bf16
side rmsnorm 512x4096 --dtype bf16
side softmax 64x1024 --dtype bf16
side softmax 512x4096 --dtype bf16
side rope 1x64x4x128 --dtype bf16
side rope 1x256x32x128 --dtype bf16
side cross_entropy 16x8192 --dtype bf16
side cross_entropy 304x32000 --dtype bf16
side gemm 64x64x64 --dtype f32
side gemm 256x256x256 --dtype f32
side gemm 128x128x128 --dtype bf16 --layout nt
side gemm 1024x1024x512 --dtype bf16 --layout nt
side swiglu 128x64x128 --dtype bf16
side swiglu 512x1024x512 --dtype bf16
side attention 1x1x1x64x64x64 --dtype bf16
side attention 1x8x8x512x512x128 --dtype bf16

# rows KIND: the lines of that table of all runs, under one head. Tables begin with "| case |", and another column tells them.
rows() {
  awk -v kind="$1" '
    FNR == 1 { inside = 0 }
    !/^\|/ { inside = 0 }
    /^\| case \|/ { inside = $0 ~ kind; if (inside && headed++) { getline; next } }
    inside' "$folder"/??.md
}
results=bench/results/sides-gfx942.json
[ $print = no ] || results=$folder/sides.json
{
  cat <<'TEXT'
## Both paths of one chip

`sh bench/record/sides.sh` made this part: each case by one command, such as

```
gfxsim exec --no-check all build-gfx942/bench/tandem-bench rmsnorm 64x1024 --dtype bf16 --device omp:0,hip:0 --time
```

The OpenMP path (`omp:0`) and the HIP path (`hip:0`) ran on one simulated MI300X, as the code objects that a real one would get, and their
results were checked. "Times fewer clocks at least" compares what the longest pipe needs for the counted work on a CU that has work:
bounds, not times. "Times faster, predicted" compares the clocks of gfxsim's [model of time](../../docs/gfxsim-time.md), with 4000 clocks for each launch
and cold caches. The short cases leave most of the 304 CUs without work: there a launch and waits for memory are most of the clocks.

TEXT
  printf 'The kernels are those of commit %s.\n\n' "$(git log -1 --format=%h -- include src offload hip)"
  python3 bench/record/sides.py "$results" "$folder"/??.json
  printf '\nAll figures are in [sides-gfx942.json](sides-gfx942.json). What the waves executed, and the bounds:\n\n'
  rows 'clocks at least'
} >"$folder/part"
if [ $print = yes ]; then cat "$folder/part"; else sh bench/record/put_part.sh sides sides.sh <"$folder/part"; fi
