/* Was the best kernel chosen? Reads what each kernel of a case took. */
#include <string.h>

#include "bench/score/score.h"
#include "bench/shapes/journal.h"

/* One entry of the list. */
typedef struct entry {
  const char *kernel, *reason;
  bool failed, left_out;  /* left_out: its clocks are not predicted, for its bound is too high */
  double seconds, clocks; /* seconds, or predicted clocks; the estimate */
} entry;

static bool read_entry(entry *e, const json_t *one, size_t number, char *reason, size_t size) {
  const char *outcome = bench_json_text(one, "outcome");
  const json_t *clocks = json_object_get(one, "estimate_clocks");
  *e = (entry){.kernel = bench_json_text(one, "kernel"), .reason = bench_json_text(one, "reason"), .clocks = -1};
  e->failed = strcmp(outcome, "failed") == 0;
  const json_t *predicted = json_object_get(one, "clocks_predicted");
  e->left_out = json_is_null(predicted);
  e->seconds = predicted != NULL ? json_number_value(predicted)
                                 : json_number_value(json_object_get(json_object_get(one, "seconds"), "median"));
  if (json_is_number(clocks)) e->clocks = json_number_value(clocks);
  if (e->kernel[0] == '\0')
    snprintf(reason, size, "kernels[%zu]: kernel: must be the name of a kernel", number);
  else if (!e->failed && strcmp(outcome, "ok") != 0)
    snprintf(reason, size, "kernels[%zu]: outcome = '%.40s': must be ok or failed", number, outcome);
  else if (!e->failed && !e->left_out && predicted != NULL && !(e->seconds > 0))
    snprintf(reason, size, "kernels[%zu]: clocks_predicted = %g: must be null or above 0", number, e->seconds);
  else if (!e->failed && !e->left_out && !(e->seconds > 0))
    snprintf(reason, size, "kernels[%zu]: seconds.median = %g: must be above 0", number, e->seconds);
  else if (clocks != NULL && !json_is_null(clocks) && !(e->clocks >= 0))
    snprintf(reason, size, "kernels[%zu]: estimate_clocks: must be null or a number of at least 0", number);
  else
    return true;
  return false;
}

bool score_judge_kernels(score_item *item, const json_t *row, char *reason, size_t size) {
  const json_t *list = json_object_get(row, "kernels"), *one;
  entry e, best = {.kernel = ""};
  size_t i;
  if (!json_is_array(list) || json_array_size(list) == 0) {
    snprintf(reason, size, "kernels: must be a list of at least the chosen kernel, as --all-kernels writes it");
    return false;
  }
  item->state = json_array_size(list) > 1 ? SCORE_COUNTS : SCORE_ALONE;
  json_array_foreach(list, i, one) {
    if (!read_entry(&e, one, i, reason, size)) return false;
    if (i == 0 && (e.failed || strcmp(e.kernel, item->kernel) != 0)) {
      snprintf(reason, size, "kernels[0] = '%.40s'%s: must be the row's kernel, '%.40s', and ok", e.kernel,
               e.failed ? ", failed" : "", item->kernel);
      return false;
    }
    if (e.failed) {
      item->state = SCORE_FAILED;
      item->reason = e.reason;
      item->failed = e.kernel;
    } else if (i == 0 && e.left_out) {
      item->state = SCORE_UNSUPPORTED;
      item->reason = e.reason;
      return true;
    } else if (i == 0 || (!e.left_out && e.seconds < best.seconds)) {
      best = e;
    }
    if (i > 0) continue;
    item->ours = e.seconds;
    item->estimate[0] = e.clocks;
  }
  item->way = best.kernel;
  item->peer = best.seconds;
  item->estimate[1] = best.clocks;
  item->ratio = item->peer / item->ours;
  return true;
}
