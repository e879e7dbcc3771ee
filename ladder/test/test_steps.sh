#!/bin/sh
# The ladders' own steps against f64, with every check of gfxsim on: shapes with tails, strides, addresses that wide loads can not
# take. Steps that are labelled wrong must fail where their files say so.
# Usage: test_steps.sh TANDEM-CHECK sim:CHIP
. "$(dirname "$0")/common.sh"

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
fails hip_step12_xcd_remap_broken 'c\[.*(never written)\|global memory race' $gemm 192x704x64
passes hip_step12_xcd_remap_broken $gemm 512x512x64

for step in 01_tiles 02_panel 03_register_tile 04_mfma; do
  passes hip_small_k_step$step gemm --dtype f32 --set pad=3 70x67x43
  passes hip_small_k_step$step gemm --dtype f32 --set shift=1 65x129x64
  passes hip_small_k_step$step gemm --dtype f32 3x5x0
done

for step in 01_naive 02_coalesced; do
  passes hip_step$step rmsnorm --set pad=3 67x333
  passes hip_step$step rmsnorm --set shift=1,fill=big 3x1025
done
for step in 03_wide_loads 04_registers; do
  passes hip_step$step rmsnorm --set pad=3 67x332
  passes hip_step$step rmsnorm --set shift=1,fill=big 3x4096
done

for step in 01_two_products 02_fused; do
  passes hip_step$step swiglu --dtype bf16 --layout nt --set pad=3 37x35x67
done
passes hip_step03_mfma swiglu --dtype bf16 --layout nt --set ldx=144,ldg=152,ldu=160,ldy=71 70x67x136
passes hip_step03_mfma swiglu --dtype bf16 --layout nt --set shift=1 66x70x72
passes hip_step03_mfma swiglu --dtype bf16 --layout nt 3x5x0

for step in 01_two_passes 02_online 03_key_tiles 05_skip_tiles; do
  passes hip_step$step attention --dtype bf16 --set causal=1,swap=1,pad=3 2x4x2x70x53x64
  passes hip_step$step attention --dtype bf16 --set causal=1,spare=5 1x2x2x33x129x64
  passes hip_step$step attention --dtype bf16 --set scale=3 1x2x1x65x40x64
done
fails hip_step04_double_scale 'o\[.*expected' attention --dtype bf16 --set causal=1 1x2x2x128x128x64
fails hip_step04_double_scale 'elements are wrong' attention --dtype bf16 1x1x1x64x16x64
