/* Reads results, and decides for each case whether it is scored. */
#include "bench/score/score.h"

#include <stdlib.h>
#include <string.h>

#include "bench/shapes/journal.h"

static double median_of(const json_t *row) {
  return json_number_value(json_object_get(json_object_get(row, "seconds"), "median"));
}

/* A row of a simulated device: no peer, but the least clocks that any kernel could take. */
static void judge_predicted(score_item *item, const json_t *row) {
  item->ours = json_number_value(json_object_get(row, "clocks_predicted"));
  item->peer = json_number_value(json_object_get(row, "ideal_clocks"));
  item->way = bench_json_text(row, "causes");
  item->floor = bench_json_text(row, "ideal_floor");
  item->reason = bench_json_text(row, "reason");
  const char *outcome = bench_json_text(row, "outcome");
  if (strcmp(outcome, "ok") == 0 && item->ours > 0 && item->peer > 0) {
    item->state = SCORE_COUNTS;
    item->ratio = item->peer / item->ours;
    item->with_launch = (item->peer + json_number_value(json_object_get(row, "launch_clocks"))) / item->ours;
  } else {
    item->state = strcmp(outcome, "failed") == 0 ? SCORE_FAILED : SCORE_UNSUPPORTED;
  }
}

static void judge(score_item *item, const json_t *row) {
  const json_t *peer = json_object_get(row, "peer");
  const char *own = bench_json_text(row, "outcome"), *theirs = bench_json_text(peer, "outcome");
  item->ours = median_of(row);
  item->peer = median_of(peer);
  item->state = SCORE_UNSUPPORTED;
  if (strcmp(own, "ok") != 0) {
    item->reason = bench_json_text(row, "reason");
    if (strcmp(own, "failed") == 0) item->state = SCORE_FAILED;
  } else if (peer == NULL) {
    item->reason = "no peer measured it";
  } else if (strcmp(theirs, "ok") != 0) {
    item->reason = bench_json_text(peer, "reason");
    if (strcmp(theirs, "failed") == 0) item->state = SCORE_FAILED;
  } else if (!(item->ours > 0) || !(item->peer > 0)) {
    item->reason = "a median is not above 0";
  } else {
    item->ratio = item->peer / item->ours;
    item->state = item->ours < SCORE_LEAST_SECONDS && item->peer < SCORE_LEAST_SECONDS ? SCORE_SHORT : SCORE_COUNTS;
  }
}

static bool read_row(score *s, const char *path, const json_t *row, char *error, size_t size) {
  score_item *item = &s->item[s->count];
  bench_shape shape;
  char reason[BENCH_TEXT];
  const char *title = bench_json_text(row, "case");
  if (!bench_shape_parse(&shape, title, reason, sizeof reason)) {
    snprintf(error, size, "'%s': case '%.300s': %.600s", path, title, reason);
    return false;
  }
  *item = (score_item){.c = shape.c,
                       .kernel = bench_json_text(row, "kernel"),
                       .way = bench_json_text(json_object_get(row, "peer"), "way"),
                       .reason = "",
                       .floor = ""};
  case_label(title, item->label, sizeof item->label);
  item->kind = score_kind_of(&item->c);
  bool ok = strcmp(bench_json_text(row, "outcome"), "ok") == 0;
  if (s->predicted && (!s->of_kernels || !ok)) {
    judge_predicted(item, row);
  } else if (!s->of_kernels || !ok) {
    judge(item, row);
  } else if (!score_judge_kernels(item, row, reason, sizeof reason)) {
    snprintf(error, size, "'%s': case '%.300s': %.600s", path, title, reason);
    return false;
  }
  if (s->count == 0) snprintf(s->device, sizeof s->device, "%s", bench_json_text(row, "device"));
  if (s->peer[0] == '\0') snprintf(s->peer, sizeof s->peer, "%s", bench_json_text(json_object_get(row, "peer"), "name"));
  s->count++;
  return true;
}

static void read_machine(score *s, const char *path) {
  json_t *machine = bench_journal_machine(path);
  if (machine != NULL && strcmp(s->device, "host") == 0)
    snprintf(s->machine, sizeof s->machine, "%s, %lld threads; built by %s, %s", bench_json_text(machine, "cpu"),
             (long long)json_integer_value(json_object_get(machine, "threads")), bench_json_text(machine, "compiler"),
             bench_json_text(machine, "instructions"));
  json_decref(machine);
}

bool score_read(score *s, const char *path, char *error, size_t size) {
  *s = (score){.rows = bench_journal_rows(path, false, error, size)};
  if (s->rows == NULL) return false;
  size_t count = json_array_size(s->rows);
  s->item = malloc((count + 1) * sizeof *s->item);
  bool ok = s->item != NULL && count > 0;
  if (s->item == NULL) snprintf(error, size, "'%s': no memory for %zu cases", path, count);
  if (s->item != NULL && count == 0) snprintf(error, size, "'%s': has no cases, or is not there", path);
  for (size_t i = 0; i < count; i++) {
    s->of_kernels |= json_object_get(json_array_get(s->rows, i), "kernels") != NULL;
    s->predicted |= json_object_get(json_array_get(s->rows, i), "clocks_predicted") != NULL;
  }
  for (size_t i = 0; i < count && ok; i++) ok = read_row(s, path, json_array_get(s->rows, i), error, size);
  if (ok) read_machine(s, path);
  if (!ok) score_free(s);
  return ok;
}

void score_free(score *s) {
  json_decref(s->rows);
  free(s->item);
  *s = (score){0};
}
