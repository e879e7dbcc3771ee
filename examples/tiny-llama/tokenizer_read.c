/* The reader of tokenizer.json: what it does not understand it refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_value.h"
#include "read.h"
#include "vocabulary.h"

/* ---- A list of steps: null, one step, or a Sequence of them ---- */

typedef bool step_reader(token_reader *r, const char *where, const char *type, const json_t *step);

static bool read_step(token_reader *r, const char *where, const json_t *step, step_reader *read) {
  const char *type = json_string_value(json_object_get(step, "type"));
  if (type == NULL) return refuse_value(r, where, step, "must be an object with a type");
  return read(r, where, type, step);
}

static bool read_steps(token_reader *r, const char *where, const char *list, const json_t *value, step_reader *read) {
  if (value == NULL || json_is_null(value)) return true;
  const char *type = json_string_value(json_object_get(value, "type"));
  if (type == NULL || strcmp(type, "Sequence") != 0) return read_step(r, where, value, read);
  const json_t *steps = json_object_get(value, list);
  json_place place = place_of(where, list);
  if (!read_keys(r, where, value, (key_rule[]){{"type", NULL}, {list, NULL}, {NULL, NULL}})) return false;
  if (!json_is_array(steps)) return llama_fail(r->error, "%s: %s must be a list", r->path, place.text);
  for (size_t i = 0; i < json_array_size(steps); i++)
    if (!read_step(r, place_at(place.text, i).text, json_array_get(steps, i), read)) return false;
  return true;
}

static bool unknown(const token_reader *r, const char *where, const char *type, const char *known) {
  return llama_fail(r->error, "%s: %s.type = '%.60s': must be %s", r->path, where, type, known);
}

/* ---- Rewrites ---- */

static bool keep_rewrite(const token_reader *r, const char *where, span from, span to, rewrite *out) {
  if (from.size > TOKENIZER_REWRITE || to.size > TOKENIZER_REWRITE)
    return llama_fail(r->error, "%s: %s: a text of %zu bytes: at most %d are allowed", r->path, where,
                      from.size > to.size ? from.size : to.size, TOKENIZER_REWRITE);
  out->from = (span){tokenizer_keep(r->t, from), from.size};
  out->to = (span){tokenizer_keep(r->t, to), to.size};
  return (out->from.text != NULL && out->to.text != NULL) || llama_fail(r->error, "%s: no memory", r->path);
}

static bool read_replace(const token_reader *r, const char *where, const json_t *step, rewrite *out) {
  static const key_rule rules[] = {{"type", NULL}, {"pattern", NULL}, {"content", NULL}, {NULL, NULL}};
  const json_t *pattern = json_object_get(step, "pattern");
  json_place place = place_of(where, "pattern");
  span from, to;
  if (!read_keys(r, where, step, rules) || !read_keys(r, place.text, pattern, (key_rule[]){{"String", NULL}, {NULL, NULL}}) ||
      !read_text(r, place.text, pattern, "String", &from) || !read_text(r, where, step, "content", &to))
    return false;
  if (from.size == 0) return llama_fail(r->error, "%s: %s.String is empty", r->path, place.text);
  return keep_rewrite(r, where, from, to, out);
}

static bool read_normalizer(token_reader *r, const char *where, const char *type, const json_t *step) {
  tokenizer *t = r->t;
  bool replace = strcmp(type, "Replace") == 0;
  span text;
  if (!replace && strcmp(type, "Prepend") != 0) return unknown(r, where, type, "Prepend or Replace");
  if (t->rewrites == TOKENIZER_REWRITES)
    return llama_fail(r->error, "%s: %s: at most %d steps are allowed", r->path, where, TOKENIZER_REWRITES);
  rewrite *out = &t->normalizer[t->rewrites++];
  if (replace) return read_replace(r, where, step, out);
  return read_keys(r, where, step, (key_rule[]){{"type", NULL}, {"prepend", NULL}, {NULL, NULL}}) &&
         read_text(r, where, step, "prepend", &text) && keep_rewrite(r, where, (span){"", 0}, text, out);
}

