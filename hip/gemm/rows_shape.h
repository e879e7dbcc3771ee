/* The workgroups of gemm_rows, shared by host and device. */
#ifndef TANDEM_HIP_GEMM_ROWS_SHAPE_H
#define TANDEM_HIP_GEMM_ROWS_SHAPE_H

enum { GEMM_ROWS_WAVES = 8 /* which divide K */ };

#endif
