#!/bin/sh
# Replaces a file by what comes in on stdin, once all of it is on the disk: a full disk or a kill leaves the old file whole. A kill may
# leave FILE.NUMBER.tandem-tmp next to it. files/result.h does this for the programs.
# Use: sh bench/record/replace.sh FILE <NEW
set -eu
[ $# -eq 1 ] || {
  echo "replace.sh: needs one FILE" >&2
  exit 2
}
file=$(readlink -f "$1") # a symbolic link stays
temporary=$file.$$.tandem-tmp
trap 'rm -f "$temporary"' EXIT
trap 'exit 1' HUP INT TERM
if [ -f "$file" ]; then cp -p "$file" "$temporary"; fi # its permissions
cat >"$temporary"
sync "$temporary"
mv -f "$temporary" "$file"
