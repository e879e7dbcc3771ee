/* Operands of 16 bits that gemm_pack copies first (gemm_pack.hip): those whose rows are not whole dwords, which tiles can't
 * load, and those whose rows do not begin at cache lines, if the copy takes less than it saves. A run also copies operands
 * that do not begin at dwords. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "gemm.h"
#include "pack_shape.h"

enum {
  ROW_ELEMENTS = 64, /* of 128 bytes, of which a copy's rows have whole ones */
  MOST_COPY_COLUMNS = INT32_MAX / 1024,
  MOST_OPTIONAL_BYTES = 1 << 30 /* of a copy that is only faster: so large a workspace may not be there */
};
#define MOST_COPY_BYTES (16.0 * INT32_MAX) /* chunks are counted in 32 bits */
/* The clocks of a launch, fitted to predictions of copies of 1.0, 4.2, 5.8, 16.8, 33.5 and 67.1 MB on gfx950: 10,622, 10,795,
 * 10,572, 16,215, 32,550 and 54,974, from 9 % less to 9 % more; and of 1.0, 4.2, 16.8 and 33.5 MB on gfx942: 10,622, 10,963,
 * 19,273 and 37,623, from 4 % less to 12 % more. The first trips to memory of all waves take as long as small copies. */
enum { PACK_LEAST = 10500, PACK_LAUNCH = 5500 };
#define HBM_SHARE 0.83 /* of the peak */

static hip_stored stored(const tdm_gemm_desc *d, int which) {
  return which == GEMM_PACKS_A ? gemm_stored_a(d) : gemm_stored_b(d);
}
static bool whole_dwords(const hip_stored *x, tdm_type type) {
  return tdm_hip_rows_aligned(x, type, 4) && x->columns % 4 * (int64_t)tdm_type_size(type) % 4 == 0;
}

static bool along_k(const tdm_gemm_desc *d, int which) {
  return which == GEMM_PACKS_A ? !gemm_transposed_a(d) : gemm_transposed_b(d);
}
static int64_t matrices(const tdm_gemm_desc *d, int which) {
  return (which == GEMM_PACKS_A ? d->broadcast_a : d->broadcast_b) ? 1 : d->batch;
}

/* The bytes of a copy at most. */
static double copy_bytes(const tdm_gemm_desc *d, int which) {
  hip_stored x = stored(d, which);
  return (double)matrices(d, which) * ((double)x.rows + ROW_ELEMENTS) * ((double)x.columns + ROW_ELEMENTS) *
         (double)tdm_type_size(d->type);
}
static bool copy_fits(const tdm_gemm_desc *d, int which) {
  return copy_bytes(d, which) <= MOST_COPY_BYTES && stored(d, which).columns <= MOST_COPY_COLUMNS;
}

/* Where rows do not begin at cache lines, the 128 bytes of a K step are parts of two lines, and the next step's load finds the
 * second one no longer in the vL1D. Predicted clocks (docs/gemm.md): 1.2 to 1.28 times what L2 takes for as many lines again.
 * gfx942, whose steps of 256 lines are 64 bytes: 0.74 times. If rows run along the lines, of 256 bytes, one line in two. */
static double straddling(const tdm_plan *plan, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored x = stored(d, which);
  if (tdm_hip_rows_aligned(&x, d->type, HIP_STEP_BYTES)) return 0;
  if (along_k(d, which) && gemm_by_cache_lines(plan, plan->kernel->variant)) return 0;
  return (HIP_PIPE_ROW(plan->context->hip->chip->lds_bytes) < HIP_STEP_BYTES ? 0.74 : 1.25) * (along_k(d, which) ? 1 : 0.5);
}

/* Of a CU's average share of the tiles, because the number of K splits is chosen after what is copied. */
static double straddling_clocks(const tdm_plan *plan, const hip_tile_shape *tile, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const tdm_hip_device *device = plan->context->hip;
  double tiles = (double)d->batch * ceil((double)d->m / tile->m) * ceil((double)d->n / tile->n);
  double steps = ceil((double)d->k * (double)tdm_type_size(d->type) / HIP_STEP_BYTES);
  double lines = steps * (which == GEMM_PACKS_A ? tile->m : tile->n);
  return straddling(plan, which) * tiles / device->compute_units * lines * HIP_STEP_BYTES / tdm_hip_rates(device, d->type).l2;
}

double gemm_loads_again(const tdm_plan *plan, int which) {
  return gemm_packs(plan, plan->kernel->variant) & which ? 0 : straddling(plan, which);
}

/* To read and write so many bytes, without a launch. */
static double move_clocks(const tdm_plan *plan, double bytes) {
  return 2 * bytes / (tdm_hip_rates(plan->context->hip, plan->desc.gemm.type).hbm * HBM_SHARE);
}
/* A launch that copies so many bytes. */
static double pack_clocks(const tdm_plan *plan, double bytes) {
  return bytes == 0 ? 0 : fmax(PACK_LEAST, PACK_LAUNCH + move_clocks(plan, bytes));
}

