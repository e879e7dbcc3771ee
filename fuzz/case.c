/* Fuzz target of the parsers of shape, epilogue and settings. Input: four lines, "gemm\n257x129x65\nbias+gelu\nbeta=1".
 * A text is refused with one line that says why, or it is taken, and then what case_print writes parses to the same case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

enum { LINE = 512, PRINTED = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the property below says does not hold: libFuzzer reports the abort with the input. */
static void require(bool holds, const char *what, const char *text) {
  if (holds) return;
  fprintf(stderr, "%s: '%s'\n", what, text);
  abort();
}

/* Takes a line off the front of the input. */
static void next_line(const uint8_t **data, size_t *size, char line[LINE]) {
  const uint8_t *end = memchr(*data, '\n', *size);
  size_t length = end == NULL ? *size : (size_t)(end - *data);
  size_t kept = length < LINE - 1 ? length : LINE - 1;
  memcpy(line, *data, kept);
  line[kept] = '\0';
  length += end != NULL;
  *data += length;
  *size -= length;
}

typedef bool parser(tdm_case *c, const char *text, char *error, size_t size);

static bool parse(parser *parse_text, tdm_case *c, const char *text) {
  char error[256] = "";
  if (parse_text(c, text, error, sizeof error)) return true;
  require(error[0] != '\0' && strchr(error, '\n') == NULL, "refused without one line of words", text);
  return false;
}

/* The word after an option of a printed case, "" if it has none. */
static void option_of(const char *printed, const char *option, char word[PRINTED]) {
  const char *at = strstr(printed, option);
  word[0] = '\0';
  if (at != NULL) sscanf(at + strlen(option), " %4095s", word);
}

static void check_round_trip(const tdm_case *c, const char *shape) {
  char printed[PRINTED], again[PRINTED], word[PRINTED];
  case_print(c, printed, sizeof printed);
  tdm_case copy = case_default(c->op);
  copy.type = c->type, copy.layout = c->layout, copy.fill = c->fill, copy.seed = c->seed;
  require(parse(case_parse_shape, &copy, shape), "shape parses once only", shape);
  option_of(printed, "--epilogue", word);
  require(word[0] == '\0' || parse(case_parse_epilogue, &copy, word), "printed epilogue is refused", printed);
  option_of(printed, "--set", word);
  require(word[0] == '\0' || parse(case_parse_settings, &copy, word), "printed settings are refused", printed);
  case_print(&copy, again, sizeof again);
  require(strcmp(printed, again) == 0, "prints differently when parsed again", printed);
}

static const case_op *pick_op(const char *name) {
  const case_op *op = case_find_op(name);
  if (op != NULL) return op;
  int count = 0;
  while (case_ops[count] != NULL) count++;
  return case_ops[(unsigned char)name[0] % count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char name[LINE], shape[LINE], epilogue[LINE], settings[LINE];
  next_line(&data, &size, name);
  next_line(&data, &size, shape);
  next_line(&data, &size, epilogue);
  next_line(&data, &size, settings);
  tdm_case c = case_default(pick_op(name));
  bool taken = parse(case_parse_shape, &c, shape);
  if (c.op->has_epilogue && epilogue[0] != '\0') taken = parse(case_parse_epilogue, &c, epilogue) && taken;
  if (settings[0] != '\0') taken = parse(case_parse_settings, &c, settings) && taken;
  if (taken) check_round_trip(&c, shape);
  return 0;
}
