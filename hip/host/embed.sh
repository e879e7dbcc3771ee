#!/bin/sh
# Writes the assembly that embeds a kernel's code objects: embed.sh OUT SYMBOL CHIP FILE CHIP FILE ... (struct hip_code, code.h)
set -eu
out=$1 symbol=$2
shift 2
{
  rows='' n=0
  echo '  .section .rodata'
  while [ $# -gt 0 ]; do
    echo "chip$n: .asciz \"$1\""
    echo '  .balign 4096' # runtimes map the file's pages as they are
    echo "begin$n: .incbin \"$(realpath "$2")\""
    echo "end$n:"
    rows="$rows  .quad chip$n, begin$n, end$n - begin$n
"
    n=$((n + 1))
    shift 2
  done
  echo '  .section .data.rel.ro, "aw"'
  echo '  .balign 8'
  printf '  .globl %s\n  .hidden %s\n  .type %s, @object\n%s:\n' "$symbol" "$symbol" "$symbol" "$symbol"
  printf '%s  .quad 0, 0, 0\n' "$rows"
  echo '  .section .note.GNU-stack, "", @progbits'
} >"$out"
