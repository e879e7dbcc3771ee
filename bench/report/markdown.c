/* A run as a document: its head and its tables. */
#include "bench/report/file.h"
#include "bench/report/report.h"

static void write_markdown(FILE *out, const bench_run *run, const char *command) {
  fprintf(out, "```\n%s\n```\n\n```\n", command);
  bench_print_machine(out, run, TABLE_MARKDOWN);
  bench_print_conditions(out, run, TABLE_MARKDOWN);
  fprintf(out, "```\n\n");
  if (bench_timed_devices(run) > 0) bench_print_timed_table(out, run, TABLE_MARKDOWN);
  if (bench_timed_devices(run) > 0 && bench_timed_devices(run) < run->devices.count) fprintf(out, "\n");
  if (bench_timed_devices(run) < run->devices.count) bench_print_counted_table(out, run, TABLE_MARKDOWN);
  bench_print_paths(out, run, TABLE_MARKDOWN);
  bench_print_comparison(out, run, TABLE_MARKDOWN);
  bench_print_count(out, run);
}

bool bench_write_markdown(const char *path, const bench_run *run, const char *command, char *error, size_t size) {
  result_file file;
  if (!bench_open_file(&file, path, error, size)) return false;
  write_markdown(file.to, run, command);
  return bench_close_file(&file, path, error, size);
}
