#!/bin/sh
# Counts the kernels on simulated chips and writes bench/results/sim.json and the part sim of bench/results/counted.md.
# Use: sh bench/record/sim.sh [BUILD]            BUILD: default build; about 10 minutes on two cores
#      sh bench/record/sim.sh [BUILD] --huge     only results above 4 GiB, which need 6 GiB of memory; writes nothing
set -eu
cd "$(dirname "$0")/../.."
build=build huge=no
for argument; do
  case $argument in --huge) huge=yes ;; *) build=$argument ;; esac
done
bench=$build/bench/tandem-bench
[ -x "$bench" ] || {
  echo "sim.sh: $bench: not there: meson setup $build -Dtdm_backend=hip -Dsim=enabled && ninja -C $build" >&2
  exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ $huge = yes ]; then
  # C of 40960 x 32768 f32 is 5 GiB; the sample is spread over all of it, and what it wrote is checked.
  for k in 64 256; do
    "$bench" gemm 40960x32768x$k --dtype f32 --device sim:gfx950 --workgroups 64
    "$bench" gemm 40960x32768x$k --dtype bf16 --layout nt --set out=f32 --device sim:gfx950 --workgroups 64
  done
  exit 0
fi

# count NAME OP SHAPE OPTION...: on both chips.
count() {
  name=$1
  shift
  for chip in gfx950 gfx942; do
    echo "sim.sh: $name on $chip: tandem-bench $* --device sim:$chip" >&2
    "$bench" "$@" --device sim:$chip --json "$folder/$name.$chip.json" >"$folder/out" || {
      cat "$folder/out" >&2
      exit 1
    }
  done
}

# Goals of one kernel name it: the heuristic may take another one of these shapes, or several launches, which no sample can check.
count gemm gemm 8192x8192x8192 --dtype bf16 --layout nt --kernel hip_256x256:split=1 --workgroups 8
count gemm-whole gemm 2048x2048x2048 --dtype bf16 --layout nt --kernel hip_256x256:split=1
for d in 64 128; do
  count attention-$d-causal attention 1x16x4x2048x2048x$d --dtype bf16 --set causal=1
  count attention-$d-full attention 1x16x4x2048x2048x$d --dtype bf16
  # The plan takes hip_decode here: its workgroups alternate over the 4 heads of keys, and with them over the XCDs in either order
  count attention-$d-mapped attention 1x16x4x2048x2048x$d --dtype bf16 --kernel hip_flash$d
  count attention-$d-unmapped attention 1x16x4x2048x2048x$d --dtype bf16 --kernel hip_flash$d --xcds 1
done
count swiglu swiglu 4096x8192x4096 --dtype bf16 --layout nt --workgroups 8
count swiglu-whole swiglu 1024x2048x1024 --dtype bf16 --layout nt
count small-k gemm 32768x32768x64 --dtype f32 --workgroups 64
count small-k-whole gemm 4096x8192x64 --dtype f32
count rmsnorm rmsnorm 4096x4096 --dtype bf16
count rmsnorm-f32 rmsnorm 2048x4096 --dtype f32
count rmsnorm-residual rmsnorm 4096x4096 --dtype bf16 --set residual=1
count rope rope 2x1024x16x128 --dtype bf16
count softmax softmax 2048x4096 --dtype bf16
count embedding embedding 2048x32000x2048 --dtype bf16
count silu_mul silu_mul 2048x4096 --dtype bf16
count add add 2048x4096 --dtype bf16
count cross_entropy cross_entropy 512x32000 --dtype bf16
"$bench" order 2048x2048x2048 --window 8 --chunk 0 --chip gfx950 >"$folder/order.gfx950"
"$bench" order 2048x2048x2048 --window 8 --chunk 0 --chip gfx942 --tile 256x256x32 >"$folder/order.gfx942"
python3 bench/record/sim_table.py "$folder" bench/results/sim.json >"$folder/part"

sh bench/record/put_part.sh sim sim.sh <"$folder/part"
sed -n '/^| goal/,/^$/p' "$folder/part"
