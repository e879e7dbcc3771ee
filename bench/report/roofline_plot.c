/* --plot: the roofline of a run, drawn of the same JSON that --json writes. */
#include <stdlib.h>

#include "bench/report/plot.h"
#include "bench/report/report.h"
#include "bench/report/roofline_read.h"

static void draw(FILE *out, const void *user) { roofline_draw(out, user); }

bool bench_write_plot(const char *path, const bench_run *run, char *error, size_t size) {
  json_t *rows = json_array();
  bool whole = rows != NULL, written = false;
  for (int i = 0; i < run->rows; i++) whole = whole && json_array_append_new(rows, bench_row_json(&run->row[i])) == 0;
  json_t *root = whole ? bench_root_json(run, rows) : NULL;
  roofline *r = calloc(1, sizeof *r);
  if (root == NULL || r == NULL || !bench_add_roofline(r, root, NULL))
    snprintf(error, size, "--plot = '%s': no memory for the picture", path);
  else if (r->point_count == 0)
    snprintf(error, size, "--plot = '%s': no case of this run has both FLOP and bytes to draw", path);
  else
    written = bench_plot(path, draw, r, error, size);
  free(r);
  json_decref(whole ? root : rows);
  return written;
}
