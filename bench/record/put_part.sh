#!/bin/sh
# Replaces a part of bench/RESULTS.md by what comes in on stdin, or puts it at the end, under a heading where it brings none.
# Use: sh bench/record/put_part.sh NAME SCRIPT <PART
# A part stands between the lines "<!-- NAME: written by bench/record/SCRIPT -->" and "<!-- NAME: end -->".
set -eu
cd "$(dirname "$0")/../.."
[ $# -eq 2 ] || {
  echo "put_part.sh: needs NAME SCRIPT, as in: sh bench/record/put_part.sh host host.sh" >&2
  exit 2
}
document=bench/RESULTS.md folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
  echo "<!-- $1: written by bench/record/$2 -->"
  cat
  echo "<!-- $1: end -->"
} >"$folder/part"
grep -q '^## ' "$folder/part" && heading= || heading="## $1"
if [ -f $document ]; then cat $document; else printf '# Results\n\n'; fi >"$folder/old"
awk -v part="$folder/part" -v name="$1" -v heading="$heading" '
  function put(line) { while ((getline line < part) > 0) print line; done = 1 }
  index($0, "<!-- " name ": written") == 1 { put(); inside = 1 }
  !inside { print }
  index($0, "<!-- " name ": end") == 1 { inside = 0 }
  END {
    if (inside) exit 1
    if (!done) print heading != "" ? "\n" heading "\n" : ""
    if (!done) put()
  }' "$folder/old" >"$folder/document" || {
  echo "put_part.sh: $document: the part $1 has no line '<!-- $1: end -->': nothing was written" >&2
  exit 1
}
sh bench/record/replace.sh $document <"$folder/document"
