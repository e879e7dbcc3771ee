/* Operands of 16 bits whose rows are not whole dwords: tiles can't load them, so gemm_pack copies them first
 * (gemm_pack.hip). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "gemm.h"
#include "pack_shape.h"

enum { ROW_ELEMENTS = 64 /* of 128 bytes, of which a copy's rows have whole ones */ };

static hip_stored stored(const tdm_gemm_desc *d, int which) {
  return which == GEMM_PACKS_A ? gemm_stored_a(d) : gemm_stored_b(d);
}
static bool whole_dwords(const hip_stored *x, tdm_type type) {
  return tdm_hip_rows_aligned(x, type, 4) && x->columns % 4 * (int64_t)tdm_type_size(type) % 4 == 0;
}

int gemm_packs(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  if (kernel->tile.any_address || plan->kernel->fallback.align == 0 || d->k == 0) return 0;
  return (whole_dwords(&a, d->type) ? 0 : GEMM_PACKS_A) | (whole_dwords(&b, d->type) ? 0 : GEMM_PACKS_B);
}

/* Zeros up to a whole K step take part in the sums for nothing, and there is no tail. */
int64_t gemm_packed_k(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  int64_t k = plan->desc.gemm.k;
  bool both = gemm_packs(plan, kernel) == (GEMM_PACKS_A | GEMM_PACKS_B);
  return both ? (k + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS : k;
}

static bool along_k(const tdm_gemm_desc *d, int which) {
  return which == GEMM_PACKS_A ? !gemm_transposed_a(d) : gemm_transposed_b(d);
}
static int64_t copied_rows(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return along_k(d, which) ? stored(d, which).rows : gemm_packed_k(plan, kernel);
}
static int64_t matrices(const tdm_gemm_desc *d, int which) {
  return (which == GEMM_PACKS_A ? d->broadcast_a : d->broadcast_b) ? 1 : d->batch;
}

gemm_copy gemm_copy_of(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored x = stored(d, which);
  gemm_copy copy = {.ld = (x.columns + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS};
  int64_t of_matrix = copied_rows(plan, kernel, which) * copy.ld;
  copy.stride = matrices(d, which) == 1 ? 0 : of_matrix;
  copy.bytes = matrices(d, which) * of_matrix * (int64_t)tdm_type_size(d->type);
  return copy;
}

bool gemm_supports_pack(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int64_t most = (int64_t)16 * INT32_MAX; /* chunks are counted in 32 bits */
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    if ((gemm_packs(plan, kernel) & which) == 0) continue;
    hip_stored x = stored(d, which);
    double bytes = (double)matrices(d, which) * ((double)x.rows + ROW_ELEMENTS) * ((double)x.columns + ROW_ELEMENTS) *
                   (double)tdm_type_size(d->type);
    if (bytes <= (double)most && x.columns <= INT32_MAX / 1024) continue;
    snprintf(reason, size,
             "rows of %s, %" PRId64 " %s at ld = %" PRId64
             ", are not whole dwords, and their copy would have %.0f bytes or rows "
             "too long: at most %" PRId64 " bytes, in rows of at most %d",
             x.name, x.columns, tdm_type_name(d->type), x.ld, bytes, most, INT32_MAX / 1024);
    return false;
  }
  return true;
}

/* Each byte is read and written once, and a launch takes its time. */
double gemm_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  enum { LAUNCH = 5000 };
  hip_rates rates = tdm_hip_rates(plan->context->hip, plan->desc.gemm.type);
  double bytes = 0;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++)
    if (gemm_packs(plan, kernel) & which) bytes += (double)gemm_copy_of(plan, kernel, which).bytes;
  return bytes == 0 ? 0 : LAUNCH + 2 * bytes / rates.hbm;
}

static int64_t bytes_of(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  enum { PART = 256 };
  if ((gemm_packs(plan, kernel) & which) == 0) return 0;
  return (gemm_copy_of(plan, kernel, which).bytes + PART - 1) / PART * PART;
}

char *gemm_copy_at(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  int64_t after = bytes_of(plan, kernel, GEMM_PACKS_B) + (which == GEMM_PACKS_A ? bytes_of(plan, kernel, GEMM_PACKS_A) : 0);
  return (char *)plan->workspace + (int64_t)plan->workspace_bytes - after;
}

static const hip_functions function = GEMM_PACK;
_Static_assert(sizeof(gemm_pack_args) <= HIP_TILE_FIRST_ARGS, "it fits the plan");

void gemm_pack_pointers(const tdm_plan *plan, void *const *buffers, void *made) {
  gemm_pack_args *args = made;
  for (int i = 0; i < 2; i++) {
    args->of[i].from = buffers[i];
    if (args->of[i].blocks > 0) args->of[i].to = gemm_copy_at(plan, plan->kernel->variant, i + 1);
  }
}

tdm_status gemm_prepare_pack(tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gemm_pack_args args = {0};
  int64_t bytes = 0;
  int packs = gemm_packs(plan, kernel);
  if (packs == 0) return TDM_OK;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    if ((packs & which) == 0) continue;
    hip_stored x = stored(d, which);
    gemm_copy copy = gemm_copy_of(plan, kernel, which);
    gemm_packed *p = &args.of[which - 1];
    *p = (gemm_packed){.ld = x.ld,
                       .stride = x.stride,
                       .rows = (uint32_t)x.rows,
                       .columns = (uint32_t)x.columns,
                       .matrices = (uint32_t)matrices(d, which),
                       .to_rows = (uint32_t)copied_rows(plan, kernel, which),
                       .chunks = (uint32_t)(copy.ld / 8),
                       .blocks = (uint32_t)hip_ceil_div(copy.bytes / 16, PACK_THREADS)};
    args.blocks += p->blocks;
    bytes += bytes_of(plan, kernel, which);
  }
  unsigned most = (unsigned)plan->context->hip->compute_units * 2, all = (args.blocks - 1) / PACK_BLOCKS + 1;
  args.workgroups = all < most ? all : most; /* as many as run at a time */
  plan->workspace_bytes = (plan->workspace_bytes + 255) / 256 * 256 + (size_t)bytes;
  size_t used = strlen(plan->explain);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "packed: %s, whose rows are not whole dwords: %" PRId64 " bytes, copied by %u workgroups of gemm_pack\n",
           packs == GEMM_PACKS_A   ? "a"
           : packs == GEMM_PACKS_B ? "b"
                                   : "a and b",
           bytes, args.workgroups);
  return tdm_hip_tile_first(plan, &function, d->type, args.workgroups, PACK_WORKITEMS, &args, sizeof args);
}
