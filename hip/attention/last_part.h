/* Decode in one launch: the workgroup that stores the last part of a head of keys adds all of them.
 *
 * Workgroups of a head may be on different XCDs, whose L2s don't see each other's writes. So a workgroup releases its part
 * before it counts itself (buffer_wbl2 sc1 writes the L2 back), and the last one acquires the others' (buffer_inv sc1):
 * LLVM's memory model for gfx942 and gfx950, in the scope of an agent. Parts are added in their order, whoever is last, so
 * every run gives the same bits. */
#ifndef TANDEM_HIP_ATTENTION_LAST_PART_H
#define TANDEM_HIP_ATTENTION_LAST_PART_H

#include "key_tile.h"
#include "work.h"

/* On gfx942 from the wave's number, which is in an SGPR, because the loop has no VGPR left to keep it. */
DEVICE uint32_t own_lane(void) {
#if CHIP_TRANSPOSED_LDS_READS
  return (uint32_t)lane_index();
#else
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
#endif
}
DEVICE uint32_t own_thread(int wave) {
  return CHIP_TRANSPOSED_LDS_READS ? (uint32_t)thread_index() : (uint32_t)wave * WAVE + own_lane();
}

/* Is this workgroup the last one of its head of keys to come here? The counter is 0 before a launch; the last workgroup's
 * increment makes it 0 again, for the next launch. `shared` is LDS whose old contents no wave needs any more. */
DEVICE bool comes_last(const attention_args *a, uint32_t kv, int wave, LDS uint32_t *shared) {
  wait_memory<0>(); /* for this wave's part of the results */
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (wave == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); /* the other waves' part too: the barrier handed it on */
    /* clang 22 leaves this wait out: it knows of no access since the last one, and does not count buffer_wbl2 */
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    uint32_t others = 0;
    if (own_lane() == 0) others = __builtin_amdgcn_atomic_inc32(a->counters + kv, a->splits - 1, __ATOMIC_RELAXED, "agent");
    const bool last = (uint32_t)__builtin_amdgcn_readfirstlane((int)others) == a->splits - 1;
    if (last) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (own_lane() == 0) *shared = last;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return __builtin_amdgcn_readfirstlane((int)*shared) != 0;
}

typedef float part_numbers_of_row __attribute__((ext_vector_type(2))); /* reference and sum */

/* Four columns of a row, so far. */
typedef struct row_sum {
  f32x4 x;
  float reference, sum;
} row_sum;

/* Makes `most` the reference, if it is larger. */
DEVICE void raise_reference(row_sum *s, float most) {
  most = __builtin_fmaxf(s->reference, most);
  const float factor = most == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(s->reference - most); /* avoids inf - inf */
  s->x *= factor;
  s->sum *= factor;
  s->reference = most;
}

DEVICE void add_part(row_sum *s, f32x4 x, float reference, float sum) {
  const float factor = s->reference == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(reference - s->reference);
  s->x += factor * x;
  s->sum += factor * sum;
}

/* Stores four columns of a row. */
DEVICE void store_sum(const attention_args *a, uint32_t kv, uint32_t row, uint32_t column, row_sum s, tdm_type type) {
  const uint32_t sq = (uint32_t)a->sq, batch = kv / (uint32_t)a->heads_kv;
  uint32_t head = row, query = 0;
  if (sq > 1) {
    head = row / sq;
    query = row % sq;
  }
  head += kv % (uint32_t)a->heads_kv * (uint32_t)a->group;
  const bool any = !a->causal || query + a->skv >= a->sq;
  const int64_t to = batch * a->o_stride.batch + head * a->o_stride.head + query * a->o_stride.row + column;
  store_four(a->o, to, any ? s.x * (1 / s.sum) : (f32x4)0, type);
  if (a->lse != nullptr && column == 0) a->lse[(batch * a->heads_q + head) * sq + query] = log_sum(s.reference, s.sum);
}

