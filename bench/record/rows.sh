#!/bin/sh
# Prints how near the HIP kernels of rows and elements come to the rate of the fastest published memory-bound kernel, by
# gfxsim's model of time. The goal is 0.9 of that rate. All of it is predicted.
# Use: sh bench/record/rows.sh [BUILD [CHIP]]       all ops; writes the part rows-CHIP of the pages in bench/results
#      sh bench/record/rows.sh BUILD CHIP OP[,OP...] [TYPE[,TYPE...] [LENGTH[,LENGTH...]]]
#                                                   prints these, as in sh bench/record/rows.sh build gfx950 softmax,rope bf16 64,1000
# BUILD: of HIP kernels and gfxsim; default build. CHIP: gfx942 or gfx950 (default). TYPE: default bf16. LENGTH: default
# 64, 256, 1000, 1024, 4096, 8192, 16384, 32000, 50257 and 131072.
# OP may also be rope_half: pairs half a head apart. A head of rope has an even number of elements, at most 1024;
# other lengths are left out.
# A figure takes 2 to 20 s of one core; as many run at once as there are cores. All of a chip take about 15 minutes of two cores.
#
# One XCD with its share of HBM is simulated, at the published rate: a share below 1 is the kernel's, not the model's HBM. Two
# launches are predicted, of about 16 MiB and of twice as many rows, from cold caches, of the kernel that the large one takes:
# rows.py names hip_loop where the short ones alone would split rows (hip_parts). The table's clocks are of a launch of 1 GiB on
# the whole chip, to which their difference is continued. Where 16 MiB have fewer than 16 rows for each compute unit, more
# work-items would share each row than in the large launch, so an XCD's share of that launch is predicted instead. What is left in
# the L2 at the end takes no time of HBM, 4 MiB at most in both launches. Shares vary with the number of rows, most where the last
# round of rows is nearly empty, and may be above 1.
# "VALU's share": what the VALUs need of the clocks of the bytes.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build} chip=${2:-gfx950}
. bench/record/predict.sh
needs rows.sh "$build" "$chip"
if [ $# -gt 2 ]; then
  exec python3 bench/record/rows.py "$build" "$chip" "$3" "${4:-bf16}" "${5:-64,256,1000,1024,4096,8192,16384,32000,50257,131072}"
fi
write_part rows "$build" "$chip"
