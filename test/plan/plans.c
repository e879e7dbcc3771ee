#include "plans.h"

#include <string.h>

static bool parse(const plans_case *texts, tdm_case *c, char *error, size_t size) {
  *c = case_default(case_find_op(texts->op));
  if (!case_parse_type(&c->type, texts->dtype, error, size)) return false;
  c->out = c->type;
  return (texts->layout == NULL || case_parse_layout(&c->layout, texts->layout, error, size)) &&
         (texts->epilogue == NULL || case_parse_epilogue(c, texts->epilogue, error, size)) &&
         (texts->settings == NULL || case_parse_settings(c, texts->settings, error, size)) &&
         case_parse_shape(c, texts->shape, error, size);
}

bool plans_begin(const char *test, const plans_case *texts, tdm_case *c) {
  char text[512];
  if (!parse(texts, c, text, sizeof text)) return fprintf(stderr, "%s: %s\n", test, text), false;
  case_print(c, text, sizeof text);
  printf("%s\n", text);
  return true;
}

void plans_print_lines(const tdm_plan *plan, const char *const *beginnings) {
  for (const char *line = tdm_plan_explain(plan); *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
    bool kept = false;
    for (int i = 0; beginnings[i] != NULL && !kept; i++) kept = strncmp(line, beginnings[i], strlen(beginnings[i])) == 0;
    if (kept) printf("  %.*s\n", (int)strcspn(line, "\n"), line);
  }
}

int plans_refusal_length(const char *message) {
  const char *list = strstr(message, "; built in: ");
  return list == NULL ? (int)strlen(message) : (int)(list - message);
}
