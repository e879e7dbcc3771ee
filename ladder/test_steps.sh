#!/bin/sh
# The ladders' own steps against f64, with every check of gfxsim on: shapes with tails, strides, addresses that wide loads can not
# take. Steps that are labelled wrong must fail where their files say so.
# Usage: test_steps.sh TANDEM-CHECK CHIP
set -eu
check=$1 device=sim:$2
complain() {
  echo "test_steps: $1"
  exit 1
}

# passes STEP OP ARGS...: each must run, and pass
passes() {
  kernel=$1
  shift
  "$check" "$@" --device "$device" --kernel "$kernel" >said 2>&1 || complain "$kernel on $device: $* must pass: $(tail -n 5 said)"
  grep -q "^kernel: $kernel," said || complain "$kernel on $device: $* was run by another kernel"
}
# fails STEP WORDS OP ARGS...
fails() {
  kernel=$1 words=$2
  shift 2
  ! "$check" "$@" --device "$device" --kernel "$kernel" >said 2>&1 || complain "$kernel on $device: $* must be caught"
  grep -q "$words" said || complain "$kernel on $device: $* must be caught by '$words': $(tail -n 5 said)"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

gemm="gemm --dtype bf16 --layout nt"
for step in 01_naive 02_coalesced 03_lds_tile 04_register_tile 05_mfma; do
  passes hip_step$step $gemm --set pad=3 70x37x43
  passes hip_step$step $gemm --set shift=1 33x66x129
  passes hip_step$step $gemm 3x5x0
done
for step in 06_wide_loads 07_swizzled_lds 08_double_buffer 09_straight_to_lds; do
  passes hip_step$step $gemm --set lda=144,ldb=152,ldc=71 70x67x136
  passes hip_step$step $gemm --set shift=1 130x66x64
  passes hip_step$step $gemm 65x129x328
  passes hip_step$step $gemm 3x5x0
done
fails hip_step12_xcd_remap_broken 'c\[.*(never written)' $gemm 192x704x64
passes hip_step12_xcd_remap_broken $gemm 512x512x64
