/* Counts a run on a simulated device. */
#include "count.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case/options.h"
#include "sim/count/counters_json.h"
#include "sim/include/gfxsim_hip.h"

enum { XCDS = 8 }; /* of both chips */

/* What gfxsim executes with counters on two shared cores, in a second: MFMA work, and memory of simple kernels
 * (docs/gfxsim-profile.md, "What counting costs"). */
static const double FLOPS = 3e9, BYTES = 7e7, SECONDS = 20;

/* dlsym's void * as a function pointer: POSIX represents both alike, but C does not convert between them. */
bool bench_find_symbol(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static const char SIMULATOR[] = "libgfxsim-hip.so"; /* the same that tdm_open loads */

bool bench_simulator_load(bool checks, char *reason, size_t size) {
  __typeof__(gfxsim_hip_uncheck) *uncheck;
  void *library = dlopen(SIMULATOR, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(reason, size, "the simulator could not be loaded: %s", dlerror());
    return false;
  }
  if (!bench_find_symbol(library, "gfxsim_hip_uncheck", &uncheck)) {
    snprintf(reason, size, "%s lacks gfxsim_hip_uncheck: it must be of the same version as this program", SIMULATOR);
    return false;
  }
  uncheck(checks ? 0 : GFXSIM_CHECK_ALL);
  return true;
}

/* ---- Which simulator is behind a device ---- */

bool bench_in_process(const char *device) { return case_in_process(device); }

/* As a function pointer: POSIX represents both alike, but C does not convert between them. */
bool bench_find_in_simulator(const char *device, const char *name, void *function) {
  void *symbol = case_simulator_symbol(device, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

bool bench_is_simulated(const char *device) { return case_is_simulated(device); }

/* ---- Samples ---- */

bench_sample bench_sample_of(const tdm_case *c) {
  double seconds = c->op->flops(c) / FLOPS + c->op->bytes(c) / BYTES;
  return (bench_sample){.share = seconds > SECONDS ? SECONDS / seconds : 1};
}

typedef struct counting {
  const bench_sample *sample;
  bench_counts *counts;
  char text[32];                                  /* of the sample */
  int launches;                                   /* those without room counted too */
  char failed[sizeof((bench_launch *)0)->kernel]; /* the first kernel without counters */
  bool memory;
} counting;

static const char *choose(const char *kernel, uint64_t workgroups, void *user) {
  (void)kernel;
  counting *k = user;
  uint64_t wanted = k->sample->workgroups;
  if (wanted == 0) wanted = (uint64_t)fmax(XCDS, floor(k->sample->share * (double)workgroups / XCDS) * XCDS);
  if (wanted >= workgroups || (k->sample->workgroups == 0 && k->sample->share >= 1)) return NULL;
  snprintf(k->text, sizeof k->text, "%llu", (unsigned long long)wanted);
  return k->text;
}

/* ---- The main loop ---- */

/* Finds the main loop: the instructions that ran as often as most MFMA instructions did, from the first of them to the last in
 * the order of the code. */
typedef struct stretch {
  int first, last;
  uint64_t count;
} stretch;

static stretch find_stretch(const gfxsim_counters *c) {
  const gfxsim_instruction *i = c->instructions;
  bool mfma = c->classes[GFXSIM_CLASS_MFMA] > 0;
  stretch best = {0, -1, 0};
  uint64_t most = 0;
  for (int n = 0; n < c->instruction_count; n++) {
    stretch s = {n, n, i[n].count};
    uint64_t same = 0;
    if ((mfma && i[n].class_of != GFXSIM_CLASS_MFMA) || s.count == best.count) continue;
    for (int m = n; m < c->instruction_count; m++)
      if (i[m].count == s.count && (!mfma || i[m].class_of == GFXSIM_CLASS_MFMA)) same += s.count, s.last = m;
    if (same > most) most = same, best = s;
  }
  while (best.first > 0 && i[best.first - 1].count == best.count) best.first--;
  while (best.last + 1 < c->instruction_count && i[best.last + 1].count == best.count) best.last++;
  return best;
}

static bool same_name(const char *a, const char *b) {
  size_t length = strcspn(a, " ");
  return strcspn(b, " ") == length && strncmp(a, b, length) == 0;
}

/* "v_exp_f32 8, v_add_u32 2", in the order of the code. */
static void name_valu(const gfxsim_counters *c, const stretch *s, char *text, size_t size) {
  size_t used = 0;
  for (int n = s->first; n <= s->last; n++) {
    const gfxsim_instruction *i = &c->instructions[n];
    int times = 0;
    bool first = i->count == s->count && i->class_of == GFXSIM_CLASS_VALU;
    for (int m = s->first; m <= s->last && first; m++) {
      bool same = c->instructions[m].count == s->count && same_name(c->instructions[m].text, i->text);
      first = !same || m >= n;
      times += same;
    }
    if (first && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%.*s %d", used > 0 ? ", " : "", (int)strcspn(i->text, " "), i->text,
                               times);
  }
}

static void find_loop(const gfxsim_counters *c, bench_loop *loop) {
  stretch s = find_stretch(c);
  for (int n = s.first; n <= s.last; n++)
    if (c->instructions[n].count == s.count) loop->instructions[c->instructions[n].class_of]++;
  loop->rounds = c->waves > 0 ? (s.count + c->waves / 2) / c->waves : 0;
  name_valu(c, &s, loop->valu, sizeof loop->valu);
}

static bool has_atomics(const gfxsim_counters *c) {
  for (int n = 0; n < c->instruction_count; n++) {
    const gfxsim_instruction *i = &c->instructions[n];
    if (i->count > 0 && i->class_of != GFXSIM_CLASS_LDS && strstr(i->text, "_atomic_") != NULL) return true;
  }
  return false;
}

static double barriers_of(const gfxsim_counters *c) {
  double count = 0;
  for (int n = 0; n < c->instruction_count; n++)
    if (same_name(c->instructions[n].text, "s_barrier")) count += (double)c->instructions[n].count;
  return count;
}

/* An MFMA is issued through the VALU, which takes 4 clocks (docs/gfxsim-profile.md, "Bounds"). */
static double exp_share(const gfxsim_counters *c) {
  double exp = 0, all = (double)c->valu_clocks + 4 * (double)c->classes[GFXSIM_CLASS_MFMA];
  for (int n = 0; n < c->instruction_count; n++)
    if (strncmp(c->instructions[n].text, "v_exp_", 6) == 0) exp += (double)c->instructions[n].clocks;
  return all > 0 ? exp / all : 0;
}

static json_t *loop_json(const bench_loop *loop) {
  json_t *instructions = json_object();
  for (int k = 0; k < GFXSIM_CLASS_COUNT; k++)
    json_object_set_new(instructions, gfxsim_class_name((gfxsim_class)k), json_integer(loop->instructions[k]));
  return json_pack("{s:I, s:o, s:s}", "rounds", (json_int_t)loop->rounds, "instructions", instructions, "valu", loop->valu);
}

/* ---- A run ---- */

static void counted(const char *kernel, const gfxsim_counters *c, void *user) {
  counting *k = user;
  if (c == NULL && k->failed[0] == '\0') snprintf(k->failed, sizeof k->failed, "%s", kernel);
  if (k->launches++ >= BENCH_MAX_LAUNCHES || c == NULL) return;
  bench_launch *launch = &k->counts->launch[k->counts->launches++];
  *launch = (bench_launch){.c = *c, .json = counters_json(kernel, c)};
  snprintf(launch->kernel, sizeof launch->kernel, "%s", kernel);
  find_loop(c, &launch->loop);
  launch->exp_share = exp_share(c);
  launch->barriers = barriers_of(c);
  launch->atomics = has_atomics(c);
  for (int x = 0; x < c->xcds; x++) {
    const gfxsim_l2 *l2 = &c->l2[x];
    launch->l2.reads += l2->reads;
    launch->l2.read_hits += l2->read_hits;
    launch->l2.writes += l2->writes;
    launch->l2.write_hits += l2->write_hits;
    launch->l2.write_halves += l2->write_halves;
    launch->l2.fabric_read += l2->fabric_read;
    launch->l2.fabric_write += l2->fabric_write;
  }
  launch->c.instructions = NULL;
  launch->c.sources = NULL;
  launch->c.l2 = NULL;
  if (json_object_set_new(launch->json, "loop", loop_json(&launch->loop)) != 0 ||
      json_object_set_new(launch->json, "exp_share_of_valu", json_real(launch->exp_share)) != 0)
    k->memory = false;
}

bool bench_can_count(const char *device, char *reason, size_t size) {
  __typeof__(gfxsim_count) *count;
  static const char text[] = "not counted: the gfxsim behind %s %s: it must be of the same version as this program";
  if (!bench_find_in_simulator(device, "gfxsim_count", &count)) {
    snprintf(reason, size, text, device, "has no gfxsim_count");
    return false;
  }
  gfxsim_counting probe = {.counters_bytes = sizeof(gfxsim_counters), .counted = counted};
  bool good = count(&probe) == GFXSIM_OK;
  if (!good) snprintf(reason, size, text, device, "has other counters");
  count(NULL);
  return good;
}

static bool count_once(tdm_context *context, const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS],
                       const bench_sample *sample, bench_counts *counts, char *reason, size_t size) {
  counting k = {.sample = sample, .counts = counts, .memory = true};
  __typeof__(gfxsim_count) *count;
  const char *device = tdm_context_device(context);
  *counts = (bench_counts){0};
  if (!bench_can_count(device, reason, size) || !bench_find_in_simulator(device, "gfxsim_count", &count)) return false;
  count(&(gfxsim_counting){sizeof(gfxsim_counters), choose, counted, &k});
  tdm_status status = case_run(c, plan, pointers, NULL);
  if (status == TDM_OK) status = tdm_stream_sync(context, NULL);
  count(NULL);
  reason[0] = '\0';
  if (status != TDM_OK)
    snprintf(reason, size, "%s", tdm_last_error());
  else if (!k.memory)
    snprintf(reason, size, "no memory for the counters");
  else if (k.failed[0] != '\0')
    snprintf(reason, size, "the launch of %s was not counted: it failed, or a check of gfxsim found something", k.failed);
  else if (k.launches == 0)
    snprintf(reason, size, "the run launched no kernel");
  else if (k.launches > BENCH_MAX_LAUNCHES)
    snprintf(reason, size, "the run launched %d kernels: at most %d are counted", k.launches, BENCH_MAX_LAUNCHES);
  if (reason[0] == '\0') return true;
  bench_counts_free(counts);
  return false;
}

/* Workgroups of the launch that ran, if none of them touched memory and others may have: where each XCD gets whole tiles, some
 * workgroups have no tile. 0: some did. */
static uint64_t idle_sample(const bench_counts *counts) {
  for (int i = 0; i < counts->launches; i++) {
    const gfxsim_counters *c = &counts->launch[i].c;
    if (c->workgroups_run < c->workgroups && c->load.accesses + c->store.accesses + c->atomic.accesses == 0)
      return c->workgroups_run;
  }
  return 0;
}

/* A sample whose workgroups have nothing to do says nothing of the launch, so it grows until one has. */
bool bench_count_run(tdm_context *context, const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS],
                     const bench_sample *sample, bench_counts *counts, char *reason, size_t size) {
  bench_sample more = *sample;
  while (count_once(context, c, plan, pointers, &more, counts, reason, size)) {
    const uint64_t idle = idle_sample(counts);
    if (idle == 0) return true;
    more = (bench_sample){.workgroups = 2 * idle};
    bench_counts_free(counts);
  }
  return false;
}

void bench_counts_free(bench_counts *counts) {
  for (int i = 0; i < counts->launches; i++) json_decref(counts->launch[i].json);
  *counts = (bench_counts){0};
}

/* ---- Sums over the launches ---- */

bool bench_counts_sampled(const bench_counts *counts) {
  for (int i = 0; i < counts->launches; i++)
    if (counts->launch[i].c.workgroups_run < counts->launch[i].c.workgroups) return true;
  return false;
}

bool bench_counts_in_parts(const bench_counts *counts) {
  bool atomics = false;
  for (int i = 0; i < counts->launches; i++) atomics |= counts->launch[i].atomics;
  return atomics || counts->launches > 1;
}

double bench_counts_clocks(const bench_counts *counts) {
  double clocks = 0;
  for (int i = 0; i < counts->launches; i++) {
    const gfxsim_counters *c = &counts->launch[i].c;
    clocks += c->bound[c->floor] * (c->floor <= GFXSIM_PIPE_L1 ? c->tail : 1);
  }
  return clocks;
}

double bench_counts_hbm(const bench_counts *counts) {
  double bytes = 0;
  for (int i = 0; i < counts->launches; i++) bytes += (double)(counts->launch[i].c.hbm_read + counts->launch[i].c.hbm_written);
  return bench_counts_sampled(counts) ? -1 : bytes;
}

void bench_put_floor(char *text, size_t size, const bench_counts *counts) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < counts->launches && used < size; i++) {
    const gfxsim_counters *c = &counts->launch[i].c;
    used += (size_t)snprintf(text + used, size - used, "%s%s %.0f", i > 0 ? ", " : "", gfxsim_pipe_name(c->floor),
                             c->bound[c->floor]);
  }
}
