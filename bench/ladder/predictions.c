/* Reads the predictions in the heads of the ladders' files, and compares them with counters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/predict.h"
#include "ladder.h"

/* ---- Counters: of all launches of a run ---- */

typedef double (*counter_of)(const bench_launch *launch);

static double loads(const bench_launch *l) { return (double)l->c.load.accesses; }
static double load_lines(const bench_launch *l) { return (double)l->c.load.lines128; }
static double instructions(const bench_launch *l) {
  double all = 0;
  for (int k = 0; k < GFXSIM_CLASS_INTERNAL; k++) all += (double)l->c.classes[k];
  return all;
}
static double valu_clocks(const bench_launch *l) { return (double)l->c.valu_clocks; }
static double mfma_clocks(const bench_launch *l) { return (double)l->c.mfma_clocks; }
static double lds_clocks(const bench_launch *l) { return (double)l->c.lds.clocks; }
static double lds_conflicts(const bench_launch *l) { return (double)l->c.lds.conflict_clocks; }
static double lds_instructions(const bench_launch *l) { return (double)l->c.classes[GFXSIM_CLASS_LDS]; }
static double barriers(const bench_launch *l) { return (double)l->barriers; }
static double bounds(const bench_launch *l) { return l->c.bound[l->c.floor]; }
static double hbm_bytes(const bench_launch *l) { return (double)(l->c.hbm_read + l->c.hbm_written); }
static double l2_fills(const bench_launch *l) { return (double)l->l2.fabric_read; }
static double vgprs(const bench_launch *l) { return l->c.occupancy.vgprs; }
static double lds_bytes(const bench_launch *l) { return l->c.occupancy.lds_bytes; }
static double waves(const bench_launch *l) { return l->c.occupancy.waves_per_simd; }
static double launches(const bench_launch *l) { return l->kernel[0] != '\0'; }

const bench_launch *ladder_longest(const bench_counts *counts) {
  const bench_launch *longest = &counts->launch[0];
  for (int i = 1; i < counts->launches; i++)
    if (bounds(&counts->launch[i]) > bounds(longest)) longest = &counts->launch[i];
  return longest;
}

/* How the counters of several launches are combined. Resources are released between launches, so the maximum counts, and the
 * minimum of waves. */
typedef enum together { SUM, MOST, LEAST } together;

/* What gfxsim's model of time predicts, of all launches together; negative: not predicted. */
typedef double (*predicted_of)(const bench_counts *counts);

static const struct {
  const char *name;
  counter_of of; /* NULL: predicted, or time, of devices that have one */
  bool behind;   /* is about caches after the vL1D: not modelled if only a part of the workgroups runs */
  together how;
  predicted_of predicted;
} counters[] = {
    {"loads", loads, false, SUM, NULL},
    {"load_lines", load_lines, false, SUM, NULL},
    {"instructions", instructions, false, SUM, NULL},
    {"valu_clocks", valu_clocks, false, SUM, NULL},
    {"mfma_clocks", mfma_clocks, false, SUM, NULL},
    {"lds_clocks", lds_clocks, false, SUM, NULL},
    {"lds_conflicts", lds_conflicts, false, SUM, NULL},
    {"lds_instructions", lds_instructions, false, SUM, NULL},
    {"barriers", barriers, false, SUM, NULL},
    {"clocks", bounds, false, SUM, NULL},
    {"hbm_bytes", hbm_bytes, true, SUM, NULL},
    {"l2_fills", l2_fills, true, SUM, NULL},
    {"vgprs", vgprs, false, MOST, NULL},
    {"lds_bytes", lds_bytes, false, MOST, NULL},
    {"waves_per_simd", waves, false, LEAST, NULL},
    {"launches", launches, false, SUM, NULL},
    {"predicted", NULL, false, SUM, bench_predicted_clocks},
    {"predicted_share", NULL, false, SUM, bench_predicted_share},
    {"predicted_loop_share", NULL, false, SUM, bench_predicted_loop},
    {"time", NULL, false, SUM, NULL},
};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

