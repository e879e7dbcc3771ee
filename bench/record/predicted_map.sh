#!/bin/sh
# Predicts the clocks of drawn cases on a simulated chip, and writes the part NAME of the pages in bench/results, and NAME.json there: ideal
# over predicted clocks, or with --all-kernels how often the chosen kernel is the best. All of it is predicted. A run that was
# stopped goes on where it was; remove the JSON file to predict all of it anew.
# Use: sh bench/record/predicted_map.sh BUILD CHIP NAME SEED COUNT [OPTION...]
#      as in: sh bench/record/predicted_map.sh build gfx950 predicted-gfx950 21 40 --predict-time 15 --most-bytes 3000000000
# OPTION: of tandem-bench. In the environment: SHAPES, a file in place of SEED and COUNT, which are then not read; BEFORE, the JSON of an
# earlier run, whose figures stand beside. Exits 1 when a case failed, or the chosen kernels miss their goal.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 5 ] || {
  echo "predicted_map.sh: needs BUILD CHIP NAME SEED COUNT, as in: sh bench/record/predicted_map.sh build gfx950 predicted-gfx950 21 40" >&2
  exit 2
}
bench=$1/bench/tandem-bench chip=$2 name=$3 seed=$4 count=$5
command="${BEFORE:+BEFORE=$BEFORE }sh bench/record/predicted_map.sh $*"
results=bench/results/$name.json
shift 5
[ -x "$bench" ] || {
  echo "predicted_map.sh: $bench: not there: meson setup BUILD -Dtdm_backend=hip -Dsim=enabled && ninja -C BUILD" >&2
  exit 2
}
mkdir -p bench/results
folder=$(mktemp -d) failed=0
trap 'rm -rf "$folder"' EXIT
shapes=${SHAPES-$folder/shapes.txt}
[ "${SHAPES-}" != '' ] || "$bench" shapes --seed "$seed" --count "$count" --out "$shapes"
"$bench" --shapes "$shapes" --device "sim:$chip" --json "$results" "$@" >"$folder/log" || failed=$?
case $failed in 0 | 1) ;; *)
  cat "$folder/log" >&2
  exit $failed
  ;;
esac
grep ' cases* of ' "$folder/log" | tail -n 1
"$bench" score "$results" ${BEFORE:+--before "$BEFORE"} --markdown "$folder/tables" >/dev/null || failed=$?
{
  # shellcheck disable=SC2016 # Markdown
  printf '`%s` made this part.\n\n' "$command"
  sed '1,/^$/d' "$folder/tables"
  printf '\nAll figures are in [%s](%s).\n' "$name.json" "$name.json"
} >"$folder/part"
sh bench/record/put_part.sh "$name" predicted_map.sh <"$folder/part"
exit $failed