/* ---- The pre-tokenizer ---- */

static bool add_split(const token_reader *r, const char *where, const char *regex) {
  tokenizer *t = r->t;
  char place[sizeof(json_place) + 512];
  if (t->splits == TOKENIZER_SPLITS)
    return llama_fail(r->error, "%s: %s: at most %d expressions are allowed", r->path, where, TOKENIZER_SPLITS);
  snprintf(place, sizeof place, "%.500s: %s", r->path, where);
  return split_open(place, regex, &t->split[t->splits], r->error) && ++t->splits;
}

static bool read_split(const token_reader *r, const char *where, const json_t *step) {
  static const key_rule rules[] = {
      {"type", NULL}, {"pattern", NULL}, {"behavior", "\"Isolated\""}, {"invert", "false"}, {NULL, NULL}};
  const json_t *pattern = json_object_get(step, "pattern");
  json_place place = place_of(where, "pattern");
  span regex, behavior;
  return read_keys(r, where, step, rules) && read_keys(r, place.text, pattern, (key_rule[]){{"Regex", NULL}, {NULL, NULL}}) &&
         read_text(r, where, step, "behavior", &behavior) && read_text(r, place.text, pattern, "Regex", &regex) &&
         add_split(r, place_of(place.text, "Regex").text, regex.text);
}

static bool read_byte_level(const token_reader *r, const char *where, const json_t *step) {
  static const key_rule rules[] = {
      {"type", NULL}, {"add_prefix_space", "false"}, {"trim_offsets", NULL}, {"use_regex", "true|false"}, {NULL, NULL}};
  const json_t *regex = json_object_get(step, "use_regex"), *prefix = json_object_get(step, "add_prefix_space");
  if (!read_keys(r, where, step, rules)) return false;
  if (prefix == NULL) return llama_fail(r->error, "%s: %s.add_prefix_space is missing: must be false", r->path, where);
  r->t->byte_level = true;
  return json_is_false(regex) || add_split(r, where, SPLIT_GPT2); /* absent is true in the library `tokenizers` */
}

static bool read_digits(const token_reader *r, const char *where, const json_t *step) {
  const json_t *each = json_object_get(step, "individual_digits");
  if (!read_keys(r, where, step, (key_rule[]){{"type", NULL}, {"individual_digits", "true|false"}, {NULL, NULL}})) return false;
  return add_split(r, where, json_is_true(each) ? SPLIT_DIGIT : SPLIT_DIGITS);
}

static bool read_metaspace(const token_reader *r, const char *where, const json_t *step) {
  static const char *const schemes[] = {"never", "first", "always"};
  static const key_rule rules[] = {{"type", NULL},
                                   {"replacement", NULL},
                                   {"prepend_scheme", "\"never\"|\"first\"|\"always\""},
                                   {"split", "false"},
                                   {NULL, NULL}};
  span mark, scheme;
  if (!read_keys(r, where, step, rules) || !read_text(r, where, step, "replacement", &mark) ||
      !read_text(r, where, step, "prepend_scheme", &scheme))
    return false;
  if (json_object_get(step, "split") == NULL)
    return llama_fail(r->error, "%s: %s.split is missing: must be false", r->path, where);
  for (int i = 0; i < 3; i++)
    if (strcmp(schemes[i], scheme.text) == 0) r->t->metaspace = (metaspace)(METASPACE_NEVER + i);
  return keep_rewrite(r, where, (span){" ", 1}, mark, &r->t->space);
}

static bool read_pre_tokenizer(token_reader *r, const char *where, const char *type, const json_t *step) {
  tokenizer *t = r->t;
  if (t->byte_level || t->metaspace != METASPACE_NONE)
    return llama_fail(r->error, "%s: %s.type = '%.60s': nothing may follow ByteLevel or Metaspace", r->path, where, type);
  if (strcmp(type, "Split") == 0) return read_split(r, where, step);
  if (strcmp(type, "Digits") == 0) return read_digits(r, where, step);
  if (strcmp(type, "ByteLevel") == 0) return read_byte_level(r, where, step);
  if (strcmp(type, "Metaspace") != 0) return unknown(r, where, type, "Split, Digits, ByteLevel or Metaspace");
  if (t->splits > 0) return llama_fail(r->error, "%s: %s.type = 'Metaspace': must be the only step", r->path, where);
  return read_metaspace(r, where, step);
}

