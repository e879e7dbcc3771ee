/* --help and --usage. A file of its own: tandem-learn, which has no ops, uses it too. */
#include "help.h"

#include <stdlib.h>
#include <string.h>

static help_function *print_more;

/* The callback of the rows below, as popt's own help does it: print and leave. */
static void show(poptContext popt, enum poptCallbackReason reason, const struct poptOption *row, const char *text, void *data) {
  (void)reason, (void)text, (void)data;
  if (row->val == 'u') {
    poptPrintUsage(popt, stdout, 0);
  } else {
    poptPrintHelp(popt, stdout, 0);
    if (print_more != NULL) print_more(stdout, poptPeekArg(popt));
  }
  exit(EXIT_SUCCESS);
}

void help_table(struct poptOption rows[HELP_ROWS], help_function *more) {
  static const struct poptOption table[HELP_ROWS] = {
      {NULL, '\0', POPT_ARG_CALLBACK, NULL, 0, NULL, NULL},
      {"help", '?', POPT_ARG_NONE, NULL, '?', "Show this help", NULL},
      {"usage", '\0', POPT_ARG_NONE, NULL, 'u', "Show the options in short", NULL},
      POPT_TABLEEND,
  };
  void (*const callback)(poptContext, enum poptCallbackReason, const struct poptOption *, const char *, void *) = show;
  print_more = more;
  memcpy(rows, table, sizeof table);
  memcpy(&rows[0].arg, &callback, sizeof callback); /* C does not convert between them */
}
