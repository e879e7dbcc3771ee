/* tandem-bench --shapes: the cases of a file, one after the other, each as a call and a synchronise on one set of arrays.
 *
 * With --turns a peer measures the same cases, each right after us. For each case we print a line of JSON on standard output,
 *   {"number": 3, "of": 440, "row": {...}, "samples": {"array": "c", "at": [...], "got": [...], "value": [...], "bound":
 * [...]}} and wait for the peer's line on standard input, an object that becomes the row's "peer". The peer makes the same data
 * (case_fill_block), and compares its results with the samples: the elements `at` of the array, what we got, their value in
 * f64, and the checker's bound. bench/peer/peer_torch.py is such a peer. With --peer a library of bench/peer runs in this
 * process instead, on the same values, and its row becomes the "peer". */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/shapes/journal.h"
#include "bench/shapes/kernels.h"
#include "bench/shapes/shapes.h"

/* A row, which a later one's measurement of ceilings may concern. */
typedef struct judged {
  json_t *json; /* the journal's */
  bench_row row;
} judged;

typedef struct shapes_run {
  const bench_shapes *shapes;
  const bench_shapes_options *options;
  tdm_context *context;
  bench_run *run;
  bench_journal journal;
  bench_kernels kernels; /* of --all-kernels */
  table live;
  bool predicts;              /* the device is simulated */
  int known, left_out, taken; /* cases: with results of an earlier run; larger than allowed; of this run */
  int failed, measured;       /* of the rows of this run; failed: also where the peer's results differ */
  int failed_kernels;         /* others than the chosen ones */
  judged *judged;             /* the rows of this run that have a time */
  int judged_count, judged_room;
  char *answer;
  size_t answer_room;
} shapes_run;

/* 0.05 s make at least 20 samples of what takes 2 ms. Longer runs have 5, and beyond a second one. */
bench_limits bench_shapes_limits(const bench_machine *machine) {
  bench_limits limits = bench_usual_limits(machine, 0.05);
  limits.warm = 0.02;
  limits.patience = 1;
  limits.rotation = 0;
  limits.one_run = limits.in_blocks = true;
  return limits;
}

/* ---- Which cases ---- */

double bench_shape_bytes(const tdm_case *c) {
  case_array arrays[CASE_MAX_ARRAYS];
  double bytes = 0;
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++)
    if (arrays[i].used && arrays[i].same_as < 0) bytes += (double)case_array_bytes(&arrays[i]);
  return bytes;
}

static bool is_chosen(const shapes_run *r, int i) {
  const bench_shapes_options *o = r->options;
  return (uint64_t)i >= o->offset && ((uint64_t)i - o->offset) % o->every == 0;
}

/* A case that the library refuses is an error in the file. */
static bool check_lines(const shapes_run *r, int *exit_code, char *error, size_t size) {
  for (int i = 0; i < r->shapes->count; i++) {
    const bench_shape *shape = &r->shapes->shape[i];
    tdm_plan *plan = NULL;
    if (!is_chosen(r, i)) continue;
    tdm_status status = shape->c.op->plan(r->context, &shape->c, &plan);
    if (tdm_plan_free(plan) != TDM_OK) status = TDM_ERROR_DEVICE;
    if (status != TDM_ERROR_ARGUMENT && status != TDM_ERROR_DEVICE) continue;
    *exit_code = status == TDM_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
    snprintf(error, size, "--shapes = '%s': line %d: %s", r->shapes->path, shape->line, tdm_last_error());
    return false;
  }
  return true;
}

bool bench_shapes_check(const bench_shapes *shapes, const bench_shapes_options *options, tdm_context *context, int *exit_code,
                        char *error, size_t size) {
  shapes_run r = {.shapes = shapes, .options = options, .context = context};
  if (!check_lines(&r, exit_code, error, size)) return false;
  *exit_code = EXIT_USAGE;
  return bench_journal_check(options->json, tdm_context_device(context), options->all_kernels, error, size);
}

/* ---- Turns ---- */

static json_t *samples_json(const bench_samples *s) {
  json_t *at = json_array(), *got = json_array(), *value = json_array(), *bound = json_array();
  for (int i = 0; i < s->count; i++) {
    if (!isfinite(s->got[i]) || !isfinite(s->value[i]) || !isfinite(s->bound[i])) continue; /* JSON has no such numbers */
    json_array_append_new(at, json_integer((json_int_t)s->at[i]));
    json_array_append_new(got, json_real(s->got[i]));
    json_array_append_new(value, json_real(s->value[i]));
    json_array_append_new(bound, json_real(s->bound[i]));
  }
  return json_pack("{s:s?, s:o, s:o, s:o, s:o}", "array", s->array, "at", at, "got", got, "value", value, "bound", bound);
}

