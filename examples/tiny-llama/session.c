/* From the command line to a loaded model. */
#include "session.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "own.h"
#include "random.h"
#include "result.h"
#include "watch.h"

/* Of a pass: below, the residual stream is small beside the weights, and an exchange takes as long as its start. */
enum { BY_TOKENS = 1024 };

/* ---- Options ---- */

static bool read_whole(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value,
                       llama_error *error) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  *value = number;
  if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && number >= least && number <= most) return true;
  return llama_fail(error, "%s = '%s': must be a whole number from %" PRIu64 " to %" PRIu64, option, text, least, most);
}

static bool read_input(session *s, const char *text, llama_error *error) {
  int used = 0;
  if (sscanf(text, "%" SCNd64 "x%" SCNd64 "%n", &s->batch, &s->seq, &used) == 2 && text[used] == '\0' && s->batch >= 1 &&
      s->batch <= 1 << 20 && s->seq >= 1 && s->seq <= s->config.context)
    return true;
  return llama_fail(error, "--input = '%s': must be BATCHxSEQ, with SEQ at most the model's context, %" PRId64, text,
                    s->config.context);
}

static bool read_type(session *s, const char *text, llama_error *error) {
  for (tdm_type type = TDM_F32; type <= TDM_BF16; type++)
    if (strcmp(tdm_type_name(type), text) == 0) return s->type = type, true;
  return llama_fail(error, "--dtype = '%s': must be f32, f16 or bf16", text);
}

static bool read_real(const char *option, const char *text, double least, double most, double *value, llama_error *error) {
  char *end;
  if (text == NULL) return true;
  *value = strtod(text, &end);
  return (end != text && *end == '\0' && *value >= least && *value <= most) ||
         llama_fail(error, "%s = '%s': must be a number from %g to %g", option, text, least, most);
}

static bool read_numbers(session *s, llama_error *error) {
  const llama_options *o = s->options;
  uint64_t repeats = 5, version = 4, generate = 0, by_tokens = BY_TOKENS, chunks = 1, leave = 0;
  s->temperature = 0, s->top_p = 1;
  if (o->seed != NULL && !read_whole("--seed", o->seed, 0, UINT64_MAX, &s->seed, error)) return false;
  if (o->repeats != NULL && !read_whole("--repeats", o->repeats, 1, 10000, &repeats, error)) return false;
  if (o->version != NULL && !read_whole("--version", o->version, 1, VERSIONS, &version, error)) return false;
  if (o->generate != NULL && !read_whole("--generate", o->generate, 1, INT32_MAX, &generate, error)) return false;
  if (!read_real("--temperature", o->temperature, 0, 100, &s->temperature, error) ||
      !read_real("--top-p", o->top_p, 1e-6, 1, &s->top_p, error))
    return false;
  if (o->by_tokens != NULL && !read_whole("--by-tokens", o->by_tokens, 1, INT64_MAX, &by_tokens, error)) return false;
  if (o->chunks != NULL && !read_whole("--chunks", o->chunks, 1, 2, &chunks, error)) return false;
  s->by_tokens = (int64_t)by_tokens;
  if (o->leave != NULL && !read_whole("--leave", o->leave, 0, 1000, &leave, error)) return false;
  s->chunks = (int)chunks;
  s->leave = (int)leave;
  s->generate = (int64_t)generate;
  s->repeats = (int)repeats;
  s->version = (int)version;
  return o->dtype == NULL || read_type(s, o->dtype, error);
}

/* ---- Ids: those of --ids or --prompt, or random ones from the seed ---- */

static bool check_count(const session *s, const char *option, int64_t count, llama_error *error) {
  if (s->seq > s->config.context)
    return llama_fail(error, "%s: %" PRId64 " tokens: the model's context holds %" PRId64, option, count, s->config.context);
  if (count != s->batch * s->seq)
    return llama_fail(error, "%s: %" PRId64 " tokens: --input = %s asks for %" PRId64, option, count, s->options->input,
                      s->batch * s->seq);
  return true;
}

