/* The text of a case: parsers of shapes, epilogues and settings, and the printer that they can read back. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"

static const char *const layout_names[] = {"nn", "nt", "tn", "tt"};
static const char *const fill_names[] = {"real",      "exact",  "big",      "equal",  "special", "huge", "tiny",
                                         "subnormal", "rising", "negative", "masked", "edges",   "guard"};
static const char *const rope_names[] = {"interleaved", "half"};
static const char *const step_names[] = {"bias",       "residual",   "relu", "gelu",  "gelu_tanh",
                                         "quick_gelu", "leaky_relu", "silu", "scale", "divide"};

static bool refuse(char *error, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(char *error, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, size, format, args);
  va_end(args);
  return false;
}

/* ---- Pieces ---- */

/* Part of a text. */
typedef struct span {
  const char *at;
  int length;
} span;

static bool spells(span s, const char *word) { return strncmp(word, s.at, (size_t)s.length) == 0 && word[s.length] == '\0'; }

/* Takes the part up to a separator off the front of *text; false when nothing is left after the last separator. */
static bool next_part(const char **text, char separator, span *part) {
  if (*text == NULL) return false;
  const char *end = strchr(*text, separator);
  *part = (span){*text, (int)(end == NULL ? strlen(*text) : (size_t)(end - *text))};
  *text = end == NULL ? NULL : end + 1;
  return true;
}

static bool find_word(span s, const char *const *words, int count, int *index) {
  for (int i = 0; i < count; i++)
    if (spells(s, words[i])) return *index = i, true;
  return false;
}

/* The place of a word in a list like "lda ldb ldc", -1 if it is not there. */
static int list_index(const char *list, span word) {
  span item;
  for (int i = 0; next_part(&list, ' ', &item); i++)
    if (item.length > 0 && item.length == word.length && strncmp(item.at, word.at, (size_t)word.length) == 0) return i;
  return -1;
}

static span list_word(const char *list, int index) {
  span item = {"", 0};
  for (int i = 0; i <= index && next_part(&list, ' ', &item); i++) continue;
  return item;
}

/* Digits only, with a minus in front where negative numbers are allowed. */
static bool whole_number(span s, int64_t least, int64_t *value) {
  char text[24];
  if (s.length == 0 || s.length >= (int)sizeof text) return false;
  snprintf(text, sizeof text, "%.*s", s.length, s.at);
  bool minus = text[0] == '-';
  if (strspn(text + minus, "0123456789") != (size_t)(s.length - minus) || s.length == minus) return false;
  errno = 0;
  long long number = strtoll(text, NULL, 10);
  if (errno != 0 || number < least) return false;
  *value = number;
  return true;
}

static bool real_number(span s, double *value) {
  char text[40], *end;
  if (s.length == 0 || s.length >= (int)sizeof text || strchr("+-.0123456789", s.at[0]) == NULL) return false;
  snprintf(text, sizeof text, "%.*s", s.length, s.at);
  double number = strtod(text, &end);
  if (*end != '\0' || !isfinite(number)) return false;
  *value = number;
  return true;
}

/* ---- Selectors ---- */

bool case_parse_shape(tdm_case *c, const char *text, char *error, size_t size) {
  span part;
  int64_t shape[CASE_MAX_RANK];
  int rank = 0;
  for (const char *rest = text; next_part(&rest, 'x', &part); rank++)
    if (rank == c->op->shape_rank || !whole_number(part, 0, &shape[rank]))
      return refuse(error, size, "shape = '%s': must be %s, each a whole number from 0 to %" PRId64, text, c->op->shape_form,
                    INT64_MAX);
  if (rank != c->op->shape_rank)
    return refuse(error, size, "shape = '%s': has %d numbers: must be %s", text, rank, c->op->shape_form);
  memcpy(c->shape, shape, (size_t)rank * sizeof shape[0]);
  return true;
}

static bool takes_value(tdm_epilogue_op op) { return op == TDM_LEAKY_RELU || op == TDM_SCALE || op == TDM_DIVIDE; }

