#!/bin/sh
# The OpenMP ladders' own steps against f64: shapes with tails and strides, each by three geometries of the launch.
# Usage: test_omp_steps.sh TANDEM-CHECK DEVICE
. "$(dirname "$0")/test_common.sh"

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
