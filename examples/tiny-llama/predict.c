/* gfxsim tells of each launch what it predicts. */
#include "predict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "case/options.h"
#include "own.h"
#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

typedef struct predictor {
  const session *s;
  predicted sum;
  bool missing;
} predictor;
static predictor now;

static bool find(const char *device, const char *name, void *function) {
  void *symbol = case_simulator_symbol(device, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void timed(const char *kernel, const gfxsim_timing *t, void *user) {
  predictor *p = user;
  double seconds = 1e-6 * t->microseconds;
  bool own = own_has(p->s->own, kernel);
  if (t->microseconds <= 0) p->missing = true;
  p->sum.launches++;
  p->sum.seconds += seconds;
  if (own) p->sum.own++, p->sum.own_seconds += seconds;
}

static void counted(const char *kernel, const gfxsim_counters *counters, void *user) {
  (void)kernel, (void)counters, (void)user; /* predictions need a function that is told of counters */
}

static bool watch(const char *device, const gfxsim_time_watch *how) {
  __typeof__(gfxsim_count) *count;
  __typeof__(gfxsim_time_launches) *predict;
  gfxsim_counting counting = {.counters_bytes = sizeof(gfxsim_counters), .counted = counted};
  if (!find(device, "gfxsim_count", &count) || !find(device, "gfxsim_time_launches", &predict)) return false;
  return count(how != NULL ? &counting : NULL) == GFXSIM_OK && predict(how) == GFXSIM_OK;
}

bool predict_begin(const session *s, llama_error *error) {
  const char *device = tdm_context_device(s->m.context);
  now = (predictor){.s = s};
  /* A decode reads the same weights again and again: those of a model that a simulator can run fit the memory-side cache. */
  gfxsim_time_watch how = {.timing_bytes = sizeof(gfxsim_timing), .timed = timed, .user = &now, .warm = true};
  if (!case_is_simulated(device))
    return llama_fail(error, "--predict: the device is %s: must be simulated, as sim:gfx950", device);
  return watch(device, &how) || llama_fail(error, "--predict: the gfxsim behind %s is of another version", device);
}

bool predict_take(predicted *p, llama_error *error) {
  *p = now.sum;
  now.sum = (predicted){0};
  return !now.missing || llama_fail(error, "--predict: a launch has no prediction");
}

void predict_end(const session *s) { watch(tdm_context_device(s->m.context), NULL); }

void predict_print(const predicted *prefill, int64_t prompt, const predicted *decode, int64_t tokens) {
  double each = tokens > 0 ? decode->seconds / (double)tokens : 0;
  printf("predicted    prefill %" PRId64 " tokens in %.1f us, %d launches", prompt, 1e6 * prefill->seconds, prefill->launches);
  if (prefill->own > 0) printf(", of them your %d take %.1f us", prefill->own, 1e6 * prefill->own_seconds);
  if (tokens > 0)
    printf("\npredicted    decode %.0f tokens/s, %.1f us a token in %.1f launches", 1 / each, 1e6 * each,
           (double)decode->launches / (double)tokens);
  if (tokens > 0 && decode->own > 0)
    printf(", of them your %.1f take %.1f us", (double)decode->own / (double)tokens,
           1e6 * decode->own_seconds / (double)tokens);
  printf(
      "\n             by gfxsim's model of time (docs/gfxsim-time.md has its errors), with a warm memory-side cache; the "
      "host's work "
      "and gaps between launches are not modelled\n");
}
