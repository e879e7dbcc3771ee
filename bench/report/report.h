/* All results of a run of tandem-bench: the tables that it prints, and the files that it writes. */
#ifndef TANDEM_BENCH_REPORT_REPORT_H
#define TANDEM_BENCH_REPORT_REPORT_H

#include <jansson.h>

#include "bench/core/judge.h"
#include "bench/core/measure.h"
#include "bench/report/table.h"

typedef struct bench_run {
  bench_machine machine;
  case_devices devices;
  bench_judge judge[CASE_MAX_DEVICES];
  const bench_peer *peer;        /* NULL: none asked for */
  char peer_version[BENCH_TEXT]; /* its name and version, or why it is absent */
  bool peer_open;
  bench_limits limits;
  bool hot;    /* caches are left warm */
  bool checks; /* gfxsim's are on in simulated devices */
  table_style style;
  int width; /* of the terminal, for TABLE_FIT */
  bench_row *row;
  int rows;
} bench_run;

typedef struct bench_count {
  int measured, failed, unsupported, alarms;
} bench_count;

bench_count bench_count_rows(const bench_run *run);
int bench_timed_devices(const bench_run *run); /* those that are not simulated */

/* Milliseconds, with four digits. */
void bench_put_ms(char *text, size_t size, double seconds);
/* The machine and how the library was built; and how it was measured: buffers, ceilings, peer. */
void bench_print_machine(FILE *out, const bench_run *run, table_style style);
void bench_print_conditions(FILE *out, const bench_run *run, table_style style);
/* After a table: ceilings that the run measured while it went on, and those that have risen. */
void bench_print_raised(FILE *out, const bench_run *run, table_style style);
/* The table of times: as rows come, with table_end after the last one; or of all rows. */
table bench_timed_begin(FILE *out, const bench_run *run);
void bench_timed_row(table *t, const bench_row *row);
void bench_print_timed_table(FILE *out, const bench_run *run, table_style style);
/* The same for simulated devices, a line for each kernel that a run launched. */
table bench_counted_begin(FILE *out, const bench_run *run);
void bench_counted_row(table *t, const bench_row *row);
void bench_print_counted_table(FILE *out, const bench_run *run, table_style style);
/* Devices that are simulated as the same chip, one below the other for each case: what their paths do. */
void bench_print_paths(FILE *out, const bench_run *run, table_style style);
/* The chip of a simulated device, as its runs told it; "": not known. */
const char *bench_chip_of(const bench_run *run, int device);
/* A column for each device and peer, where there is more than one. */
void bench_print_comparison(FILE *out, const bench_run *run, table_style style);
void bench_print_count(FILE *out, const bench_run *run);

/* ---- Files. false: one line in error. ---- */

bool bench_write_json(const char *path, const bench_run *run, char *error, size_t size);
json_t *bench_spread_json(const bench_spread *spread);
json_t *bench_row_json(const bench_row *row);                   /* NULL: no memory */
bool bench_row_json_bounds(json_t *json, const bench_row *row); /* sets what depends on ceilings again. false: no memory */
json_t *bench_root_json(const bench_run *run, json_t *rows);    /* what the file has; takes rows. NULL: no memory */
bool bench_write_csv(const char *path, const bench_run *run, char *error, size_t size);
/* The tables, as a document. command: what the user typed. */
bool bench_write_markdown(const char *path, const bench_run *run, const char *command, char *error, size_t size);
/* A roofline as SVG. */
bool bench_write_plot(const char *path, const bench_run *run, char *error, size_t size);

#endif
