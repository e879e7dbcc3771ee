#!/bin/sh
# Holds the HIP kernels against their goals by the clocks that gfxsim's model of time predicts: a table for each goal, with a
# share or a ratio for each case, and how many cases meet the goal. None of it is measured.
# Use: sh bench/record/goals.sh [BUILD [CHIP]]                        all goals; writes the part goals-CHIP of the pages in bench/results
#      sh bench/record/goals.sh BUILD CHIP GOAL [CASE ...]            prints one goal, of its own cases or of those that are named, as in
#                                                                     sh bench/record/goals.sh build gfx950 layouts 1000x3000x512
# BUILD: of HIP kernels and gfxsim; default build. CHIP: gfx942 or gfx950 (default).
# GOAL and CASE:
#   layouts           MxNxK         gemm bf16: nn, tn and tt take at most 5 % more clocks than nt
#   sizes             MxNxK         gemm bf16: at most 10 % more than with m, n and k rounded up to multiples of 128
#   between_dwords    MxNxK         gemm bf16, all arrays begin one element later: 0.7 of the aligned rate
#   odd_rows          MxNxK         gemm bf16, each row one element longer than its elements: 0.7 of the aligned rate
#   gemm_decode       MxNxK         gemm bf16: 0.7 of the rate of memory, which is B's bytes alone
#   attention_decode  BxHxGx1xKxD   attention bf16: 0.7 of the rate of memory, which is the bytes of keys and values alone
#   head_dims         D             attention bf16, prefill: 0.6 of the FLOP rate of head_dim 128
# The rate of memory is that of the fastest published memory-bound kernel, which the tables name. Goals of rows: rows.sh.
# A case takes 2 to 60 s of one core; as many run at once as there are cores. All goals of a chip take about 10 minutes of two cores.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build} chip=${2:-gfx950}
. bench/record/predict.sh
needs goals.sh "$build" "$chip"
if [ $# -gt 2 ]; then
  shift 2
  exec python3 bench/record/goals.py "$build" "$chip" "$@"
fi
write_part goals "$build" "$chip"
