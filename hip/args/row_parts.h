/* Rows that are split over workgroups, because there are too few rows for the device: which part of a row a workgroup has. Host
 * code fills this in. */
#ifndef TANDEM_HIP_ARGS_ROW_PARTS_H
#define TANDEM_HIP_ARGS_ROW_PARTS_H

#include <stdint.h>

enum { HIP_PARTS_LOG2 = 8, HIP_PARTS_WORKGROUP = 1 << HIP_PARTS_LOG2 }; /* work-items that share a part */

/* Workgroup w reduces part w % parts of row w / parts. A second launch joins the results of each row. */
typedef struct hip_row_parts {
  int64_t cols, part; /* elements of a row, and of a part: whole chunks for each work-item; the last part has fewer */
  int32_t rows, parts;
} hip_row_parts;

#endif
