/* Operands that a launch before the tiles copies. */
#include "pack.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hip/args/tiles.h"

enum { MOST_COLUMNS = INT32_MAX / 1024 };
#define MOST_BYTES (16.0 * INT32_MAX) /* chunks are counted in 32 bits */
/* The clocks of a launch, fitted to predictions of copies of 1.0, 4.2, 5.8, 16.8, 33.5 and 67.1 MB on gfx950: 10,622, 10,795,
 * 10,572, 16,215, 32,550 and 54,974, from 9 % less to 9 % more; and of 1.0, 4.2, 8.4, 16.8 and 33.5 MB on gfx942: 10,622,
 * 10,963, 12,097, 19,273 and 37,623, from 4 % less to 11 % more. The first trips to memory of all waves take as long as small
 * copies. */
enum { PACK_LEAST = 10500 };
typedef struct copy_numbers {
  double launch, hbm; /* clocks; the share of the peak */
} copy_numbers;
static copy_numbers copies_of(const tdm_plan *plan) {
  static const copy_numbers wide = {5500, 0.83}, narrow = {2900, 0.72}; /* gfx950, gfx942 */
  return tdm_hip_half_lines(plan->context->hip->chip) ? narrow : wide;
}

double tdm_hip_copy_bytes(const hip_operand *x, tdm_type type) {
  return (double)x->matrices * ((double)x->stored.rows + HIP_PACK_ROW) * ((double)x->stored.columns + HIP_PACK_ROW) *
         (double)tdm_type_size(type);
}

bool tdm_hip_copy_fits(const hip_operand *x, tdm_type type) {
  return tdm_hip_copy_bytes(x, type) <= MOST_BYTES && x->stored.columns <= MOST_COLUMNS;
}

bool tdm_hip_copy_supported(const hip_operand *x, tdm_type type, char *reason, size_t size) {
  if (tdm_hip_copy_fits(x, type)) return true;
  snprintf(reason, size,
           "rows of %s, %" PRId64 " %s at ld = %" PRId64
           ", are not whole dwords, and their copy would have %.0f bytes or rows "
           "too long: at most %" PRId64 " bytes, in rows of at most %d",
           x->stored.name, x->stored.columns, tdm_type_name(type), x->stored.ld, tdm_hip_copy_bytes(x, type),
           (int64_t)MOST_BYTES, MOST_COLUMNS);
  return false;
}

/* Where rows do not begin at cache lines, the 128 bytes of a K step are parts of two lines, and the next step's load finds the
 * second one no longer in the vL1D. Predicted clocks (docs/gemm-tiles.md): 1.2 to 1.28 times what L2 takes for as many
 * lines again.
 * gfx942, whose steps of 256 lines are 64 bytes: 0.74 times. If rows run along the lines, of 256 bytes, one line in two. */
double tdm_hip_loads_again(const tdm_plan *plan, const hip_operand *x, tdm_type type) {
  if (tdm_hip_rows_aligned(&x->stored, type, HIP_STEP_BYTES)) return 0;
  return (tdm_hip_half_lines(plan->context->hip->chip) ? 0.74 : 1.25) * (x->along_k ? 1 : 0.5);
}

double tdm_hip_again_clocks(const tdm_plan *plan, tdm_type type, double again, double tiles, double lines, double k) {
  const tdm_hip_device *device = plan->context->hip;
  double steps = ceil(k * (double)tdm_type_size(type) / HIP_STEP_BYTES);
  return again * tiles / device->compute_units * steps * lines * HIP_STEP_BYTES / tdm_hip_rates(device, type).l2;
}

/* To read and write so many bytes, without a launch. */
static double move_clocks(const tdm_plan *plan, tdm_type type, double bytes) {
  return 2 * bytes / (tdm_hip_rates(plan->context->hip, type).hbm * copies_of(plan).hbm);
}

double tdm_hip_pack_clocks(const tdm_plan *plan, tdm_type type, double bytes) {
  return bytes == 0 ? 0 : fmax(PACK_LEAST, copies_of(plan).launch + move_clocks(plan, type, bytes));
}

int tdm_hip_which_to_pack(const tdm_plan *plan, const hip_copies *c, const double *saves) {
  double saved = 0, bytes = 0;
  int must = 0, may = 0;
  for (int i = 0; i < c->count; i++) {
    const double of_copy = tdm_hip_copy_bytes(&c->of[i], c->type);
    if (!tdm_hip_dword_rows(&c->of[i].stored, c->type)) {
      must |= 1 << i;
    } else if (tdm_type_size(c->type) == 2 && saves[i] > move_clocks(plan, c->type, of_copy) &&
               tdm_hip_copy_fits(&c->of[i], c->type) && of_copy <= HIP_PACK_MOST_OPTIONAL_BYTES) {
      may |= 1 << i;
      saved += saves[i];
      bytes += of_copy;
    }
  }
  return must | (must != 0 || saved > tdm_hip_pack_clocks(plan, c->type, bytes) ? may : 0);
}

