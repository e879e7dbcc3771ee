/* Rows that are split over workgroups (hip/args/row_parts.h): a workgroup's part of a row, and what parts tell each other. */
#ifndef TANDEM_HIP_DEVICE_ROW_PARTS_H
#define TANDEM_HIP_DEVICE_ROW_PARTS_H

#include "hip/args/row_parts.h"
#include "row_batches.h"

#define PARTS_KERNEL(waves) KERNEL WORKGROUP(HIP_PARTS_WORKGROUP, waves)

/* A part is like a row of its own. */
typedef struct row_part {
  int64_t row, start, cols; /* where it begins in the row, and its elements */
  row_place place;
  row_group_t group; /* the workgroup */
} row_part;

/* base, leading: the array whose rows decide where chunks begin. Only the first part begins within a chunk: the others begin
 * where one does. */
DEVICE row_part part_of_rows(const hip_row_parts *all, const void *base, int64_t leading, tdm_type type) {
  const uint32_t unit = __builtin_amdgcn_workgroup_id_x(), row = unit / (uint32_t)all->parts,
                 part = unit - row * (uint32_t)all->parts;
  const char *where = (const char *)base + row * leading * tdm_bytes(type);
  const int skew = type != TDM_F32 && is_between_dwords(where) ? 1 : 0, first = part == 0 ? skew : 0;
  const int64_t start = part == 0 ? 0 : part * all->part - skew,
                end = part + 1 == (uint32_t)all->parts ? all->cols : (part + 1) * all->part - skew;
  return (row_part){.row = row,
                    .start = start,
                    .cols = end - start,
                    .place = {first, thread_index() * chunk_length(type) - first},
                    .group = {HIP_PARTS_LOG2, thread_index(), 0, row, 1, HIP_PARTS_WORKGROUP / WAVE, 0}};
}

/* Where the part begins. */
DEVICE const char *part_begin(const void *base, int64_t leading, const row_part *w, tdm_type type) {
  return (const char *)base + (w->row * leading + w->start) * tdm_bytes(type);
}

/* Where this work-item's first chunk of the part is, if chunks begin with the part. */
DEVICE const char *part_at(const void *base, int64_t leading, const row_part *w, tdm_type type) {
  return part_begin(base, leading, w, type) + w->group.lane * 16;
}

/* `cols`: how much of the part is read. */
DEVICE row_batches batches_of_part(const char *at, const void *elsewhere, int64_t cols, const row_part *w, int batch,
                                   tdm_type type) {
  row_batches r = batches_of(at, elsewhere, cols, w->place, w->group, batch, true, type);
  r.count = r.whole + (r.tail + w->place.skew > 0);
  return r;
}

#endif