/* Prints the row and puts the peer's answer into it. */
static bool take_turn(shapes_run *r, int number, const bench_samples *samples, json_t *row, char *error, size_t size) {
  json_error_t why;
  json_t *line =
      json_pack("{s:i, s:i, s:O, s:o}", "number", number, "of", r->shapes->count, "row", row, "samples", samples_json(samples));
  bool ok = line != NULL && json_dumpf(line, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF && fflush(stdout) == 0;
  json_decref(line);
  if (!ok) {
    snprintf(error, size, "--turns: the peer's line can't be written");
    return false;
  }
  if (getline(&r->answer, &r->answer_room, stdin) <= 0) {
    snprintf(error, size, "--turns: standard input ended before the peer's line about %s",
             json_string_value(json_object_get(row, "case")));
    return false;
  }
  json_t *answer = json_loads(r->answer, 0, &why);
  if (!json_is_object(answer)) {
    snprintf(error, size, "--turns: the peer's line must be an object of JSON: %s",
             answer == NULL ? why.text : "it is another value");
    json_decref(answer);
    return false;
  }
  const char *outcome = json_string_value(json_object_get(answer, "outcome"));
  if (outcome != NULL && strcmp(outcome, "failed") == 0) r->failed++;
  return json_object_set_new(row, "peer", answer) == 0;
}

/* ---- The run ---- */

/* After a fault of the device nothing else runs on it, and every other case would fail too. */
static bool device_answers(tdm_context *context) {
  void *memory = NULL;
  char byte = 0;
  bool ok = tdm_alloc(context, 1, &memory) == TDM_OK && tdm_copy(context, memory, &byte, 1, TDM_TO_DEVICE, NULL) == TDM_OK;
  return tdm_free(context, memory) == TDM_OK && ok;
}

static bool keep(shapes_run *r, json_t *json, const bench_row *row, char *error, size_t size) {
  if (r->judged_count == r->judged_room) {
    int room = 2 * r->judged_room + 64;
    judged *more = realloc(r->judged, (size_t)room * sizeof *more);
    if (more == NULL) {
      snprintf(error, size, "no memory for %d results", room);
      return false;
    }
    r->judged = more, r->judged_room = room;
  }
  r->judged[r->judged_count++] = (judged){json, *row};
  return true;
}

/* All rows of this run by its last ceilings. Those that are only in FILE.part, because the run was stopped, keep theirs. */
static bool judge_again(shapes_run *r, char *error, size_t size) {
  for (int i = 0; i < r->judged_count; i++) {
    judged *one = &r->judged[i];
    bench_judge_again(&r->run->judge[0], &one->row);
    if (bench_row_json_bounds(one->json, &one->row)) continue;
    snprintf(error, size, "no memory for a result");
    return false;
  }
  return true;
}

/* Ours and the peer's. */
static void measure_beside_peer(shapes_run *r, bench_row *rows) {
  const bench_run *run = r->run;
  rows[1] = (bench_row){.c = rows[0].c};
  snprintf(rows[1].device, sizeof rows[1].device, "%s", rows[0].device);
  snprintf(rows[1].by, sizeof rows[1].by, "%s", run->peer->name);
  bench_measure(r->context, run->peer_open ? run->peer : NULL, &run->limits, rows);
  if (!run->peer_open) bench_row_fail(&rows[1], BENCH_UNSUPPORTED, run->peer_version);
}

/* The row of --peer as a peer of --turns would answer. */
static bool put_peer(shapes_run *r, const bench_row *row, json_t *json) {
  json_t *peer = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o}", "name", r->run->peer_version, "way", row->by, "outcome",
                           bench_outcome_name(row->outcome), "reason", row->reason, "checked", row->checked, "seconds",
                           bench_spread_json(&row->time));
  r->failed += row->outcome == BENCH_FAILED;
  return json_object_set_new(json, "peer", peer) == 0;
}

static bool measure(shapes_run *r, int i, char *error, size_t size) {
  static bench_row rows[2]; /* large; the second is the peer's */
  const bench_shape *shape = &r->shapes->shape[i];
  rows[0] = (bench_row){.c = shape->c, .by = "tandem"};
  snprintf(rows[0].title, sizeof rows[0].title, "%s", shape->title);
  snprintf(rows[0].device, sizeof rows[0].device, "%s", r->run->devices.name[0]);
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K[%d/%d] %s", i + 1, r->shapes->count, rows[0].title);
  if (!bench_journal_start(&r->journal, rows[0].title, rows[0].device, error, size)) return false;
  json_t *kernels = NULL;
  if (r->options->all_kernels)
    kernels = bench_kernels_measure(&r->kernels, &r->run->limits, rows);
  else if (r->predicts)
    bench_kernels_predict(r->context, &r->run->limits, rows);
  else if (r->run->peer != NULL)
    measure_beside_peer(r, rows);
  else
    bench_measure(r->context, NULL, &r->run->limits, rows);
  if (!r->predicts) bench_judge_row(&r->run->judge[0], rows); /* a failure leaves the ceilings as they were */
  if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
  r->taken++;
  r->measured += rows[0].outcome == BENCH_OK;
  r->failed += rows[0].outcome == BENCH_FAILED;
  int others = bench_kernels_failed(kernels); /* beside the chosen one */
  r->failed_kernels += others;
  if (r->options->all_kernels)
    bench_kernels_row(&r->live, rows, kernels);
  else if (r->predicts)
    bench_predictions_row(&r->live, rows);
  else if (!r->options->turns)
    bench_timed_row(&r->live, rows);
  json_t *json = bench_row_json(rows);
  bench_counts_free(&rows[0].counts);
  if (r->options->all_kernels && json_object_set_new(json, "kernels", kernels) != 0) {
    json_decref(json);
    json = NULL; /* which bench_journal_add reports */
  }
  if (json != NULL && r->run->peer != NULL && !put_peer(r, &rows[1], json)) {
    json_decref(json);
    json = NULL;
  }
  if (json != NULL && r->options->turns && !take_turn(r, i + 1, &rows[0].samples, json, error, size)) {
    json_decref(json);
    return false;
  }
  if (!bench_journal_add(&r->journal, json, error, size)) return false;
  if (!r->predicts && !keep(r, json, rows, error, size)) return false;
  if ((rows[0].outcome != BENCH_FAILED && others == 0) || device_answers(r->context)) return true;
  snprintf(error, size, "%s: the device failed%s%s%s; the same command goes on with the cases after it", rows[0].title,
           others == 0 ? " (" : "", rows[0].reason, others == 0 ? ")" : "");
  return false;
}

