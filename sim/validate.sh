#!/bin/sh
# Predicts published times of other people's kernels with `gfxsim time`, and holds them against what was measured.
# Use: sh sim/validate.sh FOLDER [OPTION...]     docs/gfxsim-validate.md explains tables, rows and the result
#   FOLDER               has your checkouts, as FOLDER/OWNER/NAME or FOLDER/NAME, and in FOLDER/built objects that you compiled yourself
#   --rows FILE          a table of rows; may be given several times (default: sim/validate/*.rows)
#   --set S              only rows of this set; may be given several times
#   --only TEXT          only rows with this text in their name
#   --build DIR          the build with sim/gfxsim (default build)
#   --option O           an option of gfxsim time for all rows, such as --skip-mfma; may be given several times
#   --limit SECONDS      of one row (default 900)
#   --jobs N             so many rows at once (default 1); each takes as much memory as its arguments
#   --predictions FILE   where predictions are kept (default bench/results/timing.txt); those of other rows stay
#   --out FILE           the result (default bench/TIMING.md)
#   --predict            only predict: nothing published is read beside the predictions, and no result is written
#   --compare            only compare what --predictions has; FOLDER is not used
#   --run                only run each row's kernel with all checks, and print what happens
# Exit status: 0 also when rows are missing, 1 for --run with a row that does not run, 2 for bad usage or a bad table.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/sim/validate
build='' limit=900 jobs=1 out=$root/bench/TIMING.md predictions=$root/bench/results/timing.txt sets='' only='' tables='' options='' action=all folder=''
clang=${CLANG:-}

refuse() {
  echo "validate: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --rows | --set | --only | --build | --option | --limit | --jobs | --predictions | --out)
      [ $# -gt 1 ] || refuse "$1: has no value"
      case $1 in
        --rows)
          [ -f "$2" ] || refuse "--rows $2: no such file"
          tables="$tables
$2" ;;
        --set) sets="$sets $2 " ;;
        --only) only=$2 ;;
        --build) build=$2 ;;
        --option)
          case $2 in '' | *[!A-Za-z0-9=,.-]*) refuse "--option $2: must be one word" ;; esac
          options="$options $2" ;;
        --limit)
          case $2 in '' | 0 | *[!0-9]*) refuse "--limit $2: must be a number of seconds" ;; esac
          limit=$2 ;;
        --jobs)
          case $2 in '' | 0 | *[!0-9]*) refuse "--jobs $2: must be a positive number" ;; esac
          jobs=$2 ;;
        --predictions) predictions=$2 ;;
        --out) out=$2 ;;
      esac
      shift ;;
    --predict | --compare | --run)
      [ "$action" = all ] || refuse "$1: only one of --predict, --compare and --run"
      action=${1#--} ;;
    -*) refuse "$1: no such option; see the head of sim/validate.sh" ;;
    *)
      [ -z "$folder" ] || refuse "FOLDER: $folder and $1: only one"
      folder=$1 ;;
  esac
  shift
done
if [ "$action" != compare ]; then
  [ -n "$folder" ] || refuse "FOLDER: must be given: the folder with your checkouts"
  [ -d "$folder" ] || refuse "FOLDER = $folder: no such folder"
  folder=$(cd "$folder" && pwd)
fi
gfxsim=${build:-$root/build}/sim/gfxsim
[ "$action" = compare ] || [ -x "$gfxsim" ] || refuse "--build ${build:-$root/build}: has no sim/gfxsim: build it first"
[ -n "$tables" ] || tables=$(ls "$here"/*.rows)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/rows" "$work/made"
: >"$work/rows/hbm"
IFS='
'
# shellcheck disable=SC2086 # a line each
awk -v dir="$work/rows" -v sets="$sets" -v only="$only" -f "$here/table.awk" $tables
unset IFS
value() { sed -n "s/^$1 //p" "$work/rows/$name.row"; } # KEY

# ---- A row's code object ----

# Sets `object` and `origin`; else `reason`.
find_object() {
  object='' origin='' reason=$(value missing)
  chip=$(value chip)
  file=$(value file)
  built=$(value built)
  if [ -n "$file" ]; then
    # shellcheck disable=SC2086 # OWNER/NAME COMMIT PATH
    set -- $file
    find_file "$1" "$2" "$3"
  fi
  if [ -z "$object" ] && [ -n "$built" ]; then
    for ending in co hsaco; do
      [ -z "$object" ] && [ -f "$folder/built/$built.$ending" ] && object=$folder/built/$built.$ending origin="built/$built.$ending, compiled by the user"
    done
    [ -n "$object" ] || reason="${reason:+$reason; }no built/$built.co"
  fi
  [ -z "$object" ] || reason=''
}

find_file() { # OWNER/NAME COMMIT PATH
  checkout=''
  for place in "$folder/$1" "$folder/${1#*/}"; do [ -n "$checkout" ] || [ ! -d "$place" ] || checkout=$place; done
  if [ -z "$checkout" ]; then
    reason="no checkout of $1"
    return 0
  fi
  found=$own/$(basename "$3")
  if [ "$2" != - ] && git -C "$checkout" show "$2:$3" >"$found" 2>/dev/null; then
    origin="$1 $2"
  elif [ -f "$checkout/$3" ]; then
    cp "$checkout/$3" "$found"
    origin="$1, working tree"
  else
    reason="$1 has no $3 at $2"
    return 0
  fi
  object=$found
  case $3 in
    *.amdgcn | *.s)
      assembler=$clang
      for c in clang-22 clang-21 clang; do [ -n "$assembler" ] || ! command -v $c >/dev/null || assembler=$c; done
      object=''
      # LLVM after 22 writes amdgpu9.50-amd-amdhsa-unknown-gfx950 for the target that older ones call amdgcn-amd-amdhsa--gfx950.
      sed 's/amdgpu[0-9.]*-amd-amdhsa-unknown-/amdgcn-amd-amdhsa--/' "$found" >"$found.s"
      if [ -z "$assembler" ]; then
        reason='no clang to assemble it: set CLANG'
      elif "$assembler" -x assembler -target amdgcn-amd-amdhsa -mcpu="${chip:-gfx950}" "$found.s" -o "$found.co" 2>"$own/error"; then
        object=$found.co
      else
        reason="clang can't assemble it: $(head -n 1 "$own/error" | cut -c 1-200)"
      fi ;;
  esac
}

