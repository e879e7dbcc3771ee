/* --loss: how well the model predicts a file of tokens. */
#include "loss.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tandem/cross_entropy.h>

#include "measure.h"
#include "read.h"

enum { IGNORE = -100, PARTS = 3 };

/* ---- The file: ids with blanks, newlines or commas between ---- */

typedef struct token_list {
  int32_t *id;
  int64_t count, room;
} token_list;

static bool append(token_list *list, int32_t id) {
  if (list->count == list->room) {
    int64_t room = list->room == 0 ? 1024 : 2 * list->room;
    int32_t *more = realloc(list->id, (size_t)room * sizeof *more);
    if (more == NULL) return false;
    list->id = more;
    list->room = room;
  }
  list->id[list->count++] = id;
  return true;
}

static bool read_list(FILE *file, const char *path, int64_t vocab, token_list *list, llama_error *error) {
  long id;
  int found;
  while ((found = fscanf(file, "%ld", &id)) == 1) {
    if (id < 0 || id >= vocab)
      return llama_fail(error, "%s: token %" PRId64 " = %ld: must be 0 to %" PRId64, path, list->count, id, vocab - 1);
    if (!append(list, (int32_t)id)) return llama_fail(error, "%s: no memory for %" PRId64 " tokens", path, list->count);
    int next = fgetc(file);
    if (next != ',' && next != EOF && !isspace(next))
      return llama_fail(error, "%s: after token %" PRId64 ": '%c': must be a blank, a newline or a comma", path,
                        list->count - 1, next);
  }
  if (ferror(file)) return llama_fail(error, "%s: can't be read: %s", path, strerror(errno));
  if (found != EOF) return llama_fail(error, "%s: token %" PRId64 ": must be a whole number", path, list->count);
  return list->count >= 2 || llama_fail(error, "%s: has %" PRId64 " tokens: a prediction needs 2", path, list->count);
}

static bool read_tokens(const char *path, int64_t vocab, token_list *list, llama_error *error) {
  *list = (token_list){0};
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) return llama_fail(error, "%s: %s", path, reason);
  bool ok = read_list(file, path, vocab, list, error);
  fclose(file);
  if (!ok) free(list->id);
  return ok;
}

/* ---- Passes: windows of seq tokens, one after the other, so that each token but the first is predicted once ---- */

typedef struct loss_pass {
  forward f;
  tdm_plan *plan;
  void *targets, *losses; /* on the device, [seq, batch] */
  int32_t *host_ids, *host_targets;
  float *host_losses;
  float *all; /* of ranks: [size, seq, batch, PARTS] */
} loss_pass;

static void close_pass(loss_pass *p) {
  memory *m = p->f.m;
  tdm_plan_free(p->plan);
  memory_give(m, p->targets);
  memory_give(m, p->losses);
  free(p->host_ids);
  free(p->host_targets);
  free(p->host_losses);
  free(p->all);
  forward_close(&p->f);
}

static bool open_pass(session *s, loss_pass *p, llama_error *error) {
  size_t rows = (size_t)(s->batch * s->seq), results = rows * (s->ranks.size > 1 ? PARTS : 1);
  tdm_cross_entropy_desc d = tdm_cross_entropy_default((int64_t)rows, s->share.config.vocab, TDM_F32);
  d.ignore = IGNORE;
  if (s->ranks.size > 1) d.first = s->share.vocab, d.total = s->config.vocab;
  *p = (loss_pass){0};
  if (!session_load(s, 1u << (s->version - 1), error) || !session_forward(s, s->version, NULL, &p->f, error)) return false;
  p->host_ids = malloc(rows * sizeof(int32_t));
  p->host_targets = malloc(rows * sizeof(int32_t));
  p->host_losses = malloc(results * sizeof(float));
  p->all = malloc(results * (size_t)s->ranks.size * sizeof(float));
  bool ok = p->host_ids != NULL && p->host_targets != NULL && p->host_losses != NULL && p->all != NULL;
  if (!ok) llama_fail(error, "no memory for the losses of %zu tokens", rows);
  ok = ok && memory_take(&s->m, MEMORY_ACTIVATIONS, rows * sizeof(int32_t), &p->targets, error) &&
       memory_take(&s->m, MEMORY_ACTIVATIONS, results * sizeof(float), &p->losses, error);
  if (ok && tdm_cross_entropy_plan(s->m.context, &d, &p->plan) != TDM_OK) ok = llama_fail_tandem(error, "loss");
  if (!ok) close_pass(p);
  return ok;
}