/* Elements from one row of the copy to the next. */
static int64_t whole_rows(int64_t elements) { return (elements + HIP_PACK_ROW - 1) / HIP_PACK_ROW * HIP_PACK_ROW; }

int64_t tdm_hip_packed_k(const hip_copies *c) { return c->packs == (1 << c->count) - 1 ? whole_rows(c->k) : c->k; }

static int64_t rows_of_copy(const hip_copies *c, const hip_operand *x) {
  return x->along_k ? x->stored.rows : tdm_hip_packed_k(c);
}

hip_copy tdm_hip_copy_of(const hip_copies *c, int operand) {
  const hip_operand *x = &c->of[operand];
  const int64_t ld = whole_rows(x->stored.columns), of_matrix = rows_of_copy(c, x) * ld;
  return (hip_copy){ld, x->matrices == 1 ? 0 : of_matrix, x->matrices * of_matrix * (int64_t)tdm_type_size(c->type)};
}

int64_t tdm_hip_bytes_of_copies(const hip_copies *c, int which) {
  int64_t bytes = 0;
  for (int i = 0; i < c->count; i++)
    if (which >> i & 1) bytes += tdm_hip_whole_parts(tdm_hip_copy_of(c, i).bytes);
  return bytes;
}

void *tdm_hip_copy_at(const tdm_plan *plan, const hip_copies *c, int operand) {
  const int64_t from_here = tdm_hip_bytes_of_copies(c, c->packs >> operand << operand);
  return (char *)plan->workspace + (int64_t)plan->workspace_bytes - from_here;
}

static hip_packed packed(const hip_operand *x, int64_t to_rows) {
  hip_packed p = {.ld = x->stored.ld,
                  .stride = x->stored.stride,
                  .rows = (uint32_t)x->stored.rows,
                  .columns = (uint32_t)x->stored.columns,
                  .matrices = (uint32_t)x->matrices,
                  .to_rows = (uint32_t)to_rows,
                  .chunks = (uint32_t)(whole_rows(x->stored.columns) / 8)};
  /* Here, because a division takes a wave as long as ten loads. */
  p.rows_each = p.chunks > PACK_SHORT ? 1 : PACK_LANES / p.chunks;
  p.of_row = (p.chunks - 1) / PACK_PIECE + 1;
  p.pieces = p.rows_each == 1 ? p.matrices * p.to_rows * p.of_row : (p.matrices * p.to_rows - 1) / p.rows_each + 1;
  p.blocks = (p.pieces - 1) / PACK_PIECES + 1;
  return p;
}

unsigned tdm_hip_fill_copies(const tdm_plan *plan, const hip_copies *c, int which, hip_packed *of, uint32_t *blocks) {
  *blocks = 0;
  for (int i = 0; i < c->count; i++) {
    if ((which >> i & 1) == 0) continue;
    of[i] = packed(&c->of[i], rows_of_copy(c, &c->of[i]));
    *blocks += of[i].blocks;
  }
  unsigned most = (unsigned)plan->context->hip->compute_units * 2, all = (*blocks - 1) / PACK_BLOCKS + 1;
  return all < most ? all : most;
}

void tdm_hip_add_copies(tdm_plan *plan, const hip_copies *c, unsigned workgroups, const char *kernel) {
  const int64_t bytes = tdm_hip_bytes_of_copies(c, c->packs);
  bool dwords = false; /* a copied operand has rows of whole dwords */
  char names[32] = "";
  size_t named = 0, used = strlen(plan->explain);
  for (int i = 0; i < c->count; i++) {
    const hip_stored *x = &c->of[i].stored;
    if ((c->packs >> i & 1) == 0) continue;
    dwords |= tdm_hip_dword_rows(x, c->type);
    named += (size_t)snprintf(names + named, sizeof names - named, "%s%s", named == 0 ? "" : " and ", x->name);
  }
  plan->workspace_bytes = (size_t)tdm_hip_whole_parts((int64_t)plan->workspace_bytes) + (size_t)bytes;
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "packed: %s, whose rows %s: %" PRId64 " bytes, copied by %u workgroups of %s\n", names,
           dwords ? "do not begin at cache lines" : "are not whole dwords", bytes, workgroups, kernel);
}
