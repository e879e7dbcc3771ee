#!/bin/sh
# Draws the pictures of the guide. Use: sh docs/pictures/make.sh TANDEM-DRAW FOLDER
#      sh docs/pictures/make.sh --results TANDEM-DRAW FOLDER: those of recorded figures, FOLDER/*.svg, from bench/results/*.json
#      sh docs/pictures/make.sh --count TANDEM-BENCH: counts the cases of the roofline anew, into docs/pictures/roofline-*.json
set -eu
here=$(dirname "$0")
draw() { # FILE COMMAND...: a picture that fails leaves the old one
  file=$1
  shift
  "$@" >"$file.$$.tandem-tmp" && mv -f "$file.$$.tandem-tmp" "$file" && return
  rm -f "$file.$$.tandem-tmp"
  exit 1
}
if [ "$1" = --count ]; then
  count() { # NAME ARGUMENTS...
    json=$here/roofline-$1.json
    shift
    "$bench" "$@" --dtype bf16 --device sim:gfx950 --json "$json"
  }
  bench=$2
  count add add 512x4096
  count rmsnorm rmsnorm 512x4096
  count softmax softmax 512x4096
  count gemm-64 gemm 1024x1024x64 --layout nt
  count gemm-1024 gemm 1024x1024x1024 --layout nt
  count gemm-2048 gemm 2048x2048x2048 --layout nt
  count attention attention 1x8x2x1024x1024x128
  exit
fi
if [ "$1" = --results ]; then
  results=$here/../../bench/results
  draw "$3/host.svg" "$2" roofline "$results/host.json"
  draw "$3/h200.svg" "$2" roofline '--name=omp:0=NVIDIA H200' "$results/h200.json"
  # demo.json: tandem-bench --brief --device sim:gfx950 --json demo.json, without the counters of each launch.
  draw "$3/demo.svg" "$2" roofline "$results/host.json" "$results/demo.json"
  for run in "$results"/*-llama-*-profile.json; do
    run=$(basename "$run" -profile.json)
    draw "$3/$run.svg" "$2" llama '--name=omp:0=NVIDIA H200' "$results/$run.json"
  done
  exit
fi
for picture in $("$1" --help | sed -n 's/^  \([a-z0-9-]*\)  .*/\1/p'); do
  draw "$2/$picture.svg" "$1" "$picture"
done
draw "$2/roofline.svg" "$1" roofline "$here"/roofline-*.json
