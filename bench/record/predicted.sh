#!/bin/sh
# Prints the predicted figures of docs/order.md, docs/gemm.md, docs/attention.md and bench/results/predicted.md, as rows of their tables. All are
# predictions of gfxsim's model of time; none is measured.
# Use: sh bench/record/predicted.sh [BUILD] order             three orders of tiles; BUILD: default build; a minute of one core
#      sh bench/record/predicted.sh [BUILD] own               gemm and attention of this library; eight minutes of one core
#      sh bench/record/predicted.sh [BUILD] others CHECKOUTS  AITER's assembly, of the user's checkout CHECKOUTS/ROCm/aiter; as long
#      sh bench/record/predicted.sh [BUILD] long CHECKOUTS S...  attention of S queries and keys, ours and AITER's, on an eighth of
#                                                          the chip; S = 16384: two minutes of one core, and less in proportion
set -eu
cd "$(dirname "$0")/../.."
build=build
case ${1-} in order | own | others | long) ;; *)
  build=${1-}
  shift || true
  ;;
esac
what=${1-} checkouts=${2-}
bench=$build/bench/tandem-bench gfxsim=$build/sim/gfxsim
complain() {
  echo "predicted.sh: $1" >&2
  exit 2
}
case $what in
  order | own) ;;
  others | long) [ -d "$checkouts/ROCm/aiter" ] || complain "CHECKOUTS = '$checkouts': must have a checkout of ROCm/aiter" ;;
  *) complain "'$what': must be order, own, others CHECKOUTS or long CHECKOUTS S..." ;;
esac
if [ ! -x "$bench" ] || [ ! -x "$gfxsim" ]; then complain "$build: must be a build with HIP kernels and gfxsim"; fi
chip=gfx950
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# row NAME FLOP JSON: clocks, the hot loop's and the launch's share, GHz and TFLOPS. The JSON is of gfxsim time, or of tandem-bench.
row() {
  python3 - "$@" <<'PYTHON'
import json, sys

name, flop, path = sys.argv[1:]
time = json.load(open(path))
if "rows" in time:
    [time] = [launch["time"] for launch in time["rows"][0]["launches"]]
loop = time["loop"]["mfma_share"] if time["loop"] else 0
print(f"| {name} | {time['clocks']} | {100 * loop:.1f} % | {100 * time['mfma_share']:.1f} % | {time['frequency_ghz']:.2f} | {float(flop) / time['microseconds'] / 1e6:.0f} |")
PYTHON
}

# own NAME FLOP OP SHAPE OPTION...: a product or an attention of this library
own() {
  name=$1 flop=$2
  shift 2
  "$bench" "$@" --device "sim:$chip" --workgroups "${workgroups:-8}" --check-time 0.001 --time --json "$folder/own.json" >"$folder/out" || {
    cat "$folder/out" >&2
    exit 1
  }
  row "$name" "$flop" "$folder/own.json"
}

# other NAME FLOP FILE OPTION... -- ARGUMENT...: a kernel of a checkout
other() {
  name=$1 flop=$2 file=$3
  shift 3
  options='' arguments=''
  while [ "$1" != -- ]; do
    options="$options $1"
    shift
  done
  shift
  for argument; do arguments="$arguments --arg $argument"; done
  # shellcheck disable=SC2086 # words
  "$gfxsim" time "$checkouts/ROCm/aiter/hsa/gfx950/$file" --chip "$chip" $options --skip-mfma --json "$folder/other.json" $arguments
  row "$name" "$flop" "$folder/other.json"
}

