/* A pass over the session's ids. */
#include "once.h"

#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "result.h"

bool logits_write(const session *s, const float *logits, int64_t count, llama_error *error) {
  const char *path = s->options->logits;
  result_file file;
  char reason[256];
  if (s->ranks.rank > 0) return true;
  bool ok = result_open(&file, path, reason, sizeof reason);
  if (ok) {
    fwrite(logits, sizeof *logits, (size_t)count, file.to);
    ok = result_finish(&file, reason, sizeof reason);
  }
  return ok || llama_fail(error, "--logits = '%s': %s", path, reason);
}

/* All logits, [batch, seq, vocab]. */
static bool write_logits(const session *s, const forward *f, llama_error *error) {
  int64_t rows = s->batch * s->seq, vocab = s->config.vocab;
  float *logits = malloc((size_t)(rows * vocab) * sizeof *logits);
  bool ok = logits != NULL || llama_fail(error, "no memory for the logits of %d tokens", (int)rows);
  for (int64_t i = 0; ok && i < rows; i++) ok = forward_logits(f, i / s->seq, i % s->seq, logits + i * vocab, error);
  ok = ok && logits_write(s, logits, rows * vocab, error);
  free(logits);
  return ok;
}

bool run_once(session *s, bool logits, llama_error *error) {
  forward f;
  measured time;
  if (!session_load(s, 1u << (s->version - 1), error) || !session_forward(s, s->version, NULL, &f, error)) return false;
  bool ok = measure_forward(&f, s->repeats, &time, error);
  if (ok) print_run(s, &f, &time);
  ok = ok && session_report(s, &f, error);
  if (ok && logits) ok = write_logits(s, &f, error);
  forward_close(&f);
  return ok;
}
