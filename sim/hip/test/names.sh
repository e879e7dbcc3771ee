#!/bin/sh
# Every name of hip_names.def is exported, under its version, and nothing else. Use: sh names.sh LIBRARY NAMES.DEF
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^HIP_[A-Z]*(\([0-9]*\)_\([0-9]*\), \([A-Za-z0-9_]*\))$/\3@@hip_\1.\2/p' "$2" | sort >"$work/want"
nm -D --defined-only "$1" | sed -n 's/^[0-9a-f]* [TW] //p' | sort >"$work/have"
[ "$(wc -l <"$work/want")" -ge 545 ]
diff "$work/want" "$work/have"
