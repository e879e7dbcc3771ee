#!/bin/sh
# A string stops at its first NUL, so what a literal has after a \0 is in the source and nowhere else: a modifier, a letter of a shape
# or a line of a test that nobody reads. No literal of gfxsim or of its tests may have one.
# Use: no_nul.sh SOURCE_ROOT [FILE ...]; without files those of sim/
set -eu
root=$1
shift
cd "$root"
[ $# -gt 0 ] || set -- $(find sim -name '*.[ch]' -o -name '*.def' -o -name '*.hip')
# \0, \00, \000, \x0 and \x00, unless another digit makes another character of it, after an even number of backslashes.
awk 'FNR == 1 {files++}
  {
    text = $0
    gsub(/\\\\/, "", text)             # escaped backslashes
    gsub(/\047\\0\047/, "", text)      # the character NUL is no text
    if (text ~ /"[^"]*\\(0(0(0|[^0-7])|[^0-7])|x0+[^0-9a-fA-F])/) {print FILENAME ":" FNR ": text after a NUL: " $0; found++}
  }
  END {print files " files, " found + 0 " literals with a NUL"; exit found > 0}' "$@"