static bool read_ids(session *s, const char *text, llama_error *error) {
  int64_t count = 1;
  for (const char *at = text; *at != '\0'; at++) count += *at == ',';
  if (s->options->input == NULL) s->batch = 1, s->seq = count;
  if (!check_count(s, "--ids", count, error)) return false;
  s->ids = malloc((size_t)count * sizeof *s->ids);
  if (s->ids == NULL) return llama_fail(error, "--ids: no memory for %" PRId64 " tokens", count);
  const char *at = text;
  for (int64_t i = 0; i < count; i++) {
    char *end;
    errno = 0;
    long id = strtol(at, &end, 10);
    if (end == at || (*end != ',' && *end != '\0') || errno != 0 || id < 0 || id >= s->config.vocab)
      return llama_fail(error, "--ids: token %" PRId64 " = '%.*s': must be 0 to %" PRId64, i, (int)strcspn(at, ","), at,
                        s->config.vocab - 1);
    s->ids[i] = (int32_t)id;
    at = end + 1;
  }
  return true;
}

static bool read_prompt(session *s, const char *text, llama_error *error) {
  const llama_options *o = s->options;
  int64_t count = 0;
  if (o->model == NULL) return llama_fail(error, "--prompt: needs --model, a folder with tokenizer.json; or give --ids");
  if (o->ids != NULL) return llama_fail(error, "--prompt and --ids: name one of them");
  if (!tokenizer_open(o->model, &s->tokenizer, error) ||
      !tokenizer_encode(s->tokenizer, text, strlen(text), true, &s->ids, &count, error))
    return false;
  if (count == 0) return llama_fail(error, "--prompt = '%.60s': has no tokens", text);
  for (int64_t i = 0; i < count; i++)
    if (s->ids[i] >= s->config.vocab)
      return llama_fail(error,
                        "%.500s/tokenizer.json: token %" PRId64 " of --prompt has the id %d: the model's are 0 to %" PRId64,
                        o->model, i, s->ids[i], s->config.vocab - 1);
  if (o->input == NULL) s->batch = 1, s->seq = count;
  return check_count(s, "--prompt", count, error);
}

bool session_ids(session *s, llama_error *error) {
  if (s->ids != NULL) return true;
  s->ids = malloc((size_t)(s->batch * s->seq) * sizeof *s->ids);
  if (s->ids == NULL) return llama_fail(error, "no memory for %" PRId64 " token ids", s->batch * s->seq);
  for (int64_t i = 0; i < s->batch * s->seq; i++)
    s->ids[i] = (int32_t)(random_bits(~s->seed + (uint64_t)i) % (uint64_t)s->config.vocab);
  return true;
}

static bool read_model(session *s, llama_error *error) {
  const llama_options *o = s->options;
  const char *preset = o->preset == NULL ? "tiny" : o->preset;
  if (o->model != NULL) return llama_config_read(o->model, &s->config, error);
  return llama_preset(preset, &s->config) ||
         llama_fail(error, "--preset = '%s': must be one of %s", preset, llama_preset_names());
}

/* Reports a file that can't be written before minutes of measuring, not after them. */
static bool check_outputs(const llama_options *o, llama_error *error) {
  const struct {
    const char *option, *path;
  } outputs[] = {{"--json", o->json}, {"--plot", o->plot}, {"--logits", o->logits}};
  for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
    if (outputs[i].path == NULL) continue;
    char reason[256];
    if (!result_check(outputs[i].path, reason, sizeof reason))
      return llama_fail(error, "%s = '%s': %s", outputs[i].option, outputs[i].path, reason);
  }
  return true;
}

/* ---- Ranks ---- */

/* What ranks can't do together. */
static bool check_divided(const session *s, llama_error *error) {
  const llama_options *o = s->options;
  const char *divided = o->move != NULL ? "--move" : o->leave != NULL ? "--leave" : NULL;
  if (o->ranks == NULL) return divided == NULL || llama_fail(error, "%s: needs --ranks", divided);
  if (s->version != 4) return llama_fail(error, "--version %d: --ranks needs version 4", s->version);
  const char *alone = o->profile ? "--profile" : o->compare ? "--compare" : NULL;
  if (alone != NULL) return llama_fail(error, "%s: is of one process, without --ranks", alone);
  const char *results = o->curve ? "--curve" : o->loss != NULL ? "--loss" : o->logits != NULL ? "--logits" : divided;
  return !s->ranks.alone || results == NULL ||
         llama_fail(error, "%s: --ranks alone=N exchanges nothing, so it has no such result", results);
}

