/* The tokenizer against the ids and texts that PyPI's `tokenizers` gives (test/tokenizer_fixtures.py), and what it refuses.
 * Use: tokenizer-test FOLDER VOCABULARY... */
#include "../tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const char *folder;
static const char *const *vocabularies; /* NULL after the last */

static tokenizer *load(const char *name) {
  char path[4096];
  tokenizer *t;
  llama_error error = {""};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (!tokenizer_open(path, &t, &error)) fail_msg("%s", error.text);
  return t;
}

static json_t *load_json(const char *name, const char *file) {
  char path[4096];
  json_error_t fault;
  snprintf(path, sizeof path, "%s/%s/%s", folder, name, file);
  json_t *root = json_load_file(path, JSON_ALLOW_NUL, &fault);
  if (root == NULL) fail_msg("%s: line %d: %s", path, fault.line, fault.text);
  return root;
}

/* The text of ids, token by token. */
static char *decode(const tokenizer *t, const int32_t *ids, int64_t count, size_t *size) {
  tokenizer_stream stream = {{0}, 0, false};
  char *text = malloc((size_t)(count + 1) * TOKENIZER_TEXT);
  assert_non_null(text);
  *size = 0;
  for (int64_t i = 0; i <= count; i++) {
    int length = i < count ? tokenizer_next(t, &stream, ids[i], text + *size) : tokenizer_end(&stream, text + *size);
    assert_in_range(length, 0, TOKENIZER_TEXT - 1);
    *size += (size_t)length;
  }
  return text;
}

static void print_ids(const char *what, const int32_t *ids, int64_t count) {
  print_error("%s:", what);
  for (int64_t i = 0; i < count; i++) print_error(" %d", ids[i]);
  print_error("\n");
}

static void check_short(const tokenizer *t, const char *name, size_t index, const json_t *expected, const int32_t *ids,
                        int64_t count) {
  const json_t *list = json_object_get(expected, "ids"), *decoded = json_object_get(expected, "decoded");
  if (decoded == NULL) decoded = json_object_get(expected, "text");
  int32_t *wanted = malloc((json_array_size(list) + 1) * sizeof *wanted);
  size_t size;
  assert_non_null(wanted);
  for (size_t i = 0; i < json_array_size(list); i++) wanted[i] = (int32_t)json_integer_value(json_array_get(list, i));
  bool same = (size_t)count == json_array_size(list) && memcmp(ids, wanted, (size_t)count * sizeof *ids) == 0;
  if (!same) {
    print_ids("wanted", wanted, (int64_t)json_array_size(list));
    print_ids("found", ids, count);
    fail_msg("%s: case %zu: other ids", name, index);
  }
  char *text = decode(t, ids, count, &size);
  if (size != json_string_length(decoded) || memcmp(text, json_string_value(decoded), size) != 0)
    fail_msg("%s: case %zu: decodes to '%.*s'", name, index, (int)size, text);
  free(text);
  free(wanted);
}

static void check_case(tokenizer *t, const char *name, size_t index, const json_t *expected) {
  const json_t *text = json_object_get(expected, "text"), *times = json_object_get(expected, "times");
  size_t length = json_string_length(text), copies = times == NULL ? 1 : (size_t)json_integer_value(times);
  char *whole = malloc(length * copies + 1);
  int32_t *ids;
  int64_t count;
  llama_error error = {""};
  assert_non_null(whole);
  for (size_t i = 0; i < copies; i++) memcpy(whole + i * length, json_string_value(text), length);
  if (!tokenizer_encode(t, whole, length * copies, true, &ids, &count, &error))
    fail_msg("%s: case %zu: %s", name, index, error.text);
  if (times == NULL) {
    check_short(t, name, index, expected, ids, count);
  } else {
    uint64_t hash = 0xcbf29ce484222325u;
    char hex[17];
    for (int64_t i = 0; i < 4 * count; i++) hash = (hash ^ ((const unsigned char *)ids)[i]) * 0x100000001b3u;
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)hash);
    assert_int_equal(count, json_integer_value(json_object_get(expected, "count")));
    assert_string_equal(hex, json_string_value(json_object_get(expected, "fnv")));
  }
  free(ids);
  free(whole);
}