/* The loss of a row from its maximum, sum and logit of each rank (cross_entropy.h), which lie `apart` floats apart. */
static double loss_of_parts(const float *part, int ranks, int64_t apart) {
  double max = -(double)INFINITY, sum = 0, target = 0;
  for (int r = 0; r < ranks; r++) max = fmax(max, (double)part[r * apart]);
  for (int r = 0; r < ranks; r++) {
    sum += (double)part[r * apart + 1] * exp((double)part[r * apart] - max);
    target += (double)part[r * apart + 2];
  }
  return log(sum) + max - target;
}

/* Adds up the losses of the windows from token `at` on. */
static bool run_pass(session *s, loss_pass *p, const token_list *list, int64_t at, double *sum, int64_t *count,
                     llama_error *error) {
  int64_t rows = s->batch * s->seq;
  for (int64_t b = 0; b < s->batch; b++)
    for (int64_t i = 0; i < s->seq; i++) {
      int64_t token = at + b * s->seq + i;
      bool predicts = token + 1 < list->count;
      p->host_ids[b * s->seq + i] = predicts ? list->id[token] : 0;
      p->host_targets[i * s->batch + b] = predicts ? list->id[token + 1] : IGNORE;
      *count += predicts;
    }
  tdm_context *context = s->m.context;
  size_t parts = s->ranks.size > 1 ? PARTS : 1;
  if (!forward_ids(&p->f, p->host_ids, error) || !forward_run(&p->f, error)) return false;
  if (tdm_copy(context, p->targets, p->host_targets, (size_t)rows * sizeof(int32_t), TDM_TO_DEVICE, NULL) != TDM_OK ||
      tdm_cross_entropy_run(p->plan, p->f.logits, p->targets, p->losses, NULL) != TDM_OK ||
      tdm_copy(context, p->host_losses, p->losses, (size_t)rows * parts * sizeof(float), TDM_TO_HOST, NULL) != TDM_OK)
    return llama_fail_tandem(error, "loss");
  if (!ranks_gather(&s->ranks, p->host_losses, (size_t)rows * parts * sizeof(float), p->all, error)) return false;
  for (int64_t i = 0; i < rows; i++) /* ignored ones are 0 */
    if (parts == 1)
      *sum += (double)p->host_losses[i];
    else if (p->host_targets[i] != IGNORE)
      *sum += loss_of_parts(p->all + i * PARTS, s->ranks.size, rows * PARTS);
  return true;
}

bool run_loss(session *s, const char *path, llama_error *error) {
  token_list list;
  loss_pass p;
  double sum = 0;
  int64_t count = 0;
  if (!read_tokens(path, s->config.vocab, &list, error)) return false;
  if (s->options->input == NULL) { /* one window, no longer than the context */
    s->batch = 1;
    s->seq = list.count - 1 < s->config.context ? list.count - 1 : s->config.context;
  }
  bool ok = ranks_same(&s->ranks, list.id, (size_t)list.count * sizeof *list.id, "other tokens in the file of --loss", error) &&
            open_pass(s, &p, error);
  if (ok) {
    double start = llama_seconds();
    for (int64_t at = 0; ok && at + 1 < list.count; at += s->batch * s->seq)
      ok = run_pass(s, &p, &list, at, &sum, &count, error);
    double seconds = llama_seconds() - start;
    if (ok) {
      print_model(s);
      printf("loss         %.6f nats a token, perplexity %.4f, over %" PRId64 " predictions", sum / (double)count,
             exp(sum / (double)count), count);
      if (!is_simulated(&p.f)) printf("; %.1f tokens/s", (double)count / seconds);
      putchar('\n');
      ok = session_report(s, &p.f, error);
    }
    close_pass(&p);
  }
  free(list.id);
  return ok;
}