/* NAN: the row has no such figure. */
static double value_of(const bench_row *row, int counter) {
  double all = 0;
  if (row == NULL || row->outcome != BENCH_OK) return (double)NAN;
  if (counters[counter].predicted != NULL) {
    double value = row->simulated ? counters[counter].predicted(&row->counts) : -1;
    return value < 0 ? (double)NAN : value;
  }
  if (counters[counter].of == NULL) return row->simulated ? (double)NAN : row->time.median;
  if (!row->simulated || (counters[counter].behind && bench_counts_sampled(&row->counts))) return (double)NAN;
  for (int i = 0; i < row->counts.launches; i++) {
    double one = counters[counter].of(&row->counts.launch[i]);
    if (i == 0 || counters[counter].how == SUM)
      all += one;
    else
      all = counters[counter].how == MOST ? fmax(all, one) : fmin(all, one);
  }
  return all;
}

static int find_counter(const char *name) {
  for (int i = 0; i < COUNTERS; i++)
    if (strcmp(counters[i].name, name) == 0) return i;
  return -1;
}

double ladder_counter(const bench_row *row, const char *name) {
  int counter = find_counter(name);
  return counter < 0 ? (double)NAN : value_of(row, counter);
}

/* ---- Reading ---- */

static const char form[] =
    "must be [DEVICE] [SHAPE]: COUNTER [/ before or / COUNTER] = LOW to HIGH, or floor = PIPE, or caught, or right";

static bool refuse(const ladder_prediction *p, const char *why, char *error, size_t size) {
  snprintf(error, size, "predict: '%s': %s", p->text, why);
  return false;
}

