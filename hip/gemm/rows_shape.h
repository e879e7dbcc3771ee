/* The workgroups of gemm_rows and gemm_elements, shared by host and device. */
#ifndef TANDEM_HIP_GEMM_ROWS_SHAPE_H
#define TANDEM_HIP_GEMM_ROWS_SHAPE_H

enum {
  GEMM_ROWS_WAVES = 8, /* which divide K */
  GEMM_ROWS_LINES = 16 /* of a fragment: rows of A, columns of B */
};

#endif
