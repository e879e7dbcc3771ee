#!/bin/sh
# Measures a whole model: tiny-llama's four versions, then PyTorch on the same weights and ids, and writes of each input
# bench/results/NAME-llama-INPUT.json, .svg (where gnuplot is found), -torch.json and the table of both, .md.
# Use: sh bench/llama.sh BUILD DEVICE NAME MODEL INPUT...     as in: sh bench/llama.sh build host host /tmp/model 1x256
# MODEL: a folder; where it is not there, the preset benchmark is written to it. REPEATS (default 5), PYTHON (default python3, with
# PyTorch and Transformers) and RUNNER, a command that starts tiny-llama, in the environment.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 5 ] || {
  echo "llama.sh: needs BUILD DEVICE NAME MODEL INPUT..., as in: sh bench/llama.sh build host host /tmp/model 1x256" >&2
  exit 2
}
llama=$1/examples/tiny-llama/tiny-llama device=$2 name=$3 model=$4
python=${PYTHON-python3} repeats=${REPEATS-5}
shift 4
[ -x "$llama" ] || {
  echo "llama.sh: $llama: not there: ninja -C BUILD" >&2
  exit 2
}
"$python" -c 'import torch, transformers' || {
  echo "llama.sh: $python has no PyTorch with Transformers: name one that has in PYTHON" >&2
  exit 2
}
[ -e "$model/config.json" ] || "$python" bench/peer_llama.py --make "$model"
logits=$(mktemp)
trap 'rm -f "$logits"' EXIT
for input in "$@"; do
  results=bench/results/$name-llama-$input
  set -- --json "$results.json"
  if command -v gnuplot >/dev/null; then
    set -- "$@" --plot "$results.svg"
  fi
  echo "load average before: $(cut -d' ' -f1 /proc/loadavg)"
  # shellcheck disable=SC2086 # RUNNER may be several words, or none
  ${RUNNER-} "$llama" --model "$model" --device "$device" --input "$input" --compare --repeats "$repeats" "$@"
  # shellcheck disable=SC2086
  ${RUNNER-} "$llama" --model "$model" --device "$device" --input "$input" --repeats 1 --logits "$logits" >/dev/null
  "$python" bench/peer_llama.py --model "$model" --input "$input" --device "$([ "$device" = host ] && echo cpu || echo cuda)" \
    --repeats "$repeats" --logits "$logits" --json "$results-torch.json" --beside "$results.json" --markdown "$results.md"
  cat "$results.md"
done
