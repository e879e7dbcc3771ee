#!/bin/sh
# The functions that libtandem.so exports, against test/api/symbols.txt. A function that is gone breaks programs that were linked
# with it; a new one is a promise to keep it.
# Use: test_symbols.sh LIBRARY
set -eu
expected=$(dirname "$0")/symbols.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$1" >"$work/all"
awk '$NF ~ /^tdm_/ {print $NF}' "$work/all" | LC_ALL=C sort >"$work/exported"
[ -s "$work/exported" ] || { echo "$1 exports no function"; exit 1; }
if ! diff -u "$expected" "$work/exported"; then
  echo "The library's functions are not those of $expected. If that is meant, say so in CHANGELOG.md, and write the list anew:"
  echo "  nm -D --defined-only $1 | awk '\$NF ~ /^tdm_/ {print \$NF}' | LC_ALL=C sort >$expected"
  exit 1
fi