/* Without chunks no product runs beside an exchange. */
static bool check_leave(const session *s, llama_error *error) {
  bool chunks = s->chunks > 1 && s->cases == NULL;
  for (int i = 0; i < s->case_count; i++) chunks = chunks || s->cases[i].chunks > 1;
  return s->leave == 0 || chunks || llama_fail(error, "--leave %d: needs --chunks 2, or a case with /2", s->leave);
}

/* All ranks must do the same. Paths may differ between hosts; the files are compared when they are opened. */
static bool agree(const session *s, llama_error *error) {
  const llama_options *o = s->options;
  const llama_config *c = &s->config;
  char text[1024];
  snprintf(text, sizeof text, "%a %a %d %d %a %" PRId64 " %a %a|%" PRId64 " %" PRId64 " %" PRId64, c->theta, (double)c->eps,
           c->tied, (int)c->rope, c->scaling.factor, c->scaling.trained, c->scaling.low, c->scaling.high, c->vocab, c->d,
           c->layers);
  size_t used = strlen(text);
  snprintf(text + used, sizeof text - used, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, c->heads, c->kv_heads,
           c->head_dim, c->ffn, c->context);
  if (!ranks_same(&s->ranks, text, strlen(text), o->model != NULL ? "another config.json" : "another --preset", error))
    return false;
  if (!ranks_same(&s->ranks, c->end, sizeof c->end[0] * (size_t)c->ends, "another eos_token_id", error)) return false;
  snprintf(text, sizeof text, "%d %d %" PRIu64 " %d %" PRId64 " %a %a %" PRId64 " %" PRId64 " %" PRId64 "|%.40s|%.20s|%d",
           (int)s->type, s->version, s->seed, s->repeats, s->generate, s->temperature, s->top_p, s->batch, s->seq, s->by_tokens,
           o->cached == NULL ? "" : o->cached, o->move == NULL ? "" : o->move, o->loss != NULL);
  used = strlen(text);
  snprintf(text + used, sizeof text - used, "%d %d %d %d %d %d %d", o->curve, s->chunks, s->leave, s->ids != NULL,
           o->logits != NULL, o->profile, o->compare);
  const char *cases = o->cases == NULL ? "" : o->cases;
  return ranks_same(&s->ranks, text, strlen(text), "other options", error) &&
         ranks_same(&s->ranks, cases, strlen(cases), "other --cases", error) &&
         (s->ids == NULL || ranks_same(&s->ranks, s->ids, (size_t)(s->batch * s->seq) * sizeof *s->ids, "other ids", error));
}

/* A rank's own GPU: of omp:2, rank 1 of a host has omp:3. */
static bool open_device(session *s, llama_error *error) {
  const llama_options *o = s->options;
  tdm_options open = {.backend = o->backend, .device = o->device, .kernel = o->kernel};
  if (tdm_open(&open, &s->m.context) != TDM_OK) return llama_fail(error, "%s", tdm_last_error());
  const char *name = tdm_context_device(s->m.context);
  bool gpu = strncmp(name, "omp:", 4) == 0 || strncmp(name, "hip:", 4) == 0;
  if (!gpu || s->ranks.local == 0) return true;
  char own[32];
  int first = atoi(name + 4), last = first + s->ranks.beside - 1;
  snprintf(own, sizeof own, "%.4s%d", name, first + s->ranks.local);
  tdm_close(s->m.context);
  s->m.context = NULL;
  open.device = own;
  return tdm_open(&open, &s->m.context) == TDM_OK ||
         llama_fail(error, "--ranks: %d ranks of this host need as many GPUs, up to %.4s%d, and there are: %.200s",
                    s->ranks.beside, own, last, tdm_devices());
}