static void test_cases(void **state) {
  (void)state;
  for (int v = 0; vocabularies[v] != NULL; v++) {
    tokenizer *t = load(vocabularies[v]);
    json_t *cases = load_json(vocabularies[v], "cases.json"), *expected;
    size_t index;
    assert_true(json_array_size(cases) > 100);
    json_array_foreach(cases, index, expected) { check_case(t, vocabularies[v], index, expected); }
    json_decref(cases);
    tokenizer_close(t);
  }
}

/* Without special tokens bytes come back as they were; llama2 writes spaces and U+2581 alike. */
static void test_round_trip(void **state) {
  (void)state;
  static const char alphabet[][5] = {"a",
                                     "Z",
                                     " ",
                                     " ",
                                     "\n",
                                     "\r",
                                     "0",
                                     "9",
                                     "'",
                                     "s",
                                     "<",
                                     ".",
                                     "\t",
                                     "\x01",
                                     "\xc3\xa9",
                                     "\xcc\x81",
                                     "\xe4\xbd\xa0",
                                     "\xef\xbf\xbf",
                                     "\xf0\x9f\x98\x80",
                                     "\xf4\x8f\xbf\xbf"};
  uint64_t random = 1;
  for (int v = 0; vocabularies[v] != NULL; v++) {
    if (strcmp(vocabularies[v], "metaspace") == 0) continue; /* it drops a first space, as the library does */
    tokenizer *t = load(vocabularies[v]);
    for (int i = 0; i < 500; i++) {
      char text[256];
      size_t size = 0, found;
      for (int n = 0; n < i % 60; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const char *next = alphabet[(random >> 33) % (sizeof alphabet / sizeof alphabet[0])];
        memcpy(text + size, next, strlen(next));
        size += strlen(next);
      }
      int32_t *ids;
      int64_t count;
      llama_error error;
      assert_true(tokenizer_encode(t, text, size, i % 2 == 0, &ids, &count, &error));
      char *back = decode(t, ids, count, &found);
      assert_int_equal(found, size);
      assert_memory_equal(back, text, size);
      free(back);
      free(ids);
    }
    tokenizer_close(t);
  }
}

