/* Regular expressions of pre-tokenizers, by PCRE2. */
#include "split.h"

#ifdef LLAMA_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

struct split {
  pcre2_code *code;
  pcre2_match_data *match;
};

/* \s of the engine that they were written for, Oniguruma, is Unicode's White_Space; PCRE2's has U+180E too. */
static const struct {
  const char *regex, *pcre2;
} known[] = {
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
     "\\s+(?!\\S)|\\s+",
     "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\p{wspace}\\p{L}\\p{N}]+[\\r\\n]*|"
     "\\p{wspace}*[\\r\\n]+|\\p{wspace}+(?!\\P{wspace})|\\p{wspace}+"},
    {SPLIT_GPT2,
     "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\p{wspace}\\p{L}\\p{N}]+|\\p{wspace}+(?!\\P{wspace})|\\p{wspace}+"},
    {SPLIT_DIGIT, SPLIT_DIGIT},
    {SPLIT_DIGITS, SPLIT_DIGITS},
};

bool split_open(const char *where, const char *regex, split **s, llama_error *error) {
  const char *pattern = NULL;
  int code = 0;
  size_t at = 0;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp(known[i].regex, regex) == 0) pattern = known[i].pcre2;
  if (pattern == NULL) return llama_fail(error, "%s = '%.200s': is not one of the expressions that are known", where, regex);
  split *made = calloc(1, sizeof *made);
  if (made == NULL) return llama_fail(error, "%s: no memory", where);
  made->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &code, &at, NULL);
  if (made->code != NULL) made->match = pcre2_match_data_create(1, NULL);
  *s = made;
  if (made->match != NULL) return true;
  split_close(made);
  *s = NULL;
  return llama_fail(error, "%s: PCRE2 can't compile it: error %d at byte %zu", where, code, at);
}

void split_close(split *s) {
  if (s == NULL) return;
  pcre2_match_data_free(s->match);
  pcre2_code_free(s->code);
  free(s);
}

bool split_next(split *s, const char *text, size_t size, size_t from, size_t *begin, size_t *end, llama_error *error) {
  /* Checked UTF-8 is not checked again: each match would check the rest of the text. */
  int code = pcre2_match(s->code, (PCRE2_SPTR)text, size, from, PCRE2_NO_UTF_CHECK, s->match, NULL);
  *begin = *end = size;
  if (code == PCRE2_ERROR_NOMATCH) return true;
  if (code < 0)
    return llama_fail(error, "text, byte %zu: PCRE2 gives up on the pre-tokenizer's expression: error %d", from, code);
  const PCRE2_SIZE *found = pcre2_get_ovector_pointer(s->match);
  *begin = found[0], *end = found[1];
  return true;
}

#else

bool split_open(const char *where, const char *regex, split **s, llama_error *error) {
  *s = NULL;
  return llama_fail(error, "%s = '%.200s': this tiny-llama was built without PCRE2, which matches it", where, regex);
}

void split_close(split *s) { (void)s; }

bool split_next(split *s, const char *text, size_t size, size_t from, size_t *begin, size_t *end, llama_error *error) {
  (void)s, (void)text, (void)from;
  *begin = *end = size;
  return llama_fail(error, "this tiny-llama was built without PCRE2");
}

#endif
