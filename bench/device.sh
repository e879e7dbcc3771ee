#!/bin/sh
# Checks and measures an offload build on a GPU, and writes bench/results/NAME-check.txt, NAME.json, NAME.csv, NAME.md, NAME.svg (where
# gnuplot is found) and, where python3 has PyTorch, NAME-torch.json and NAME-torch.md: larger cases beside PyTorch.
# Use: sh bench/device.sh BUILD DEVICE NAME [OPTION...]     as in: sh bench/device.sh build-sm_90 omp:0 h200
# OPTION: of tandem-bench, as in --repeats 20. RUNNER in the environment: a command that starts the programs. Exits 1 when a check fails or a measured result is wrong.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 3 ] || {
  echo "device.sh: needs BUILD DEVICE NAME, as in: sh bench/device.sh build-sm_90 omp:0 h200" >&2
  exit 2
}
build=$1 device=$2 results=bench/results/$3
shift 3
for tool in test/tandem-check bench/tandem-bench; do
  [ -x "$build/$tool" ] || {
    echo "device.sh: $build/$tool: not there: docs/building.md says how to build for a GPU" >&2
    exit 2
  }
done
mkdir -p bench/results
# shellcheck disable=SC2086 # RUNNER may be several words, or none
${RUNNER-} "$build/test/tandem-check" --device "$device" >"$results-check.txt" || {
  tail -n 20 "$results-check.txt" >&2
  exit 1
}
tail -n 1 "$results-check.txt"
if command -v gnuplot >/dev/null; then
  set -- --plot "$results.svg" "$@"
fi
# shellcheck disable=SC2086
${RUNNER-} "$build/bench/tandem-bench" --device "$device" --json "$results.json" --csv "$results.csv" --markdown "$results.md" "$@"
if python3 -c 'import torch' 2>/dev/null; then
  # shellcheck disable=SC2086
  python3 bench/peer_torch.py "$build/bench/tandem-bench" "$device" "$(basename "$results")" ${RUNNER-}
else
  echo "device.sh: python3 has no PyTorch: nothing is measured beside it" >&2
fi