/* Bytes as <0xNN> tokens of llama2, which have the ids 3 to 258, and what they are shown as. */
static void test_stream(void **state) {
  (void)state;
  static const struct {
    const char *bytes, *text, *end;
  } rows[] = {{"\xe4\xbd\xa0", "\xe4\xbd\xa0", ""},
              {"\xe4\xbd", "", "\xef\xbf\xbd"},
              {"\xe4\xbd\x41", "\xef\xbf\xbd\x41", ""},
              {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", ""}, /* a surrogate */
              {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", ""},
              {"\xf0\x9f\x98\xf0\x9f\x98\x80", "\xef\xbf\xbd\xf0\x9f\x98\x80", ""},
              {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", ""},
              {" a", "a", ""},
              {"\xff", "\xef\xbf\xbd", ""}};
  tokenizer *t = load("llama2");
  char text[TOKENIZER_TEXT];
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    tokenizer_stream stream = {{0}, 0, false};
    char all[64] = "";
    for (const char *byte = rows[r].bytes; *byte != '\0'; byte++) {
      int length = tokenizer_next(t, &stream, 3 + (unsigned char)*byte, text);
      assert_int_equal(length, strlen(text));
      strcat(all, text);
    }
    assert_string_equal(all, rows[r].text);
    assert_int_equal(tokenizer_end(&stream, text), strlen(rows[r].end));
    assert_string_equal(text, rows[r].end);
  }
  tokenizer_stream stream = {{0}, 0, false};
  assert_int_equal(tokenizer_next(t, &stream, -1, text), -1);
  assert_int_equal(tokenizer_next(t, &stream, tokenizer_ids(t), text), -1);
  tokenizer_close(t);
}

static void test_no_utf8(void **state) {
  (void)state;
  static const struct {
    const char *text, *words;
  } rows[] = {{"a\xff", "byte 1 = 0xff"},       {"\xed\xa0\x80", "byte 0 = 0xed"}, {"ab\xe4\xbd", "byte 2 = 0xe4"},
              {"\xc0\x80", "byte 0 = 0xc0"},    {"x\x80", "byte 1 = 0x80"},        {"\xf4\x90\x80\x80", "byte 0 = 0xf4"},
              {"\xe0\x80\x80", "byte 0 = 0xe0"}};
  tokenizer *t = load("llama2");
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    int32_t *ids;
    int64_t count;
    llama_error error = {""};
    assert_false(tokenizer_encode(t, rows[r].text, strlen(rows[r].text), false, &ids, &count, &error));
    if (strstr(error.text, rows[r].words) == NULL) fail_msg("said '%s', wanted '%s'", error.text, rows[r].words);
  }
  tokenizer_close(t);
}

/* ---- What the reader refuses: a file in which one value is replaced ---- */

typedef struct change {
  const char *vocabulary, *path, *value, *words; /* path: keys and indices with '/' between; value: JSON, NULL: taken out */
} change;

static const change changes[] = {
    {"llama2", "version", "\"2.0\"", "version = \"2.0\": must be \"1.0\""},
    {"llama2", "truncation", "{\"max_length\":5}", "truncation = {\"max_length\":5}: must be null"},
    {"llama2", "padding", "{}", "padding = {}: must be null"},
    {"llama2", "more", "1", "more: this key is not known"},
    {"llama2", "normalizer", "{\"type\":\"NFC\"}", "normalizer.type = 'NFC': must be Prepend or Replace"},
    {"llama2", "normalizer/normalizers/0/type", "\"Lowercase\"", "normalizer.normalizers[0].type = 'Lowercase'"},
    {"llama2", "normalizer/normalizers/1/pattern", "{\"Regex\":\" \"}", "normalizers[1].pattern.Regex: this key is not known"},
    {"llama2", "normalizer/normalizers/1/pattern/String", "\"\"", "pattern.String is empty"},
    {"llama2", "normalizer/normalizers/1/content", "\"12345678901234567\"", "a text of 17 bytes: at most 16"},
    {"llama2", "normalizer/normalizers/1/content", "7", "normalizers[1].content = 7: must be a string"},
    {"llama2", "normalizer/normalizers",
     "[{\"type\":\"Prepend\",\"prepend\":\"a\"},{\"type\":\"Prepend\",\"prepend\":\"a\"},"
     "{\"type\":\"Prepend\",\"prepend\":\"a\"}]",
     "normalizers[2]: at most 2 steps"},
    {"llama2", "normalizer/normalizers", NULL, "normalizer.normalizers must be a list"},
    {"llama2", "normalizer", "3", "normalizer = 3: must be an object with a type"},
    {"llama2", "pre_tokenizer", "{\"type\":\"Whitespace\"}", "pre_tokenizer.type = 'Whitespace': must be Split"},
    {"llama2", "pre_tokenizer", "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":false}",
     "pre_tokenizer.add_prefix_space = true: must be false"},
    {"metaspace", "pre_tokenizer/split", "true", "pre_tokenizer.split = true: must be false"},
    {"metaspace", "pre_tokenizer/split", NULL, "pre_tokenizer.split is missing"},
    {"metaspace", "pre_tokenizer/prepend_scheme", "\"last\"", "prepend_scheme = \"last\": must be"},
    {"llama2", "decoder", "null", "decoder: ByteFallback is missing"},
    {"llama2", "decoder", "{\"type\":\"WordPiece\"}", "decoder.type = 'WordPiece': must be ByteLevel alone"},
    {"llama2", "decoder", "{\"type\":\"ByteLevel\"}", "decoder: must not be ByteLevel"},
    {"llama2", "decoder/decoders/0/type", "\"Fuse\"", "decoders[0].pattern: this key is not known"},
    {"llama2", "decoder/decoders/3/start", "2", "decoders[3].start = 2: must be 1"},
    {"llama2", "decoder/decoders/2", NULL, "decoders[2].type = 'Strip'"},
    {"llama2", "post_processor/type", "\"BertProcessing\"", "post_processor.type = 'BertProcessing': must be"},
    {"llama2", "post_processor/special_tokens", "{}", "special_tokens has no ids for it"},
    {"llama2", "post_processor/special_tokens/<s>/ids/0", "99999", "post_processor.single[0] = 99999: no token has this id"},
    {"llama2", "post_processor/single/1", NULL, "post_processor.single: the sequence A is missing"},
    {"llama2", "post_processor/single/1/Sequence/id", "\"B\"", "must be a special token, or once the sequence A"},
    {"llama2", "model", NULL, "model = ?: must be an object"},
    {"llama2", "model/type", "\"Unigram\"", "model.type = \"Unigram\": must be \"BPE\""},
    {"llama2", "model/dropout", "0.1", "model.dropout = 0.1"},
    {"llama2", "model/byte_fallback", "false", "model.byte_fallback = false: must be true without a ByteLevel"},
    {"llama2", "model/continuing_subword_prefix", "\"##\"", "model.continuing_subword_prefix = \"##\""},
    {"llama2", "model/end_of_word_suffix", "\"</w>\"", "model.end_of_word_suffix"},
    {"llama2", "model/vocab", "[]", "model.vocab must be an object"},
    {"llama2", "model/vocab/<0x41>", NULL, "model.vocab: the token of byte <0x41> is missing"},
    {"llama2", "model/vocab/a", "1", "has the id 1 too"},
    {"llama2", "model/vocab/a", "-1", "model.vocab.a: its id must be 0 to 1048575"},
    {"llama2", "model/vocab/a", "1048576", "model.vocab.a: its id must be 0 to 1048575"},
    {"llama2", "model/vocab/a", "\"x\"", "model.vocab.a: its id must be"},
    {"llama2", "model/merges", "{}", "model.merges a list"},
    {"llama2", "model/merges/0", "\"a b c\"", "model.merges[0] = \"a b c\": must be two tokens"},
    {"llama2", "model/merges/0", "\"ab\"", "model.merges[0] = \"ab\": must be two tokens"},
    {"llama2", "model/merges/1", "[\"a\"]", "model.merges[1] = [\"a\"]: must be two tokens"},
    {"llama2", "model/merges/1", "\"a qqq\"", "model.merges[1]: 'qqq' is not in model.vocab"},
    {"llama2", "model/merges/1", "[\"<s>\",\"a\"]", "model.merges[1]: '<s>a' is not in model.vocab"},
    {"llama2", "added_tokens", "3", "added_tokens = 3: must be a list"},
    {"llama2", "added_tokens/0/lstrip", "true", "added_tokens[0].lstrip = true: must be false"},
    {"llama2", "added_tokens/0/single_word", "true", "added_tokens[0].single_word = true"},
    {"llama2", "added_tokens/0/id", "5", "added_tokens[0]: '<unk>' has the id 5, model.vocab says otherwise"},
    {"llama2", "added_tokens/3/id", "5", "added_tokens[3]: '<plain>' has the id 5"},
    {"llama2", "added_tokens/1/content", "\"<unk>\"", "added_tokens[1]: '<unk>' has the id 1"},
    {"llama2", "added_tokens/0/content", "\"\"", "added_tokens[0].content has 0 bytes"},
    {"llama2", "added_tokens/0/normalized", NULL, "added_tokens[0].normalized is missing"},
    {"llama3", "pre_tokenizer/pretokenizers/0/pattern/Regex", "\"\\\\w+\"",
     "pattern.Regex = '\\w+': is not one of the expressions"},
    {"llama3", "pre_tokenizer/pretokenizers/0/behavior", "\"Removed\"",
     "pretokenizers[0].behavior = \"Removed\": must be \"Isolated\""},
    {"llama3", "pre_tokenizer/pretokenizers/0/invert", "true", "pretokenizers[0].invert = true"},
    {"llama3", "pre_tokenizer/pretokenizers/0/type", "\"Punctuation\"", "pretokenizers[0].type = 'Punctuation'"},
    {"llama3", "decoder", "{\"type\":\"Fuse\"}", "decoder: must be ByteLevel, as the pre_tokenizer is"},
    {"llama3", "model/vocab/a", NULL, "the token of byte <0x61> is missing"},
    {"llama3", "model/byte_fallback", "true", "model.byte_fallback = true: must be false with a ByteLevel"},
    {"llama3", "post_processor/processors/0", "{\"type\":\"ByteLevel\",\"x\":1}", "processors[0].x: this key is not known"},
};

