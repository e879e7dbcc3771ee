/* attention of few queries on GPUs (offload/attention/decode_*.h) on the host, with coroutines as the lanes of a team: each
 * width of heads and number of rows, parts that are added in one level and in two, masks, strides, and values that are not
 * finite where a row sees no key. What it can't show are the order of asynchronous copies and a GPU's memory model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include "wave_stand_in.h"

#include <cmocka.h>

#include "offload/attention/decode_cut.h"
#include "offload/attention/decode_lanes.h"
#include "offload/attention/decode_mma.h"

enum { MEMORY = 49152, GUARD = 64 };

typedef struct attention_case {
  tdm_type type;
  int batch, heads_q, heads_kv, sq, skv, head_dim;
  int parts; /* at most; 0: as the library cuts */
  bool causal, mma;
  int pad, shift; /* elements after each row of K and V, before them */
  bool infinite;  /* V of the last key, which not all rows see */
} attention_case;

typedef struct launch_job {
  const decode_work *work;
  decode_cut cut;
  const void *q, *k, *v;
  decode_output out;
  float *slots;
  uint32_t *counters;
  char *memory;
  int team, teams, threads, rows, width;
  bool mma, whole;
  tdm_type type;
} launch_job;

#define MMA_TEAM(halves, width)                                                                                          \
  if (job->type == TDM_F16)                                                                                              \
    decode_mma_team(job->work, job->cut, &arrays, job->memory, job->slots, job->counters, job->out, self, halves, width, \
                    TDM_F16);                                                                                            \
  else                                                                                                                   \
    decode_mma_team(job->work, job->cut, &arrays, job->memory, job->slots, job->counters, job->out, self, halves, width, \
                    TDM_BF16)
#define LANES_TEAM(rows, width)                                                                                     \
  TDM_BY_TYPE(job->type, lanes_team, job->work, job->cut, job->q, job->k, job->v, (float *)job->memory, job->slots, \
              job->counters, job->out, job->whole, self, rows, width)
#define BY_ROWS(width)     \
  if (job->rows == 1)      \
    LANES_TEAM(1, width)   \
  else if (job->rows == 4) \
    LANES_TEAM(4, width)   \
  else                     \
    LANES_TEAM(8, width)

static void run_mma(const launch_job *job, tdm_position self) {
  const decode_arrays arrays = {job->q, job->k, job->v};
  if (job->width == 64 && job->rows == 8) {
    MMA_TEAM(1, 64);
  } else if (job->width == 64) {
    MMA_TEAM(2, 64);
  } else if (job->width == 128 && job->rows == 8) {
    MMA_TEAM(1, 128);
  } else if (job->width == 128) {
    MMA_TEAM(2, 128);
  } else {
    MMA_TEAM(1, 256);
  }
}

static void run_thread(void *argument, int thread) {
  const launch_job *job = argument;
  const tdm_position self = {job->team, job->teams, thread, job->threads};
  if (job->mma) {
    run_mma(job, self);
  } else if (job->width == 64) {
    BY_ROWS(64);
  } else if (job->width == 128) {
    BY_ROWS(128);
  } else {
    BY_ROWS(256);
  }
}

/* Team memory begins as NaN. */
static void run_launch(launch_job *job) {
  for (job->team = job->teams - 1; job->team >= 0; job->team--) {
    memset(job->memory, 0xff, MEMORY);
    wave_run_team(job->threads, run_thread, job);
  }
}

/* ---- Arrays and the reference ---- */

static float random_number(unsigned *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return (float)((int)(*seed >> 12) % 2001 - 1000) / 500;
}

static void *random_array(int64_t count, int shift, tdm_type type, unsigned *seed) {
  char *x = aligned_alloc(64, (size_t)(((count + shift) * tdm_bytes(type) + 127) / 64 * 64));
  assert_non_null(x);
  for (int64_t i = 0; i < count + shift; i++) tdm_store(x, i, type, random_number(seed));
  return x;
}

static double unit_of(tdm_type type) { return type == TDM_F32 ? 0x1p-20 : type == TDM_F16 ? 0x1p-11 : 0x1p-8; }

