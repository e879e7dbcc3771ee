#include "counters_rows.h"

#include <stdlib.h>
#include <string.h>

static void key_of(const gfxsim_instruction *i, count_key by, count_row *row) {
  row->key = by == BY_MNEMONIC ? i->text : i->source;
  row->length = (int)(by == BY_MNEMONIC ? strcspn(row->key, " ") : strlen(row->key));
}

static int by_key(const void *a, const void *b) {
  const count_row *x = a, *y = b;
  int shorter = x->length < y->length ? x->length : y->length, order = memcmp(x->key, y->key, (size_t)shorter);
  return order != 0 ? order : x->length - y->length;
}

static int by_count(const void *a, const void *b) {
  const count_row *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_key(a, b);
}

count_row *count_rows(const gfxsim_counters *c, count_key by, int *rows) {
  count_row *row = calloc((size_t)c->instruction_count + 1, sizeof *row);
  if (row == NULL) return NULL;
  for (int n = 0; n < c->instruction_count; n++) {
    row[n] = (count_row){.count = c->instructions[n].count, .clocks = c->instructions[n].clocks};
    key_of(&c->instructions[n], by, &row[n]);
  }
  qsort(row, (size_t)c->instruction_count, sizeof *row, by_key);
  *rows = 0;
  for (int n = 0; n < c->instruction_count; n++) {
    if (*rows > 0 && by_key(&row[*rows - 1], &row[n]) == 0) {
      row[*rows - 1].count += row[n].count;
      row[*rows - 1].clocks += row[n].clocks;
    } else {
      row[(*rows)++] = row[n];
    }
  }
  qsort(row, (size_t)*rows, sizeof *row, by_count);
  return row;
}

/* ---- JSON ---- */

static json_t *rows_of(const gfxsim_counters *c, count_key by) {
  int rows;
  count_row *row = count_rows(c, by, &rows);
  json_t *made = row != NULL ? json_array() : NULL;
  for (int n = 0; n < rows && made != NULL; n++)
    json_array_append_new(
        made, json_pack("{s:s%, s:I, s:I}", by == BY_MNEMONIC ? "mnemonic" : "source", row[n].key, (size_t)row[n].length,
                        "count", (json_int_t)row[n].count, "clocks", (json_int_t)row[n].clocks));
  free(row);
  return made;
}

static json_t *instructions(const gfxsim_counters *c) {
  json_t *made = json_array();
  for (int n = 0; n < c->instruction_count; n++) {
    const gfxsim_instruction *i = &c->instructions[n];
    json_array_append_new(made, json_pack("{s:I, s:s, s:s, s:s, s:I, s:I}", "pc", (json_int_t)i->pc, "text", i->text, "class",
                                          gfxsim_class_name(i->class_of), "source", i->source, "count", (json_int_t)i->count,
                                          "clocks", (json_int_t)i->clocks));
  }
  return made;
}

bool counters_rows_json(json_t *root, const gfxsim_counters *c) {
  return json_object_set_new(root, "mnemonics", rows_of(c, BY_MNEMONIC)) == 0 &&
         json_object_set_new(root, "source_lines", rows_of(c, BY_SOURCE)) == 0 &&
         json_object_set_new(root, "instructions", instructions(c)) == 0;
}
