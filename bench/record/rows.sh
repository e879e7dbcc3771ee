#!/bin/sh
# Prints how near the HIP kernels of rows and elements come to the rate of the fastest published memory-bound kernel, by
# gfxsim's model of time: a table for each chip, which names that rate and its source. All of it is predicted.
# Use: sh bench/record/rows.sh [BUILD [CHIP[,CHIP] [OP[,OP...] [TYPE[,TYPE...] [LENGTH[,LENGTH...]]]]]]
#      as in: sh bench/record/rows.sh build gfx950 softmax,rope bf16 64,1000,4096
# OP may also be rope_half: pairs half a head apart.
# BUILD: default build, of HIP kernels and gfxsim. A row of the table takes 2 to 20 s of one core; all of them take 2 hours.
#
# One XCD with its share of HBM is simulated, at the published rate: a share below 1 is the kernel's, not the model's HBM. Two
# launches are predicted, of about 16 MiB and of twice as many rows, from cold caches, of the kernel that the large one takes:
# rows.py names hip_loop where the short ones alone would split rows (hip_parts). The table's clocks are of a launch of 1 GiB on
# the whole chip, to which their difference is continued. Where 16 MiB have fewer than 16 rows for each compute unit, more
# work-items would share each row than in the large launch, so an XCD's share of that launch is predicted instead. What is left in
# the L2 at the end takes no time of HBM, 4 MiB at most in both launches. Shares vary with the number of rows, most where the last round of rows is nearly empty, and may be above 1.
# "VALU's share": what the VALUs need of the clocks of the bytes.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build} chips=${2:-gfx950,gfx942} ops=${3:-cross_entropy,softmax,rmsnorm,rope,embedding,silu_mul,add}
types=${4:-f32,f16,bf16} lengths=${5:-64,256,1000,1024,4096,8192,16384,32000,50257,131072}
for program in "$build/bench/tandem-bench" "$build/sim/gfxsim"; do
  [ -x "$program" ] || {
    echo "rows.sh: $program: not there: meson setup $build -Dtdm_backend=hip -Dsim=enabled && ninja -C $build" >&2
    exit 2
  }
done
for chip in $(echo "$chips" | tr , ' '); do
  case $chip in gfx942 | gfx950) ;; *)
    echo "rows.sh: CHIP = '$chip': must be gfx942 or gfx950" >&2
    exit 2
    ;;
  esac
  python3 bench/record/rows.py "$build" "$chip" "$ops" "$types" "$lengths"
  echo
done
