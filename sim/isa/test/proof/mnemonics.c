/* Writes the list of instructions: implemented, tested one by one, seen in the programs and in what Triton compiled. With a
 * LIST, compares instead: a list that is out of date fails. Usage: mnemonics [--check LIST] FILE.hsaco... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/isa/text.h"
#include "sweep.h"
#include "tested.h"

enum { NAMES_MOST = 4096, LIST_MOST = 1 << 20 };

typedef struct entry {
  const op *op;
  const family *family;
  bool tested, program, triton;
} entry;

static entry entries[NAMES_MOST];
static int count;

static int by_name(const void *x, const void *y) { return strcmp(((const entry *)x)->op->name, ((const entry *)y)->op->name); }

static void collect_implemented(void) {
  for (int f = 0; built_in_families[f] != NULL; f++)
    for (size_t o = 0; o < built_in_families[f]->count; o++) {
      if (count == NAMES_MOST) exit((fprintf(stderr, "mnemonics: more than %d rows: raise NAMES_MOST\n", NAMES_MOST), 2));
      entries[count++] = (entry){.op = &built_in_families[f]->ops[o], .family = built_in_families[f]};
    }
  qsort(entries, (size_t)count, sizeof *entries, by_name);
}

static entry *find(const char *name) {
  entry key = {.op = &(op){.name = name}};
  return bsearch(&key, entries, (size_t)count, sizeof *entries, by_name);
}

/* ---- Tested: the mnemonics of the tests' texts ---- */

static void mark_tested(const char *text) {
  text_line line;
  for (; text != NULL && *text != '\0'; text = strchr(text, '\n') != NULL ? strchr(text, '\n') + 1 : NULL) {
    entry *e = text_mnemonic(text, &line) != NULL ? find(line.mnemonic) : NULL;
    if (e != NULL) e->tested = true;
  }
}

/* ---- Seen ---- */

static void mark_seen(const inst *i, void *user) {
  if (i->op == NULL) return;
  entry *e = find(i->op->name);
  if (e == NULL) return;
  if (*(const bool *)user)
    e->triton = true;
  else
    e->program = true;
}

/* ---- The list ---- */

static void write_list(FILE *to) {
  int tested = 0, program = 0, triton = 0;
  for (int n = 0; n < count; n++) {
    tested += entries[n].tested;
    program += entries[n].program;
    triton += entries[n].triton;
  }
  fprintf(
      to,
      "# Instructions of gfxsim\n\nMade by `ninja -C build gfxsim-list`; a test fails where it is out of date. *Tested*: one "
      "by one over "
      "edge operands, or by one-hot\nmatrices. *Programs*: seen in the code that clang made of `sim/test/program` or that is "
      "written there by hand. *Triton*: seen in\nwhat Triton made of `sim/test/triton`.\n\n"
      "%d instructions: %d tested, %d in programs, %d in Triton's code.\n\n"
      "| instruction | family | tested | programs | Triton |\n|---|---|---|---|---|\n",
      count, tested, program, triton);
  for (int n = 0; n < count; n++)
    fprintf(to, "| `%s` | %s | %s | %s | %s |\n", entries[n].op->name, entries[n].family->name, entries[n].tested ? "x" : "",
            entries[n].program ? "x" : "", entries[n].triton ? "x" : "");
}

static int check(const char *path) {
  static char old[LIST_MOST];
  char *now = NULL;
  size_t now_size;
  FILE *file = fopen(path, "r"), *memory = open_memstream(&now, &now_size);
  if (file == NULL || memory == NULL) return perror(path), 1;
  old[fread(old, 1, sizeof old - 1, file)] = '\0';
  fclose(file);
  write_list(memory);
  fclose(memory);
  size_t same = 0;
  while (now[same] != '\0' && now[same] == old[same]) same++;
  bool equal = now[same] == old[same];
  while (same > 0 && now[same - 1] != '\n') same--;
  if (!equal)
    fprintf(stderr, "mnemonics: %s is out of date (ninja gfxsim-list writes it): the first line that differs must be\n%.*s\n",
            path, (int)strcspn(now + same, "\n"), now + same);
  free(now);
  return !equal;
}

static int write_file(const char *path) {
  FILE *file = fopen(path, "w");
  if (file == NULL) return perror(path), 1;
  write_list(file);
  return fclose(file) == 0 ? 0 : (perror(path), 1);
}

int main(int argc, char **argv) {
  bool checks = argc > 3 && strcmp(argv[1], "--check") == 0;
  if (!checks && (argc < 4 || strcmp(argv[1], "--write") != 0))
    return fprintf(stderr, "usage: mnemonics --write|--check LIST FILE.hsaco...\n"), 2;
  collect_implemented();
  tested_texts(mark_tested);
  for (int f = 3; f < argc; f++) {
    bool triton = strstr(argv[f], "triton") != NULL;
    if (!sweep(argv[f], mark_seen, &triton)) return 1;
  }
  return checks ? check(argv[2]) : write_file(argv[2]);
}