/* Options of a ByteLevel that decodes, or moves offsets: they change nothing there. */
static const key_rule unused[] = {
    {"type", NULL}, {"add_prefix_space", NULL}, {"trim_offsets", NULL}, {"use_regex", NULL}, {NULL, NULL}};

/* ---- The decoder: ByteLevel, or these steps in this order ---- */

static bool read_strip(token_reader *r, const char *where, const json_t *step) {
  static const key_rule rules[] = {{"type", NULL}, {"content", "\" \""}, {"start", "1"}, {"stop", "0"}, {NULL, NULL}};
  r->t->strip = true;
  for (int i = 1; rules[i].key != NULL; i++)
    if (json_object_get(step, rules[i].key) == NULL)
      return llama_fail(r->error, "%s: %s.%s is missing: must be %s", r->path, where, rules[i].key, rules[i].allowed);
  return read_keys(r, where, step, rules);
}

static bool read_decoder(token_reader *r, const char *where, const char *type, const json_t *step) {
  static const char *const steps[] = {"Replace", "ByteFallback", "Fuse", "Strip"};
  if (strcmp(type, "ByteLevel") == 0 && r->decoder_steps == 0 && !r->decodes_bytes) {
    r->decodes_bytes = true;
    return read_keys(r, where, step, unused);
  }
  int at = 0;
  while (at < 4 && strcmp(steps[at], type) != 0) at++;
  /* Strip without Fuse would strip each token. */
  if (at == 4 || r->decodes_bytes || at < r->decoder_steps || (at == 3 && r->decoder_steps != 3))
    return unknown(r, where, type, "ByteLevel alone, or Replace, ByteFallback, Fuse, Strip in this order");
  r->decoder_steps = at + 1;
  if (at == 1) r->decodes_fallback = true;
  if (at == 0) return read_replace(r, where, step, &r->t->shows);
  return at == 3 ? read_strip(r, where, step) : read_keys(r, where, step, (key_rule[]){{"type", NULL}, {NULL, NULL}});
}

/* ---- The post-processor ---- */

static bool add_special(token_reader *r, const char *where, const json_t *special, const json_t *name, bpe_list *list) {
  const json_t *id = json_object_get(special, "id");
  const json_t *known = json_is_string(id) ? json_object_get(name, json_string_value(id)) : NULL;
  const json_t *ids = json_object_get(known, "ids");
  if (!json_is_array(ids)) return refuse_value(r, where, special, "special_tokens has no ids for it");
  for (size_t i = 0; i < json_array_size(ids); i++) {
    const json_t *value = json_array_get(ids, i);
    json_int_t token = json_integer_value(value);
    if (!json_is_integer(value) || token < 0 || token >= r->t->model.ids || r->t->shown[token].text == NULL)
      return refuse_value(r, where, value, "no token has this id");
    if (!bpe_append(list, (int32_t)token, r->error)) return false;
  }
  return true;
}

static bool read_template(token_reader *r, const char *where, const json_t *step) {
  static const key_rule rules[] = {{"type", NULL}, {"single", NULL}, {"pair", NULL}, {"special_tokens", NULL}, {NULL, NULL}};
  const json_t *single = json_object_get(step, "single"), *names = json_object_get(step, "special_tokens");
  bool text = false;
  if (!read_keys(r, where, step, rules)) return false;
  json_place place = place_of(where, "single");
  for (size_t i = 0; i < json_array_size(single); i++) {
    const json_t *part = json_array_get(single, i), *sequence = json_object_get(part, "Sequence");
    json_place at = place_at(place.text, i);
    if (!read_keys(r, at.text, part, (key_rule[]){{"SpecialToken", NULL}, {"Sequence", NULL}, {NULL, NULL}})) return false;
    if (json_object_size(part) != 1 || (sequence != NULL && (text || !json_one_of(json_object_get(sequence, "id"), "\"A\""))))
      return refuse_value(r, at.text, part, "must be a special token, or once the sequence A");
    if (sequence != NULL) text = true;
    bpe_list *list = text ? &r->t->suffix : &r->t->prefix;
    if (sequence == NULL && !add_special(r, at.text, json_object_get(part, "SpecialToken"), names, list)) return false;
  }
  return text || llama_fail(r->error, "%s: %s: the sequence A is missing", r->path, place.text);
}

