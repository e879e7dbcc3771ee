/* Tuned tables: the reader, and the entry for a plan. */
#include "tuned.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/chip.h"

static const char head[] = "tandem-tuned 1";
static const char form[] = "must be CHIP OP TYPES LAYOUT SHAPE exact|near KERNEL[:PARAMETER=N...]";

enum { WORDS = 7, MOST_WORD = 128 };

/* ---- Words ---- */

typedef struct reader {
  const char *name, *at, *end;
  int line;
  char word[WORDS][MOST_WORD];
  int words;
} reader;

__attribute__((format(printf, 2, 3))) static tdm_status refuse(const reader *r, const char *format, ...) {
  char text[320];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return tdm_fail(TDM_ERROR_ARGUMENT, "tuned = '%s': line %d: %s", r->name, r->line, text);
}

/* Splits the next line that has words; r->words is 0 at the end of the text. */
static tdm_status next_line(reader *r) {
  for (r->words = 0; r->words == 0 && r->at < r->end; r->line++) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (newline == NULL) return r->line++, refuse(r, "has no newline: the file is truncated");
    const char *end = memchr(r->at, '#', (size_t)(newline - r->at));
    if (end == NULL) end = newline;
    while (r->at < end) {
      if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') {
        r->at++;
        continue;
      }
      int length = 0;
      while (r->at + length < end && strchr(" \t\r", r->at[length]) == NULL) length++;
      if (r->words == WORDS || length >= MOST_WORD) return r->line++, refuse(r, "%s", form);
      for (int i = 0; i < length; i++)
        if (r->at[i] < ' ' || r->at[i] > '~') return r->line++, refuse(r, "byte %d: must be printable ASCII", r->at[i] & 255);
      snprintf(r->word[r->words++], MOST_WORD, "%.*s", length, r->at);
      r->at += length;
    }
    r->at = newline + 1;
  }
  return TDM_OK;
}

static bool is_one_of(const char *word, const char *list) {
  size_t length = strlen(word);
  for (const char *at = list; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
    if (strcspn(at, " ") == length && strncmp(at, word, length) == 0) return true;
  return false;
}

/* ---- Entries ---- */

/* "bf16", or "bf16:f32" if the output has another type. */
static bool parse_types(const char *text, tdm_tuned_key *key) {
  size_t first = strcspn(text, ":");
  if (!tdm_type_find(text, first, &key->type)) return false;
  key->out = key->type;
  return text[first] == '\0' || tdm_type_find(text + first + 1, strlen(text + first + 1), &key->out);
}

static bool parse_shape(const char *text, int least, int most, tdm_tuned_key *key) {
  for (key->rank = 0; key->rank < most;) {
    char *end;
    errno = 0;
    if (*text < '1' || *text > '9') return false;
    key->shape[key->rank++] = strtoll(text, &end, 10);
    if (errno != 0) return false;
    if (*end == '\0') return key->rank >= least;
    if (*end != 'x') return false;
    text = end + 1;
  }
  return false;
}

/* Lines of a table are about an AMD chip, or about all that is no AMD chip: the host, GPUs of the omp backend. */
static bool is_amd_chip(const char *name) { return tdm_chip_find(name, strlen(name)) != NULL; }

static bool has_kernels_for(const char *chip) {
#ifdef TDM_HIP
  (void)chip;
  return true;
#else
  return !is_amd_chip(chip);
#endif
}

/* NULL: there is no op of this name, or it has no tuned entries. */
static const tdm_tuned_form *find_form(const char *name, tdm_op *op) {
  for (int i = 0; i < TDM_OP_COUNT; i++)
    if (strcmp(tdm_op_names[i], name) == 0) return *op = (tdm_op)i, tdm_built_in_ops[i].row->tuned;
  return NULL;
}

static tdm_status parse_entry(reader *r, tdm_tuned_entry *entry) {
  tdm_tuned_key *key = &entry->key;
  char reason[192];
  tdm_choice choice;
  if (r->words != WORDS) return refuse(r, "%s", form);
  *entry = (tdm_tuned_entry){.line = r->line};
  if (!is_amd_chip(r->word[0]) && !is_one_of(r->word[0], "host omp")) {
    char names[128];
    tdm_chip_names(names, sizeof names, ", ");
    return refuse(r, "chip = '%s': must be %s, host or omp", r->word[0], names);
  }
  snprintf(key->chip, sizeof key->chip, "%.15s", r->word[0]);
  const tdm_tuned_form *f = find_form(r->word[1], &key->op);
  if (f == NULL) return refuse(r, "op = '%s': must be gemm, swiglu, rmsnorm, attention or softmax", r->word[1]);
  if (!parse_types(r->word[2], key))
    return refuse(r, "types = '%s': must be f32, f16, bf16, or with the output's type, as in bf16:f32", r->word[2]);
  if (!is_one_of(r->word[3], f->layouts)) return refuse(r, "layout = '%s': must be one of: %s", r->word[3], f->layouts);
  snprintf(key->layout, sizeof key->layout, "%.7s", r->word[3]);
  if (!parse_shape(r->word[4], f->least, f->most, key))
    return refuse(r, "shape = '%s': must be %s, each 1 or more", r->word[4], f->shape);
  while (key->rank < f->most) key->shape[key->rank++] = 1;
  entry->near = strcmp(r->word[5], "near") == 0;
  if (!entry->near && strcmp(r->word[5], "exact") != 0) return refuse(r, "'%s': must be exact or near", r->word[5]);
  if (!tdm_choice_parse(r->word[6], (int)strlen(r->word[6]), &choice, reason, sizeof reason)) return refuse(r, "%s", reason);
  if (!has_kernels_for(key->chip)) return TDM_OK;
  entry->tuning = choice.tuning;
  entry->kernel = tdm_kernel_find(key->op, choice.name, choice.name_length);
  if (entry->kernel == NULL)
    return refuse(r, "kernel = '%.*s': must be one of %s", choice.name_length, choice.name, tdm_kernels(tdm_op_names[key->op]));
  if (!tdm_tuning_taken(&choice.tuning, entry->kernel->name, entry->kernel->takes, reason, sizeof reason))
    return refuse(r, "%s", reason);
  return TDM_OK;
}

/* The same in everything except the shape. */
static bool same_kind(const tdm_tuned_key *a, const tdm_tuned_key *b) {
  return a->op == b->op && a->type == b->type && a->out == b->out && strcmp(a->chip, b->chip) == 0 &&
         strcmp(a->layout, b->layout) == 0;
}
static bool same_shape(const tdm_tuned_key *a, const tdm_tuned_key *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof a->shape[0]) == 0;
}