static bool parse_step(span part, tdm_epilogue_step *step) {
  const char *colon = memchr(part.at, ':', (size_t)part.length);
  span name = {part.at, colon == NULL ? part.length : (int)(colon - part.at)};
  span text = {colon == NULL ? "" : colon + 1, colon == NULL ? 0 : part.length - name.length - 1};
  int op;
  double value = 0;
  if (!find_word(name, step_names, TDM_DIVIDE + 1, &op)) return false;
  *step = (tdm_epilogue_step){.op = (tdm_epilogue_op)op};
  if (!takes_value(step->op)) return colon == NULL;
  if (!real_number(text, &value) || !isfinite((float)value)) return false;
  step->value = (float)value;
  return true;
}

bool case_parse_epilogue(tdm_case *c, const char *text, char *error, size_t size) {
  span part;
  int count = 0;
  const char *steps = strcmp(text, "none") == 0 ? NULL : text; /* none: in place of what a set has */
  for (const char *rest = steps; next_part(&rest, '+', &part); count++) {
    if (count == CASE_MAX_EPILOGUE)
      return refuse(error, size, "epilogue = '%s': has more than %d steps", text, CASE_MAX_EPILOGUE);
    if (!parse_step(part, &c->epilogue[count]))
      return refuse(error, size,
                    "epilogue = '%s': '%.*s' must be bias, residual, relu, gelu, gelu_tanh, quick_gelu, leaky_relu:A, silu, "
                    "scale:S or divide:D, with + between steps; or none alone",
                    text, part.length, part.at);
  }
  c->epilogue_steps = count;
  return true;
}

/* The library's types are numbered from 0 on; after the last one a size is 0. */
static bool find_type(span word, tdm_type *type) {
  for (int t = 0; tdm_type_size((tdm_type)t) > 0; t++) {
    const char *name = tdm_type_name((tdm_type)t);
    if ((int)strlen(name) == word.length && strncmp(name, word.at, (size_t)word.length) == 0) return *type = (tdm_type)t, true;
  }
  return false;
}

bool case_parse_type(tdm_type *type, const char *text, char *error, size_t size) {
  if (find_type((span){text, (int)strlen(text)}, type)) return true;
  return refuse(error, size, "dtype = '%s': must be f16, bf16 or f32", text);
}

bool case_parse_layout(tdm_layout *layout, const char *text, char *error, size_t size) {
  int index;
  if (!find_word((span){text, (int)strlen(text)}, layout_names, 4, &index))
    return refuse(error, size, "layout = '%s': must be nn, nt, tn or tt", text);
  *layout = (tdm_layout)index;
  return true;
}

/* ---- Settings ---- */

typedef enum setting_kind { REAL, WHOLE, INDEX, SHIFT, FLAG, TYPE, ROPE, FILL, IN_PLACE } setting_kind;

typedef struct setting {
  const char *key;
  setting_kind kind;
  size_t offset;    /* of its member in tdm_case */
  bool places;      /* says where arrays are in memory, or what fills them: not for arrays that come from files */
  const char *what; /* for --help, with the default */
} setting;

