#!/bin/sh
# Which of two launches is predicted to be ahead, and is it still when any fitted number of the model is another one?
# Use: sh sim/ahead.sh [OPTION...] 'COMMAND A' 'COMMAND B'     docs/gfxsim-time.md, "Which is ahead"
#   COMMAND          of one prediction, without --model and --json, which it gets: gfxsim time ..., or
#                    tandem-bench OP SHAPE --device sim:CHIP --time ...
#   --by PERCENT     how far each fitted number moves, up and down (default 20)
#   --error PERCENT  "ahead" needs more than this (default: the median error of clocks on set P)
#   --figure F       clocks, or microseconds, which has the model of frequency too (default clocks)
#   --build DIR      the build with sim/gfxsim (default build)
#   --jobs N         predictions at once (default 1)
# Prints a row for the model itself and for each moved number.
# Exit status: 0 the same launch is ahead in all of them, 1 none is, 2 for bad usage or a command that fails.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
by=20 error='' figure=clocks build=$root/build jobs=1 first='' second=''

refuse() {
  echo "ahead: $*" >&2
  exit 2
}
number() { case $2 in '' | . | *[!0-9.]* | *.*.*) refuse "$1 $2: must be a number" ;; esac }
while [ $# -gt 0 ]; do
  case $1 in
    --by | --error | --figure | --build | --jobs)
      [ $# -gt 1 ] || refuse "$1: has no value"
      case $1 in
        --by)
          number --by "$2"
          by=$2 ;;
        --error)
          number --error "$2"
          error=$2 ;;
        --figure)
          case $2 in clocks | microseconds) ;; *) refuse "--figure $2: must be clocks or microseconds" ;; esac
          figure=$2 ;;
        --build) build=$2 ;;
        --jobs)
          case $2 in '' | 0 | *[!0-9]*) refuse "--jobs $2: must be a positive number" ;; esac
          jobs=$2 ;;
      esac
      shift ;;
    -*) refuse "$1: no such option; see the head of sim/ahead.sh" ;;
    *)
      if [ -z "$first" ]; then first=$1; elif [ -z "$second" ]; then second=$1; else refuse "$1: a third command"; fi ;;
  esac
  shift
done
[ -n "$second" ] || refuse "needs two commands: 'COMMAND A' 'COMMAND B'"
[ -x "$build/sim/gfxsim" ] || refuse "--build $build: has no sim/gfxsim: build it first"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# ---- By the model itself ----

predict() { # NAME COMMAND [MODEL]
  command=$2
  [ $# -lt 3 ] || command="$command --model $3"
  sh -c "$command --json $work/$1.json" >"$work/$1.out" 2>&1 || {
    echo "ahead: $command: fails:" >&2
    tail -n 3 "$work/$1.out" >&2
    : >"$work/failed"
  }
}
mkdir "$work/model"
predict model/a "$first"
[ -e "$work/failed" ] || predict model/b "$second"
[ ! -e "$work/failed" ] || exit 2

# ---- The numbers: clocks and entries of queues stay whole, and move by no less than was asked ----

"$build/sim/gfxsim" time --parameters >"$work/parameters" || refuse "$build/sim/gfxsim time --parameters fails"
chip=$(sed -n 's/^ *"chip": "\([a-z0-9]*\)".*/\1/p' "$work/model/a.json" | head -n 1)
column=$(awk -v chip="$chip" 'NR == 1 { for (f = 1; f <= NF; f++) if ($f == chip) print f }' "$work/parameters")
[ -n "$column" ] || refuse "a command writes no chip of a prediction: tandem-bench needs --time"
awk -v column="$column" -v by="$by" '
  function up(x) { return x == int(x) ? x : int(x) + 1 }
  { fitted = index($0, " fitted "); sourced = index($0, " source ") } # the kind comes before words of the source
  NR > 1 && fitted > 0 && (sourced == 0 || fitted < sourced) {
    value = $column
    low = value * (1 - by / 100)
    high = value * (1 + by / 100)
    if ($1 !~ /^frequency/) { low = int(low); high = up(high) }
    print $1, value, low
    print $1, value, high
  }' "$work/parameters" >"$work/moves"
[ -s "$work/moves" ] || refuse 'the model has no fitted numbers'
if [ -z "$error" ]; then
  error=$(sed -n 's/^ERROR(clocks, [0-9]*, \([0-9.]*\), .*/\1/p' "$root/sim/time/errors.def")
  [ -n "$error" ] || refuse 'sim/time/errors.def has no error of clocks: give --error'
fi

# ---- With each number moved ----

awk '{ print $1 "=" $3 }' "$work/moves" >"$work/list"
worker() {
  while read -r what; do
    mkdir "$work/$what" 2>/dev/null || continue
    [ ! -e "$work/failed" ] || return 0
    predict "$what/a" "$first" "$what"
    [ -e "$work/failed" ] || predict "$what/b" "$second" "$what"
  done <"$work/list"
}
for _ in $(seq "$jobs"); do worker & done
wait
[ ! -e "$work/failed" ] || exit 2

# ---- Who is ahead ----

{
  echo model - - model
  awk '{ print $1, $2, $3, $1 "=" $3 }' "$work/moves"
} | while read -r name own moved place; do
  a=$(awk -v figure="$figure" -f "$root/sim/validate/json.awk" -f "$root/sim/validate/ahead.awk" "$work/$place/a.json")
  b=$(awk -v figure="$figure" -f "$root/sim/validate/json.awk" -f "$root/sim/validate/ahead.awk" "$work/$place/b.json")
  if [ -z "$a" ] || [ -z "$b" ]; then refuse "a command writes no $figure of a prediction: tandem-bench needs --time"; fi
  echo "$name $own $moved $a $b"
done >"$work/figures" || exit 2
awk -v error="$error" -v by="$by" -v figure="$figure" '
  function ahead(a, b) { return b > a * (1 + error / 100) ? "A" : a > b * (1 + error / 100) ? "B" : "none" }
  BEGIN { printf "%-18s %8s %8s  %14s %14s %7s  %s\n", "number", "own", "moved", "A " figure, "B " figure, "B / A", "ahead" }
  {
    who = ahead($4, $5)
    printf "%-18s %8s %8s  %14.10g %14.10g %7.3f  %s\n", $1, $2, $3, $4, $5, $5 / $4, who
    if (NR == 1) first = who
    else if (who != first) other = other (other == "" ? "" : ", ") $1 " = " $3
    least = NR == 1 || $5 / $4 < least ? $5 / $4 : least
    most = NR == 1 || $5 / $4 > most ? $5 / $4 : most
  }
  END {
    printf "\nB / A is %.3f to %.3f while each fitted number moves by %s %%. ", least, most, by
    if (first == "none") printf "No difference: %s %% or less by the model itself.\n", error
    else if (other != "")
      printf "No difference: %s is ahead by more than %s %% by the model itself, but not with %s.\n", first, error, other
    else printf "%s is ahead by more than %s %% in all of them.\n", first, error
    exit first == "none" || other != ""
  }' "$work/figures"