int gemm_packs(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  double saved = 0, bytes = 0;
  int must = 0, may = 0;
  if (kernel->tile.any_address || plan->kernel->fallback.align == 0 || d->k == 0) return 0;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    hip_stored x = stored(d, which);
    double saves = straddling_clocks(plan, &kernel->tile, which);
    if (!whole_dwords(&x, d->type)) {
      must |= which;
    } else if (tdm_type_size(d->type) == 2 && saves > move_clocks(plan, copy_bytes(d, which)) && copy_fits(d, which) &&
               copy_bytes(d, which) <= MOST_OPTIONAL_BYTES) {
      may |= which;
      saved += saves;
      bytes += copy_bytes(d, which);
    }
  }
  return must | (must != 0 || saved > pack_clocks(plan, bytes) ? may : 0);
}

/* Zeros up to a whole K step take part in the sums for nothing, and there is no tail. */
int64_t gemm_packed_k(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  int64_t k = plan->desc.gemm.k;
  bool both = gemm_packs(plan, kernel) == (GEMM_PACKS_A | GEMM_PACKS_B);
  return both ? (k + ROW_ELEMENTS - 1) / ROW_ELEMENTS * ROW_ELEMENTS : k;
}

static int64_t copied_rows(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return along_k(d, which) ? stored(d, which).rows : gemm_packed_k(plan, kernel);
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
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    if ((gemm_packs(plan, kernel) & which) == 0) continue;
    hip_stored x = stored(d, which);
    if (copy_fits(d, which)) continue;
    snprintf(reason, size,
             "rows of %s, %" PRId64 " %s at ld = %" PRId64
             ", are not whole dwords, and their copy would have %.0f bytes or rows "
             "too long: at most %" PRId64 " bytes, in rows of at most %d",
             x.name, x.columns, tdm_type_name(d->type), x.ld, copy_bytes(d, which), (int64_t)MOST_COPY_BYTES,
             MOST_COPY_COLUMNS);
    return false;
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

enum { PART = 256 }; /* at multiples of which copies begin */
static int64_t whole_parts(int64_t bytes) { return (bytes + PART - 1) / PART * PART; }
static int64_t bytes_of(const tdm_plan *plan, const hip_tile_kernel *kernel, int which) {
  return gemm_packs(plan, kernel) & which ? whole_parts(gemm_copy_of(plan, kernel, which).bytes) : 0;
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
    if (!copy_fits(d, which)) return 0;
    bytes += copy_bytes(d, which);
  }
  plan->kernel->cost(plan, &own);
  double copied = pack_clocks(plan, packed + bytes) - pack_clocks(plan, packed); /* own has the rest */
  return bytes <= MOST_OPTIONAL_BYTES && own.clocks + copied < fallback ? others : 0;
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
    if (of_run & which) bytes += whole_parts(gemm_copy_of(plan, kernel, which).bytes);
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
    gemm_packed *p = &pack->of[i];
    p->from = buffers[i];
    if (args->packed & which) {
      p->to = gemm_copy_at(plan, kernel, which);
    } else if (of_run & which) {
      gemm_copy copy = gemm_copy_of(plan, kernel, which);
      p->to = borrowed;
      borrowed += whole_parts(copy.bytes);
      if (which == GEMM_PACKS_A)
        args->a = p->to, args->lda = copy.ld, args->stride_a = copy.stride, args->aligned_a = 1;
      else
        args->b = p->to, args->ldb = copy.ld, args->stride_b = copy.stride, args->aligned_b = 1;
    } else {
      p->blocks = 0;
    }
    pack->blocks += p->blocks;
  }
  return pack->blocks > 0;
}

static void explain_pack(tdm_plan *plan, int packs, bool dwords, int64_t bytes, unsigned workgroups) {
  size_t used = strlen(plan->explain);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "packed: %s, whose rows %s: %" PRId64 " bytes, copied by %u workgroups of gemm_pack\n",
           packs == GEMM_PACKS_A   ? "a"
           : packs == GEMM_PACKS_B ? "b"
                                   : "a and b",
           dwords ? "do not begin at cache lines" : "are not whole dwords", bytes, workgroups);
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
  int64_t bytes = 0, borrowed = 0;
  const int packs = gemm_packs(plan, kernel), copies = unaligned_copies(plan, kernel, fallback);
  bool dwords = false; /* a copied operand has rows of whole dwords */
  plan->any_address = (unsigned)(packs | copies);
  plan->copied = (unsigned)packs;
  if (plan->any_address == 0) return TDM_OK;
  for (int which = GEMM_PACKS_A; which <= GEMM_PACKS_B; which++) {
    if (((packs | copies) & which) == 0) continue;
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
                       .blocks = 0};
    p->blocks = (pack_pieces(p->matrices * p->to_rows, p->chunks) - 1) / PACK_PIECES + 1;
    args.blocks += p->blocks;
    dwords |= packs & which && whole_dwords(&x, d->type);
    *(packs & which ? &bytes : &borrowed) += whole_parts(copy.bytes);
  }
  unsigned most = (unsigned)plan->context->hip->compute_units * 2, all = (args.blocks - 1) / PACK_BLOCKS + 1;
  args.workgroups = all < most ? all : most; /* as many as run at a time */
  if (packs != 0) {
    plan->workspace_bytes = (plan->workspace_bytes + 255) / 256 * 256 + (size_t)bytes;
    explain_pack(plan, packs, dwords, bytes, args.workgroups);
  }
  if (copies != 0) explain_copies(plan, copies, borrowed);
  return tdm_hip_tile_first(plan, &function, d->type, args.workgroups, PACK_WORKITEMS, &args, sizeof args);
}