static const setting settings[] = {
    {"alpha", REAL, offsetof(tdm_case, alpha), false, "factor of A B; default 1"},
    {"beta", REAL, offsetof(tdm_case, beta), false, "factor of C; with 0 C is not read; default 0"},
    {"batch", WHOLE, offsetof(tdm_case, batch), false, "number of products; default 1"},
    {"stride_a", WHOLE, offsetof(tdm_case, stride[0]), true, "elements from one A to the next; default 0: packed"},
    {"stride_b", WHOLE, offsetof(tdm_case, stride[1]), true, "elements from one B to the next; default 0: packed"},
    {"stride_c", WHOLE, offsetof(tdm_case, stride[2]), true, "elements from one C to the next; default 0: packed"},
    {"stride_r", WHOLE, offsetof(tdm_case, stride[3]), true, "elements from one residual to the next; default 0: packed"},
    {"broadcast_a", FLAG, offsetof(tdm_case, broadcast_a), false, "1: every product of the batch reads the same A; default 0"},
    {"broadcast_b", FLAG, offsetof(tdm_case, broadcast_b), false, "1: every product of the batch reads the same B; default 0"},
    {"residual", FLAG, offsetof(tdm_case, residual), false, "1: adds a residual to x first, and writes the sum too; default 0"},
    {"sums", FLAG, offsetof(tdm_case, sums), false, "1: b is f32, whatever the type of a and c; default 0"},
    {"causal", FLAG, offsetof(tdm_case, causal), false, "1: a query sees no later keys; default 0"},
    {"lse", FLAG, offsetof(tdm_case, lse), false, "1: writes the log-sum-exp of each row of scores too; default 0"},
    {"swap", FLAG, offsetof(tdm_case, swap), true,
     "1: stored [B, S, H, D] (attention) or [B, H, S, D] (rope), the other order; default 0"},
    {"eps", REAL, offsetof(tdm_case, eps), false, "added to the mean square; default 1e-5"},
    {"scale", REAL, offsetof(tdm_case, scale), false, "factor of the scores; default 0: 1 / sqrt(D)"},
    {"theta", REAL, offsetof(tdm_case, theta), false, "base of the frequencies; default 10000"},
    {"factor", REAL, offsetof(tdm_case, factor), false, "positions are divided by it; default 1"},
    {"low", REAL, offsetof(tdm_case, low), false, "of Llama 3.1's scaling: low_freq_factor; default 1"},
    {"high", REAL, offsetof(tdm_case, high), false, "of Llama 3.1's scaling: high_freq_factor; default 4"},
    {"trained", WHOLE, offsetof(tdm_case, trained), false,
     "of Llama 3.1's scaling: the trained length; default 0: linear scaling"},
    {"rope", ROPE, offsetof(tdm_case, rope_half), false,
     "which elements make a pair: interleaved or half; default interleaved"},
    {"offset", WHOLE, offsetof(tdm_case, offset), false, "position of the first token; default 0"},
    {"ignore", INDEX, offsetof(tdm_case, ignore), false, "rows with this target have no loss; default -100"},
    {"first", WHOLE, offsetof(tdm_case, first), false, "the part's first id of a vocabulary of `total`; default 0"},
    {"total", WHOLE, offsetof(tdm_case, total), false,
     "ids of a vocabulary of which VOCAB are a part; default 0: VOCAB is whole"},
    {"wide", FLAG, offsetof(tdm_case, wide), false, "1: ids or targets are int64; default 0: int32"},
    {"causal_rows", WHOLE, offsetof(tdm_case, causal_rows), false,
     "rows of each causal score matrix; default 0: a row sees all columns"},
    {"spare", WHOLE, offsetof(tdm_case, spare), true, "unused rows after the keys and values of each head; default 0"},
    {"apart", WHOLE, offsetof(tdm_case, apart), true, "unused rows after the queries and results of each head; default 0"},
    {"longer", WHOLE, offsetof(tdm_case, longer), true,
     "keys (rope: positions) that the plan has more than the run; default 0"},
    {"pad", WHOLE, offsetof(tdm_case, pad), true, "unused elements after each row of a matrix; default 0"},
    {"shift", SHIFT, offsetof(tdm_case, shift), true, "arrays begin this many elements after an aligned address; default 0"},
    {"out", TYPE, offsetof(tdm_case, out), false, "type of the result: f16, bf16 or f32; default: --dtype"},
    {"fill", FILL, offsetof(tdm_case, fill), true, "data: see docs/checking.md; default real, in tandem-check exact and real"},
    {"inplace", IN_PLACE, offsetof(tdm_case, in_place), true, "input that shares its memory with the result; default: none"},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* Does an op take a setting? fill, pad and shift belong to every op, out and inplace to those that say so. */
static bool op_takes(const case_op *op, const setting *s) {
  if (s->kind == FILL || s->kind == SHIFT || s->offset == offsetof(tdm_case, pad)) return true;
  if (s->kind == TYPE) return op->has_out;
  if (s->kind == IN_PLACE) return op->in_place != NULL;
  return list_index(op->settings, (span){s->key, (int)strlen(s->key)}) >= 0;
}

static bool set_value(tdm_case *c, const setting *s, span value) {
  void *member = (char *)c + s->offset;
  int64_t number;
  int index;
  switch (s->kind) {
    case REAL: return real_number(value, member);
    case WHOLE: return whole_number(value, 0, member);
    case INDEX: return whole_number(value, INT32_MIN, &number) && number <= INT32_MAX && (c->ignore = number, true);
    case SHIFT: return whole_number(value, 0, &number) && number <= CASE_MOST_SHIFT && (c->shift = number, true);
    case FLAG:
      if (!whole_number(value, 0, &number) || number > 1) return false;
      *(bool *)member = number == 1;
      return true;
    case ROPE:
      if (!find_word(value, rope_names, 2, &index)) return false;
      *(bool *)member = index == 1;
      return true;
    case TYPE: return find_type(value, (tdm_type *)member);
    case FILL:
      if (!find_word(value, fill_names, CASE_GUARD + 1, &index)) return false;
      *(case_fill *)member = (case_fill)index;
      return c->fill_given = true;
    case IN_PLACE: return (*(int *)member = 1 + list_index(c->op->in_place, value)) > 0;
  }
  return false;
}

static const char *allowed(const tdm_case *c, setting_kind kind) {
  switch (kind) {
    case REAL: return "a finite number";
    case WHOLE: return "a whole number of at most 63 bits";
    case INDEX: return "a whole number from -2147483648 to 2147483647";
    case SHIFT: return "a whole number from 0 to 1048576";
    case FLAG: return "0 or 1";
    case ROPE: return "interleaved or half";
    case TYPE: return "f16, bf16 or f32";
    case FILL: return "real, exact, big, equal, special, huge, tiny, subnormal, rising, negative, masked, edges or guard";
    case IN_PLACE: return c->op->in_place;
  }
  return "";
}

void case_list_settings(const case_op *op, bool with_places, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "%s", with_places ? op->leading : "");
  for (int i = 0; i < SETTINGS && used < size; i++)
    if (op_takes(op, &settings[i]) && (with_places || !settings[i].places))
      used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", settings[i].key);
}

