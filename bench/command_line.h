/* The command line of a command of tandem-bench that is not an op (commands.h): read, run, and freed. */
#ifndef TANDEM_BENCH_COMMAND_LINE_H
#define TANDEM_BENCH_COMMAND_LINE_H

#include <popt.h>
#include <stddef.h>

typedef struct bench_command {
  const char *name; /* "tandem-bench tune" */
  const char *form; /* of what follows the name, for --help: "OP [SHAPE...] [OPTION...]" */
  /* With help_table's rows in it. The texts of its own rows (not of included tables) are freed after the run. */
  const struct poptOption *rows;
  const char **operands; /* at most `most`; they stay valid during the run */
  int most;
  int *operand_count;      /* NULL: operands that are not given stay NULL */
  int (*run)(void *state); /* returns the exit code of the program */
  void *state;
  char *error; /* one line, which is printed at the end unless it is "" */
  size_t size;
} bench_command;

/* Returns the exit code of the program: run's, or EXIT_USAGE if the command line is wrong. */
int bench_run_command(const bench_command *command, int argc, char **argv);

#endif
