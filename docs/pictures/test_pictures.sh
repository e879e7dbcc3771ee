#!/bin/sh
# The committed pictures are those that tandem-draw makes, and what it refuses. Usage: test_pictures.sh TANDEM-DRAW
set -eu
draw=$1 here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sh "$here/make.sh" "$draw" "$folder"
for picture in "$folder"/*.svg "$here"/*.svg; do
  name=$(basename "$picture")
  cmp "$folder/$name" "$here/$name" || { echo "pictures: $name is another one: sh tools/pages.sh --update"; exit 1; }
  python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture"
done
refused() { # WORDS STATUS ARGUMENTS...
  words=$1 status=$2
  shift 2
  said=$("$draw" "$@" 2>&1 >/dev/null) && got=0 || got=$?
  case $got:$said in "$status:"*"$words"*) ;; *) echo "pictures: $*: $got, '$said'" && exit 1 ;; esac
}
refused 'NAME: must be' 2
refused 'moon: must be' 2 moon
refused "'nowhere' must be what tandem-bench --json wrote" 1 roofline nowhere
echo '{"rows": []}' >"$folder/empty"
refused 'no row of these files' 1 roofline "$folder/empty"
echo '{"rows": [' >"$folder/cut"
refused "cut' must be what" 1 roofline "$folder/cut"
"$draw" chip >/dev/full 2>"$folder/full" && echo 'pictures: a full disk goes unnoticed' && exit 1
grep -q "standard output: can't be written: No space left" "$folder/full"