static bool read_post_processor(token_reader *r, const char *where, const char *type, const json_t *step) {
  if (strcmp(type, "ByteLevel") == 0) return read_keys(r, where, step, unused);
  if (strcmp(type, "TemplateProcessing") != 0) return unknown(r, where, type, "ByteLevel or TemplateProcessing");
  if (r->has_template) return llama_fail(r->error, "%s: %s: a second TemplateProcessing", r->path, where);
  r->has_template = true;
  return read_template(r, where, step);
}

/* ---- The file ---- */

static bool check_kind(const token_reader *r) {
  const tokenizer *t = r->t;
  if (t->byte_level != r->decodes_bytes)
    return llama_fail(r->error, "%s: decoder: must %sbe ByteLevel, as the pre_tokenizer %s", r->path,
                      t->byte_level ? "" : "not ", t->byte_level ? "is" : "is not");
  return t->byte_level || r->decodes_fallback || llama_fail(r->error, "%s: decoder: ByteFallback is missing", r->path);
}

static bool read_root(token_reader *r, const json_t *root) {
  static const key_rule rules[] = {
      {"version", "\"1.0\""},  {"truncation", "null"}, {"padding", "null"},      {"added_tokens", NULL}, {"normalizer", NULL},
      {"pre_tokenizer", NULL}, {"decoder", NULL},      {"post_processor", NULL}, {"model", NULL},        {NULL, NULL}};
  if (!json_is_object(root)) return llama_fail(r->error, "%s: must be an object", r->path);
  return read_keys(r, "", root, rules) &&
         read_steps(r, "normalizer", "normalizers", json_object_get(root, "normalizer"), read_normalizer) &&
         read_steps(r, "pre_tokenizer", "pretokenizers", json_object_get(root, "pre_tokenizer"), read_pre_tokenizer) &&
         read_steps(r, "decoder", "decoders", json_object_get(root, "decoder"), read_decoder) && check_kind(r) &&
         read_vocabulary(r, json_object_get(root, "model"), json_object_get(root, "added_tokens")) &&
         read_steps(r, "post_processor", "processors", json_object_get(root, "post_processor"), read_post_processor);
}

static bool read_json(const char *path, json_t *root, const json_error_t *fault, tokenizer **out, llama_error *error) {
  if (root == NULL) return llama_fail(error, "%s: line %d: %s", path, fault->line, fault->text);
  token_reader r = {.path = path, .t = calloc(1, sizeof *r.t), .error = error};
  if (r.t != NULL) r.t->shows = (rewrite){{"", 0}, {"", 0}};
  bool ok = r.t != NULL ? read_root(&r, root) : llama_fail(error, "%s: no memory", path);
  json_decref(root);
  if (!ok) tokenizer_close(r.t);
  *out = ok ? r.t : NULL;
  return ok;
}

bool tokenizer_parse(const char *path, const char *json, size_t size, tokenizer **t, llama_error *error) {
  json_error_t fault;
  return read_json(path, json_loadb(json, size, JSON_REJECT_DUPLICATES, &fault), &fault, t, error);
}

bool tokenizer_open(const char *folder, tokenizer **t, llama_error *error) {
  char path[4096];
  json_error_t fault;
  *t = NULL;
  if (snprintf(path, sizeof path, "%s/tokenizer.json", folder) >= (int)sizeof path)
    return llama_fail(error, "%.60s...: the path is too long", folder);
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) return llama_fail(error, "%s: %s", path, reason);
  json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &fault);
  fclose(file);
  return read_json(path, root, &fault, t, error);
}
