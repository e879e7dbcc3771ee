// The kernels of faults.h.
#include "faults.h"
#include "hip/engine/masked.h"

enum { STEP = 32, LINE_BYTES = 2 * STEP, LINE_CHUNKS = LINE_BYTES / 16 };

// A wave's 16 lines of a step, from `line0` on.
DEVICE void put_lines(LDS char *to, const void *base, int64_t line0, int64_t lines, int64_t k0, int64_t depth, int64_t ld,
                      bool tail) {
  int lane = lane_index();
  int64_t line = line0 + lane / LINE_CHUNKS, k = k0 + lane % LINE_CHUNKS * 8, count = tail ? 8 : depth - k;
  *(LDS u32x4 *)(to + lane * 16) = load_run((const char *)base, line * ld + k, line < lines ? count : 0, false, TDM_F16);
}

template <fault planted>
DEVICE void compute(const fault_args *p) {
  SHARED static char lds[(FAULT_ROWS + FAULT_COLUMNS) * LINE_BYTES] __attribute__((aligned(16)));
  LDS char *of_a = (LDS char *)lds, *of_b = of_a + FAULT_ROWS * LINE_BYTES + wave_index() * 16 * LINE_BYTES;
  uint32_t id = (uint32_t)__builtin_amdgcn_workgroup_id_x();
  int lane = lane_index(), line = lane % 16, chunk = lane / 16;
  int64_t m0 = (int64_t)(id / p->across) * FAULT_ROWS, n0 = (int64_t)(id % p->across) * FAULT_COLUMNS + wave_index() * 16;
  f32x4 sums = 0;
  if (planted == FAULT_TILE && id == 1) return;
  for (int64_t k0 = 0; k0 < p->k; k0 += STEP) {
    if (wave_index() == 0) put_lines(of_a, p->a, m0, p->m, k0, p->k, p->lda, planted == FAULT_K_TAIL);
    put_lines(of_b, p->b, n0, p->n, k0, p->k, p->ldb, planted == FAULT_K_TAIL);
    if (planted != FAULT_BARRIER) sync_lds();  // both waves have A
    int row = planted == FAULT_LANES ? line ^ 1 : line;
    u32x4 a = lds_read_unordered(lds_address(of_a + row * LINE_BYTES + chunk * 16), 0);
    u32x4 b = lds_read_unordered(lds_address(of_b + line * LINE_BYTES + chunk * 16), 0);
    if (planted != FAULT_WAIT) wait_lds();  // a and b
    keep_order();
    sums = mfma(a, b, sums, TDM_F16);
    sync_lds();  // both waves have read A
  }
#pragma unroll
  for (int r = 0; r < 4; r++) {
    int64_t row = m0 + 4 * chunk + r, column = n0 + line;
    if (row < p->m && column < p->n) p->c[row * p->ldc + column] = sums[r];
  }
}

#define OF_FAULT(name, planted) \
  KERNEL WORKGROUP(FAULT_THREADS, 1) void name(fault_args p) { compute<planted>(&p); }
OF_FAULT(fault_0, FAULT_NONE)
OF_FAULT(fault_1, FAULT_LANES)
OF_FAULT(fault_2, FAULT_TILE)
OF_FAULT(fault_3, FAULT_K_TAIL)
OF_FAULT(fault_4, FAULT_WAIT)
OF_FAULT(fault_5, FAULT_BARRIER)
