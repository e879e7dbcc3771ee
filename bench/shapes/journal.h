/* The results of a run over a file of cases, kept so that a run that was stopped goes on where it was. While it runs, results
 * are lines that are added to FILE.part, where FILE is what --json names: first {"start": CASE}, then the row. At the end FILE
 * gets all of them, and FILE.part is removed. A row is what bench_row_json makes. With --turns it also has the peer's answer as
 * "peer" (run.c), with --all-kernels the list "kernels" (kernels.h). */
#ifndef TANDEM_BENCH_SHAPES_JOURNAL_H
#define TANDEM_BENCH_SHAPES_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct bench_journal {
  const char *path; /* NULL: nothing is kept */
  char *part;
  FILE *to;
  json_t *rows; /* all that are known, those of earlier runs first */
} bench_journal;

/* The rows of FILE and FILE.part; a new reference. A case that FILE.part has two starts of, and no row, gets a row that failed:
 * the program ended twice during it. ended: the last start counts too; else it may still be running. A file that is not there
 * has no rows. NULL: one line in error. */
json_t *bench_journal_rows(const char *path, bool ended, char *error, size_t size);

/* What FILE says of the machine that it was measured on; a new reference. NULL: nothing, as while a run is not over. */
json_t *bench_journal_machine(const char *path);

/* The text of a key of an object. "": there is none. */
const char *bench_json_text(const json_t *object, const char *key);

/* Are the results that are there, if any, of this device, and is this run with --all-kernels if theirs was? Each function
 * returns false with one line in error. */
bool bench_journal_check(const char *path, const char *device, bool all_kernels, char *error, size_t size);
/* Reads what is there, and opens FILE.part for more. */
bool bench_journal_open(bench_journal *j, const char *path, char *error, size_t size);
const json_t *bench_journal_find(const bench_journal *j, const char *title);
bool bench_journal_start(bench_journal *j, const char *title, const char *device, char *error, size_t size);
/* Takes row. */
bool bench_journal_add(bench_journal *j, json_t *row, char *error, size_t size);
/* Writes root, which it releases, to FILE and removes FILE.part. */
bool bench_journal_finish(bench_journal *j, json_t *root, char *error, size_t size);
void bench_journal_close(bench_journal *j);

#endif
