#!/bin/sh
# Removes from the files of a folder what names a machine or its user: paths, the host's and the user's name, numbers of GPUs and of network
# cards. Then it looks for these names again: exit status 1 and the files, if one is left.
# Use: sh bench/record/scrub.sh FOLDER [PATH=WORD...]       as in: sh bench/record/scrub.sh mi300x "$PWD=SOURCE"
set -eu
[ $# -ge 1 ] && [ -d "$1" ] || {
  echo "scrub.sh: needs a FOLDER: '${1-}'" >&2
  exit 2
}
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quoted() { printf %s "$1" | sed 's,[].*^$|/\\[],\\&,g'; }
host=$(uname -n) user=$(id -un)
: >"$work/paths"
# A path comes before those that it begins with.
for pair in "$@" "${HOME:-/}=HOME" "${TMPDIR:-/tmp}=TMP"; do
  case ${pair%=*} in /?*)
    printf '%s\n' "${pair%=*}" >>"$work/names"
    echo "s|$(quoted "${pair%=*}")|${pair##*=}|g" >>"$work/paths"
    ;;
  esac
done
for word in "$host" "${host%%.*}"; do
  case $word in '' | localhost) continue ;; esac
  printf '%s\n' "$word" >>"$work/words"
  printf 's/\\b%s\\b/HOST/g\n' "$(quoted "$word")" >>"$work/paths"
done
cat >>"$work/paths" <<'END'
s/GPU-[0-9a-f]\{8,\}/GPU-NUMBER/g
s/\b\([0-9a-fA-F]\{2\}:\)\{5\}[0-9a-fA-F]\{2\}\b/ADDRESS/g
END
cp "$work/paths" "$work/texts"
# In JSON and CSV a user's name can be a key, as "kernel"; there it only stands in paths.
case $user in '' | root) ;; *) printf 's/\\b%s\\b/USER/g\n' "$(quoted "$user")" >>"$work/texts" ;; esac
find "$folder" -type f >"$work/files"
while read -r file; do
  case $file in
    *.json | *.csv | *.part) sed -i -f "$work/paths" "$file" ;;
    *) sed -i -f "$work/texts" "$file" ;;
  esac
done <"$work/files"
left=0
if [ -s "$work/names" ] && grep -rlF -f "$work/names" "$folder"; then left=1; fi
if [ -s "$work/words" ] && grep -rlwF -f "$work/words" "$folder"; then left=1; fi
[ $left = 0 ] || echo "scrub.sh: the files above still name this machine" >&2
exit $left
