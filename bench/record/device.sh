#!/bin/sh
# Checks and measures an offload build on a GPU, and writes the part NAME of the pages in bench/results, and its files there:
# NAME-check.txt, NAME.json, NAME.csv, NAME.svg, and where python3 has PyTorch, larger cases beside it in
# NAME-torch.json. About 6 minutes on an H200.
# Use: sh bench/record/device.sh BUILD DEVICE NAME [OPTION...]     as in: sh bench/record/device.sh build-sm_90 omp:0 h200
# OPTION: of tandem-bench, as in --repeats 20. RUNNER in the environment: a command that starts the programs. Exits 1 when a check
# fails or a measured result is wrong.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 3 ] || {
  echo "device.sh: needs BUILD DEVICE NAME, as in: sh bench/record/device.sh build-sm_90 omp:0 h200" >&2
  exit 2
}
build=$1 device=$2 name=$3
command="sh bench/record/device.sh $*"
results=bench/results/$name
shift 3
for tool in test/tandem-check bench/tandem-bench; do
  [ -x "$build/$tool" ] || {
    echo "device.sh: $build/$tool: not there: docs/building.md says how to build for a GPU" >&2
    exit 2
  }
done
mkdir -p bench/results
part=$(mktemp) check=$(mktemp) tables=$results-tables.md peer=$results-torch.md
trap 'rm -f "$part" "$check" "$tables" "$peer"' EXIT

# shellcheck disable=SC2086 # RUNNER may be several words, or none
${RUNNER-} "$build/test/tandem-check" --device "$device" >"$check" || {
  tail -n 20 "$check" >&2
  exit 1
}
sh bench/record/replace.sh "$results-check.txt" <"$check"
tail -n 1 "$results-check.txt"
picture="![Roofline]($name.svg)"
# shellcheck disable=SC2086
${RUNNER-} "$build/bench/tandem-bench" --device "$device" --json "$results.json" --csv "$results.csv" --plot "$results.svg" --markdown "$tables" "$@"

{
  printf "\`%s\` made this part.\n\n\`\`\`\n" "$command"
  cat "$results-check.txt"
  printf '```\n\n### Beside PyTorch\n\n'
  if python3 -c 'import torch' 2>/dev/null; then
    # shellcheck disable=SC2086
    python3 bench/peer/pytorch.py "$build/bench/tandem-bench" "$device" "$name" ${RUNNER-} >&2
    cat "$peer"
    printf '\nAll figures are in [%s-torch.json](%s-torch.json).\n' "$name" "$name"
  else
    echo "python3 had no PyTorch: nothing was measured beside it." | tee /dev/stderr
  fi
  printf "\n### The bench's own cases\n\n%s\n\n" "$picture"
  cat "$tables"
} >"$part"
sh bench/record/put_part.sh "$name" device.sh <"$part"
sed -n '/^| goal/,/^$/p' "$part"
