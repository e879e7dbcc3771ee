#include "counters_json.h"

/* jansson's pack fails as a whole where an element failed, so only the last result is tested. */
static json_t *number(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *traffic(const gfxsim_traffic *t) {
  return json_pack("{s:o, s:o, s:o, s:o}", "accesses", number(t->accesses), "asked", number(t->asked), "lines64",
                   number(t->lines64), "lines128", number(t->lines128));
}

static json_t *lds(const gfxsim_lds_count *l) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "accesses", number(l->accesses), "bytes", number(l->bytes), "clocks",
                   number(l->clocks), "conflict_clocks", number(l->conflict_clocks), "unmodelled", number(l->unmodelled));
}

static json_t *occupancy(const gfxsim_occupancy *o) {
  return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s}", "vgprs", (int)o->vgprs, "sgprs", (int)o->sgprs, "lds_bytes",
                   (int)o->lds_bytes, "scratch_bytes", (int)o->scratch_bytes, "waves", (int)o->waves, "waves_per_simd",
                   (int)o->waves_per_simd, "workgroups_per_cu", (int)o->workgroups_per_cu, "limit", o->limit);
}

static json_t *classes(const gfxsim_counters *c) {
  json_t *made = json_object();
  for (int k = 0; k < GFXSIM_CLASS_COUNT; k++)
    json_object_set_new(made, gfxsim_class_name((gfxsim_class)k), number(c->classes[k]));
  return made;
}

static json_t *caches(const gfxsim_counters *c) {
  json_t *l2 = json_array();
  for (int x = 0; x < c->xcds; x++) {
    const gfxsim_l2 *l = &c->l2[x];
    json_array_append_new(
        l2, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "reads", number(l->reads), "read_hits", number(l->read_hits),
                      "writes", number(l->writes), "write_hits", number(l->write_hits), "write_halves", number(l->write_halves),
                      "fabric_read", number(l->fabric_read), "fabric_write", number(l->fabric_write)));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "l1_lines", number(c->l1_lines), "l1_hits", number(c->l1_hits), "l2",
                   l2, "mall_lines", number(c->mall_lines), "mall_hits", number(c->mall_hits), "hbm_read", number(c->hbm_read),
                   "hbm_written", number(c->hbm_written));
}

/* A pipe that is not modelled is null. */
static json_t *bounds(const gfxsim_counters *c) {
  json_t *clocks = json_object();
  for (int p = 0; p < GFXSIM_PIPE_COUNT; p++)
    json_object_set_new(clocks, gfxsim_pipe_name((gfxsim_pipe)p), c->bound[p] < 0 ? json_null() : json_real(c->bound[p]));
  return json_pack("{s:s, s:o, s:s, s:f}", "what", "bound, from counts: not a time", "clocks", clocks, "floor",
                   gfxsim_pipe_name(c->floor), "tail", c->tail);
}

/* Half of a 95 % interval as a share of the count; null where it can't be estimated, 0 where all workgroups ran. */
static json_t *sample_errors(const gfxsim_counters *c) {
  json_t *made = json_object();
  for (int e = 0; e < GFXSIM_ESTIMATE_COUNT; e++)
    json_object_set_new(made, gfxsim_estimate_name((gfxsim_estimate)e),
                        c->sample_error[e] < 0 ? json_null() : json_real(c->sample_error[e]));
  return made;
}

json_t *counters_json(const char *kernel, const gfxsim_counters *c) {
  json_t *mfma = json_pack("{s:o, s:o}", "flops", number(c->mfma_flops), "clocks", number(c->mfma_clocks));
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel",
                   kernel, "chip", c->chip, "workgroups", number(c->workgroups), "workgroups_run", number(c->workgroups_run),
                   "sample_error", sample_errors(c), "waves", number(c->waves), "longest_wave", number(c->longest_wave),
                   "occupancy", occupancy(&c->occupancy), "classes", classes(c), "mfma", mfma, "lds", lds(&c->lds), "load",
                   traffic(&c->load), "store", traffic(&c->store), "atomic", traffic(&c->atomic), "scalar_bytes",
                   number(c->scalar_bytes), "scratch_bytes", number(c->scratch_read + c->scratch_written), "caches", caches(c),
                   "bounds", bounds(c));
}
