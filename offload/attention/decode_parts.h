/* What the kernels of GPUs for few queries and many keys share: how the work is cut, and how parts of it are added.
 *
 * The rows that share a head of keys (all queries of all its query heads) are cut into blocks of a few rows, and the head's
 * keys into parts: a team takes one part for one block, the unit. The waves of a team, or parts of a wave, take keys in turn
 * and leave their results in team memory. The team adds them, and stores them in a slot of the plan's workspace. Of each
 * DECODE_FAN slots the team that comes last adds them to a slot of the next level, and the last of all stores the output. So
 * there is one launch, no team waits for another, and every sum has a fixed order. */
#ifndef TANDEM_OFFLOAD_ATTENTION_DECODE_PARTS_H
#define TANDEM_OFFLOAD_ATTENTION_DECODE_PARTS_H

#include "offload/device/mma.h"
#include "offload/device/ticket.h"
#include "offload/engine/gpu_row.h"
#include "query_row.h"

/* FAN: slots that a team adds. With 16 and 256 parts there are two levels, of about 2 us each on an H200. */
enum { DECODE_FAN = 16, DECODE_MOST_PARTS = DECODE_FAN * DECODE_FAN, DECODE_PROCESSORS = 132 };

/* What a launch needs in addition to its pointers: made with the plan, kept on the device, and followed by the counters. */
typedef struct decode_work {
  tdm_attention_desc d;
  int group, rows; /* query heads of a head of keys; rows that share it: group * sq */
} decode_work;

/* How a run is cut. */
typedef struct decode_cut {
  int64_t skv;
  int64_t keys;         /* of a part */
  int parts;            /* of a head of keys */
  int rows, row_blocks; /* of a block, at most; blocks of a head of keys */
} decode_cut;

/* What a team works on. */
typedef struct decode_unit {
  const decode_work *work;
  decode_cut cut;
  int unit, part;      /* unit: the number of the head of keys and of its block of rows */
  int batch, head_kv;  /* int: 64-bit divisions are calls */
  int first_row, rows; /* of the block */
  int64_t begin, end;  /* keys */
  int64_t open;        /* keys before it are seen by all rows */
} decode_unit;

/* Row r of a head of keys is query r % sq of head r / sq of the group. */
TDM_INLINE int64_t decode_row_offset(const decode_unit *u, const tdm_attention_strides *s, int row) {
  const int sq = (int)u->work->d.sq, r = u->first_row + row;
  return u->batch * s->batch + ((int64_t)u->head_kv * u->work->group + r / sq) * s->head + r % sq * s->row;
}

/* The number of keys that a row of the block sees. Rows after the last one repeat it. */
TDM_INLINE int64_t decode_seen(const decode_unit *u, int row) {
  return keys_seen(&u->work->d, u->cut.skv, (u->first_row + (row < u->rows ? row : u->rows - 1)) % (int)u->work->d.sq);
}

TDM_INLINE decode_unit decode_unit_of(const decode_work *work, decode_cut cut, int index) {
  const tdm_attention_desc *d = &work->d;
  const int block = index % cut.row_blocks, of_head = index / cut.row_blocks, head = of_head / cut.parts;
  decode_unit u = {.work = work, .cut = cut, .part = of_head % cut.parts, .unit = head * cut.row_blocks + block};
  u.batch = head / (int)d->heads_kv;
  u.head_kv = head % (int)d->heads_kv;
  u.first_row = block * cut.rows;
  u.rows = work->rows - u.first_row < cut.rows ? work->rows - u.first_row : cut.rows;
  /* Queries of the block: one after the other, or in any order if it has more than one head. */
  const int sq = (int)d->sq, first = u.first_row % sq, last = (u.first_row + u.rows - 1) % sq;
  const bool one_head = u.first_row / sq == (u.first_row + u.rows - 1) / sq;
  u.begin = u.part * cut.keys;
  u.end = tdm_min(u.begin + cut.keys, keys_seen(d, cut.skv, one_head ? last : sq - 1));
  u.open = keys_seen(d, cut.skv, one_head ? first : 0);
  return u;
}

/* ---- Results: for each row `width` floats, then the maximum of the scores and the sum of the weights. With this pitch,
 * lanes that store 8 columns of 8 rows reach all banks ---- */

TDM_INLINE int decode_pitch(int width) { return width + 4; }
/* Floats of team memory: `groups` results, and the factors with which they are added. */
#define DECODE_MEMORY(groups, rows, width) ((groups) * (rows) * ((width) + 4) + (rows) * 2 * DECODE_FAN + 4)

/* Slots of a unit, and counters: one for each sum. */
TDM_INLINE int decode_slots(int parts) {
  int slots = 0;
  for (int count = parts; count > 1; count = (count - 1) / DECODE_FAN + 1) slots += count;
  return slots;
}
TDM_INLINE int decode_counters(int parts) {
  int counters = 0;
  for (int count = parts; count > 1; count = (count - 1) / DECODE_FAN + 1) counters += (count - 1) / DECODE_FAN + 1;
  return counters;
}

/* base2: scores are multiples of ln 2. */
TDM_INLINE float decode_power(float x, bool base2) { return base2 ? mma_exp2(x) : tdm_exp_nonpositive(x); }

typedef struct decode_output {
  void *o;
  float *lse;
} decode_output;

