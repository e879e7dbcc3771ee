#!/bin/sh
# Prints the value of -Dhost_levels for which this processor can run what is compiled: avx512,avx512_bf16,amx,amx_fp16, or [] for none.
# The tests of most steps compile only these: the others would take a compiler minutes, and nothing would run them.
# Use: sh tools/levels.sh [FLAGS]      FLAGS: instead of those of /proc/cpuinfo
set -eu
flags=" ${1-$(sed -n 's/^flags[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)} "
has() { case $flags in *" $1 "*) ;; *) return 1 ;; esac }
levels=
if has avx512f && has avx512bw && has avx512cd && has avx512dq && has avx512vl; then
  levels=avx512
  if has avx512_bf16; then levels=$levels,avx512_bf16; fi
  if has amx_tile && has amx_bf16; then levels=$levels,amx; fi
  if has amx_tile && has amx_fp16; then levels=$levels,amx_fp16; fi
fi
echo "${levels:-[]}"
