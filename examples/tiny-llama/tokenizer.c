/* The tokenizer: from text to ids and back. */
#define _GNU_SOURCE /* memmem */
#include "tokenizer_inside.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* Texts are kept in blocks. */
struct texts {
  struct texts *next;
  size_t used;
  char text[1 << 16];
};

char *tokenizer_keep(tokenizer *t, span text) {
  if (text.size > sizeof t->texts->text) return NULL;
  if (t->texts == NULL || text.size > sizeof t->texts->text - t->texts->used) {
    struct texts *block = malloc(sizeof *block);
    if (block == NULL) return NULL;
    block->next = t->texts;
    block->used = 0;
    t->texts = block;
  }
  char *kept = t->texts->text + t->texts->used;
  memcpy(kept, text.text, text.size);
  t->texts->used += text.size;
  return kept;
}

void tokenizer_close(tokenizer *t) {
  if (t == NULL) return;
  bpe_close(&t->model);
  for (int i = 0; i < t->splits; i++) split_close(t->split[i]);
  free(t->shown);
  free(t->raw.token);
  free(t->normalized.token);
  free(t->prefix.id);
  free(t->suffix.id);
  for (struct texts *next; t->texts != NULL; t->texts = next) {
    next = t->texts->next;
    free(t->texts);
  }
  free(t);
}

int32_t tokenizer_ids(const tokenizer *t) { return t->model.ids; }

/* ---- Rewriting ---- */

char *rewrite_text(const rewrite *r, span text, size_t *size) {
  size_t count = 0, at = 0;
  const char *end = text.text + text.size, *found;
  if (r->from.size == 0) {
    count = text.size > 0;
  } else {
    for (const char *p = text.text; (found = memmem(p, (size_t)(end - p), r->from.text, r->from.size)) != NULL; count++)
      p = found + r->from.size;
  }
  size_t added;
  if (__builtin_mul_overflow(count, r->to.size, &added) || added > PTRDIFF_MAX - text.size - 1) return NULL;
  *size = text.size - count * r->from.size + added;
  char *out = malloc(*size + 1);
  if (out == NULL) return NULL;
  const char *p = text.text;
  for (size_t i = 0; i < count; i++) {
    found = r->from.size == 0 ? p : memmem(p, (size_t)(end - p), r->from.text, r->from.size);
    memcpy(out + at, p, (size_t)(found - p));
    at += (size_t)(found - p);
    memcpy(out + at, r->to.text, r->to.size);
    at += r->to.size;
    p = found + r->from.size;
  }
  memcpy(out + at, p, (size_t)(end - p));
  return out;
}

char *normalize_text(const tokenizer *t, span text, size_t *size) {
  char *out = rewrite_text(&(rewrite){{"", 0}, {"", 0}}, text, size);
  for (int i = 0; out != NULL && i < t->rewrites; i++) {
    char *next = rewrite_text(&t->normalizer[i], (span){out, *size}, size);
    free(out);
    out = next;
  }
  return out;
}

/* ---- Encoding ---- */

typedef struct encoder {
  tokenizer *t;
  bpe_list list;
  llama_error *error;
} encoder;

/* A word: nothing merges across its ends. */
static bool encode_word(encoder *e, span word) {
  const tokenizer *t = e->t;
  size_t first = e->list.count;
  int32_t whole = t->ignore_merges ? bpe_find(&t->model, word) : -1;
  if (whole >= 0) return bpe_append(&e->list, whole, e->error);
  for (size_t at = 0, size; at < word.size; at += size) {
    size = t->byte_level ? 1 : (size_t)utf8_check(word.text + at, word.size - at);
    int32_t id = t->byte_level ? t->byte[(unsigned char)word.text[at]] : bpe_find(&t->model, (span){word.text + at, size});
    if (id >= 0 && !bpe_append(&e->list, id, e->error)) return false;
    for (size_t i = 0; id < 0 && i < size; i++)
      if (!bpe_append(&e->list, t->byte[(unsigned char)word.text[at + i]], e->error)) return false;
  }
  return bpe_merge(&t->model, &e->list, first, e->error);
}

/* Cuts by the expressions from `stage` on: both the matches and what lies between them are pieces. */
static bool encode_stage(encoder *e, int stage, span piece) {
  if (stage == e->t->splits) return encode_word(e, piece);
  for (size_t at = 0, begin, end; at < piece.size; at = end) {
    if (!split_next(e->t->split[stage], piece.text, piece.size, at, &begin, &end, e->error)) return false;
    if (begin > at && !encode_stage(e, stage + 1, (span){piece.text + at, begin - at})) return false;
    if (end > begin && !encode_stage(e, stage + 1, (span){piece.text + begin, end - begin})) return false;
  }
  return true;
}

/* A normalized text without added tokens. first: it begins the whole text. */
static bool encode_piece(encoder *e, span piece, bool first) {
  const tokenizer *t = e->t;
  if (piece.size == 0) return true;
  if (t->metaspace == METASPACE_NONE) return encode_stage(e, 0, piece);
  span mark = t->space.to;
  size_t size;
  char *text = rewrite_text(&t->space, piece, &size);
  bool put = t->metaspace == METASPACE_ALWAYS || (t->metaspace == METASPACE_FIRST && first);
  if (text != NULL && put && (size < mark.size || memcmp(text, mark.text, mark.size) != 0)) {
    char *marked = rewrite_text(&(rewrite){{"", 0}, mark}, (span){text, size}, &size);
    free(text);
    text = marked;
  }
  bool ok = text != NULL ? encode_stage(e, 0, (span){text, size}) : llama_fail(e->error, "no memory for the text");
  free(text);
  return ok;
}

static int byte_at(const added_set *set, int token, size_t depth) { return (unsigned char)set->token[token].text.text[depth]; }

