/* Which tile of Y a workgroup computes, and which part of K. */
#ifndef TANDEM_HIP_SWIGLU_FIND_H
#define TANDEM_HIP_SWIGLU_FIND_H

#include "args.h"
#include "hip/device/arguments.h"
#include "hip/engine/first_tile.h"
#include "hip/engine/k_part.h"

/* x, wg and wu: from the part's first k on. left_m, left_n: lines from the tile's first ones on, or as many as it has. */
typedef struct swiglu_work {
  tile_part at;
  const char *x, *wg, *wu;
  int64_t depth;
  int ldx, ldg, ldu, left_m, left_n;
  hip_first_turns turns; /* as in gemm_args: the K step that a tile begins with */
} swiglu_work;

DEVICE void begin_with_part(swiglu_work *w, int64_t first, bool along_k, int bytes) {
  w->x += first * bytes;
  w->wg += first * bytes * (along_k ? 1 : w->ldg);
  w->wu += first * bytes * (along_k ? 1 : w->ldu);
}

/* turns: the kernel's tiles can take turns. */
DEVICE swiglu_work find_work(const swiglu_first *f, const swiglu_args *p, int tile_m, int tile_n, bool along_k, bool turns,
                             tdm_type type) {
  const int bytes = tdm_bytes(type), in_dword = 4 / bytes, kind = f->tile.kind;
  swiglu_work w = {.at = {},
                   .x = (const char *)f->x,
                   .wg = (const char *)f->wg,
                   .wu = (const char *)f->wu,
                   .depth = (int64_t)f->k,
                   .ldx = 0,
                   .ldg = 0,
                   .ldu = 0,
                   .left_m = 0,
                   .left_n = 0,
                   .turns = {}};
  if (__builtin_expect(kind != HIP_TILE_UNKNOWN, 1)) {
    w.ldx = (int)f->ldx * in_dword;
    w.ldg = w.ldu = (int)f->ldg * in_dword;
    if (__builtin_expect(kind != HIP_TILE_PARTS, 1)) {
      hip_first_tile tile = f->tile;
      if (turns && kind == HIP_TILE_TURNS) w.turns = hip_take_turns(&tile);
      w.at = first_whole_tile(&tile);
    } else {
      uint32_t first, count;
      w.at = first_part(&f->tile, (uint32_t)f->k, (uint32_t)(HIP_PART_UNIT / bytes), false, &first, &count);
      begin_with_part(&w, first, along_k, bytes);
      w.depth = count;
    }
    w.left_m = first_lines_m(&f->tile, w.at.m, tile_m);
    w.left_n = first_lines_n(&f->tile, w.at.n, tile_n);
  } else {
    asm volatile("" ::"s"(p->m), "s"(p->n), "s"(p->k), "s"(p->ldx), "s"(p->ldg), "s"(p->ldu), "s"(p->tile_parts),
                 "s"(p->part_units), "s"(p->parts), "s"(p->longer_parts), ORDER_FIELDS(p->order), DIVISOR_FIELDS(p->by),
                 "s"(p->turn_m), "s"(p->turn_n));
    w.turns = (hip_first_turns){p->turn_m, p->turn_n};
    const uint32_t parts = (uint32_t)p->parts;
    w.at = find_tile(&p->order, &p->by, parts, 1, p->tile_parts != nullptr);
    w.ldx = (int)p->ldx, w.ldg = (int)p->ldg, w.ldu = (int)p->ldu;
    w.depth = p->k;
    if (parts > 1) {
      const k_part k = k_part_of(p->k, p->part_units, (uint32_t)p->longer_parts, w.at.part, parts, type);
      begin_with_part(&w, k.first, along_k, bytes);
      w.depth = k.count;
    }
    w.left_m = (int)p->m - (int)w.at.m * tile_m;
    w.left_n = (int)p->n - (int)w.at.n * tile_n;
  }
  return w;
}

#endif
