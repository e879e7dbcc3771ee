#!/bin/sh
# Prints the linker's map of symbol versions for libamdhip64, from hip_names.def. Use: sh hip_map.sh NAMES.DEF
set -eu
sed -n 's/^HIP_[A-Z]*(\([0-9_]*\), \([A-Za-z0-9_]*\))$/\1 \2/p' "$1" | awk '
  $1 != node {
    if (node) end()
    before = node
    node = $1
    dotted = node
    sub("_", ".", dotted)
    print "hip_" dotted " {\nglobal:"
  }
  { print "  " $2 ";" }
  function end() {
    last = before
    sub("_", ".", last)
    print (before ? "" : "local:\n  *;\n") "}" (before ? " hip_" last : "") ";\n"
  }
  END { end() }'
