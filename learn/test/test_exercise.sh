#!/bin/sh
# test_exercise.sh TANDEM-LEARN EXERCISES NAME [DEVICE...]: the start file of an exercise is not right; its naive one is right and misses a
# target; its solution passes, on each device.
set -u
learn=$1 folder=$2/$3 name=$3
shift 3
out=$(mktemp) || exit 99
trap 'rm -f "$out"' EXIT
bad=0

# expect STATUS PHRASE FILE [ARGUMENT...]
expect() {
  status=$1 phrase=$2 file=$3
  shift 3
  "$learn" try "$name" "$file" "$@" >"$out" 2>&1
  got=$?
  if [ $got -ne "$status" ] || ! grep -q -- "$phrase" "$out"; then
    echo "$name: $file $*: exit $got, must be $status with '$phrase':"
    cat "$out"
    bad=1
  fi
}

"$learn" show "$name" >"$out" || bad=1
grep -q '^Targets' "$out" && targets=yes || targets=no
for words in 'What it teaches' '^The kernel:' '^Begin with: ' '^hint 1 of '; do
  grep -q "$words" "$out" || {
    echo "show $name: must say '$words'"
    bad=1
  }
done
for language in hip c; do
  [ -f "$folder/start.$language" ] || continue
  expect 1 '^verdict: ' "$folder/start.$language"
  # Where there are targets, a right kernel misses them: the start file is one, or a naive one is there.
  naive=none
  for file in "$folder"/naive*."$language"; do [ -f "$file" ] && naive=$file && expect 1 '^verdict: right, but a target is missed' "$file"; done
  [ "$targets" = yes ] && [ "$naive" = none ] && expect 1 '^verdict: right, but a target is missed' "$folder/start.$language"
  expect 0 '^verdict: right\(, but races were not looked for\)*$' "$folder/solution.$language"
  for device in "$@"; do expect 0 '^verdict: right$' "$folder/solution.$language" --device "$device"; done
done
# Clocks that the hints promise: "`FILE` needs N clocks".
"$learn" show "$name" --hints 99 | tr '\n' ' ' | sed 's/  */ /g' | grep -o '`[a-z0-9.]*`[^`]* needs [0-9]* clocks' >"$out.promised"
while read -r line; do
  file=$(echo "$line" | cut -d '`' -f 2) clocks=$(echo "$line" | sed 's/.* needs \([0-9]*\) clocks/\1/')
  "$learn" try "$name" "$folder/$file" >"$out" 2>&1
  got=$(sed -n 's/.*clocks at least (a bound, not a time) *\([0-9]*\).*/\1/p' "$out")
  [ "${got:-none}" = "$clocks" ] || {
    echo "$name: a hint promises $clocks clocks of $file, which needs ${got:-none}"
    bad=1
  }
done <"$out.promised"
rm -f "$out.promised"
exit $bad