static void check_row(const attention_case *c, const tdm_attention_desc *d, const launch_job *job, int b, int h, int query,
                      const char *title) {
  const int head_kv = h / (c->heads_q / c->heads_kv);
  const int64_t at_q = b * d->q.batch + h * d->q.head + query * d->q.row,
                at_o = b * d->o.batch + h * d->o.head + query * d->o.row;
  const int64_t at_k = b * d->k.batch + head_kv * d->k.head, at_v = b * d->v.batch + head_kv * d->v.head;
  const int seen = (int)keys_seen(d, c->skv, query);
  double *p = calloc((size_t)c->skv + 1, sizeof *p), max = -INFINITY, sum = 0;
  assert_non_null(p);
  for (int j = 0; j < seen; j++) {
    for (int e = 0; e < c->head_dim; e++)
      p[j] += (double)tdm_load(job->q, at_q + e, c->type) * (double)tdm_load(job->k, at_k + j * d->k.row + e, c->type);
    p[j] *= (double)d->scale;
    max = fmax(max, p[j]);
  }
  for (int j = 0; j < seen; j++) sum += p[j] = exp(p[j] - max);
  for (int e = 0; e < c->head_dim; e++) {
    double value = 0, magnitude = 0;
    for (int j = 0; j < seen; j++) {
      const double x = p[j] / sum * (double)tdm_load(job->v, at_v + j * d->v.row + e, c->type);
      value += x, magnitude += fabs(x);
    }
    const double is = (double)tdm_load(job->out.o, at_o + e, c->type);
    if (isfinite(value) ? !(fabs(is - value) <= 2 * unit_of(c->type) * (magnitude + 0x1p-14)) : is == is && is != value)
      fail_msg("%s: o[%d, %d, %d, %d] = %g, expected %g", title, b, h, query, e, is, value);
  }
  const double lse = (double)job->out.lse[((int64_t)b * c->heads_q + h) * c->sq + query],
               own = seen > 0 ? max + log(sum) : -INFINITY;
  if (lse != own && !(fabs(lse - own) <= 0x1p-18 * (1 + fabs(own))))
    fail_msg("%s: lse[%d, %d, %d] = %.9g, expected %.9g", title, b, h, query, lse, own);
  free(p);
}

static void check_case(const attention_case *c) {
  char title[160];
  snprintf(title, sizeof title, "%s type %d %dx%dx%dx%dx%dx%d parts %d%s pad %d shift %d", c->mma ? "mma" : "lanes",
           (int)c->type, c->batch, c->heads_q, c->heads_kv, c->sq, c->skv, c->head_dim, c->parts, c->causal ? " causal" : "",
           c->pad, c->shift);
  const int64_t row = c->head_dim + c->pad, head = c->head_dim;
  tdm_attention_desc d = {.batch = c->batch,
                          .heads_q = c->heads_q,
                          .heads_kv = c->heads_kv,
                          .sq = c->sq,
                          .skv = c->skv,
                          .head_dim = c->head_dim,
                          .type = c->type,
                          .causal = c->causal};
  d.scale = 1 / sqrtf((float)c->head_dim);
  d.q = d.o = (tdm_attention_strides){c->heads_q * c->sq * head, c->sq * head, head};
  d.k = d.v = (tdm_attention_strides){c->heads_kv * c->skv * row, c->skv * row, row};
  unsigned seed = (unsigned)(c->skv * 31 + c->head_dim);
  const int64_t queries = (int64_t)c->batch * c->heads_q * c->sq;
  void *q = random_array(queries * head, 0, c->type, &seed), *o = random_array(queries * head + GUARD, 0, c->type, &seed);
  void *k = random_array(c->batch * d.k.batch, c->shift, c->type, &seed),
       *v = random_array(c->batch * d.v.batch, c->shift, c->type, &seed);
  const int64_t skip = c->shift * tdm_bytes(c->type);
  for (int i = 0; i < c->batch * c->heads_kv && c->infinite; i++)
    tdm_store((char *)v + skip, (int64_t)i * d.v.head + (c->skv - 1) * row + i % head, c->type, i % 2 ? INFINITY : NAN);
  const decode_kind kind = c->mma ? decode_mma_kind(&d) : decode_lanes_kind(&d);
  const int group = c->heads_q / c->heads_kv;
  const decode_work work = {.d = d, .group = group, .rows = group * c->sq};
  const int64_t steps = tdm_max(1, tdm_ceil_div(c->skv, kind.keys * kind.waves));
  const int64_t of_part = tdm_ceil_div(steps, c->parts) * kind.keys * kind.waves;
  launch_job job = {.work = &work,
                    .q = q,
                    .k = (char *)k + skip,
                    .v = (char *)v + skip,
                    .threads = kind.waves * 32,
                    .rows = kind.rows,
                    .width = kind.width,
                    .mma = c->mma,
                    .type = c->type};
  job.cut = (decode_cut){.skv = c->skv,
                         .keys = of_part,
                         .parts = (int)tdm_max(1, tdm_ceil_div(c->skv, of_part)),
                         .rows = kind.rows,
                         .row_blocks = (int)tdm_ceil_div(work.rows, kind.rows)};
  job.whole = row % gpu_piece_elements(c->type) == 0 && head % gpu_piece_elements(c->type) == 0 && skip % 16 == 0;
  job.teams = decode_teams(&d, &job.cut);
  const int64_t units = c->batch * c->heads_kv * job.cut.row_blocks;
  job.slots = malloc((size_t)(units * decode_slots(job.cut.parts) * kind.rows * decode_pitch(kind.width) + 1) * sizeof(float));
  job.counters = calloc((size_t)(units * decode_counters(job.cut.parts) + 1), sizeof(uint32_t));
  job.memory = aligned_alloc(64, MEMORY);
  job.out = (decode_output){o, malloc((size_t)queries * sizeof(float))};
  assert_true(job.slots != NULL && job.counters != NULL && job.memory != NULL && job.out.lse != NULL);
  for (int run = 0; run < 2; run++) { /* the second one finds the counters as the first one left them */
    for (int64_t i = 0; i < queries * head + GUARD; i++) tdm_store(o, i, c->type, 77);
    run_launch(&job);
    for (int b = 0; b < c->batch; b++)
      for (int h = 0; h < c->heads_q; h++)
        for (int s = 0; s < c->sq; s++) check_row(c, &d, &job, b, h, s, title);
    for (int64_t i = queries * head; i < queries * head + GUARD; i++)
      if (tdm_load(o, i, c->type) != 77) fail_msg("%s: writes after the output", title);
  }
  free(q), free(k), free(v), free(o), free(job.slots), free(job.counters), free(job.memory), free(job.out.lse);
}