# ---- Predictions, and runs ----

first_error() { sed -n 's/^gfxsim: //p' "$own/error" | head -n 1 | cut -c 1-200; }

launch() { # COMMAND OPTION...: of the row
  while read -r key word; do
    case $key in
      kernel | grid | block | lds | arg) set -- "$@" "--$key" "$word" ;;
      option) [ "$1" = run ] || set -- "$@" "$word" ;;
    esac
  done <"$work/rows/$name.row"
  status=0
  timeout "$limit" "$gfxsim" "$@" "$object" >"$own/output" 2>"$own/error" || status=$?
}

say_missing() { # REASON
  sed -n 's/^figure \([^ ]*\) .*/\1/p' "$work/rows/$name.row" | while read -r figure; do echo "$name $figure missing $1"; done
}

predict_row() {
  find_object
  if [ -n "$reason" ]; then
    say_missing "$reason"
    return 0
  fi
  # shellcheck disable=SC2086 # words
  if grep -q '^figure issue_interval' "$work/rows/$name.row"; then
    launch time $options --json "$own/p.json" --trace "$own/trace"
  else
    launch time $options --json "$own/p.json"
  fi
  if [ $status -eq 124 ]; then
    say_missing "no end after $limit s"
  elif [ $status -ne 0 ] || [ ! -s "$own/p.json" ]; then
    say_missing "gfxsim time: $(first_error)"
  else
    echo "$name object $origin${options:+;$options}; gfxsim of $version"
    awk -v name="$name" -v trace="$own/trace" -f "$here/json.awk" -f "$here/figures.awk" "$work/rows/$name.row" "$own/p.json"
  fi
}

run_row() {
  find_object
  if [ -n "$reason" ]; then
    echo "$name: missing: $reason"
    return 0
  fi
  launch run
  case $status in
    0) echo "$name: runs, no finding" ;;
    124)
      echo "$name: no end after $limit s"
      : >"$work/failed" ;;
    *)
      echo "$name: $(first_error)"
      : >"$work/failed" ;;
  esac
}

# Each worker takes the next row that no other has: the first to make its folder.
worker() { # COMMAND
  while read -r name; do
    own=$work/made/$name
    mkdir "$own" 2>/dev/null || continue
    [ "$action" = run ] || echo "validate: $name" >&2
    "$1" >"$own/result"
    rm -f "$own/p.json" "$own/trace"
  done <"$work/rows/list"
}
each_row() { # COMMAND: prints its results in the order of the rows
  for _ in $(seq "$jobs"); do worker "$1" & done
  wait
  while read -r name; do cat "$work/made/$name/result"; done <"$work/rows/list"
}

if [ "$action" = run ]; then
  each_row run_row
  [ ! -e "$work/failed" ] || exit 1
  exit 0
fi
if [ "$action" != compare ]; then
  version=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)
  each_row predict_row >"$work/new"
  {
    echo "# Predictions by sim/validate.sh, the latest ones with gfxsim of $version: row, figure, value."
    if [ -f "$predictions" ]; then
      awk 'NR == FNR { again[$1]; next } /^#/ || $1 in again { next } { print }' "$work/rows/list" "$predictions"
    fi
    cat "$work/new"
  } >"$work/all"
  mkdir -p "$(dirname "$predictions")"
  cp "$work/all" "$predictions"
fi
[ "$action" != predict ] || exit 0
[ -f "$predictions" ] || refuse "--predictions $predictions: no such file: predict first"
awk -v dir="$work/rows" -f "$here/report.awk" "$work/rows/hbm" "$predictions" "$work/rows/list" >"$work/result"
mkdir -p "$(dirname "$out")"
cp "$work/result" "$out"
sed -n '/^## Summary/,/^## Rows/p' "$out" | sed '$d'