void case_describe_settings(FILE *out, const case_op *op, bool with_places) {
  if (with_places && op->leading[0] != '\0')
    fprintf(out, "  %s: leading dimensions, in elements; default 0: packed\n", op->leading);
  for (int i = 0; i < SETTINGS; i++)
    if (op_takes(op, &settings[i]) && (with_places || !settings[i].places))
      fprintf(out, "  %-12s %s\n", settings[i].key, settings[i].what);
  if (with_places && op->in_place != NULL) fprintf(out, "  inplace is one of: %s\n", op->in_place);
}

static bool parse_setting(tdm_case *c, span part, const char *text, char *error, size_t size) {
  const char *equals = memchr(part.at, '=', (size_t)part.length);
  span key = {part.at, equals == NULL ? part.length : (int)(equals - part.at)};
  span value = {equals == NULL ? "" : equals + 1, equals == NULL ? 0 : part.length - key.length - 1};
  int leading = list_index(c->op->leading, key);
  if (leading >= 0 && whole_number(value, 0, &c->ld[leading])) return true;
  if (leading >= 0)
    return refuse(error, size, "set = '%s': %.*s = '%.*s': must be %s", text, key.length, key.at, value.length, value.at,
                  allowed(c, WHOLE));
  for (int i = 0; i < SETTINGS; i++) {
    if (!spells(key, settings[i].key) || !op_takes(c->op, &settings[i])) continue;
    if (set_value(c, &settings[i], value)) return true;
    return refuse(error, size, "set = '%s': %s = '%.*s': must be %s%s", text, settings[i].key, value.length, value.at,
                  settings[i].kind == IN_PLACE ? "one of " : "", allowed(c, settings[i].kind));
  }
  char keys[256];
  case_list_settings(c->op, true, keys, sizeof keys);
  return refuse(error, size, "set = '%s': '%.*s' is not a setting of %s: must be KEY=VALUE,... with KEY one of: %s", text,
                key.length, key.at, c->op->name, keys);
}

bool case_parse_settings(tdm_case *c, const char *text, char *error, size_t size) {
  span part, before;
  for (const char *rest = text; next_part(&rest, ',', &part);) {
    if (!parse_setting(c, part, text, error, size)) return false;
    int key = (int)strcspn(part.at, "=") + 1;
    for (const char *again = text; next_part(&again, ',', &before) && before.at < part.at;)
      if (strncmp(before.at, part.at, (size_t)key) == 0)
        return refuse(error, size, "set = '%s': %.*s: must be given once", text, key - 1, part.at);
  }
  return true;
}

bool case_can_check(const tdm_case *c, char *error, size_t size) {
  case_array arrays[CASE_MAX_ARRAYS];
  const char *fill = fill_names[c->fill];
  span name = {fill, (int)strlen(fill)};
  if (c->type != TDM_F16 && c->op->overflowing != NULL && list_index(c->op->overflowing, name) >= 0)
    return refuse(error, size, "%s: fill = %s: its sums leave f32: must be another fill, or of f16", c->op->name, fill);
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++) {
    const case_array *in = arrays[i].used && arrays[i].same_as >= 0 ? &arrays[arrays[i].same_as] : NULL;
    if (in != NULL && in->element != arrays[i].element)
      return refuse(error, size, "%s: inplace = %s: %s and %s must have one type", c->op->name, in->name, in->name,
                    arrays[i].name);
  }
  return true;
}

