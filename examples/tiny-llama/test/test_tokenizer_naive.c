/* Merging and the search for added tokens against loops that do them the plain way, on random input.
 * Use: tokenizer-naive-test TOKENIZER.json, one of characters without metaspace */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "../bpe.h"
#include "../tokenizer.h"

static const char *file;

static uint32_t draw(uint32_t below) {
  static uint64_t state = 20;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % below;
}

/* ---- Merging: the lowest rank first, and of equal ones the leftmost, until none is left ---- */

enum { LETTERS = 4, MERGES = 60, LONGEST = 400 };

static size_t merge_plainly(const bpe_pair *merge, int32_t *id, size_t count) {
  for (;;) {
    int32_t best = MERGES;
    size_t place = 0;
    for (size_t i = 0; i + 1 < count; i++)
      for (int32_t m = 0; m < best; m++)
        if (merge[m].left == id[i] && merge[m].right == id[i + 1]) best = m, place = i;
    if (best == MERGES) return count;
    id[place] = merge[best].made;
    memmove(&id[place + 1], &id[place + 2], (count - place - 2) * sizeof *id);
    count--;
  }
}

static void test_merge(void **state) {
  (void)state;
  size_t merged = 0;
  for (int round = 0; round < 200; round++) {
    bpe b;
    bpe_pair merge[MERGES];
    bpe_list list = {0};
    llama_error error = {""};
    int32_t plain[LONGEST];
    assert_true(bpe_open(&b, LETTERS + MERGES, 0, MERGES, &error));
    for (int32_t m = 0; m < MERGES; m++) { /* each pair once */
      bool known = true;
      while (known) {
        uint32_t ids =
            (uint32_t)(draw(2) == 0 ? LETTERS : LETTERS + m); /* half of them pairs of letters, of which there are 16 */
        if (m >= LETTERS * LETTERS) ids = (uint32_t)(LETTERS + m);
        merge[m] = (bpe_pair){(int32_t)draw(ids), (int32_t)draw(ids), m, LETTERS + m};
        known = false;
        for (int32_t k = 0; k < m; k++) known = known || (merge[k].left == merge[m].left && merge[k].right == merge[m].right);
      }
      bpe_add_merge(&b, merge[m]);
    }
    size_t count = draw(LONGEST), letters = 1 + draw(LETTERS); /* of one letter too */
    assert_true(bpe_append(&list, 7, &error));                 /* what comes before the word stays */
    for (size_t i = 0; i < count; i++) {
      plain[i] = (int32_t)draw((uint32_t)letters);
      assert_true(bpe_append(&list, plain[i], &error));
    }
    assert_true(bpe_merge(&b, &list, 1, &error));
    size_t left = merge_plainly(merge, plain, count);
    assert_int_equal(list.count, left + 1);
    assert_int_equal(list.id[0], 7);
    if (left > 0) assert_memory_equal(list.id + 1, plain, left * sizeof *plain);
    merged += count - left;
    bpe_list_end(&list);
    free(list.id);
    bpe_close(&b);
  }
  if (merged < 10000) fail_msg("only %zu merges", merged);
}

/* ---- Added tokens: at the first place where any begins, the longest ---- */

enum { TOKENS = 40, TEXT = 300 };

static tokenizer *parse(const json_t *root) {
  tokenizer *t;
  llama_error error = {""};
  char *json = json_dumps(root, 0);
  assert_non_null(json);
  if (!tokenizer_parse(file, json, strlen(json), &t, &error)) fail_msg("%s", error.text);
  free(json);
  return t;
}

static void encode(tokenizer *t, const char *text, size_t size, bpe_list *list) {
  int32_t *ids;
  int64_t count;
  llama_error error = {""};
  if (!tokenizer_encode(t, text, size, false, &ids, &count, &error)) fail_msg("%s", error.text);
  for (int64_t i = 0; i < count; i++) assert_true(bpe_append(list, ids[i], &error));
  free(ids);
}

static void encode_plainly(tokenizer *base, char token[TOKENS][24], int tokens, int32_t first, const char *text,
                           bpe_list *list) {
  llama_error error = {""};
  size_t from = 0, at = 0, size = strlen(text);
  while (at < size) {
    int longest = -1;
    for (int i = 0; i < tokens; i++)
      if (strncmp(text + at, token[i], strlen(token[i])) == 0 && (longest < 0 || strlen(token[i]) > strlen(token[longest])))
        longest = i;
    if (longest < 0) {
      at++;
      continue;
    }
    if (at > from) encode(base, text + from, at - from, list);
    assert_true(bpe_append(list, first + longest, &error));
    from = at += strlen(token[longest]);
  }
  if (at > from) encode(base, text + from, at - from, list);
}

static void fill(char *text, size_t size, const char *letters) {
  for (size_t i = 0; i < size; i++) text[i] = letters[draw((uint32_t)strlen(letters))];
  text[size] = '\0';
}

static void test_added(void **state) {
  (void)state;
  json_error_t fault;
  json_t *root = json_load_file(file, 0, &fault);
  if (root == NULL) fail_msg("%s: line %d: %s", file, fault.line, fault.text);
  tokenizer *base = parse(root);
  int32_t first = tokenizer_ids(base);
  size_t found = 0;
  for (int round = 0; round < 60; round++) {
    char token[TOKENS][24], text[TEXT + 1];
    int tokens = 0;
    json_t *with = json_deep_copy(root), *added = json_object_get(with, "added_tokens");
    const json_t *vocab = json_object_get(json_object_get(with, "model"), "vocab");
    for (int tries = 0; tries < TOKENS; tries++) { /* "ab", "abb": many that begin alike */
      fill(token[tokens], 1 + draw(round % 2 == 0 ? 6 : 23), round % 3 == 0 ? "ab" : "aaaaaaab");
      bool known = json_object_get(vocab, token[tokens]) != NULL;
      for (int k = 0; k < tokens; k++) known = known || strcmp(token[k], token[tokens]) == 0;
      if (known) continue;
      json_t *entry = json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", first + tokens, "content", token[tokens],
                                "single_word", 0, "lstrip", 0, "rstrip", 0, "normalized", 0, "special", 0);
      assert_int_equal(json_array_append_new(added, entry), 0);
      tokens++;
    }
    tokenizer *t = parse(with);
    for (int texts = 0; texts < 20; texts++) {
      bpe_list ids = {0}, plain = {0};
      fill(text, draw(TEXT), texts % 2 == 0 ? "abc" : "aaaaaaaaabc");
      encode(t, text, strlen(text), &ids);
      encode_plainly(base, token, tokens, first, text, &plain);
      assert_int_equal(ids.count, plain.count);
      if (ids.count > 0) assert_memory_equal(ids.id, plain.id, ids.count * sizeof *ids.id);
      for (size_t i = 0; i < ids.count; i++) found += ids.id[i] >= first;
      free(ids.id);
      free(plain.id);
    }
    tokenizer_close(t);
    json_decref(with);
  }
  if (found < 10000) fail_msg("only %zu added tokens found", found);
  tokenizer_close(base);
  json_decref(root);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_merge), cmocka_unit_test(test_added)};
  if (argc != 2) return fputs("use: tokenizer-naive-test FILE\n", stderr), 2;
  file = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
