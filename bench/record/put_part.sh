#!/bin/sh
# Replaces a part of the pages in bench/results by what comes in on stdin. Where no page has the part, it becomes a page of its own,
# bench/results/NAME.md; bench/RESULTS.md then needs a link to it.
# Use: sh bench/record/put_part.sh NAME SCRIPT <PART
# A part stands between the lines "<!-- NAME: written by bench/record/SCRIPT -->" and "<!-- NAME: end -->".
set -eu
cd "$(dirname "$0")/../.."
[ $# -eq 2 ] || {
  echo "put_part.sh: needs NAME SCRIPT, as in: sh bench/record/put_part.sh host host.sh" >&2
  exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
  echo "<!-- $1: written by bench/record/$2 -->"
  cat
  echo "<!-- $1: end -->"
} >"$folder/part"
mkdir -p bench/results
page=$(grep -l "^<!-- $1: written" bench/results/*.md 2>/dev/null) || page=
case $page in
  *.md*.md)
    echo "put_part.sh: the part $1 is in more than one page: $(echo "$page" | tr '\n' ' '): nothing was written" >&2
    exit 1
    ;;
  '')
    page=bench/results/$1.md
    [ ! -e "$page" ] || {
      echo "put_part.sh: $page: has no line '<!-- $1: written ...': nothing was written" >&2
      exit 1
    }
    { printf '# %s\n\n' "$1" && cat "$folder/part"; } >"$folder/page"
    ;;
  *)
    awk -v part="$folder/part" -v name="$1" '
      index($0, "<!-- " name ": written") == 1 { while ((getline line < part) > 0) print line; inside = 1 }
      !inside { print }
      index($0, "<!-- " name ": end") == 1 { inside = 0 }
      END { exit inside }' "$page" >"$folder/page" || {
      echo "put_part.sh: $page: the part $1 has no line '<!-- $1: end -->': nothing was written" >&2
      exit 1
    }
    ;;
esac
sh bench/record/replace.sh "$page" <"$folder/page"
echo "put_part.sh: $page" >&2