/* Adds `members` results, at most DECODE_FAN, that are `step` floats apart. is_last: to the output, else to a slot. */
TDM_INLINE void decode_add(const decode_unit *u, const float *from, int64_t step, int members, float *factors, float *slot,
                           decode_output out, bool is_last, tdm_position self, int width, bool base2, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  const int pitch = decode_pitch(width);
  TDM_NO_UNROLL
  for (int i = self.thread; i < u->rows * DECODE_FAN; i += self.threads) {
    const int row = i / DECODE_FAN, m = i % DECODE_FAN;
    const float *numbers = from + m * step + row * pitch + width;
    factors[2 * row * DECODE_FAN + m] = m < members ? numbers[0] : -__builtin_inff();
    factors[(2 * row + 1) * DECODE_FAN + m] = m < members ? numbers[1] : 0;
  }
  TDM_SYNC_BLOCK(); /* all numbers have been read */
  TDM_NO_UNROLL
  for (int row = self.thread; row < u->rows; row += self.threads) {
    float *own = factors + 2 * row * DECODE_FAN, max = -__builtin_inff(), sum = 0;
    TDM_UNROLL
    for (int m = 0; m < DECODE_FAN; m++) max = own[m] > max ? own[m] : max;
    const float reference = max == -__builtin_inff() ? 0 : max; /* only -infinity: avoids inf - inf */
    TDM_UNROLL
    for (int m = 0; m < DECODE_FAN; m++) {
      own[m] = decode_power(own[m] - reference, base2);
      sum += own[m] * own[DECODE_FAN + m];
    }
    if (is_last) {
      const int r = u->first_row + row, query = r % (int)d->sq;
      const float whole = decode_seen(u, row) > 0 ? 1 / sum : 0;
      TDM_UNROLL
      for (int m = 0; m < DECODE_FAN; m++) own[m] *= whole;
      if (out.lse != NULL)
        out.lse[((u->batch * d->heads_kv + u->head_kv) * u->work->group + r / (int)d->sq) * d->sq + query] =
            (base2 ? max * 0x1.62e43p-1f : max) + tdm_log(sum);
    } else {
      slot[row * pitch + width] = max;
      slot[row * pitch + width + 1] = sum;
    }
  }
  TDM_SYNC_BLOCK(); /* all factors are written */
  TDM_NO_UNROLL
  for (int i = self.thread; i < u->rows * (width / 4); i += self.threads) {
    const int row = i / (width / 4), column = i % (width / 4) * 4;
    if (column >= d->head_dim) continue;
    const float *own = factors + 2 * row * DECODE_FAN, *x = from + row * pitch + column;
    gpu_piece part[DECODE_FAN];
    TDM_UNROLL
    for (int m = 0; m < DECODE_FAN; m++) {
      part[m] = (gpu_piece){0};
      if (m < members) part[m] = *(const gpu_piece *)(x + m * step);
    }
    float sum[4] = {0};
    TDM_UNROLL
    for (int m = 0; m < DECODE_FAN; m++) TDM_UNROLL
    for (int e = 0; e < 4; e++) sum[e] += own[m] * tdm_from_bits(part[m][e]);
    if (is_last) {
      const int64_t to = decode_row_offset(u, &d->o, row) + column;
      TDM_UNROLL
      for (int e = 0; e < 4; e++)
        if (column + e < d->head_dim) tdm_store(out.o, to + e, type, sum[e]);
    } else {
      *(gpu_piece *)(slot + row * pitch + column) =
          (gpu_piece){tdm_bits(sum[0]), tdm_bits(sum[1]), tdm_bits(sum[2]), tdm_bits(sum[3])};
    }
  }
}

/* The end of a unit, whose `groups` results, at most DECODE_FAN, are in team memory: [group][rows]. The team has no other
 * use for its memory, and all of it is written. rows, width, base2: constants of the kernel. */
TDM_INLINE void decode_end(const decode_unit *u, float *memory, float *slots, uint32_t *counters, decode_output out,
                           tdm_position self, int groups, int rows, int width, bool base2, tdm_type type) {
  const int64_t step = (int64_t)rows * decode_pitch(width);
  float *factors = memory + groups * step;
  volatile uint32_t *told = (volatile uint32_t *)(factors + rows * 2 * DECODE_FAN);
  int node = u->part, count = u->cut.parts;
  slots += (int64_t)u->unit * decode_slots(count) * step;
  counters += (int64_t)u->unit * decode_counters(count);
  /* Apart from the sums of slots, so that the compiler knows which memory it reads. */
  decode_add(u, memory, step, groups, factors, slots + node * step, out, count == 1, self, width, base2, type);
  TDM_NO_UNROLL
  while (count > 1) { /* the team's slot of a level with `count` slots is complete: is it the last one of its sum? */
    const int sums = (count - 1) / DECODE_FAN + 1, sum = node / DECODE_FAN, first = sum * DECODE_FAN;
    const int members = count - first < DECODE_FAN ? count - first : DECODE_FAN;
    tdm_device_fence();
    TDM_SYNC_BLOCK();
    if (self.thread == 0) {
      const uint32_t ticket = tdm_ticket(&counters[sum]);
      *told = ticket;
      if (ticket == (uint32_t)(members - 1)) counters[sum] = 0; /* for the next run */
    }
    TDM_SYNC_BLOCK();
    if (*told != (uint32_t)(members - 1)) return;
    tdm_device_fence();
    const float *from = slots + first * step;
    slots += count * step;
    counters += sums;
    node = sum, count = sums;
    decode_add(u, from, step, members, factors, slots + node * step, out, count == 1, self, width, base2, type);
  }
}

#endif