static void replace(json_t *node, const char *path, json_t *value) {
  char key[64];
  size_t length = strcspn(path, "/");
  snprintf(key, sizeof key, "%.*s", (int)length, path);
  size_t index = (size_t)atoi(key);
  if (path[length] == '/') {
    json_t *next = json_is_array(node) ? json_array_get(node, index) : json_object_get(node, key);
    assert_non_null(next);
    replace(next, path + length + 1, value);
  } else if (json_is_array(node)) {
    assert_int_equal(value == NULL ? json_array_remove(node, index) : json_array_set_new(node, index, value), 0);
  } else {
    assert_int_equal(value == NULL ? json_object_del(node, key) : json_object_set_new(node, key, value), 0);
  }
}

static bool has_vocabulary(const char *name) {
  for (int v = 0; vocabularies[v] != NULL; v++)
    if (strcmp(vocabularies[v], name) == 0) return true;
  return false;
}

static void test_refuses(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    const change *c = &changes[i];
    if (!has_vocabulary(c->vocabulary)) continue;
    json_t *root = load_json(c->vocabulary, "tokenizer.json");
    replace(root, c->path, c->value == NULL ? NULL : json_loads(c->value, JSON_DECODE_ANY, NULL));
    char *text = json_dumps(root, JSON_COMPACT);
    tokenizer *t;
    llama_error error = {""};
    assert_non_null(text);
    if (tokenizer_parse("file", text, strlen(text), &t, &error)) fail_msg("%s = %s: was accepted", c->path, c->value);
    assert_null(t);
    if (strncmp(error.text, "file: ", 6) != 0 || strstr(error.text, c->words) == NULL || strchr(error.text, '\n') != NULL)
      fail_msg("%s = %s: said '%s', wanted '%s'", c->path, c->value, error.text, c->words);
    free(text);
    json_decref(root);
  }
  tokenizer *t;
  llama_error error = {""};
  assert_false(tokenizer_parse("file", "{", 1, &t, &error));
  assert_non_null(strstr(error.text, "file: line 1"));
  assert_false(tokenizer_parse("file", "[]", 2, &t, &error));
  assert_string_equal(error.text, "file: must be an object");
  assert_false(tokenizer_open("/nowhere", &t, &error));
  assert_non_null(strstr(error.text, "/nowhere/tokenizer.json: can't be opened: "));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_round_trip),
                                     cmocka_unit_test(test_stream), cmocka_unit_test(test_no_utf8),
                                     cmocka_unit_test(test_refuses)};
  if (argc < 3) return fputs("use: tokenizer-test FOLDER VOCABULARY...\n", stderr), 2;
  folder = argv[1];
  vocabularies = (const char *const *)argv + 2;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