case $what in
  order)
    for order in 1:1 5:25 7:216; do
      window=${order%:*} chunk=${order#*:}
      own "window $window, chunk $chunk" 391378894848 gemm 9216x9216x2304 --dtype bf16 --layout nt --kernel "hip_256x256:window=$window:chunk=$chunk"
    done
    ;;
  own)
    own "this library's, f16" 274877906944 gemm 4096x4096x8192 --dtype f16 --layout nt --kernel hip_256x256
    for head in 128 96 80 64; do
      own "this library's, head_dim $head" $((4294967296 * head)) attention 16x64x8x1024x1024x$head --dtype bf16 --warm --rounds 1
    done
    ;;
  others)
    other "AITER's assembly, bf16" 274877906944 bf16gemm/bf16gemm_bf16_tn_256x256.co --kernel _ZN5aiter24bf16gemm_bf16_tn_256x256E \
      --grid 16,16 --block 256 \
      -- D=zeros:33554432 A=random:bf16:4096x8192 B=random:bf16:4096x8192 alpha=1.0 beta=0.0 strideA0=16384 strideB0=16384 \
      strideC0=8192 strideD0=8192 Mdim=4096 Ndim=4096 Kdim=8192 splitk=1 is_out_b16=1
    other "AITER's assembly" 549755813888 fmha_v3_fwd/fwd_hd128_bf16.co --kernel _ZN5aiter19fmha_fwd_hd128_bf16E --grid 4,64,16 \
      --block 512 --warm --rounds 1 \
      -- R=zeros:268435456 Q=random:bf16:134217728 K=random:bf16:16777216 V=random:bf16:16777216 LSE=zeros:4194304 scalar=0.08838834764 \
      seq_len=1024 Seqs=16384 Ts=4194304 Hs=256 Bs=16777216 gqa=8 k_Seqs=2048 k_Hs=256 k_Bs=2097152 msk_opt=0 lse=1 kv_seq_len=1024 \
      qk_head_dim=128 v_head_dim=128 q_head_num=64 v_Seqs=2048 v_Hs=256 v_Bs=2097152 r_Seqs=16384 r_Hs=256 r_Bs=16777216 lse_Hs=4096
    ;;
  long)
    # 8 heads on 1, on one XCD of 8 with its share of the memory: what each XCD has of 64 heads on 8. Rounds of 32 workgroups are
    # executed, one of a full launch, and of a causal one two, which are drawn from all of it; the others are taken to be as long.
    # With S = 1024 and 4 batches this chip takes 184,470 clocks for 4x8x1, where the whole chip takes 184,211 for 4x64x8. TFLOPS are those of 8 XCDs.
    workgroups=1 chip=gfx950,xcds=1,hbm_gbs=1000
    shift 2
    [ $# -gt 0 ] || complain "S: must be given, as in: long CHECKOUTS 16384"
    for s; do
      case $s in '' | *[!0-9]* | 0*) complain "S = '$s': must be a positive number" ;; esac
      [ $((s % 512)) -eq 0 ] || complain "S = $s: must be a multiple of 512, for AITER's grid"
      given="R=zeros:$((s * 2048)) Q=random:bf16:$((s * 1024)) K=random:bf16:$((s * 128)) V=random:bf16:$((s * 128)) \
        LSE=zeros:$((s * 32)) scalar=0.08838834764 seq_len=$s Seqs=2048 Ts=524288 Hs=256 Bs=$((s * 2048)) gqa=8 k_Seqs=256 k_Hs=256 \
        k_Bs=$((s * 256)) lse=1 kv_seq_len=$s qk_head_dim=128 v_head_dim=128 q_head_num=8 v_Seqs=256 v_Hs=256 v_Bs=$((s * 256)) \
        r_Seqs=2048 r_Hs=256 r_Bs=$((s * 2048)) lse_Hs=$((s * 4))"
      for head in 128 64; do
        own "this library's, S = $s, head_dim $head, full" $((256 * s * s * head)) attention "1x8x1x${s}x${s}x$head" --dtype bf16 \
          --warm --rounds 1
        own "this library's, S = $s, head_dim $head, causal" $((128 * s * s * head)) attention "1x8x1x${s}x${s}x$head" --dtype bf16 \
          --set causal=1 --warm --rounds 2
        [ $head -eq 128 ] || continue
        # shellcheck disable=SC2086 # words
        other "AITER's assembly, S = $s, head_dim 128, full" $((256 * s * s * 128)) fmha_v3_fwd/fwd_hd128_bf16.co \
          --kernel _ZN5aiter19fmha_fwd_hd128_bf16E --grid $((s / 256)),8,1 --block 512 --warm --rounds 1 -- $given msk_opt=0
        # shellcheck disable=SC2086 # words
        other "AITER's assembly, S = $s, head_dim 128, causal" $((128 * s * s * 128)) fmha_v3_fwd/fwd_hd128_bf16_causal.co \
          --kernel _ZN5aiter26fmha_fwd_hd128_bf16_causalE --grid $((s / 512)),8,1 --block 512 --warm --rounds 1 --spread \
          -- $given msk_opt=5
      done
    done
    ;;
esac
