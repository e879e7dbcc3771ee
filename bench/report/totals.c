/* How many devices and rows of which kind a run has. */
#include "bench/report/report.h"

int bench_timed_devices(const bench_run *run) {
  int timed = 0;
  for (int d = 0; d < run->devices.count; d++) timed += !bench_is_simulated(run->devices.name[d]);
  return timed;
}

bench_count bench_count_rows(const bench_run *run) {
  bench_count count = {0};
  for (int i = 0; i < run->rows; i++) {
    count.measured += run->row[i].outcome == BENCH_OK;
    count.failed += run->row[i].outcome == BENCH_FAILED;
    count.unsupported += run->row[i].outcome == BENCH_UNSUPPORTED;
    count.alarms += run->row[i].alarm;
  }
  return count;
}

void bench_print_count(FILE *out, const bench_run *run) {
  bench_count count = bench_count_rows(run);
  fprintf(out, "%s%d measured, %d failed, %d unsupported\n", run->style == TABLE_LIST ? "" : "\n", count.measured, count.failed,
          count.unsupported);
  if (count.alarms == 0) return;
  char text[BENCH_TEXT];
  snprintf(
      text, sizeof text,
      "ALARM: %d figure%s above a ceiling of this machine: the clock or the ceiling is wrong, or the code uses a unit that "
      "the ceiling's multiply-adds do not reach\n",
      count.alarms, count.alarms == 1 ? " is" : "s are");
  table_text(out, run->style == TABLE_FIT ? run->width : 0, text);
}
