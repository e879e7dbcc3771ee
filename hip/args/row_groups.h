/* Rows that are reduced: which work-items share a row. Host code fills this in, device code loops over it. */
#ifndef TANDEM_HIP_ARGS_ROW_GROUPS_H
#define TANDEM_HIP_ARGS_ROW_GROUPS_H

#include <stdint.h>

enum {
  HIP_ROW_GROUP_MOST = 1024,
  HIP_ROWS_WORKGROUP = 256, /* work-items, unless a row group needs more */
  HIP_RAGGED_GROUP = 8,     /* work-items that share a row at least, if it is not whole chunks and kept in registers */
  HIP_KEPT_ELEMENTS = 32,   /* of a row, as f32 in a work-item's registers at most */
  HIP_NEAR_BYTES = 4096,    /* of short rows without gaps between them: what a wave loads at once, at most */
};

/* A row group is 2^group_log2 work-items that share a row: part of a wave, a wave, or several waves of one workgroup. */
typedef struct hip_row_groups {
  int64_t rows, cols;
  int32_t workgroups;          /* each takes a row for each of its row groups, then strides over the rows, by an even number */
  int16_t group_log2, threads; /* of a workgroup */
} hip_row_groups;

#endif
