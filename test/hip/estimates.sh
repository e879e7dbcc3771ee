#!/bin/sh
# estimates.sh PROGRAM FILE DEVICE: what the dispatcher estimates and chooses must be what FILE says.
# After a change that is meant: PROGRAM DEVICE > FILE
set -u
program=$1 file=$2 device=$3
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
"$program" "$device" >"$found" || exit 1
diff -u "$file" "$found" && exit
echo "estimates: $device: if the change is meant: $program $device > $file"
exit 1
