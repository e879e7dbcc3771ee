#include "../device_code.h"

static __device__ int lane() { return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
static __device__ int shuffle(int value, int from) { return __builtin_amdgcn_ds_bpermute(from << 2, value); }

/* Sums of each wave: by shuffles; and of the lanes before a lane, by DPP: within rows of 16, then across rows. */
KERNEL void wave_scan(const int *a, const int *unused, int *c, int n) {
  (void)unused;
  int i = item_x(), x = i < n ? a[i] : 0, sum = x;
  for (int step = 32; step > 0; step /= 2) sum += shuffle(sum, lane() ^ step);
  int scan = x;
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x111, 0xf, 0xf, false); /* row_shr:1 */
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x112, 0xf, 0xf, false);
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x114, 0xf, 0xf, false);
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x118, 0xf, 0xf, false);
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x142, 0xa, 0xf, false); /* row_bcast:15 to rows 1 and 3 */
  scan += __builtin_amdgcn_update_dpp(0, scan, 0x143, 0xc, 0xf, false); /* row_bcast:31 to rows 2 and 3 */
  if (i < n) c[i] = scan * 3 + sum;
}

/* Inclusive scan of 256 elements in LDS (Hillis and Steele). */
KERNEL void scan(const int *a, const int *unused, int *c, int n) {
  __shared__ int row[2][256];
  (void)unused;
  int t = lane_x(), i = item_x(), from = 0;
  row[0][t] = i < n ? a[i] : 0;
  for (int step = 1; step < 256; step *= 2) {
    sync();
    row[1 - from][t] = row[from][t] + (t >= step ? row[from][t - step] : 0);
    from = 1 - from;
  }
  if (i < n) c[i] = row[from][t];
}

/* Where the odd elements of a wave would go: a ballot, and the lanes before this one. */
KERNEL void compact(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  int i = item_x();
  if (i >= n) return;
  unsigned long long odd = __builtin_amdgcn_ballot_w64((a[i] & 1) != 0);
  unsigned before = __builtin_amdgcn_mbcnt_hi((unsigned)(odd >> 32), __builtin_amdgcn_mbcnt_lo((unsigned)odd, 0));
  unsigned first = (unsigned)__builtin_amdgcn_readfirstlane((int)b[i]);
  unsigned fifth = (unsigned)__builtin_amdgcn_readlane((int)b[i], 5);
  c[i] = before + (first ^ fifth) * 3 + (unsigned)__builtin_popcountll(odd);
}

/* Quad permutations, reversed rows, rotations, a swizzle. */
KERNEL void moves(const int *a, const int *unused, int *c, int n) {
  (void)unused;
  int i = item_x(), x = i < n ? a[i] : 0;
  int r = __builtin_amdgcn_mov_dpp(x, 0x1b, 0xf, 0xf, true);       /* quad_perm:[3,2,1,0] */
  r = r * 31 + __builtin_amdgcn_mov_dpp(x, 0x140, 0xf, 0xf, true); /* row_mirror */
  r = r * 31 + __builtin_amdgcn_mov_dpp(x, 0x141, 0xf, 0xf, true); /* row_half_mirror */
  r = r * 31 + __builtin_amdgcn_mov_dpp(x, 0x123, 0xf, 0xf, true); /* row_ror:3 */
  r = r * 31 + __builtin_amdgcn_mov_dpp(x, 0x155, 0xf, 0xf, true); /* row_newbcast:5 */
  r = r * 31 + __builtin_amdgcn_ds_swizzle(x, 0x401f);             /* xor 16 in groups of 32 */
  r = r * 31 + __builtin_amdgcn_ds_permute(((lane() * 5 + 3) & 63) << 2, x);
  if (i < n) c[i] = r;
}