/* ---- Cases ---- */

static void test_mma(void **state) {
  (void)state;
  static const attention_case cases[] = {
      {TDM_BF16, 1, 1, 1, 1, 1, 64, 1, false, true, 0, 0, false},
      {TDM_F16, 2, 4, 2, 1, 129, 64, 1, false, true, 0, 0, false},
      {TDM_BF16, 1, 8, 1, 1, 600, 128, 5, false, true, 0, 0, false},
      {TDM_F16, 1, 32, 2, 1, 130, 128, 2, false, true, 8, 8, false},
      {TDM_F16, 1, 9, 1, 1, 70, 64, 3, false, true, 0, 0, false},
      {TDM_BF16, 1, 3, 1, 1, 1500, 80, 20, false, true, 0, 0, false},
      {TDM_BF16, 1, 2, 1, 1, 95, 256, 2, false, true, 0, 0, false},
      {TDM_F16, 1, 6, 3, 3, 65, 96, 1, true, true, 8, 0, false},
      {TDM_BF16, 1, 6, 1, 3, 66, 128, 2, true, true, 0, 0, true},
      {TDM_F16, 1, 2, 1, 5, 33, 256, 1, true, true, 0, 0, true},
      {TDM_F16, 1, 4, 1, 9, 5, 64, 1, true, true, 0, 0, true},
      {TDM_BF16, 1, 12, 1, 3, 40, 16, 1, true, true, 0, 0, false},
      {TDM_BF16, 1, 2, 2, 1, 0, 64, 1, false, true, 0, 0, false},
      {TDM_F16, 1, 1, 1, 1, 2300, 72, 256, false, true, 0, 0, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_case(&cases[i]);
}

static void test_lanes(void **state) {
  (void)state;
  static const attention_case cases[] = {
      {TDM_F32, 1, 1, 1, 1, 1, 64, 1, false, false, 0, 0, false},
      {TDM_F32, 2, 4, 2, 1, 129, 64, 1, false, false, 0, 0, false},
      {TDM_F32, 1, 8, 1, 1, 600, 128, 5, false, false, 0, 0, false},
      {TDM_F32, 1, 20, 1, 1, 130, 128, 2, false, false, 4, 4, false},
      {TDM_F32, 1, 3, 1, 1, 1500, 80, 20, false, false, 0, 0, false},
      {TDM_F32, 1, 1, 1, 1, 95, 256, 2, false, false, 0, 0, false},
      {TDM_F32, 1, 5, 1, 1, 95, 256, 2, false, false, 0, 0, false},
      {TDM_F32, 1, 6, 3, 3, 65, 33, 1, true, false, 1, 1, true},
      {TDM_F32, 1, 4, 1, 9, 5, 64, 1, true, false, 0, 0, true},
      {TDM_F16, 1, 2, 2, 1, 300, 64, 2, false, false, 0, 0, false},
      {TDM_BF16, 1, 4, 1, 2, 200, 128, 2, true, false, 0, 0, true},
      {TDM_F16, 1, 8, 1, 1, 99, 256, 1, false, false, 0, 0, false},
      {TDM_BF16, 1, 7, 1, 1, 130, 65, 2, false, false, 1, 3, false},
      {TDM_BF16, 1, 3, 1, 2, 77, 40, 1, true, false, 8, 0, false},
      {TDM_F16, 1, 8, 1, 1, 99, 20, 1, false, false, 0, 1, false},
      {TDM_F32, 1, 2, 2, 1, 0, 64, 1, false, false, 0, 0, false},
      {TDM_F32, 1, 1, 1, 1, 9000, 16, 256, false, false, 0, 0, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_case(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mma), cmocka_unit_test(test_lanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