static tdm_status parse_end(reader *r, int count) {
  char expected[16];
  snprintf(expected, sizeof expected, "%d", count);
  if (r->words != 2 || strcmp(r->word[1], expected) != 0)
    return refuse(r, "end %s: must be 'end %d', the number of entries", r->words > 1 ? r->word[1] : "", count);
  TDM_TRY(next_line(r));
  return r->words == 0 ? TDM_OK : refuse(r, "'%s': nothing may follow the end", r->word[0]);
}

/* table->entries is large enough for each line of the text. */
static tdm_status parse_lines(reader *r, tdm_tuned *table) {
  TDM_TRY(next_line(r));
  if (r->words != 2 || strcmp(r->word[0], "tandem-tuned") != 0 || strcmp(r->word[1], "1") != 0)
    return refuse(r, "must be '%s', the first line of a tuned table", head);
  for (;;) {
    TDM_TRY(next_line(r));
    if (r->words == 0) return refuse(r, "must be 'end %d': the file is truncated", table->count);
    if (strcmp(r->word[0], "end") == 0) return parse_end(r, table->count);
    tdm_tuned_entry *entry = &table->entries[table->count];
    TDM_TRY(parse_entry(r, entry));
    for (int i = 0; i < table->count; i++)
      if (same_kind(&entry->key, &table->entries[i].key) && same_shape(&entry->key, &table->entries[i].key))
        return refuse(r, "is for the same plans as line %d", table->entries[i].line);
    table->count++;
  }
}

tdm_status tdm_tuned_parse(const char *name, const char *text, size_t length, tdm_tuned **table) {
  reader *r = malloc(sizeof *r);
  tdm_tuned *made = calloc(1, sizeof *made);
  int lines = 1;
  for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
  if (made != NULL) made->entries = calloc((size_t)lines, sizeof *made->entries);
  tdm_status status = TDM_OK;
  if (r == NULL || made == NULL || made->entries == NULL) {
    status = tdm_fail(TDM_ERROR_MEMORY, "tuned = '%s': no memory for %d lines", name, lines);
  } else {
    *r = (reader){.name = name, .at = text, .end = text + length};
    snprintf(made->name, sizeof made->name, "%s", name);
    status = parse_lines(r, made);
  }
  free(r);
  if (status == TDM_OK)
    *table = made;
  else
    tdm_tuned_free(made);
  return status;
}

