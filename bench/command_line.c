/* Reads a command's options and operands with popt. */
#include "bench/command_line.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "case/options.h"

static void free_texts(const struct poptOption *row) {
  for (; row->longName != NULL || row->arg != NULL; row++)
    if (row->argInfo == POPT_ARG_STRING) {
      char **text = row->arg;
      free(*text);
      *text = NULL;
    }
}

int bench_run_command(const bench_command *c, int argc, char **argv) {
  int count = 0, code = EXIT_USAGE;
  argv[0] = (char *)(uintptr_t)c->name; /* as --help names it */
  poptContext popt = poptGetContext(c->name, argc, (const char **)argv, c->rows, 0);
  if (popt == NULL) {
    snprintf(c->error, c->size, "no memory for the command line");
  } else {
    poptSetOtherOptionHelp(popt, c->form);
    if (case_given_once(argc, (const char *const *)argv, c->error, c->size) &&
        case_read_command_line(popt, c->operands, c->most, &count, c->error, c->size)) {
      if (c->operand_count != NULL) *c->operand_count = count;
      code = c->run(c->state);
    }
    poptFreeContext(popt); /* it owns the operands */
  }
  if (c->error[0] != '\0') fprintf(stderr, "tandem-bench: %s\n", c->error);
  free_texts(c->rows);
  return code;
}
