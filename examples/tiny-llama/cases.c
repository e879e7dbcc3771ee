/* Several shapes with the same weights. */
#include "cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "once.h"

enum { MOST = 64 };

static bool whole(const char **at, int64_t least, int64_t most, int64_t *value) {
  char *end;
  if (**at < '0' || **at > '9') return false;
  *value = strtoll(*at, &end, 10); /* what is too large becomes the largest number */
  *at = end;
  return *value >= least && *value <= most;
}

/* One case, up to a comma or the end. */
static bool read_case(const session *s, const char **at, llama_case *c) {
  int64_t chunks = s->chunks, context = s->config.context;
  *c = (llama_case){0};
  if (!whole(at, 1, 1 << 20, &c->batch) || *(*at)++ != 'x' || !whole(at, 1, context, &c->seq)) return false;
  if (**at == '+' && (++*at, !whole(at, 1, context - c->seq, &c->generate))) return false;
  if (**at == '/' && (++*at, !whole(at, 1, 2, &chunks))) return false;
  c->chunks = (int)chunks;
  return **at == ',' || **at == '\0';
}

/* Other sources of shapes and tokens, and other commands. */
static const char *other_option(const llama_options *o) {
  const struct {
    const char *name;
    bool given;
  } others[] = {{"--input", o->input != NULL},       {"--ids", o->ids != NULL},   {"--prompt", o->prompt != NULL},
                {"--generate", o->generate != NULL}, {"--loss", o->loss != NULL}, {"--cached", o->cached != NULL},
                {"--profile", o->profile != 0},      {"--compare", o->compare},   {"--curve", o->curve != 0}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (others[i].given) return others[i].name;
  return NULL;
}

bool cases_read(session *s, const char *text, llama_error *error) {
  const char *other = other_option(s->options), *at = text;
  if (other != NULL) return llama_fail(error, "--cases and %s: name one of them", other);
  if (s->version < 3) return llama_fail(error, "--version %d: --cases needs version 3 or 4", s->version);
  s->cases = malloc(MOST * sizeof *s->cases);
  if (s->cases == NULL) return llama_fail(error, "--cases: no memory");
  for (;;) {
    const char *begin = at;
    if (s->case_count == MOST) return llama_fail(error, "--cases: more than %d", MOST);
    if (!read_case(s, &at, &s->cases[s->case_count++]))
      return llama_fail(error,
                        "--cases: '%.*s': must be BATCHxSEQ[+N][/CHUNKS], with SEQ + N at most the model's context, %" PRId64
                        ", and 1 or 2 CHUNKS",
                        (int)strcspn(begin, ","), begin, s->config.context);
    if (*at++ == '\0') break;
  }
  if (s->options->logits != NULL && s->cases[s->case_count - 1].generate > 0)
    return llama_fail(error, "--cases = '%.100s': the last one makes tokens: --logits needs one without +N", text);
  return true;
}

static bool run_case(session *s, const llama_case *c, bool logits, llama_error *error) {
  s->batch = c->batch, s->seq = c->seq, s->generate = c->generate, s->chunks = c->chunks;
  free(s->ids);
  s->ids = NULL;
  printf("case         %" PRId64 "x%" PRId64, c->batch, c->seq);
  if (c->generate > 0) printf("+%" PRId64, c->generate);
  printf(c->chunks > 1 ? "/%d\n" : "\n", c->chunks);
  bool ok = c->generate > 0 ? run_generate(s, error) : run_once(s, logits, error);
  fflush(stdout);
  return ok;
}

bool run_cases(session *s, llama_error *error) {
  for (int i = 0; i < s->case_count; i++)
    if (!run_case(s, &s->cases[i], s->options->logits != NULL && i + 1 == s->case_count, error)) return false;
  return true;
}
