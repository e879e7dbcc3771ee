#!/bin/sh
# stale-notes.sh removes the notes of dead programs of this user, and nothing else.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
user=$(id -u)
sleep 0 &
dead=$!
wait $dead
stale="__KMP_REGISTERED_LIB_${dead}_$user"
kept="__KMP_REGISTERED_LIB_$$_$user __KMP_REGISTERED_LIB_${dead}_$((user + 1)) __KMP_REGISTERED_LIB_x_$user other_${dead}_$user"
for name in $stale $kept; do : >"$folder/$name"; done
sh "$tools/stale-notes.sh" "$folder"
bad=0
if [ -e "$folder/$stale" ]; then echo "stale-notes: the note of a dead program is still there"; bad=1; fi
for name in $kept; do
  if ! [ -e "$folder/$name" ]; then echo "stale-notes: $name is gone"; bad=1; fi
done
# Without a note there is nothing to do, and that is not a failure.
rm -f "$folder"/*
sh "$tools/stale-notes.sh" "$folder" || bad=1
exit $bad
