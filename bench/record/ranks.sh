#!/bin/sh
# Measures the shape of an 8 B Llama on N GPUs: tiny-llama --ranks and Hugging Face's Llama by its own tensor-parallel plan, in turns.
# With N = 1 also the work of one rank of 2, 4 and 8 alone, from which docs/scale.md predicts. With N above 1 also the curve of exchanges.
# Writes bench/results/NAME-ranks-N.json, and prints its lines.
# Use: sh bench/record/ranks.sh BUILD DEVICE NAME N     as in: sh bench/record/ranks.sh build-sm_90 omp:0 h200 1
# In the environment: ROUNDS (default 2), PYTHON (default python3, with PyTorch and Transformers; N above 1: torchrun and accelerate
# too), RUNNER, a command that starts tiny-llama, and SHAPE (default 8b; small: another device's trial, with the preset tiny).
set -eu
cd "$(dirname "$0")/../.."
[ $# = 4 ] || {
  echo "ranks.sh: needs BUILD DEVICE NAME N, as in: sh bench/record/ranks.sh build-sm_90 omp:0 h200 1" >&2
  exit 2
}
program=$1/examples/tiny-llama/tiny-llama device=$2 name=$3 out=bench/results/$3-ranks-$4.json count=$4
python=${PYTHON-python3} shape=${SHAPE-8b}
case $shape in
  8b) preset=8b dtype=bf16 prefill='1x8192 4x2048' decode='1x1024 32x1024' ;;
  small) preset=tiny dtype=f32 prefill='1x64 2x32' decode='1x32 4x32' ;;
  *) echo "ranks.sh: SHAPE = $shape: must be 8b or small" >&2 && exit 2 ;;
esac
case $count in '' | 0 | *[!0-9]*) echo "ranks.sh: N = $count: must be a number of GPUs" >&2 && exit 2 ;; esac
[ -x "$program" ] || {
  echo "ranks.sh: $program: not there: ninja -C BUILD" >&2
  exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

row() { # BY RANKS WHAT INPUT MS TOKENS: a line of JSON
  awk -v by="$1" -v ranks="$2" -v what="$3" -v input="$4" -v ms="$5" -v tokens="$6" 'BEGIN {
    if (ms !~ /^[0-9.]+$/) exit 1
    printf "{\"by\": \"%s\", \"ranks\": %d, \"what\": \"%s\", \"input\": \"%s\", \"ms\": %s, \"tokens_per_second\": %.1f}\n",
      by, ranks, what, input, ms, 1e3 * tokens / ms}' | tee -a "$folder/rows"
}
llama() { # OPTION...: its output is in $folder/said
  # shellcheck disable=SC2086 # RUNNER and start may be several words, or none
  ${RUNNER-} $start "$program" --device "$device" --preset $preset --dtype $dtype $ranks "$@" >"$folder/said" || {
    cat "$folder/said"
    return 1
  }
}
ours() { # BY RANKS
  for input in $prefill; do
    llama --input "$input" --repeats 5
    row "$1" "$2" prefill "$input" "$(sed -n 's/^time  *\([0-9.]*\) ms a pass.*/\1/p' "$folder/said")" \
      "$(echo "$input" | awk -F x '{print $1 * $2}')"
  done
  for input in $decode; do
    llama --input "$input" --generate 17
    row "$1" "$2" decode "$input" "$(sed -n 's/^decode .* tokens\/s, \([0-9.]*\) ms a pass.*/\1/p' "$folder/said")" "${input%x*}"
  done
}
theirs() {
  # shellcheck disable=SC2046,SC2086 # words
  set -- bench/peer/pytorch_ranks.py --shape $shape --dtype $dtype --context "${decode##*x}" --prefill $prefill --decode \
    $(for input in $decode; do echo "${input%x*}"; done)
  if [ "$count" = 1 ]; then
    "$python" "$@" >"$folder/said"
  else
    [ -d "$folder/model" ] || "$python" bench/peer/pytorch_ranks.py --shape "$shape" --dtype "$dtype" --make "$folder/model"
    "$python" -m torch.distributed.run --nproc-per-node "$count" "$@" --model "$folder/model" >"$folder/said"
  fi
  sed -n "s/^{/{\"by\": \"PyTorch\", \"ranks\": $count, /p" "$folder/said" | tee -a "$folder/rows"
}

ranks='' start=''
[ "$count" = 1 ] || ranks="--ranks tp=$count" start="mpirun -n $count --bind-to none"
if [ "$count" != 1 ]; then
  llama --curve
  tee "${out%.json}-curve.txt" <"$folder/said"
fi
round=0
while [ $round -lt "${ROUNDS-2}" ]; do
  ours tandem "$count"
  theirs
  round=$((round + 1))
done
if [ "$count" = 1 ]; then
  for others in 2 4 8; do
    [ "$shape" = 8b ] || [ $others -lt 8 ] || continue # the preset tiny has 4 heads
    ranks="--ranks alone=$others"
    ours 'tandem, one rank alone' $others
  done
fi
{
  printf '{"command": "ROUNDS=%s sh bench/record/ranks.sh BUILD %s %s %s", "rows": [\n' "${ROUNDS-2}" "$device" "$name" "$count"
  sed '$!s/$/,/' "$folder/rows"
  printf ']}\n'
} | sh bench/record/replace.sh "$out"
