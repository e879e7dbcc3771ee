/* Operands of 16 bits that gemm_pack copies first (host/pack.h). A run also copies operands that do not begin at dwords. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "gemm.h"

hip_copies gemm_copies(const tdm_gemm_desc *d, int packs) {
  return (hip_copies){.of = {{gemm_stored_a(d), d->broadcast_a ? 1 : d->batch, !gemm_transposed_a(d)},
                             {gemm_stored_b(d), d->broadcast_b ? 1 : d->batch, gemm_transposed_b(d)}},
                      .count = 2,
                      .packs = packs,
                      .k = d->k,
                      .type = d->type};
}

static double again(const tdm_plan *plan, int which) {
  hip_operand x = gemm_copies(&plan->desc.gemm, 0).of[which == GEMM_PACKS_B];
  const hip_tile_kernel *kernel = plan->kernel->variant;
  if (kernel->tile.any_address && kernel->tile.turns) { /* rows begin anywhere, and in a tile they are no longer than a line */
    x.stored.ld = 1;
    return (x.along_k ? 1 : 2) * tdm_hip_loads_again(plan, &x, plan->desc.gemm.type);
  }
  if (x.along_k && gemm_by_cache_lines(plan, plan->kernel->variant)) return 0;
  /* Where a tile has 128 bytes of a row across k, each of them is in two lines. */
  const int lines = which == GEMM_PACKS_A ? kernel->tile.m : kernel->tile.n;
  const bool line = !x.along_k && lines * (int64_t)tdm_type_size(plan->desc.gemm.type) == HIP_STEP_BYTES;
  return (line ? 2 : 1) * tdm_hip_loads_again(plan, &x, plan->desc.gemm.type);
}

double gemm_loads_again(const tdm_plan *plan, int which) {
  return gemm_packs(plan, plan->kernel->variant) & which ? 0 : again(plan, which);
}

static double pack_clocks(const tdm_plan *plan, double bytes) { return tdm_hip_pack_clocks(plan, plan->desc.gemm.type, bytes); }

/* What copies save is of a CU's average share of the tiles, because the number of K splits is chosen after what is copied. */
int gemm_packs(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (kernel->tile.any_address || plan->kernel->fallback.align == 0 || d->k == 0) return 0;
  const hip_tile_output output = gemm_output(plan);
  const double tiles = tdm_hip_tiles_of(&output, &kernel->tile);
  const hip_copies copies = gemm_copies(d, 0);
  double saves[] = {tdm_hip_again_clocks(plan, d->type, again(plan, GEMM_PACKS_A), tiles, kernel->tile.m, (double)d->k),
                    tdm_hip_again_clocks(plan, d->type, again(plan, GEMM_PACKS_B), tiles, kernel->tile.n, (double)d->k)};
  return tdm_hip_which_to_pack(plan, &copies, saves);
}

bool gemm_supports_pack(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_copies copies = gemm_copies(d, gemm_packs(plan, kernel));
  for (int i = 0; i < copies.count; i++)
    if (copies.packs >> i & 1 && !tdm_hip_copy_supported(&copies.of[i], d->type, reason, size)) return false;
  return true;
}

/* Of copies each byte is read and written once, and a launch takes its time. */
static double copied_bytes(const hip_copies *c) {
  double bytes = 0;
  for (int i = 0; i < c->count; i++)
    if (c->packs >> i & 1) bytes += (double)tdm_hip_copy_of(c, i).bytes;
  return bytes;
}

double gemm_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const hip_copies copies = gemm_copies(&plan->desc.gemm, gemm_packs(plan, kernel));
  return pack_clocks(plan, copied_bytes(&copies));
}

/* ---- Operands that do not begin at a dword: only a run sees that ---- */

/* Which operands a run copies then: those that the plan does not copy anyway, if it takes less than hip_128x128 with both. */
static int unaligned_copies(const tdm_plan *plan, const hip_tile_kernel *kernel, double fallback) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_copies copies = gemm_copies(d, gemm_packs(plan, kernel));
  const int others = (GEMM_PACKS_A | GEMM_PACKS_B) & ~copies.packs;
  tdm_cost own;
  double bytes = 0; /* what a run copies then */
  if (!plan->context->hip->pools || kernel->tile.any_address || plan->kernel->fallback.align == 0 || d->k == 0 ||
      tdm_type_size(d->type) != 2)
    return 0;
  for (int i = 0; i < copies.count; i++) {
    if ((others >> i & 1) == 0) continue;
    if (!tdm_hip_copy_fits(&copies.of[i], d->type)) return 0;
    bytes += tdm_hip_copy_bytes(&copies.of[i], d->type);
  }
  const double packed = copied_bytes(&copies); /* and what it copies anyway */
  plan->kernel->cost(plan, &own);
  double copied = pack_clocks(plan, packed + bytes) - pack_clocks(plan, packed); /* own has the rest */
  return bytes <= HIP_PACK_MOST_OPTIONAL_BYTES && own.clocks + copied < fallback ? others : 0;
}

