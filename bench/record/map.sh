#!/bin/sh
# Measures the map of real shapes beside PyTorch, and writes the part NAME-map of the pages in bench/results, and there NAME-map.json
# and the heat map NAME-map.svg. A run that was stopped goes on where it was; remove NAME-map.json to measure all of it anew.
# Use: sh bench/record/map.sh BUILD DEVICE NAME [OPTION...]     as in: sh bench/record/map.sh build-sm_90 omp:0 h200
# OPTION: of tandem-bench, as in --most-flop 1000000000. SHAPES (default bench/shapes/map.txt), BEFORE (the
# FILE.json of an earlier run, whose figures stand beside), PYTHON (default python3, with PyTorch) and RUNNER, a command that starts
# tandem-bench, in the environment. Exits 1 when a case failed, or PyTorch's results differ.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 3 ] || {
  echo "map.sh: needs BUILD DEVICE NAME, as in: sh bench/record/map.sh build-sm_90 omp:0 h200" >&2
  exit 2
}
bench=$1/bench/tandem-bench device=$2 name=$3
python=${PYTHON-python3} shapes=${SHAPES-bench/shapes/map.txt}
command="sh bench/record/map.sh $*"
results=bench/results/$name-map
shift 3
[ -x "$bench" ] || {
  echo "map.sh: $bench: not there: docs/building.md says how to build for a GPU" >&2
  exit 2
}
"$python" -c 'import torch' || {
  echo "map.sh: $python has no PyTorch: name one that has in PYTHON" >&2
  exit 2
}
mkdir -p bench/results
tables=$(mktemp) part=$(mktemp) failed=0
trap 'rm -f "$tables" "$part"' EXIT

# shellcheck disable=SC2086 # RUNNER may be several words, or none
"$python" bench/peer/peer_torch.py ${RUNNER-} "$bench" --shapes "$shapes" --device "$device" --json "$results.json" "$@" || failed=$?
[ $failed -le 1 ] || exit $failed
# Its tables, without the command in front of them.
"$bench" score "$results.json" ${BEFORE:+--before "$BEFORE"} --svg "$results.svg" --markdown "$tables" || failed=$?
{
  printf "\`%s\` made this part of the %s cases of [%s](%s).\n\n" "$command" "$(grep -c '^[^#]' "$shapes")" "${shapes##*/}" "../../$shapes"
  printf '![Speed beside PyTorch, case by case](%s-map.svg)\n\n' "$name"
  sed '1,/^$/d' "$tables"
  printf '\nAll figures are in [%s-map.json](%s-map.json).\n' "$name" "$name"
} >"$part"
sh bench/record/put_part.sh "$name-map" map.sh <"$part"
exit $failed
