#!/bin/sh
# expected.sh FILE WITHOUT PROGRAM [ARGUMENT...]: compares what the program prints with FILE, without the lines of FILE that match WITHOUT.
# After an intended change: PROGRAM ARGUMENT... > FILE
set -u
file=$1 without=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$@" >"$folder/found" || exit
[ -z "$without" ] && cp "$file" "$folder/expected" || grep -v -e "$without" "$file" >"$folder/expected"
diff -u "$folder/expected" "$folder/found" && exit
echo "expected.sh: if the change is meant: $* > $file"
exit 1