/* ---- Printing ---- */

typedef struct writer {
  char *text;
  size_t size, used;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
  if (w->used >= w->size) return;
  va_list args;
  va_start(args, format);
  w->used += (size_t)vsnprintf(w->text + w->used, w->size - w->used, format, args);
  va_end(args);
}

static void put_epilogue(writer *w, const tdm_case *c) {
  for (int i = 0; i < c->epilogue_steps; i++) {
    put(w, "%s%s", i == 0 ? " --epilogue " : "+", step_names[c->epilogue[i].op]);
    if (!takes_value(c->epilogue[i].op)) continue;
    char number[32];
    snprintf(number, sizeof number, "%.9g", (double)c->epilogue[i].value);
    char *plus = strchr(number, '+'); /* of 1e+10: it would end the step */
    if (plus != NULL) memmove(plus, plus + 1, strlen(plus));
    put(w, ":%s", number);
  }
}

/* KEY=VALUE of a setting that differs from the default. */
static void put_setting(writer *w, const tdm_case *c, const setting *s) {
  tdm_case start = case_default(c->op);
  start.out = c->type;
  const char *member = (const char *)c + s->offset, *usual = (const char *)&start + s->offset;
  switch (s->kind) {
    case REAL:
      if (*(const double *)member != *(const double *)usual) put(w, ",%s=%.17g", s->key, *(const double *)member);
      break;
    case WHOLE:
    case INDEX:
    case SHIFT:
      if (*(const int64_t *)member != *(const int64_t *)usual) put(w, ",%s=%" PRId64, s->key, *(const int64_t *)member);
      break;
    case FLAG:
      if (*(const bool *)member) put(w, ",%s=1", s->key);
      break;
    case ROPE:
      if (*(const bool *)member) put(w, ",rope=half");
      break;
    case TYPE:
      if (c->out != c->type) put(w, ",out=%s", tdm_type_name(c->out));
      break;
    case FILL: put(w, ",fill=%s", fill_names[c->fill]); break;
    case IN_PLACE: {
      span word = list_word(c->op->in_place, c->in_place - 1);
      if (c->in_place > 0) put(w, ",inplace=%.*s", word.length, word.at);
    }
  }
}

void case_print(const tdm_case *c, char *text, size_t size) {
  char list[512] = "";
  writer settings_list = {list, sizeof list, 0};
  for (int i = 0; i < CASE_MAX_LEADING; i++) {
    span key = list_word(c->op->leading, i);
    if (c->ld[i] != 0) put(&settings_list, ",%.*s=%" PRId64, key.length, key.at, c->ld[i]);
  }
  for (int i = 0; i < SETTINGS; i++)
    if (op_takes(c->op, &settings[i])) put_setting(&settings_list, c, &settings[i]);
  writer w = {text, size, 0};
  put(&w, "%s --dtype %s", c->op->name, tdm_type_name(c->type));
  if (c->op->has_layout) put(&w, " --layout %s", layout_names[c->layout]);
  put_epilogue(&w, c);
  if (list[0] != '\0') put(&w, " --set %s", list + 1);
  put(&w, " --seed %" PRIu64 " ", c->seed);
  for (int i = 0; i < c->op->shape_rank; i++) put(&w, "%s%" PRId64, i > 0 ? "x" : "", c->shape[i]);
}

/* Takes a setting out of a text. */
static void strike(char *text, const char *setting) {
  char *at = strstr(text, setting);
  if (at != NULL) memmove(at, at + strlen(setting), strlen(at + strlen(setting)) + 1);
}

void case_label(const char *printed, char *text, size_t size) {
  writer w = {text, size, 0};
  text[0] = '\0';
  bool skip = false;
  for (const char *at = printed; *at != '\0';) {
    int length = (int)strcspn(at, " ");
    bool option = strncmp(at, "--", 2) == 0;
    if (!option && !skip) put(&w, "%s%.*s", w.used > 0 ? " " : "", length, at);
    skip = option && strncmp(at, "--seed", 6) == 0;
    at += length;
    at += *at == ' ';
  }
  strike(text, ",fill=real");
  strike(text, " fill=real");
}
