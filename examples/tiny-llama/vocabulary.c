/* The reader of tokenizer.json: tokens and merges. */
#include "vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* ---- The alphabet of byte-level vocabularies: bytes that print stand for themselves, the n-th of the others for U+0100 + n
 * (bytes_to_unicode of GPT-2's encoder.py) ---- */

static bool prints(int byte) { return (byte > 32 && byte < 127) || (byte > 160 && byte != 173); }

/* The bytes that a token's characters stand for; 0: one of them stands for none. */
static size_t alphabet_bytes(span token, char bytes[TOKENIZER_LONGEST]) {
  size_t used = 0;
  for (size_t at = 0; at < token.size; used++) {
    const unsigned char *s = (const unsigned char *)token.text + at;
    int length = utf8_check(token.text + at, token.size - at);
    int code = length == 1 ? s[0] : length == 2 ? (s[0] & 31) << 6 | (s[1] & 63) : 0;
    int byte = code < 256 ? code : -1;
    for (int i = 0, others = 256; code >= 256 && i < 256 && byte < 0; i++)
      if (!prints(i) && others++ == code) byte = i;
    if (byte < 0 || (code < 256 && !prints(code)) || used == TOKENIZER_LONGEST) return 0;
    bytes[used] = (char)byte;
    at += (size_t)length;
  }
  return used;
}

/* <0x00> to <0xFF>: the byte, else -1. */
static int fallback_byte(span token) {
  static const char digits[] = "0123456789abcdef";
  if (token.size != 6 || memcmp(token.text, "<0x", 3) != 0 || token.text[5] != '>') return -1;
  int byte = 0;
  for (int i = 3; i < 5; i++) {
    char c = token.text[i] >= 'A' && token.text[i] <= 'F' ? (char)(token.text[i] + 32) : token.text[i];
    const char *digit = c != '\0' ? strchr(digits, c) : NULL;
    if (digit == NULL) return -1;
    byte = byte * 16 + (int)(digit - digits);
  }
  return byte;
}

/* ---- Tokens ---- */

static bool keep(const token_reader *r, span text, span *out) {
  *out = (span){tokenizer_keep(r->t, text), text.size};
  return out->text != NULL || llama_fail(r->error, "%s: no memory for its tokens", r->path);
}

/* What the token is shown as. */
static bool show(const token_reader *r, int32_t id, span token) {
  tokenizer *t = r->t;
  char bytes[TOKENIZER_LONGEST];
  size_t size = t->byte_level ? alphabet_bytes(token, bytes) : 0;
  int byte = t->byte_level ? -1 : fallback_byte(token);
  if (size > 0) return keep(r, (span){bytes, size}, &t->shown[id]);
  if (byte >= 0) return keep(r, (span){&(char){(char)byte}, 1}, &t->shown[id]);
  char *text = rewrite_text(&t->shows, token, &size);
  bool ok = text == NULL               ? llama_fail(r->error, "%s: no memory for its tokens", r->path)
            : size > TOKENIZER_LONGEST ? llama_fail(r->error, "%s: token %d stands for %zu bytes: at most %d are allowed",
                                                    r->path, id, size, TOKENIZER_LONGEST)
                                       : keep(r, (span){text, size}, &t->shown[id]);
  free(text);
  return ok;
}

static bool read_id(const token_reader *r, const char *where, const json_t *value, int32_t *id) {
  json_int_t number = json_integer_value(value);
  if (!json_is_integer(value) || number < 0 || number >= TOKENIZER_MOST)
    return llama_fail(r->error, "%s: %s: its id must be 0 to %d", r->path, where, TOKENIZER_MOST - 1);
  *id = (int32_t)number;
  return true;
}

static bool read_token(const token_reader *r, const char *name, const json_t *value) {
  tokenizer *t = r->t;
  int32_t id = 0;
  span token = {name, strlen(name)}, key;
  json_place place = place_of("model.vocab", name);
  char bytes[TOKENIZER_LONGEST];
  if (!read_id(r, place.text, value, &id)) return false;
  if (token.size > TOKENIZER_KEY)
    return llama_fail(r->error, "%s: %s: has %zu bytes: at most %d are allowed", r->path, place.text, token.size,
                      TOKENIZER_KEY);
  if (t->shown[id].text != NULL)
    return llama_fail(r->error, "%s: %s: another token has the id %d too", r->path, place.text, id);
  if (!show(r, id, token)) return false;
  if (t->byte_level) key = alphabet_bytes(token, bytes) > 0 ? t->shown[id] : (span){"", 0};
  if (!t->byte_level && !keep(r, token, &key)) return false;
  if (key.size > 0) bpe_add(&t->model, id, key); /* no text consists of the others */
  return true;
}

static bool read_tokens(const token_reader *r, const json_t *vocab) {
  tokenizer *t = r->t;
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)vocab, name, value) {
    if (!read_token(r, name, value)) return false;
  }
  for (int i = 0; i < 256; i++) {
    char text[8];
    snprintf(text, sizeof text, "<0x%02X>", (unsigned)i);
    t->byte[i] = bpe_find(&t->model, t->byte_level ? (span){&(char){(char)i}, 1} : (span){text, strlen(text)});
    if (t->byte[i] < 0) return llama_fail(r->error, "%s: model.vocab: the token of byte %s is missing", r->path, text);
  }
  return true;
}

