#include "gather.h"

#include <stdbool.h>
#include <string.h>

/* Each of these is inlined with a constant `bytes`, so that copies become moves and loops over dwords are unrolled. */

static inline __attribute__((always_inline)) void load_lane(const u8 *from, int l, u32 bytes, u32 (*rows)[LANES]) {
  u32 data[4] = {0};
  memcpy(data, from, bytes);
  for (u32 r = 0; r < (bytes + 3) / 4; r++) rows[r][l] = data[r];
}

static inline __attribute__((always_inline)) void store_lane(u8 *to, int l, u32 bytes, const u32 (*rows)[LANES]) {
  u32 data[4];
  for (u32 r = 0; r < (bytes + 3) / 4; r++) data[r] = rows[r][l];
  memcpy(to, data, bytes);
}

/* Side by side: the usual access to a row of a matrix. */
static inline __attribute__((always_inline)) bool dense(u8 *const at[LANES], u32 bytes) {
  uintptr_t first = (uintptr_t)at[0], difference = 0;
  for (u32 l = 0; l < LANES; l++) difference |= (uintptr_t)at[l] ^ (first + l * bytes);
  return difference == 0;
}

static inline __attribute__((always_inline)) void gather(u8 *const at[LANES], u64 mask, u32 bytes, u32 (*rows)[LANES]) {
  if (bytes >= 4 && mask == EXEC_ALL && dense(at, bytes)) {
    for (int l = 0; l < LANES; l++) load_lane(at[0] + (u32)l * bytes, l, bytes, rows);
  } else if (mask == EXEC_ALL) {
    for (int l = 0; l < LANES; l++) load_lane(at[l], l, bytes, rows);
  } else {
    for (; mask != 0; mask &= mask - 1) load_lane(at[__builtin_ctzll(mask)], __builtin_ctzll(mask), bytes, rows);
  }
}

static inline __attribute__((always_inline)) void scatter(u8 *const at[LANES], u64 mask, u32 bytes, const u32 (*rows)[LANES]) {
  if (bytes >= 4 && mask == EXEC_ALL && dense(at, bytes)) {
    for (int l = 0; l < LANES; l++) store_lane(at[0] + (u32)l * bytes, l, bytes, rows);
  } else if (mask == EXEC_ALL) {
    for (int l = 0; l < LANES; l++) store_lane(at[l], l, bytes, rows);
  } else {
    for (; mask != 0; mask &= mask - 1) store_lane(at[__builtin_ctzll(mask)], __builtin_ctzll(mask), bytes, rows);
  }
}

void lanes_gather(u8 *const at[LANES], u64 mask, u32 bytes, u32 (*rows)[LANES]) {
  switch (bytes) {
    case 1: gather(at, mask, 1, rows); break;
    case 2: gather(at, mask, 2, rows); break;
    case 4: gather(at, mask, 4, rows); break;
    case 8: gather(at, mask, 8, rows); break;
    case 12: gather(at, mask, 12, rows); break;
    default: gather(at, mask, 16, rows); break;
  }
}

void lanes_scatter(u8 *const at[LANES], u64 mask, u32 bytes, const u32 (*rows)[LANES]) {
  switch (bytes) {
    case 1: scatter(at, mask, 1, rows); break;
    case 2: scatter(at, mask, 2, rows); break;
    case 4: scatter(at, mask, 4, rows); break;
    case 8: scatter(at, mask, 8, rows); break;
    case 12: scatter(at, mask, 12, rows); break;
    default: scatter(at, mask, 16, rows); break;
  }
}
