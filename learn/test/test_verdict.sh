#!/bin/sh
# test_verdict.sh TANDEM-LEARN FILE...: the first line of each file, "// try NAME ARGUMENTS: PHRASE | PHRASE ...", says what tandem-learn must
# say of it. None of them is right, none leaves a file or a process behind.
set -u
learn=$1
shift
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
echo "$TMPDIR" >"$work/mark" # in the command lines of what a file leaves behind
bad=0
for file in "$@"; do
  line=$(sed -n '1s,^// try ,,p' "$file")
  command=${line%%: *} phrases=${line#*: }
  # shellcheck disable=SC2086 # words
  set -- $command
  name=$1
  shift
  timeout -k 1 90 "$learn" try "$name" "$file" "$@" >"$work/out" 2>&1
  status=$?
  missing=$(echo "$phrases" | sed 's/ | /\n/g' | while read -r phrase; do grep -qF -- "$phrase" "$work/out" || echo "$phrase"; done)
  left=$(ls "$TMPDIR")$(grep -lsaF -f "$work/mark" /proc/[0-9]*/cmdline)
  if [ $status -ne 1 ] || [ -n "$missing" ] || [ -n "$left" ]; then
    echo "$file: exit $status, must be 1; not said: '$missing'; left behind: '$left'; it said:"
    cat "$work/out"
    bad=$((bad + 1))
  fi
done
echo "$bad files with another verdict"
[ $bad -eq 0 ]
