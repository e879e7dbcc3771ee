#!/bin/sh
# Measures a whole model: of each input tiny-llama's four versions, PyTorch on the same weights and ids, and version 4 step by
# step; then generation. Writes the part NAME-llama of the pages in bench/results, and there of each input NAME-llama-INPUT.json,
# -torch.json, -profile.json and .svg.
# Use: sh bench/record/llama.sh BUILD DEVICE NAME MODEL INPUT...     as in: sh bench/record/llama.sh build host host /tmp/model 1x256
# MODEL: a folder; where it is not there, the preset benchmark is written to it. REPEATS (default 5), PYTHON (default python3, with
# PyTorch and Transformers) and RUNNER, a command that starts tiny-llama, in the environment.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 5 ] || {
  echo "llama.sh: needs BUILD DEVICE NAME MODEL INPUT..., as in: sh bench/record/llama.sh build host host /tmp/model 1x256" >&2
  exit 2
}
program=$1/examples/tiny-llama/tiny-llama device=$2 name=$3 model=$4
python=${PYTHON-python3} repeats=${REPEATS-5}
command="sh bench/record/llama.sh $*"
shift 4
[ -x "$program" ] || {
  echo "llama.sh: $program: not there: ninja -C BUILD" >&2
  exit 2
}
"$python" -c 'import torch, transformers' || {
  echo "llama.sh: $python has no PyTorch with Transformers: name one that has in PYTHON" >&2
  exit 2
}
[ -e "$model/config.json" ] || "$python" bench/peer/pytorch_llama.py --make "$model"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# shellcheck disable=SC2086 # RUNNER may be several words, or none
llama() { ${RUNNER-} "$program" --model "$model" --device "$device" "$@"; }

printf "\`REPEATS=%s %s\` made this part. Load average before it: %s.\n" "$repeats" "$command" "$(cut -d' ' -f1 /proc/loadavg)" \
  >"$folder/part"
for input; do
  results=bench/results/$name-llama-$input
  llama --input "$input" --compare --repeats "$repeats" --json "$results.json" --plot "$results.svg"
  llama --input "$input" --repeats 1 --logits "$folder/logits" >/dev/null
  "$python" bench/peer/pytorch_llama.py --model "$model" --input "$input" --device "$([ "$device" = host ] && echo cpu || echo cuda)" \
    --repeats "$repeats" --logits "$folder/logits" --json "$results-torch.json" --beside "$results.json" --markdown "$folder/table"
  rm "$folder/logits"
  {
    printf '\n### %s\n\n' "$input"
    cat "$folder/table"
    printf '\n![Versions](%s-llama-%s.svg)\n\nVersion 4, step by step, with a wait after each:\n\n```\n' "$name" "$input"
    llama --input "$input" --version 4 --profile --repeats "$repeats" --json "$results-profile.json"
    printf '```\n'
  } >"$folder/input"
  cat "$folder/input"
  cat "$folder/input" >>"$folder/part"
done
{
  printf '\n### Generation\n\n```\n'
  llama --ids 1,2,3,4,5,6,7,8 --generate 33
  printf '```\n'
} >>"$folder/part"
sh bench/record/put_part.sh "$name-llama" llama.sh <"$folder/part"