/* Which ones this run copies. packs: what every run copies. */
static int moved(const tdm_plan *plan, void *const *buffers, int packs) {
  int of_run = 0;
  for (int i = 0; i < 2; i++)
    if (!tdm_hip_at(buffers[i], 4)) of_run |= 1 << i;
  return of_run & (int)plan->any_address & ~packs;
}

size_t gemm_borrowed_bytes(const tdm_plan *plan, void *const *buffers) {
  if (tdm_hip_at(buffers[0], 4) && tdm_hip_at(buffers[1], 4)) return 0;
  const hip_copies copies = gemm_copies(&plan->desc.gemm, gemm_packs(plan, plan->kernel->variant));
  return (size_t)tdm_hip_bytes_of_copies(&copies, moved(plan, buffers, copies.packs));
}

static const hip_functions function = GEMM_PACK;
_Static_assert(sizeof(gemm_pack_args) <= HIP_TILE_FIRST_ARGS, "it fits the plan");
_Static_assert(sizeof(hip_pack_first) == HIP_PRELOADED_BYTES && offsetof(gemm_pack_args, first) == 0, "it is in registers");

static hip_pack_first first_of(const gemm_pack_args *args) {
  hip_pack_first first = {.workgroups = args->workgroups};
  uint16_t of_row[2] = {1, 1};
  for (int i = 0; i < 2; i++) {
    const hip_packed *p = &args->of[i];
    if (p->blocks == 0) continue;
    if (p->matrices != 1 || p->rows_each != 1 || p->ld > UINT32_MAX || p->of_row > UINT16_MAX) return first;
    first.of[i] = (hip_known_rows){p->from, (uint32_t)p->ld, p->rows, p->columns, p->blocks};
    of_row[i] = (uint16_t)p->of_row;
  }
  memcpy(first.of_row, of_row, sizeof of_row);
  return first;
}

bool gemm_pack_pointers(const tdm_plan *plan, void *const *buffers, char *borrowed, void *pack_args, void *tile_args) {
  gemm_pack_args *pack = pack_args;
  gemm_args *args = tile_args;
  const hip_copies copies = gemm_copies(&plan->desc.gemm, args->packed);
  const int of_run = moved(plan, buffers, copies.packs);
  pack->blocks = 0;
  for (int i = 0; i < copies.count; i++) {
    hip_packed *p = &pack->of[i];
    p->from = buffers[i];
    if (copies.packs >> i & 1) {
      p->to = tdm_hip_copy_at(plan, &copies, i);
    } else if (of_run >> i & 1) {
      const hip_copy copy = tdm_hip_copy_of(&copies, i);
      p->to = borrowed;
      borrowed += tdm_hip_whole_parts(copy.bytes);
      if (i == 0)
        args->first.a = p->to, args->lda = copy.ld, args->first.lda = (uint32_t)copy.ld, args->stride_a = copy.stride,
        args->aligned_a = 16;
      else
        args->first.b = p->to, args->ldb = copy.ld, args->first.ldb = (uint32_t)copy.ld, args->stride_b = copy.stride,
        args->aligned_b = 16;
      if (copy.ld > INT32_MAX) args->first.tile.kind = HIP_TILE_UNKNOWN;
    } else {
      p->blocks = 0;
    }
    pack->blocks += p->blocks;
  }
  pack->first = first_of(pack);
  return pack->blocks > 0;
}

static void explain_copies(tdm_plan *plan, int copies, int64_t bytes) {
  size_t used = strlen(plan->explain);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "unaligned: a run copies %s that does not begin at 4 bytes, by gemm_pack, to at most %" PRId64
           " bytes of HIP's pool\n",
           copies == GEMM_PACKS_A   ? "a"
           : copies == GEMM_PACKS_B ? "b"
                                    : "each of a and b",
           bytes);
}

tdm_status gemm_prepare_pack(tdm_plan *plan, const hip_tile_kernel *kernel, double fallback) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gemm_pack_args args = {0};
  const hip_copies copies = gemm_copies(d, gemm_packs(plan, kernel));
  const int unaligned = unaligned_copies(plan, kernel, fallback);
  plan->any_address = (unsigned)(copies.packs | unaligned);
  plan->copied = (unsigned)copies.packs;
  if (plan->any_address == 0) return TDM_OK;
  args.workgroups = tdm_hip_fill_copies(plan, &copies, copies.packs | unaligned, args.of, &args.blocks);
  if (copies.packs != 0) tdm_hip_add_copies(plan, &copies, args.workgroups, "gemm_pack");
  if (unaligned != 0) explain_copies(plan, unaligned, tdm_hip_bytes_of_copies(&copies, unaligned));
  return tdm_hip_tile_first(plan, &function, d->type, args.workgroups, PACK_WORKITEMS, &args, sizeof args);
}