bool session_by_tokens(const session *s, int64_t seq) { return s->ranks.size > 1 && s->batch * seq >= s->by_tokens; }

int session_chunks(const session *s, int64_t seq) { return s->ranks.size > 1 && seq > 1 ? s->chunks : 1; }

/* What --cached and --generate ask of the sequences, whose lengths are known when the model and the ids are read. */
static bool check_lengths(session *s, llama_error *error) {
  const llama_options *o = s->options;
  bool cached = o->cached != NULL, generates = !cached && s->generate > 0;
  if (o->cases != NULL || o->curve || (!cached && !generates)) return true;
  if (cached) {
    char *end;
    s->cached = strtoll(o->cached, &end, 10);
    if (*end != '\0' || s->cached < 1 || s->cached > s->seq)
      return llama_fail(error, "--cached = '%s': must be 1 to the length of a sequence, %" PRId64, o->cached, s->seq);
  }
  if (generates && s->batch != 1 && s->tokenizer != NULL)
    return llama_fail(error, "--prompt: is one sequence, --input has %" PRId64, s->batch);
  if (generates && s->generate > s->config.context - s->seq)
    return llama_fail(error, "--generate = %" PRId64 ": after a prompt of %" PRId64 " tokens, the context of %s holds %" PRId64,
                      s->generate, s->seq, s->config.name, s->config.context);
  if (s->batch > 1 && s->version < 3)
    return llama_fail(error, "--version %d: its cache has one sequence, --input has %" PRId64, s->version, s->batch);
  return true;
}

bool session_open(session *s, const llama_options *options, bool *usage, llama_error *error) {
  *s = (session){.options = options};
  *usage = true;
  if (!ranks_open(options->ranks, &s->ranks, error)) return false;
  s->m.sharers = s->ranks.beside;
  if (s->ranks.rank > 0 && freopen("/dev/null", "w", stdout) == NULL) return llama_fail(error, "/dev/null can't be opened");
  if (!read_numbers(s, error) || !check_outputs(options, error) || !check_divided(s, error)) return false;
  if (options->model != NULL && options->preset != NULL) return llama_fail(error, "--preset and --model: name one of them");
  *usage = options->model == NULL;
  if (!read_model(s, error)) return false;
  *usage = true;
  s->batch = s->config.batch, s->seq = s->config.seq;
  if (options->input != NULL && !read_input(s, options->input, error)) return false;
  if (options->ids != NULL && options->prompt == NULL && !read_ids(s, options->ids, error)) return false;
  if (options->prompt != NULL && !read_prompt(s, options->prompt, error)) return false;
  if (options->cases != NULL && !cases_read(s, options->cases, error)) return false;
  if (!check_lengths(s, error) || !check_leave(s, error)) return false;
  if (!llama_share_of(&s->config, s->ranks.rank, s->ranks.size, &s->share, error) || !agree(s, error) || !open_device(s, error))
    return false;
  if (options->own != NULL && !own_open(options->own, s->m.context, &s->own, error)) return false;
  if (options->predict && s->generate == 0) return llama_fail(error, "--predict: needs --generate");
  if (options->predict && s->ranks.size > 1) return llama_fail(error, "--predict: is of one process, without --ranks");
  *usage = false;
  if (s->ranks.size == 1) return true;
  return (s->ranks.alone || watch_begin(&s->ranks, &s->mover, error)) &&
         mover_open(&s->mover, options->move, &s->ranks, s->m.context, error) &&
         mover_leave(&s->mover, (tdm_options){.backend = options->backend, .kernel = options->kernel}, s->leave, error);
}

void session_close(session *s) {
  mover_close(&s->mover);
  if (s->w.config != NULL) weights_close(&s->w);
  own_close(s->own); /* before the device */
  if (s->m.context != NULL) {
    memory_end(&s->m);
    tdm_close(s->m.context);
  }
  tokenizer_close(s->tokenizer);
  free(s->cases);
  free(s->ids);
}

/* ---- The model ---- */