static bool measure_all(shapes_run *r, char *error, size_t size) {
  for (int i = 0; i < r->shapes->count; i++) {
    const bench_shape *shape = &r->shapes->shape[i];
    if (!is_chosen(r, i)) continue;
    if (bench_journal_find(&r->journal, shape->title) != NULL)
      r->known++;
    else if (bench_shapes_too_large(r->options, &shape->c))
      r->left_out++;
    else if (!measure(r, i, error, size))
      return false;
  }
  return true;
}

static void print_counts(const shapes_run *r) {
  FILE *out = r->options->turns ? stderr : stdout;
  fprintf(out, "%d case%s of %s: %d measured, %d failed, %d unsupported", r->shapes->count, r->shapes->count == 1 ? "" : "s",
          r->shapes->path, r->measured, r->failed, r->taken - r->measured - r->failed);
  if (r->known > 0) fprintf(out, "; %d were in %s before", r->known, r->options->json);
  if (r->left_out > 0) fprintf(out, "; %d left out, as larger than --most-bytes or --most-flop", r->left_out);
  int others = r->shapes->count - r->taken - r->known - r->left_out;
  if (others > 0) fprintf(out, "; %d not in the sample of --every and --offset", others);
  if (r->failed_kernels > 0) fprintf(out, "; %d other kernels failed", r->failed_kernels);
  fprintf(out, "\n");
}

static void print_predictions(const bench_run *run) {
  char text[512];
  snprintf(text, sizeof text,
           "\n%s: clocks that gfxsim's model of time predicts, caches %s at the start; none was measured, and no result was "
           "checked. "
           "Ideal: FLOP at the matrix rate or bytes at HBM's peak, whichever is more.\n\n",
           run->devices.name[0], run->limits.warm_caches ? "warm" : "empty");
  table_text(stdout, run->style == TABLE_FIT ? run->width : 0, text);
}

bool bench_shapes_run(const bench_shapes *shapes, const bench_shapes_options *options, tdm_context *context, bench_run *run,
                      int *exit_code, char *error, size_t size) {
  shapes_run r = {.shapes = shapes, .options = options, .context = context, .run = run};
  r.predicts = bench_is_simulated(run->devices.name[0]);
  r.kernels = (bench_kernels){.context = context, .device = options->device};
  *exit_code = EXIT_FAILED;
  bool ok = bench_journal_open(&r.journal, options->json, error, size);
  if (ok && !options->turns) {
    bench_print_machine(stdout, run, run->style);
    if (run->peer != NULL) printf("peer %s: %s\n", run->peer->name, run->peer_version);
    if (r.predicts)
      print_predictions(run);
    else
      bench_print_conditions(stdout, run, run->style);
    r.live = options->all_kernels ? bench_kernels_begin(stdout, run)
             : r.predicts         ? bench_predictions_begin(stdout, run)
                                  : bench_timed_begin(stdout, run);
  }
  ok = ok && measure_all(&r, error, size);
  if (ok && !options->turns) table_end(&r.live);
  ok = ok && judge_again(&r, error, size);
  if (ok && !options->turns && !r.predicts) bench_print_raised(stdout, run, run->style);
  if (ok) print_counts(&r);
  if (ok) ok = bench_journal_finish(&r.journal, bench_root_json(run, json_incref(r.journal.rows)), error, size);
  bench_journal_close(&r.journal);
  if (!bench_kernels_close(&r.kernels) && ok) {
    snprintf(error, size, "%s", tdm_last_error());
    ok = false;
  }
  free(r.answer);
  free(r.judged);
  if (ok && options->turns) printf("{\"end\": true}\n");
  if (ok)
    *exit_code = r.failed + r.failed_kernels > 0 ? EXIT_FAILED : r.measured + r.known == 0 ? EXIT_NOTHING_RUN : EXIT_PASSED;
  return ok;
}