/* ---- Merges: "LEFT RIGHT", or ["LEFT", "RIGHT"] ---- */

static bool read_merge(const token_reader *r, const json_t *vocab, size_t rank, const json_t *merge) {
  char left[TOKENIZER_KEY + 1], made[2 * TOKENIZER_KEY + 1];
  const char *text = json_string_value(merge), *first = json_string_value(json_array_get(merge, 0));
  const char *right = json_string_value(json_array_get(merge, 1)), *gap = text == NULL ? NULL : strchr(text, ' ');
  json_place place = place_at("model.merges", rank);
  if (gap != NULL && strchr(gap + 1, ' ') == NULL && gap - text <= TOKENIZER_KEY) {
    snprintf(left, sizeof left, "%.*s", (int)(gap - text), text);
    first = left;
    right = gap + 1;
  }
  if (first == NULL || right == NULL || (text == NULL && json_array_size(merge) != 2))
    return refuse_value(r, place.text, merge, "must be two tokens");
  const char *tokens[] = {first, right, made};
  int32_t id[3];
  for (int i = 0; i < 3; i++) {
    if (i == 2) snprintf(made, sizeof made, "%s%s", first, right); /* both are in the vocabulary, so that their sum fits */
    const json_t *value = json_object_get(vocab, tokens[i]);
    if (value == NULL) return llama_fail(r->error, "%s: %s: '%.60s' is not in model.vocab", r->path, place.text, tokens[i]);
    id[i] = (int32_t)json_integer_value(value);
  }
  bpe_add_merge(&r->t->model, (bpe_pair){.left = id[0], .right = id[1], .rank = (int32_t)rank, .made = id[2]});
  return true;
}

/* ---- Added tokens ---- */

static bool read_added(const token_reader *r, const char *where, const json_t *token, const json_t *vocab) {
  static const key_rule rules[] = {{"id", NULL},
                                   {"content", NULL},
                                   {"single_word", "false"},
                                   {"lstrip", "false"},
                                   {"rstrip", "false"},
                                   {"normalized", "true|false"},
                                   {"special", "true|false"},
                                   {NULL, NULL}};
  tokenizer *t = r->t;
  span content, text;
  int32_t id = 0;
  if (!read_keys(r, where, token, rules) || !read_text(r, where, token, "content", &content) ||
      !read_id(r, where, json_object_get(token, "id"), &id))
    return false;
  const json_t *known = json_object_get(vocab, content.text);
  if (content.size == 0 || content.size > TOKENIZER_LONGEST)
    return llama_fail(r->error, "%s: %s.content has %zu bytes: must have 1 to %d", r->path, where, content.size,
                      TOKENIZER_LONGEST);
  if (known != NULL ? json_integer_value(known) != id : t->shown[id].text != NULL)
    return llama_fail(r->error, "%s: %s: '%.60s' has the id %d, model.vocab says otherwise", r->path, where, content.text, id);
  bool normalized = !json_is_false(json_object_get(token, "normalized"));
  if (json_object_get(token, "normalized") == NULL) return llama_fail(r->error, "%s: %s.normalized is missing", r->path, where);
  size_t size = content.size;
  char *normal = normalized ? normalize_text(t, content, &size) : NULL;
  if (normalized && normal == NULL) return llama_fail(r->error, "%s: no memory for its tokens", r->path);
  bool ok = keep(r, normalized ? (span){normal, size} : content, &text);
  free(normal);
  if (!ok) return false;
  added_set *set = normalized ? &t->normalized : &t->raw;
  set->token[set->count++] = (added_token){text, id};
  if (!json_is_true(json_object_get(token, "special"))) return show(r, id, content);
  t->shown[id] = (span){"", 0};
  return true;
}