/* The first of the tokens `least` to `most`, all alike up to byte `depth`, whose byte there is at least `byte`. */
static int find_byte(const added_set *set, int least, int most, size_t depth, int byte) {
  while (least < most) {
    int middle = least + (most - least) / 2;
    if (byte_at(set, middle, depth) < byte)
      least = middle + 1;
    else
      most = middle;
  }
  return least;
}

/* The longest added token that the text begins with, NULL: none. Each byte of the text narrows the range of tokens that it may
 * be, so that a thousand reserved tokens that begin alike cost little more than one. */
static const added_token *longest_added(const added_set *set, const char *text, size_t size) {
  const added_token *longest = NULL;
  int least = set->first[(unsigned char)text[0]], most = set->first[(unsigned char)text[0] + 1];
  for (size_t depth = 1; least < most; depth++) {
    if (set->token[least].text.size == depth) longest = &set->token[least++]; /* the others of the range are longer */
    if (depth == size || least == most) break;
    int byte = (unsigned char)text[depth];
    if (byte_at(set, least, depth) == byte && byte_at(set, most - 1, depth) == byte) continue; /* all of them */
    least = find_byte(set, least, most, depth, byte);
    most = find_byte(set, least, most, depth, byte + 1);
  }
  return longest;
}

/* The first added token at `from` or after it, of those at one place the longest; NULL: none. */
static const added_token *find_added(const added_set *set, span text, size_t from, size_t *at) {
  for (*at = from; set->count > 0 && *at < text.size; ++*at) {
    const added_token *token = longest_added(set, text.text + *at, text.size - *at);
    if (token != NULL) return token;
  }
  *at = text.size;
  return NULL;
}

/* Between the tokens of `set` the text goes to `next`. */
static bool encode_between(encoder *e, const added_set *set, span text, bool first, bool (*next)(encoder *, span, bool)) {
  for (size_t from = 0, at; from < text.size;) {
    const added_token *token = find_added(set, text, from, &at);
    if (at > from && !next(e, (span){text.text + from, at - from}, first && from == 0)) return false;
    if (token != NULL && !bpe_append(&e->list, token->id, e->error)) return false;
    from = token != NULL ? at + token->text.size : text.size;
  }
  return true;
}

static bool encode_raw(encoder *e, span text, bool first) {
  size_t size;
  char *normal = normalize_text(e->t, text, &size);
  if (normal == NULL) return llama_fail(e->error, "no memory to normalize %zu bytes", text.size);
  bool ok = encode_between(e, &e->t->normalized, (span){normal, size}, first, encode_piece);
  free(normal);
  return ok;
}

static bool append_all(encoder *e, const bpe_list *ids) {
  for (size_t i = 0; i < ids->count; i++)
    if (!bpe_append(&e->list, ids->id[i], e->error)) return false;
  return true;
}

bool tokenizer_encode(tokenizer *t, const char *text, size_t size, bool special, int32_t **ids, int64_t *count,
                      llama_error *error) {
  encoder e = {.t = t, .error = error};
  for (size_t at = 0; at < size;) {
    int length = utf8_check(text + at, size - at);
    if (length <= 0) return llama_fail(error, "text, byte %zu = 0x%02x: is not UTF-8", at, (unsigned char)text[at]);
    at += (size_t)length;
  }
  bool ok = (!special || append_all(&e, &t->prefix)) && encode_between(&e, &t->raw, (span){text, size}, true, encode_raw) &&
            (!special || append_all(&e, &t->suffix));
  bpe_list_end(&e.list);
  if (ok && e.list.id == NULL) { /* an empty text: the caller frees what is not NULL */
    e.list.id = malloc(sizeof *e.list.id);
    ok = e.list.id != NULL || llama_fail(error, "no memory for the ids");
  }
  if (!ok) {
    free(e.list.id);
    return false;
  }
  *ids = e.list.id;
  *count = (int64_t)e.list.count;
  return true;
}

/* ---- Decoding ---- */

static const char REPLACEMENT[] = "\xef\xbf\xbd"; /* U+FFFD */

int tokenizer_next(const tokenizer *t, tokenizer_stream *stream, int32_t id, char text[TOKENIZER_TEXT]) {
  char bytes[sizeof stream->waiting + TOKENIZER_LONGEST];
  if (id < 0 || id >= t->model.ids || t->shown[id].text == NULL) return -1;
  size_t size = (size_t)stream->count + t->shown[id].size, at = 0;
  int used = 0;
  memcpy(bytes, stream->waiting, (size_t)stream->count);
  memcpy(bytes + stream->count, t->shown[id].text, t->shown[id].size);
  while (at < size) {
    int length = utf8_check(bytes + at, size - at);
    if (length == 0) break; /* at most 3 bytes are left */
    bool dropped = t->strip && !stream->begun && bytes[at] == ' ';
    const char *from = length > 0 ? bytes + at : REPLACEMENT;
    int shown = length > 0 ? length : (int)sizeof REPLACEMENT - 1;
    if (!dropped) memcpy(text + used, from, (size_t)shown);
    used += dropped ? 0 : shown;
    stream->begun = true;
    at += (size_t)(length > 0 ? length : -length);
  }
  stream->count = (int)(size - at);
  memcpy(stream->waiting, bytes + at, size - at);
  text[used] = '\0';
  return used;
}

int tokenizer_end(tokenizer_stream *stream, char text[TOKENIZER_TEXT]) {
  int used = stream->count > 0 ? (int)sizeof REPLACEMENT - 1 : 0;
  memcpy(text, REPLACEMENT, (size_t)used);
  text[used] = '\0';
  *stream = (tokenizer_stream){0};
  return used;
}
