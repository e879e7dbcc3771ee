/* Operands of 16 bits that gemm_pack copies first (host/pack.h). A run also copies operands that do not begin at dwords. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "gemm.h"
#include "hip/host/pack.h"

static hip_operand operand(const tdm_gemm_desc *d, int which) {
  return which == GEMM_PACKS_A ? (hip_operand){gemm_stored_a(d), d->broadcast_a ? 1 : d->batch, !gemm_transposed_a(d)}
                               : (hip_operand){gemm_stored_b(d), d->broadcast_b ? 1 : d->batch, gemm_transposed_b(d)};
}

static double again(const tdm_plan *plan, int which) {
  hip_operand x = operand(&plan->desc.gemm, which);
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
  hip_operand of[] = {operand(d, GEMM_PACKS_A), operand(d, GEMM_PACKS_B)};
  double saves[] = {tdm_hip_again_clocks(plan, d->type, again(plan, GEMM_PACKS_A), tiles, kernel->tile.m, (double)d->k),
                    tdm_hip_again_clocks(plan, d->type, again(plan, GEMM_PACKS_B), tiles, kernel->tile.n, (double)d->k)};
  return tdm_hip_which_to_pack(plan, of, saves, 2, d->type);
}

/* Zeros up to a whole K step take part in the sums for nothing, and there is no tail. */
int64_t gemm_packed_k(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  int64_t k = plan->desc.gemm.k;
  bool both = gemm_packs(plan, kernel) == (GEMM_PACKS_A | GEMM_PACKS_B);
  return both ? tdm_hip_whole_rows(k) : k;
}

static int64_t copied_rows(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_operand x = operand(d, which);
  return x.along_k ? x.stored.rows : gemm_packed_k(plan, kernel);
}

gemm_copy gemm_copy_of(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_operand x = operand(d, which);
  gemm_copy copy = {.ld = tdm_hip_whole_rows(x.stored.columns)};
  int64_t of_matrix = copied_rows(plan, kernel, which) * copy.ld;
  copy.stride = x.matrices == 1 ? 0 : of_matrix;
  copy.bytes = x.matrices * of_matrix * (int64_t)tdm_type_size(d->type);
  return copy;
}

bool gemm_supports_pack(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    hip_operand x = operand(d, which);
    if (gemm_packs(plan, kernel) & which && !tdm_hip_copy_supported(&x, d->type, reason, size)) return false;
  }
  return true;
}

/* Of copies each byte is read and written once, and a launch takes its time. */
double gemm_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  double bytes = 0;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++)
    if (gemm_packs(plan, kernel) & which) bytes += (double)gemm_copy_of(plan, kernel, which).bytes;
  return pack_clocks(plan, bytes);
}

static int64_t bytes_of(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  return gemm_packs(plan, kernel) & which ? tdm_hip_whole_parts(gemm_copy_of(plan, kernel, which).bytes) : 0;
}

char *gemm_copy_at(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  int64_t after = bytes_of(plan, kernel, GEMM_PACKS_B) + (which == GEMM_PACKS_A ? bytes_of(plan, kernel, GEMM_PACKS_A) : 0);
  return (char *)plan->workspace + (int64_t)plan->workspace_bytes - after;
}

/* ---- Operands that do not begin at a dword: only a run sees that ---- */

/* Which operands a run copies then: those that the plan does not copy anyway, if it takes less than hip_128x128 with both. */
static int unaligned_copies(const tdm_plan *plan, const hip_tile_kernel *kernel, double fallback) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int others = (GEMM_PACKS_A | GEMM_PACKS_B) & ~gemm_packs(plan, kernel);
  tdm_cost own;
  double bytes = 0, packed = 0; /* what a run copies then, and what it copies anyway */
  if (!plan->context->hip->pools || kernel->tile.any_address || plan->kernel->fallback.align == 0 || d->k == 0 ||
      tdm_type_size(d->type) != 2)
    return 0;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    if ((others & which) == 0) {
      packed += (double)gemm_copy_of(plan, kernel, which).bytes;
      continue;
    }
    hip_operand x = operand(d, which);
    if (!tdm_hip_copy_fits(&x, d->type)) return 0;
    bytes += tdm_hip_copy_bytes(&x, d->type);
  }
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
  const hip_tile_kernel *kernel = plan->kernel->variant;
  int64_t bytes = 0;
  if (tdm_hip_at(buffers[0], 4) && tdm_hip_at(buffers[1], 4)) return 0;
  int of_run = moved(plan, buffers, gemm_packs(plan, kernel));
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++)
    if (of_run & which) bytes += tdm_hip_whole_parts(gemm_copy_of(plan, kernel, which).bytes);
  return (size_t)bytes;
}

static const hip_functions function = GEMM_PACK;
_Static_assert(sizeof(gemm_pack_args) <= HIP_TILE_FIRST_ARGS, "it fits the plan");

bool gemm_pack_pointers(const tdm_plan *plan, void *const *buffers, char *borrowed, void *pack_args, void *tile_args) {
  const hip_tile_kernel *kernel = plan->kernel->variant;
  gemm_pack_args *pack = pack_args;
  gemm_args *args = tile_args;
  int of_run = moved(plan, buffers, args->packed);
  pack->blocks = 0;
  for (int i = 0; i < 2; i++) {
    const int which = i == 0 ? GEMM_PACKS_A : GEMM_PACKS_B;
    hip_packed *p = &pack->of[i];
    p->from = buffers[i];
    if (args->packed & which) {
      p->to = gemm_copy_at(plan, kernel, which);
    } else if (of_run & which) {
      gemm_copy copy = gemm_copy_of(plan, kernel, which);
      p->to = borrowed;
      borrowed += tdm_hip_whole_parts(copy.bytes);
      if (which == GEMM_PACKS_A)
        args->a = p->to, args->lda = copy.ld, args->stride_a = copy.stride, args->aligned_a = 16;
      else
        args->b = p->to, args->ldb = copy.ld, args->stride_b = copy.stride, args->aligned_b = 16;
    } else {
      p->blocks = 0;
    }
    pack->blocks += p->blocks;
  }
  return pack->blocks > 0;
}

static const char *name_of(int packs) { return packs == GEMM_PACKS_A ? "a" : packs == GEMM_PACKS_B ? "b" : "a and b"; }

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
  int64_t bytes = 0, borrowed = 0;
  const int packs = gemm_packs(plan, kernel), copies = unaligned_copies(plan, kernel, fallback);
  bool dwords = false; /* a copied operand has rows of whole dwords */
  plan->any_address = (unsigned)(packs | copies);
  plan->copied = (unsigned)packs;
  if (plan->any_address == 0) return TDM_OK;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    if (((packs | copies) & which) == 0) continue;
    hip_operand x = operand(d, which);
    hip_packed *p = &args.of[which - 1];
    *p = tdm_hip_packed(&x, copied_rows(plan, kernel, which));
    args.blocks += p->blocks;
    dwords |= packs & which && tdm_hip_dword_rows(&x.stored, d->type);
    *(packs & which ? &bytes : &borrowed) += tdm_hip_whole_parts(gemm_copy_of(plan, kernel, which).bytes);
  }
  args.workgroups = tdm_hip_pack_workgroups(plan, args.blocks);
  if (packs != 0) tdm_hip_add_copies(plan, name_of(packs), dwords, bytes, args.workgroups, "gemm_pack");
  if (copies != 0) explain_copies(plan, copies, borrowed);
  return tdm_hip_tile_first(plan, &function, d->type, args.workgroups, PACK_WORKITEMS, &args, sizeof args);
}
