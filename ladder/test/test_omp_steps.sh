#!/bin/sh
# The OpenMP ladders' own steps against f64: shapes with tails and strides, each by three geometries of the launch.
# Usage: test_omp_steps.sh TANDEM-CHECK DEVICE
. "$(dirname "$0")/common.sh"

# everywhere STEP OP ARGS...: with the launch that the step asks for, by one thread, and by a number that divides nothing
everywhere() {
  passes "$@"
  passes "$@" --teams 1 --threads 1
  passes "$@" --teams 3 --threads 2
}

for step in 01_collapse 02_tiles 03_team_memory 04_register_tile 05_vector_loads 06_double_buffer; do
  everywhere omp_step$step gemm --dtype f32 --set lda=44,ldb=151,ldc=139 70x137x43
  everywhere omp_step$step gemm --dtype f32 64x128x32
  passes omp_step$step gemm --dtype f32 3x5x0
done

for step in 01_tiles 02_panel 03_register_tile; do
  everywhere omp_small_k_step$step gemm --dtype f32 --set lda=44,ldb=151,ldc=139 70x137x43
  passes omp_small_k_step$step gemm --dtype f32 64x128x64
  passes omp_small_k_step$step gemm --dtype f32 3x5x0
done

for step in 01_row_a_thread 02_row_a_team 03_vectors 04_registers; do
  everywhere omp_step$step rmsnorm --set pad=3 67x333
  passes omp_step$step rmsnorm --set shift=1,fill=big 3x4099
done

for step in 01_two_products 02_fused 03_register_tile; do
  everywhere omp_step$step swiglu --dtype f32 --set pad=3 67x131x37
  passes omp_step$step swiglu --dtype f32 64x128x32
  passes omp_step$step swiglu --dtype f32 3x5x0
done

for step in 01_two_passes 02_online 03_key_tiles 05_skip_tiles; do
  everywhere omp_step$step attention --dtype f32 --set causal=1,swap=1,pad=3 2x4x2x70x53x64
  passes omp_step$step attention --dtype f32 --set causal=1,spare=5 1x2x2x33x129x64
  passes omp_step$step attention --dtype f32 --set scale=3 1x2x1x65x40x64
done
fails omp_step04_double_scale 'o\[.*expected' attention --dtype f32 --set causal=1 1x2x2x128x128x64
fails omp_step04_double_scale 'elements are wrong' attention --dtype f32 1x1x1x64x16x64