/* Adds all parts of a head of keys and stores its rows. A unit is four columns of a row. A work-item has `units` of them at a
 * time and loads `parts` parts of each at once, because one after the other would take a latency each. */
template <int head, int units, int parts>
DEVICE void add_all_parts(const attention_args *a, uint32_t kv, int wave, tdm_type type) {
  const uint32_t of_row = head / 4, head_dim = (uint32_t)a->head_dim, rows = (uint32_t)(a->group * a->sq), splits = a->splits;
  const uint32_t step = rows * head_dim * (uint32_t)sizeof(float), numbers_step = rows * (uint32_t)sizeof(part_numbers_of_row);
  buffer o = make_short_buffer(part_results(a, (int64_t)kv * splits), splits * step);
  buffer numbers = make_short_buffer(part_numbers(a, (int64_t)kv * splits), splits * numbers_step);
  for (uint32_t from = own_thread(wave); from < rows * of_row; from += units * THREADS<head>) {
    row_sum s[units];
#pragma unroll
    for (int u = 0; u < units; u++) s[u] = (row_sum){(f32x4)0, -__builtin_inff(), 0};
    for (uint32_t i = 0; i < splits; i += parts) {
      f32x4 part[units][parts];
      part_numbers_of_row own[units][parts];
#pragma unroll
      for (uint32_t u = 0; u < units; u++) { /* zeros after the last part; what comes after the last row is not stored */
        const uint32_t unit = from + u * THREADS<head>, row = unit / of_row, column = unit % of_row * 4;
        uint32_t of_numbers = i * numbers_step + row * (uint32_t)sizeof(part_numbers_of_row);
        uint32_t of_part = i * step + (row * head_dim + column) * (uint32_t)sizeof(float);
#pragma unroll
        for (uint32_t n = 0; n < parts; n++) {
          own[u][n] =
              __builtin_bit_cast(part_numbers_of_row, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)of_numbers, 0, 0));
          part[u][n] = __builtin_bit_cast(f32x4, buffer_load(o, of_part));
          of_numbers += numbers_step;
          of_part += step;
          if (CHIP_TRANSPOSED_LDS_READS) continue;
          keep_in_register(&of_numbers); /* gfx942's SGPRs have no room for the multiples of both steps */
          keep_in_register(&of_part);
        }
      }
#pragma unroll
      for (int u = 0; u < units; u++) {
        float most = -__builtin_inff();
#pragma unroll
        for (uint32_t n = 0; n < parts; n++) { /* a part that is not there adds 0 */
          own[u][n].x = i + n < splits ? own[u][n].x : -__builtin_inff();
          most = __builtin_fmaxf(most, own[u][n].x);
        }
        raise_reference(&s[u], most);
#pragma unroll
        for (uint32_t n = 0; n < parts; n++) add_part(&s[u], part[u][n], own[u][n].x, own[u][n].y);
      }
    }
#pragma unroll
    for (uint32_t u = 0; u < units; u++) {
      const uint32_t unit = from + u * THREADS<head>, row = unit / of_row, column = unit % of_row * 4;
      if (row < rows && column < head_dim) store_sum(a, kv, row, column, s[u], type);
    }
  }
}

/* The end of a decode: all waves come here. `lds` is no longer used. */
template <int head>
DEVICE void end_part(const attention_args *a, int wave, LDS char *lds, tdm_type type) {
  attention_args again;
  if (head > 128 || !CHIP_TRANSPOSED_LDS_READS) { /* there the loop has no registers for them, and would spill */
    again = arguments_again();
    a = &again;
  }
  if (a->counters == nullptr) return;
  const uint32_t kv = __builtin_amdgcn_workgroup_id_x() / a->splits;
  if (!comes_last(a, kv, wave, (LDS uint32_t *)lds)) return;
  if (a->splits <= 4)
    add_all_parts<head, 4, 4>(a, kv, wave, type);
  else
    add_all_parts<head, 1, 16>(a, kv, wave, type);
}

#endif