static forward describe(session *s, int version) {
  return (forward){.config = &s->share.config,
                   .share = &s->share,
                   .mover = &s->mover,
                   .w = &s->w,
                   .m = &s->m,
                   .kernels = s->own,
                   .version = version,
                   .batch = s->batch,
                   .seq = s->seq,
                   .chunks = session_chunks(s, s->seq),
                   .by_tokens = session_by_tokens(s, s->seq)};
}

bool session_weights(session *s, int forms, size_t wanted[MEMORY_KINDS], llama_error *error) {
  bool loaded = s->w.config != NULL; /* by a case before this one, of which all have the same forms */
  wanted[MEMORY_WEIGHTS] = loaded ? 0 : weights_bytes(&s->share.config, s->type, forms);
  return memory_check(&s->m, s->config.name, wanted, error) &&
         (loaded || weights_open(&s->share, &s->ranks, s->options->model, s->seed, s->type, forms, &s->m, &s->w, error));
}

bool session_load(session *s, unsigned versions, llama_error *error) {
  int forms = 0;
  size_t wanted[MEMORY_KINDS] = {0}, largest = 0;
  s->w.type = s->type;
  for (int v = 1; v <= VERSIONS; v++) {
    if (!(versions >> (v - 1) & 1)) continue;
    size_t bytes[MEMORY_KINDS] = {0}, total = 0;
    forward f = describe(s, v);
    forward_bytes(&f, bytes);
    for (int k = 0; k < MEMORY_KINDS; k++) total += bytes[k];
    if (total >= largest) largest = total, memcpy(wanted, bytes, sizeof wanted);
    forms |= forward_weight_forms(v, false);
  }
  return session_weights(s, forms, wanted, error);
}

size_t session_room(session *s) {
  size_t most = 0;
  for (int v = 1; v <= VERSIONS; v++) {
    forward f = describe(s, v);
    size_t bytes = forward_room(&f);
    if (bytes > most) most = bytes;
  }
  return most;
}

bool session_forward(session *s, int version, void *room, forward *f, llama_error *error) {
  *f = describe(s, version);
  f->room = room;
  if (!session_ids(s, error) || !forward_open(f, error)) return false;
  if (forward_ids(f, s->ids, error)) return true;
  forward_close(f);
  return false;
}

/* ---- What the ranks have done ---- */

typedef struct rank_facts {
  uint64_t hash;
  double read, weights, cache, peak; /* bytes */
  double exchanged;                  /* seconds of a pass */
} rank_facts;

/* The most memory that this process has had, as Linux counts it. */
static double peak_bytes(void) {
  char line[256];
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmHWM: %llu kB", &kib) != 1) continue;
  fclose(file);
  return (double)kib * 1024;
}

bool session_report(const session *s, const forward *f, llama_error *error) {
  if (s->ranks.size == 1) return true;
  rank_facts mine = {.read = s->w.read, .peak = peak_bytes()}, all[RANKS_MOST];
  mine.weights = (double)s->m.peak[MEMORY_WEIGHTS], mine.cache = (double)s->m.peak[MEMORY_CACHE];
  if (s->mover.passes > 0) mine.exchanged = s->mover.seconds / (double)s->mover.passes;
  if (!forward_hash(f, &mine.hash, error) || !ranks_gather(&s->ranks, &mine, sizeof mine, all, error)) return false;
  for (int r = 1; r < s->ranks.size; r++)
    if (all[r].hash != all[0].hash) return llama_fail(error, "rank %d has other bits than rank 0 after the last pass", r);
  if (s->ranks.alone)
    printf("ranks        %d, of which rank 0 ran alone: nothing was exchanged, and the results mean nothing\n", s->ranks.size);
  else
    printf("ranks        %d, through %s, with the same bits on each\n", s->ranks.size, s->mover.row->name);
  for (int r = 0; r < (s->ranks.alone ? 1 : s->ranks.size); r++)
    printf(
        "rank %-7d read %.3f MiB of files; weights %.3f MiB, cache %.3f MiB; process %.1f MiB at most; exchanges, waited for, "
        "%.3f ms a pass\n",
        r, all[r].read / 0x1p20, all[r].weights / 0x1p20, all[r].cache / 0x1p20, all[r].peak / 0x1p20, 1e3 * all[r].exchanged);
  return true;
}