/* "gfx942 512x512x64" in front of the colon */
static bool read_scope(ladder_prediction *p, char *scope) {
  char *rest = NULL;
  for (char *word = strtok_r(scope, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    bool digit = word[0] >= '0' && word[0] <= '9';
    char *to = digit ? p->shape : p->device;
    size_t room = digit ? sizeof p->shape : sizeof p->device;
    if (to[0] != '\0' || strlen(word) >= room) return false;
    memcpy(to, word, strlen(word) + 1);
  }
  return true;
}

static bool is_pipe(const char *name) {
  for (int i = 0; i < GFXSIM_PIPE_COUNT; i++)
    if (strcmp(gfxsim_pipe_name((gfxsim_pipe)i), name) == 0) return true;
  return false;
}

static bool read_body(ladder_prediction *p, const char *body, char *error, size_t size) {
  char left[64], over[64] = "", word[16];
  int end = 0;
  p->divisor = -1;
  if (strcmp(body, "caught") == 0 || strcmp(body, "right") == 0) {
    p->kind = body[0] == 'c' ? LADDER_CAUGHT : LADDER_RIGHT;
    return true;
  }
  if (sscanf(body, "floor = %15s%n", word, &end) == 1 && body[end] == '\0') {
    p->kind = LADDER_FLOOR;
    snprintf(p->floor, sizeof p->floor, "%s", word);
    return is_pipe(word) || refuse(p, "the floor must be a pipe, as the tables of simulated devices name it", error, size);
  }
  bool whole = sscanf(body, "%63[a-z0-9_] = %lf to %lf%n", left, &p->low, &p->high, &end) == 3 ||
               sscanf(body, "%63[a-z0-9_] / %63[a-z0-9_] = %lf to %lf%n", left, over, &p->low, &p->high, &end) == 4;
  if (!whole || body[end] != '\0' || !(p->low <= p->high)) return refuse(p, form, error, size);
  p->kind = LADDER_COUNTER;
  p->counter = find_counter(left);
  p->before = strcmp(over, "before") == 0;
  if (p->counter >= 0 && counters[p->counter].predicted != NULL && p->shape[0] != '\0')
    return refuse(p, "clocks are predicted of the ladder's own shape alone", error, size);
  if (over[0] != '\0' && !p->before) p->divisor = find_counter(over);
  if (p->counter >= 0 && (over[0] == '\0' || p->before || p->divisor >= 0)) return true;
  char why[400];
  size_t used = (size_t)snprintf(why, sizeof why, "a counter must be of");
  for (int i = 0; i < COUNTERS && used < sizeof why; i++)
    used += (size_t)snprintf(why + used, sizeof why - used, " %s", counters[i].name);
  return refuse(p, why, error, size);
}

bool ladder_parse(ladder_prediction *p, const char *line, int length, char *error, size_t size) {
  *p = (ladder_prediction){.divisor = -1};
  snprintf(p->text, sizeof p->text, "%.*s", length, line);
  if (length >= (int)sizeof p->text) return refuse(p, "is too long", error, size);
  char scope[sizeof p->text] = "";
  const char *colon = strstr(p->text, ": ");
  if (colon != NULL) snprintf(scope, sizeof scope, "%.*s", (int)(colon - p->text), p->text);
  if (!read_scope(p, scope)) return refuse(p, form, error, size);
  return read_body(p, colon == NULL ? p->text : colon + 2, error, size);
}

int ladder_predictions(const ladder_step *step, ladder_prediction list[LADDER_MAX_PREDICTIONS], char *error, size_t size) {
  int count = 0;
  char why[600];
  for (const char *at = step->predict; *at != '\0'; count++) {
    int length = (int)strcspn(at, "\n");
    bool good = count < LADDER_MAX_PREDICTIONS && ladder_parse(&list[count], at, length, why, sizeof why);
    if (count == LADDER_MAX_PREDICTIONS) snprintf(why, sizeof why, "more than %d predictions", LADDER_MAX_PREDICTIONS);
    if (!good) {
      snprintf(error, size, "%s: %s", step->file, why);
      return -1;
    }
    at += length + (at[length] == '\n');
  }
  return count;
}

bool ladder_about(const ladder_prediction *p, const char *device) {
  size_t length = strlen(p->device);
  const char *name = bench_in_process(device) ? device + 4 : device;
  return length == 0 || (strncmp(name, p->device, length) == 0 && (name[length] == '\0' || name[length] == ':'));
}

/* ---- Judging ---- */

/* Rounding only: a bound that is met exactly must hold. */
static bool within(double value, double low, double high) {
  double slack = 1e-9 * (fabs(low) + fabs(high));
  return value >= low - slack && value <= high + slack;
}

static ladder_verdict judge_counter(const ladder_prediction *p, const bench_row *row, const bench_row *before, char *measured,
                                    size_t size) {
  double value = value_of(row, p->counter), under = 1;
  if (p->before) under = value_of(before, p->counter);
  if (p->divisor >= 0) under = value_of(row, p->divisor);
  bool predicted = counters[p->counter].predicted != NULL || (p->divisor >= 0 && counters[p->divisor].predicted != NULL);
  bool left_out = isnan(value) || (p->before && isnan(under) && before != NULL && before->outcome == BENCH_OK);
  if (predicted && left_out && row->simulated && bench_predicted_clocks(&(isnan(value) ? row : before)->counts) < 0) {
    snprintf(measured, size, "not predicted: %s", isnan(value) ? "see the table" : "the step before is not");
    return LADDER_NOT_PREDICTED;
  }
  if (isnan(value) || isnan(under) || under == 0) {
    snprintf(measured, size, "no figure: %s", isnan(value) ? "the step has none here" : "nothing to divide by");
    return LADDER_NO_FIGURE;
  }
  snprintf(measured, size, "%.4g", value / under);
  return within(value / under, p->low, p->high) ? LADDER_HELD : LADDER_NOT_HELD;
}

ladder_verdict ladder_judge(const ladder_prediction *p, const bench_row *row, const bench_row *before, char *measured,
                            size_t size) {
  bool held;
  if (p->kind == LADDER_CAUGHT || p->kind == LADDER_RIGHT) {
    bool refused = row->outcome == BENCH_FAILED && strncmp(row->reason, "wrong: ", strlen("wrong: ")) == 0; /* bench_verify */
    held = p->kind == LADDER_CAUGHT ? refused : row->outcome == BENCH_OK;
    snprintf(measured, size, "%s", row->outcome == BENCH_OK ? "right" : row->reason);
    return held ? LADDER_HELD : LADDER_NOT_HELD;
  }
  if (row->outcome != BENCH_OK) {
    snprintf(measured, size, "no figure: %s", row->reason);
    return LADDER_NO_FIGURE;
  }
  if (p->kind == LADDER_COUNTER) return judge_counter(p, row, before, measured, size);
  if (!row->simulated) return snprintf(measured, size, "no figure: pipes are counted in gfxsim"), LADDER_NO_FIGURE;
  bench_put_floor(measured, size, &row->counts);
  return strcmp(gfxsim_pipe_name(ladder_longest(&row->counts)->c.floor), p->floor) == 0 ? LADDER_HELD : LADDER_NOT_HELD;
}
