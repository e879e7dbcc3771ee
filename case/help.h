/* --help of the tools. */
#ifndef TANDEM_CASE_HELP_H
#define TANDEM_CASE_HELP_H

#include <popt.h>
#include <stdbool.h>
#include <stdio.h>

/* The rows of --help and --usage: popt lists the options, then `more` says what the names in that list mean. op is the first
 * operand so far ("gemm" in `tandem-check gemm --help`), or NULL. Both options end the program with exit status 0.
 *   {NULL, '\0', POPT_ARG_INCLUDE_TABLE, rows, 0, "Help:", NULL} includes them. */
enum { HELP_ROWS = 4 };
typedef void help_function(FILE *out, const char *op);
void help_table(struct poptOption rows[HELP_ROWS], help_function *more);

/* ---- What several tools say (help_case.c) ---- */

/* Each op with its SHAPE; with the name of an op that one alone. */
void help_shapes(FILE *out, const char *op);
/* --set: the op's keys and what they mean; without an op, the keys of each. files: the arrays come from files. */
void help_settings(FILE *out, const char *op, bool files);
/* What DEV can be, here and anywhere, and how it is chosen. */
void help_devices(FILE *out);
void help_exit_status(FILE *out);

#endif
