/* Proof of the decoder: the text of every decoded instruction, assembled again, must give the bytes it came from.
 * Usage: reassemble CLANG CHIP FILE.hsaco... ; files of another chip are left to another run. */
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/include/gfxsim.h"
#include "sim/test/assemble.h"
#include "sweep.h"

enum { ROWS_MOST = 1 << 17, OBJECT_MOST = 1 << 23 };

typedef struct row {
  u8 bytes[20], size;
  char *text;
} row;

static row rows[ROWS_MOST];
static int count, data_words;

/* Bytes that are no instruction (constants, padding) have no text to prove. */
static void collect(const inst *i, void *user) {
  (void)user;
  if (strncmp(i->text, ".long", 5) == 0) {
    data_words++;
    return;
  }
  if (count == ROWS_MOST) exit(2);
  row *r = &rows[count++];
  memcpy(r->bytes, i->word, i->size);
  r->size = i->size;
  r->text = strdup(i->text);
  if (r->text == NULL) exit(2);
}

static int by_bytes(const void *x, const void *y) {
  const row *a = x, *b = y;
  return a->size != b->size ? a->size - b->size : memcmp(a->bytes, b->bytes, a->size);
}

static void drop_repeated(void) {
  qsort(rows, (size_t)count, sizeof *rows, by_bytes);
  int kept = 0;
  for (int n = 0; n < count; n++)
    if (kept == 0 || by_bytes(&rows[kept - 1], &rows[n]) != 0)
      rows[kept++] = rows[n];
    else
      free(rows[n].text);
  count = kept;
}

static void write_source(FILE *file, const void *chip) {
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", (const char *)chip);
  for (int n = 0; n < count; n++) fprintf(file, "%s\n", rows[n].text);
}

/* The bytes of .text; NULL where there is none. */
static const u8 *find_text(Elf *elf, size_t *bytes) {
  size_t names;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &names) != 0) return NULL;
  for (Elf_Scn *s = elf_nextscn(elf, NULL); s != NULL; s = elf_nextscn(elf, s)) {
    const char *name = gelf_getshdr(s, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (name == NULL || strcmp(name, ".text") != 0) continue;
    Elf_Data *data = elf_getdata(s, NULL);
    *bytes = data != NULL ? data->d_size : 0;
    return data != NULL ? data->d_buf : NULL;
  }
  return NULL;
}

static int compare(const u8 *text, size_t bytes) {
  size_t at = 0;
  for (int n = 0; n < count; n++) {
    const row *r = &rows[n];
    if (bytes - at >= r->size && memcmp(text + at, r->bytes, r->size) == 0) {
      at += r->size;
      continue;
    }
    fprintf(stderr, "reassemble: %s: the bytes", r->text);
    for (size_t b = 0; b < r->size; b++) fprintf(stderr, " %02x", r->bytes[b]);
    fputs(" became", stderr);
    for (size_t b = at; b < at + r->size && b < bytes; b++) fprintf(stderr, " %02x", text[b]);
    fputc('\n', stderr);
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  static u8 object[OBJECT_MOST];
  if (argc < 4) return fprintf(stderr, "usage: reassemble CLANG CHIP FILE.hsaco...\n"), 2;
  for (int f = 3; f < argc; f++) {
    const char *chip = sweep_chip(argv[f]);
    if (chip == NULL) return fprintf(stderr, "reassemble: %s: %s\n", argv[f], gfxsim_last_error()), 1;
    if (strcmp(chip, argv[2]) == 0 && !sweep(argv[f], collect, NULL)) return 1;
  }
  int all = count;
  drop_repeated();
  size_t bytes = assemble(argv[1], argv[2], write_source, argv[2], object, sizeof object), text_bytes = 0;
  if (count == 0 || bytes == 0 || elf_version(EV_CURRENT) == EV_NONE) return 1;
  Elf *elf = elf_memory((char *)object, bytes);
  const u8 *text = find_text(elf, &text_bytes);
  int failed = text == NULL || compare(text, text_bytes) != 0;
  printf("%d instructions, %d different ones, %d words of data: %s\n", all, count, data_words,
         failed ? "not proved" : "proved");
  elf_end(elf);
  for (int n = 0; n < count; n++) free(rows[n].text);
  return failed;
}