static int by_bytes(const void *a, const void *b) {
  const added_token *x = a, *y = b;
  size_t size = x->text.size < y->text.size ? x->text.size : y->text.size;
  int order = memcmp(x->text.text, y->text.text, size);
  if (order != 0) return order;
  return x->text.size != y->text.size ? (x->text.size > y->text.size) - (x->text.size < y->text.size) : x->id - y->id;
}

static bool sort_added(const token_reader *r, added_set *set) {
  if (set->count > 0) qsort(set->token, (size_t)set->count, sizeof *set->token, by_bytes);
  for (int i = 1; i < set->count; i++)
    if (set->token[i].text.size == set->token[i - 1].text.size &&
        memcmp(set->token[i].text.text, set->token[i - 1].text.text, set->token[i].text.size) == 0)
      return llama_fail(r->error, "%s: added_tokens: '%.*s' is there twice", r->path,
                        set->token[i].text.size > 60 ? 60 : (int)set->token[i].text.size, set->token[i].text.text);
  for (int byte = 0, at = 0; byte < 257; byte++) {
    while (at < set->count && (unsigned char)set->token[at].text.text[0] < byte) at++;
    set->first[byte] = at;
  }
  return true;
}

/* ---- All of them ---- */

static bool check_model(const token_reader *r, const json_t *model, const json_t *added) {
  static const key_rule rules[] = {{"type", "\"BPE\""},
                                   {"dropout", "null|0.0"},
                                   {"continuing_subword_prefix", "null|\"\""},
                                   {"end_of_word_suffix", "null|\"\""},
                                   {"unk_token", NULL}, /* these two never matter: every byte has its token */
                                   {"fuse_unk", NULL},
                                   {"byte_fallback", "true|false"},
                                   {"ignore_merges", "true|false"},
                                   {"vocab", NULL},
                                   {"merges", NULL},
                                   {NULL, NULL}};
  bool fallback = json_is_true(json_object_get(model, "byte_fallback"));
  if (!read_keys(r, "model", model, rules)) return false;
  if (fallback == r->t->byte_level)
    return llama_fail(r->error, "%s: model.byte_fallback = %s: must be %s %s a ByteLevel pre_tokenizer", r->path,
                      fallback ? "true" : "false", fallback ? "false" : "true", fallback ? "with" : "without");
  if (!json_is_object(json_object_get(model, "vocab")) || !json_is_array(json_object_get(model, "merges")))
    return llama_fail(r->error, "%s: model.vocab must be an object, model.merges a list", r->path);
  return added == NULL || json_is_array(added) || refuse_value(r, "added_tokens", added, "must be a list");
}

/* One more than the largest id; those that are none are refused later. */
static int32_t count_ids(const json_t *vocab, const json_t *added) {
  json_int_t most = 0;
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)vocab, name, value) {
    if (json_integer_value(value) > most) most = json_integer_value(value);
  }
  for (size_t i = 0; i < json_array_size(added); i++) {
    json_int_t id = json_integer_value(json_object_get(json_array_get(added, i), "id"));
    if (id > most) most = id;
  }
  return most < TOKENIZER_MOST ? (int32_t)most + 1 : TOKENIZER_MOST;
}

bool read_vocabulary(token_reader *r, const json_t *model, const json_t *added) {
  tokenizer *t = r->t;
  if (!check_model(r, model, added)) return false;
  const json_t *vocab = json_object_get(model, "vocab"), *merges = json_object_get(model, "merges");
  int32_t ids = count_ids(vocab, added);
  t->ignore_merges = json_is_true(json_object_get(model, "ignore_merges"));
  if (!bpe_open(&t->model, ids, json_object_size(vocab), json_array_size(merges), r->error)) return false;
  t->shown = calloc((size_t)ids, sizeof *t->shown);
  t->raw.token = calloc(json_array_size(added) + 1, sizeof *t->raw.token);
  t->normalized.token = calloc(json_array_size(added) + 1, sizeof *t->normalized.token);
  if (t->shown == NULL || t->raw.token == NULL || t->normalized.token == NULL)
    return llama_fail(r->error, "%s: no memory for %d tokens", r->path, ids);
  if (!read_tokens(r, vocab)) return false;
  for (size_t i = 0; i < json_array_size(merges); i++)
    if (!read_merge(r, vocab, i, json_array_get(merges, i))) return false;
  for (size_t i = 0; i < json_array_size(added); i++)
    if (!read_added(r, place_at("added_tokens", i).text, json_array_get(added, i), vocab)) return false;
  return sort_added(r, &t->raw) && sort_added(r, &t->normalized);
}
