/* Which cases are alike. A kind follows from the op, the type and the sizes alone. */
#include <math.h>
#include <string.h>

#include "bench/score/score.h"
#include "sim/include/gfxsim_time.h"

enum { MULTIPLE = 8, DECODE_QUERIES = 8 };

/* Parts of an op, by m or by whether it is a decode; types of a part: f32 and 16-bit, or each of the three. */
static const struct {
  const char *op, *part;
  bool three_types;
} parts[] = {
    {"gemm", "m 1-8", false},
    {"gemm", "m 9-128", false},
    {"gemm", "m above 128", false},
    {"gemm", "odd sizes", false},
    {"swiglu", "m 1-8", false},
    {"swiglu", "m 9-128", false},
    {"swiglu", "m above 128", false},
    {"swiglu", "odd sizes", false},
    {"attention", "", true},
    {"attention", "decode", true},
    {"softmax", "", false},
    {"rmsnorm", "", false},
    {"rope", "", false},
    {"silu_mul", "", false},
    {"add", "", false},
    {"embedding", "", false},
    {"cross_entropy", "", false},
};
enum { PARTS = sizeof parts / sizeof parts[0], TYPES = 3, OTHERS = PARTS * TYPES /* ops without a part */ };

static bool is_product(const tdm_case *c) { return strcmp(c->op->name, "gemm") == 0 || strcmp(c->op->name, "swiglu") == 0; }

bool score_is_odd(const tdm_case *c) {
  bool odd = c->shape[1] % MULTIPLE != 0 || c->shape[2] % MULTIPLE != 0 || c->pad % MULTIPLE != 0;
  for (int i = 0; i < CASE_MAX_LEADING; i++) odd = odd || c->ld[i] % MULTIPLE != 0;
  return is_product(c) && odd;
}

bool score_is_decode(const tdm_case *c) {
  return strcmp(c->op->name, "attention") == 0 && c->shape[3] <= DECODE_QUERIES && c->shape[3] < c->shape[4];
}

static const char *part_of(const tdm_case *c) {
  if (is_product(c))
    return score_is_odd(c) ? "odd sizes" : c->shape[0] <= 8 ? "m 1-8" : c->shape[0] <= 128 ? "m 9-128" : "m above 128";
  return score_is_decode(c) ? "decode" : "";
}

int score_kinds(void) { return OTHERS + 1; }

int score_kind_of(const tdm_case *c) {
  const char *part = part_of(c);
  for (int i = 0; i < PARTS; i++) {
    if (strcmp(parts[i].op, c->op->name) != 0 || strcmp(parts[i].part, part) != 0) continue;
    int type = c->type == TDM_F32 ? 0 : c->type == TDM_F16 && parts[i].three_types ? 2 : 1;
    return i * TYPES + type;
  }
  return OTHERS;
}

void score_kind_title(int kind, char *text, size_t size) {
  int part = kind / TYPES, type = kind % TYPES;
  if (kind == OTHERS) {
    snprintf(text, size, "others");
    return;
  }
  const char *name = type == 0 ? "f32" : type == 2 ? "f16" : parts[part].three_types ? "bf16" : "16-bit";
  bool decode = strcmp(parts[part].part, "decode") == 0;
  const char *after = decode ? "" : parts[part].part;
  snprintf(text, size, "%s %s%s%s", decode ? "decode" : parts[part].op, name, after[0] != '\0' ? ", " : "", after);
}

double score_well_predicted(void) {
  gfxsim_time_error e;
  for (int n = 0; gfxsim_time_error_at(n, &e); n++)
    if (strcmp(e.figures, "clocks") == 0) return 1 / (1 + e.median / 100);
  return 1;
}

double score_good(const score *s) {
  return !s->of_kernels ? SCORE_GOOD : s->predicted ? score_well_predicted() : SCORE_WELL_CHOSEN;
}

score_figures score_of(const score *s, int kind) {
  score_figures f = {.worst = INFINITY, .worst_launch = INFINITY};
  double logs = 0, logs_launch = 0;
  for (int i = 0; i < s->count; i++) {
    const score_item *item = &s->item[i];
    if (kind >= 0 && item->kind != kind) continue;
    f.shorts += item->state == SCORE_SHORT;
    f.alone += item->state == SCORE_ALONE;
    f.failed += item->state == SCORE_FAILED;
    f.unsupported += item->state == SCORE_UNSUPPORTED;
    if (item->state != SCORE_COUNTS) continue;
    f.scored++;
    logs += log(item->ratio);
    f.worst = fmin(f.worst, item->ratio);
    logs_launch += log(item->with_launch);
    f.worst_launch = fmin(f.worst_launch, item->with_launch);
    f.good += item->ratio >= score_good(s);
    f.bad += item->ratio < SCORE_BAD;
  }
  f.not_short = f.scored + f.failed;
  f.bad += f.failed;
  f.mean = f.scored > 0 ? exp(logs / f.scored) : 0;
  f.mean_launch = f.scored > 0 ? exp(logs_launch / f.scored) : 0;
  if (f.scored == 0) f.worst = f.worst_launch = 0;
  return f;
}

bool score_misses_goal(const score *s) {
  score_figures all = score_of(s, -1);
  return s->of_kernels && all.good < SCORE_GOAL * all.not_short;
}
