#include "timing_json.h"

static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }
static json_t *modelled(double value) { return value > 0 ? json_real(value) : json_null(); }

json_t *causes_json(const uint64_t clocks[GFXSIM_CAUSE_COUNT]) {
  json_t *made = json_object();
  for (int c = 0; c < GFXSIM_CAUSE_COUNT; c++) json_object_set_new(made, gfxsim_cause_name((gfxsim_cause)c), number(clocks[c]));
  return made;
}

static json_t *loop(const gfxsim_time_loop *l) {
  if (!l->found) return json_null();
  return json_pack("{s:o, s:o, s:f, s:f, s:f}", "begin", number(l->begin), "end", number(l->end), "iterations", l->iterations,
                   "clocks", l->clocks, "mfma_share", l->mfma_share);
}

static json_t *errors(void) {
  json_t *made = json_object();
  gfxsim_time_error e;
  for (int n = 0; gfxsim_time_error_at(n, &e); n++)
    json_object_set_new(
        made, e.figures,
        e.count > 0 ? json_pack("{s:i, s:f, s:f}", "figures", e.count, "median", e.median, "worst", e.worst) : json_null());
  return made;
}

json_t *timing_json(const char *kernel, const gfxsim_timing *t) {
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:b, s:b, s:f, s:s?, s:o}", "what",
                   "predicted by a model, not measured", "kernel", kernel, "chip", t->chip, "clocks", number(t->clocks),
                   "launch_clocks", number(t->launch_clocks), "mfma_share", t->mfma_share, "no_wave", t->no_wave,
                   "frequency_ghz", modelled(t->frequency_ghz), "microseconds", modelled(t->microseconds), "data", t->data,
                   "loop", loop(&t->loop), "wave_clocks", causes_json(t->wave_clocks), "warm", t->warm, "skip_mfma",
                   t->skip_matrix, "extrapolated", t->extrapolated, "model", t->model, "percent_off_on_set_p",
                   t->model == NULL ? errors() : json_null());
}
