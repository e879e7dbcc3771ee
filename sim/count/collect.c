/* From the counts of threads and the streams of workgroups to one set of counters. */
#include <stdlib.h>
#include <time.h>

#include "count.h"
#include "sim/base/error.h"
#include "sim/machine/sample.h"

enum { ROUNDS = 2, WAIT_NANOSECONDS = 20000000 };

struct collection {
  hierarchy *caches;
  pthread_mutex_t lock; /* of all below */
  pthread_cond_t moved; /* a round was played */
  u64 round_size;       /* workgroups that the chip holds at once */
  u64 round, finished[ROUNDS];
  line_stream *stream; /* of ROUNDS * round_size workgroups, by position */
  bool no_memory;
  thread_counts sum;
  u64 (*did)[GFXSIM_ESTIMATE_COUNT]; /* each workgroup of a spread sample, by position; NULL: not wanted */
};

collection *collection_make(const launch *run) {
  const chip *chip = &run->device->chip;
  const gfxsim_object *o = run->kernel->object;
  gfxsim_occupancy occupancy;
  collection *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->moved, NULL);
  occupancy_of_launch(run, &occupancy);
  u32 held = occupancy.workgroups_per_cu > 0 ? occupancy.workgroups_per_cu : 1; /* 0: hardware would refuse the launch */
  c->round_size = (u64)chip->xcds * chip->cus_per_xcd * held;
  c->caches = hierarchy_make(chip, true);
  c->stream = calloc(ROUNDS * c->round_size, sizeof *c->stream);
  c->sum.blocks = calloc((o->text_end - o->text_begin) / 4 + 1, sizeof *c->sum.blocks);
  bool estimates = sample_is_spread(run->sample);
  if (estimates) c->did = calloc(run->groups_run, sizeof *c->did);
  if (c->caches != NULL && c->stream != NULL && c->sum.blocks != NULL && (c->did != NULL || !estimates)) return c;
  collection_free(c);
  return NULL;
}

void collection_free(collection *c) {
  if (c == NULL) return;
  for (u64 s = 0; c->stream != NULL && s < ROUNDS * c->round_size; s++) free(c->stream[s].run);
  hierarchy_free(c->caches);
  free(c->stream);
  free(c->sum.blocks);
  free(c->did);
  pthread_cond_destroy(&c->moved);
  pthread_mutex_destroy(&c->lock);
  free(c);
}

hierarchy *collection_caches(collection *c) { return c->caches; }

/* Each position is written once, by the thread that ran its workgroup. */
void collection_note(collection *c, u64 position, const u64 did[GFXSIM_ESTIMATE_COUNT]) {
  if (c->did != NULL) memcpy(c->did[position], did, sizeof c->did[position]);
}

static void fill_errors(const collection *c, const launch *run, gfxsim_counters *counters) {
  for (int e = 0; e < GFXSIM_ESTIMATE_COUNT && run->groups_run < run->groups; e++)
    counters->sample_error[e] =
        c->did != NULL ? estimate_error(&c->did[0][e], GFXSIM_ESTIMATE_COUNT, run->groups_run, run->groups) : -1;
}

/* ---- Rounds ---- */

/* A fault elsewhere ends the launch without signalling this condition: look again now and then. */
void collection_wait(collection *c, const launch *run, u64 position) {
  pthread_mutex_lock(&c->lock);
  while (position / c->round_size >= c->round + ROUNDS && !atomic_load(&run->stop)) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&c->moved, &c->lock, &until);
  }
  pthread_mutex_unlock(&c->lock);
}

/* The workgroups of a round take turns, one run of lines each, as waves of a full chip would; those of an XCD go to its CUs in
 * turn. Workgroups go to XCDs round-robin by their number. */
static void play_round(collection *c, const launch *run, u64 members) {
  const chip *chip = &run->device->chip;
  u64 first = c->round * c->round_size;
  line_stream *streams = c->stream + c->round % ROUNDS * c->round_size;
  bool more = true;
  for (size_t turn = 0; more; turn++) {
    more = false;
    for (u64 n = 0; n < members; n++) {
      if (turn >= streams[n].count) continue;
      u32 xcd = (u32)(sample_number(run->sample, first + n) % chip->xcds);
      hierarchy_touch(c->caches, xcd, (u32)(n / chip->xcds % chip->cus_per_xcd), streams[n].run[turn]);
      more = true;
    }
  }
  for (u64 n = 0; n < members; n++) {
    free(streams[n].run);
    streams[n] = (line_stream){0};
  }
}

void collection_add(collection *c, const group *g, line_stream *stream) {
  const launch *run = g->launch;
  u64 round = g->position / c->round_size;
  pthread_mutex_lock(&c->lock);
  c->stream[round % ROUNDS * c->round_size + g->position % c->round_size] = *stream;
  *stream = (line_stream){0};
  c->finished[round % ROUNDS]++;
  for (;;) {
    u64 left = run->groups_run - c->round * c->round_size, members = left < c->round_size ? left : c->round_size;
    if (members == 0 || c->finished[c->round % ROUNDS] < members) break;
    play_round(c, run, members);
    c->finished[c->round % ROUNDS] = 0;
    c->round++;
    pthread_cond_broadcast(&c->moved);
    if (members < c->round_size) break;
  }
  pthread_mutex_unlock(&c->lock);
}

/* ---- Sums ---- */

static void add_all(u64 *to, const u64 *from, size_t count) {
  for (size_t n = 0; n < count; n++) to[n] += from[n];
}

void collection_merge(collection *c, const launch *run, const thread_counts *t) {
  const gfxsim_object *o = run->kernel->object;
  thread_counts *sum = &c->sum;
  add_all(sum->blocks, t->blocks, (o->text_end - o->text_begin) / 4);
  add_all((u64 *)&sum->lds, (const u64 *)&t->lds, sizeof t->lds / sizeof(u64));
  for (int kind = 0; kind < ACCESS_KINDS; kind++)
    add_all((u64 *)&sum->traffic[kind], (const u64 *)&t->traffic[kind], sizeof t->traffic[kind] / sizeof(u64));
  sum->scalar_bytes += t->scalar_bytes;
  sum->scratch_read += t->scratch_read;
  sum->scratch_written += t->scratch_written;
  if (t->longest_wave > sum->longest_wave) sum->longest_wave = t->longest_wave;
  sum->no_memory = sum->no_memory || t->no_memory;
}

gfxsim_status collection_result(collection *c, const launch *run) {
  if (atomic_load(&run->stop)) return GFXSIM_OK;
  if (!c->sum.no_memory && result_fill(run->counters, run, &c->sum, c->caches)) {
    fill_errors(c, run, run->counters);
    return GFXSIM_OK;
  }
  gfxsim_counters_release(run->counters);
  return fail(GFXSIM_NO_MEMORY, "run: no memory for counters");
}