tdm_status tdm_tuned_read(const char *path, tdm_tuned **table) {
  /* Without O_NONBLOCK, opening a pipe waits for its writer; for a regular file it has no effect. */
  struct stat is;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  bool regular = descriptor >= 0 && fstat(descriptor, &is) == 0 && S_ISREG(is.st_mode);
  if (descriptor >= 0 && !regular) {
    close(descriptor);
    return tdm_fail(TDM_ERROR_ARGUMENT, "tuned = '%s': can't be read: must be a regular file", path);
  }
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
  if (file == NULL) {
    tdm_status status = tdm_fail(TDM_ERROR_ARGUMENT, "tuned = '%s': can't be read: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return status;
  }
  char *text = malloc(TDM_TUNED_MOST_BYTES + 1);
  size_t length = text == NULL ? 0 : fread(text, 1, TDM_TUNED_MOST_BYTES + 1, file);
  tdm_status status = TDM_OK;
  if (text == NULL)
    status = tdm_fail(TDM_ERROR_MEMORY, "tuned = '%s': no memory for %d bytes", path, TDM_TUNED_MOST_BYTES);
  else if (ferror(file))
    status = tdm_fail(TDM_ERROR_ARGUMENT, "tuned = '%s': can't be read: %s", path, strerror(errno));
  else if (length > TDM_TUNED_MOST_BYTES)
    status = tdm_fail(TDM_ERROR_ARGUMENT, "tuned = '%s': must be %d bytes at most", path, TDM_TUNED_MOST_BYTES);
  else
    status = tdm_tuned_parse(path, text, length, table);
  fclose(file);
  free(text);
  return status;
}

void tdm_tuned_free(tdm_tuned *table) {
  if (table == NULL) return;
  free(table->entries);
  free(table);
}

/* ---- Plans ---- */

void tdm_tuned_key_set(tdm_tuned_key *key, tdm_type type, tdm_type out, const char *layout, int rank, const int64_t *shape) {
  key->type = type;
  key->out = out;
  key->rank = rank;
  snprintf(key->layout, sizeof key->layout, "%s", layout);
  memcpy(key->shape, shape, (size_t)rank * sizeof *shape);
}

/* Of a row's begin, up to 16 bytes, the longest load of a lane. In an empty matrix the bytes of a row may wrap. */
static uint64_t alignment(int64_t elements, size_t size) {
  const uint64_t bytes = (uint64_t)elements * size | 16;
  return bytes & -bytes;
}

void tdm_tuned_key_rows(tdm_tuned_key *key, const char *operand, int64_t ld, int64_t columns) {
  const size_t size = tdm_type_size(key->type);
  if (key->less_aligned == NULL && alignment(ld, size) < alignment(columns, size)) key->less_aligned = operand;
}

bool tdm_tuned_key_of(const tdm_plan *plan, tdm_tuned_key *key) {
  const tdm_op_row *row = tdm_built_in_ops[plan->op].row;
  if (row->tuned == NULL) return false;
  *key = (tdm_tuned_key){.op = plan->op};
  snprintf(key->chip, sizeof key->chip, "%s", plan->context->chip);
  row->key(plan, key);
  return true;
}

void tdm_tuned_print(const tdm_tuned_key *key, char *text, size_t size) {
  int rank = key->rank, least = tdm_built_in_ops[key->op].row->tuned->least;
  while (rank > least && key->shape[rank - 1] == 1) rank--;
  size_t used =
      (size_t)snprintf(text, size, "%s %s %s%s%s %s ", key->chip, tdm_op_names[key->op], tdm_type_name(key->type),
                       key->out == key->type ? "" : ":", key->out == key->type ? "" : tdm_type_name(key->out), key->layout);
  for (int i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i == 0 ? "" : "x", key->shape[i]);
}

/* The distance of two shapes: the sum of the logarithms of the ratios of their sizes. Negative: a size differs by more than
 * a quarter of the smaller one. */
static double distance(const tdm_tuned_key *a, const tdm_tuned_key *b) {
  double sum = 0;
  for (int i = 0; i < a->rank; i++) {
    double ratio = (double)a->shape[i] / (double)b->shape[i];
    if (!(ratio <= 1.25 && ratio >= 0.8)) return -1;
    sum += fabs(log(ratio));
  }
  return sum;
}

const tdm_tuned_entry *tdm_tuned_find(const tdm_tuned *table, const tdm_tuned_key *key) {
  const tdm_tuned_entry *best = NULL;
  double least = 0;
  for (int i = 0; i < table->count; i++) {
    const tdm_tuned_entry *entry = &table->entries[i];
    if (!same_kind(&entry->key, key) || entry->kernel == NULL) continue;
    if (same_shape(&entry->key, key)) return entry;
    double far = entry->near ? distance(&entry->key, key) : -1;
    if (far >= 0 && (best == NULL || far < least)) best = entry, least = far;
  }
  return best;
}
