#!/bin/sh
# test_forged.sh TANDEM-LEARN FOLDER FILE...: files that try to get a verdict without doing the work, or to escape from their process. None of
# them is right: each must get exit status 1 and what its first line says, "// try NAME ARGUMENTS: PHRASE | PHRASE ...", must leave no file
# and no process, and must not print a verdict of its own. "// also without: LAYER ..." in the second line: it must fail, too, where one of
# these layers of the sandbox is missing. The layers take turns; with FORGED_ALL=1 each of them is tried. @FOLDER@, @LEARN@, @WORK@ and
# @TMP@ in a file become the paths that it attacks.
# FORGED_USER=NAME runs it as another user, through runuser.
set -u
learn=$1 folder=$2
shift 2
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -m 777 "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
echo "$TMPDIR" >"$work/mark" # in the command lines of what a file leaves behind
echo kept >"$work/tandem-learn-scores.tsv"
cd "$work" || exit 99
escape=$(printf '\033')
bad=0 tries=0

# try_once FILE PHRASES NAME [ARGUMENT...]
try_once() {
  copy=$1 phrases=$2 name=$3
  shift 3
  timeout -k 1 40 ${FORGED_USER:+runuser -u "$FORGED_USER" --} "$learn" try "$name" "$copy" "$@" >out 2>&1
  status=$?
  tries=$((tries + 1))
  missing=$(echo "$phrases" | sed 's/ | /\n/g' | while read -r phrase; do grep -qF -- "$phrase" out || echo "$phrase"; done)
  left=$(ls -A "$TMPDIR")$(grep -lsaF -f mark /proc/[0-9]*/cmdline)
  [ "$(cat tandem-learn-scores.tsv)" = kept ] || left="$left, a changed tandem-learn-scores.tsv"
  said=$(grep -c '^verdict: ' out)
  if [ $status -ne 1 ] || [ -n "$missing" ] || [ -n "$left" ] || [ "$said" -ne 1 ] || grep -q "$escape" out || grep -q '^verdict: right' out; then
    echo "${copy##*/} $*: exit $status, must be 1; not said: '$missing'; left behind: '$left'; it said:"
    cat -v out
    bad=$((bad + 1))
  fi
}

files=$(printf '%s\n' "$@") count=$# number=0
for file in $files; do
  copy=$work/${file##*/}
  sed "s,@FOLDER@,$folder,; s,@LEARN@,$learn,; s,@WORK@,$work,; s,@TMP@,$TMPDIR," "$file" >"$copy"
  line=$(sed -n '1s,^// try ,,p' "$file")
  command=${line%%: *} phrases=${line#*: }
  # shellcheck disable=SC2086 # words
  try_once "$copy" "$phrases" $command
  number=$((number + 1))
  # shellcheck disable=SC2046 # words
  set -- $(sed -n '2s,^// also without: ,,p' "$file")
  own=0
  for layer in "$@"; do
    own=$((own + 1))
    [ -n "${FORGED_ALL:-}" ] || [ $own -eq $((number % $# + 1)) ] || continue
    # shellcheck disable=SC2086 # words
    try_once "$copy" 'verdict: ' $command --without "$layer"
  done
done
echo "$tries tries of $count files, $bad of them with another outcome"
[ $bad -eq 0 ]
