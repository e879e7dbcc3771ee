#!/bin/sh
# Writes the assembly that embeds a kernel's code objects: embed.sh OUT SYMBOL FILE ... (struct hip_code, code.h), a file for each chip of the build
set -eu
out=$1 symbol=$2
shift 2
{
  rows='' n=0
  echo '  .section .rodata'
  while [ $# -gt 0 ]; do
    echo '  .balign 4096' # runtimes map the file's pages as they are
    echo "begin$n: .incbin \"$(realpath "$1")\""
    echo "end$n:"
    rows="$rows  .quad begin$n, end$n - begin$n
"
    n=$((n + 1))
    shift
  done
  echo '  .section .data.rel.ro, "aw"'
  echo '  .balign 8'
  printf '  .globl %s\n  .hidden %s\n  .type %s, @object\n%s:\n' "$symbol" "$symbol" "$symbol" "$symbol"
  printf '%s' "$rows"
  echo '  .section .note.GNU-stack, "", @progbits'
} >"$out"
