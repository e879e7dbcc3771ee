#!/bin/sh
# Prints the pictures of docs/gemm.md from the formulas of the kernels: which lane holds what of a matrix instruction, where the
# chunks of a tile lie in LDS, and which of them one clock of ds_read_b128 takes. Usage: sh tools/gemm-layout.sh
awk '
function xor(a, b,   r, bit) { r = 0; for (bit = 1; bit <= 128; bit *= 2) if (int(a / bit) % 2 != int(b / bit) % 2) r += bit; return r }
BEGIN {
  print "A operand of 16x16x32: lane that holds row i, k\n\n   i \\ k   0-7   8-15  16-23  24-31"
  for (i = 0; i < 16; i += 5) printf "%6d %7d %6d %6d %6d\n", i, i, 16 + i, 32 + i, 48 + i
  print "\nResult of 16x16: lane and register that hold row i, column j\n\n   i \\ j      0       1     ...    15"
  for (i = 0; i < 16; i++) {
    g = int(i / 4)
    printf "%6d   %3d.%d  %5d.%d     ...  %3d.%d\n", i, 16 * g, i % 4, 16 * g + 1, i % 4, 16 * g + 15, i % 4
  }
  print "\nA half in LDS, gfx950: the chunk of 8 values that lies at each place of a line\n\n  line   place 0 1 2 3 4 5 6 7   banks"
  for (r = 0; r < 16; r++) {
    printf "%6d         ", r
    for (p = 0; p < 8; p++) printf "%d ", xor(p, int(r / 2) % 8)
    printf "  %s\n", r % 2 ? "32-63" : "0-31"
  }
  print "\nOne clock of ds_read_b128: 16 lanes, the 4 banks that each takes\n\n  lane   line chunk   banks"
  n = split("0 1 2 3 12 13 14 15 20 21 22 23 24 25 26 27", lane, " ")
  for (l = 1; l <= n; l++) {
    r = lane[l] % 16; c = int(lane[l] / 16); bank = r % 2 * 32 + xor(c, int(r / 2) % 8) * 4
    printf "%6d %6d %5d   %2d-%d\n", lane[l], r, c, bank, bank + 3
    taken[bank]++
  }
  for (b = 0; b < 64; b += 4) if (taken[b] != 1) { print "bank " b " is taken " taken[b] + 0 " times"; exit 1 }
  print "  every bank once"
}'
