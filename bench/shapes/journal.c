/* Results that survive the end of the program. */
#include "bench/shapes/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/report/file.h"
#include "read.h"

const char *bench_json_text(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text != NULL ? text : "";
}

static bool is_row(const json_t *row) {
  return bench_json_text(row, "case")[0] != '\0' && bench_json_text(row, "outcome")[0] != '\0';
}

static const json_t *find(const json_t *rows, const char *title) {
  size_t i;
  const json_t *row;
  json_array_foreach(rows, i, row) if (strcmp(bench_json_text(row, "case"), title) == 0) return row;
  return NULL;
}

static char *part_of(const char *path) {
  size_t size = strlen(path) + sizeof ".part";
  char *part = malloc(size);
  if (part != NULL) snprintf(part, size, "%s.part", path);
  return part;
}

/* ---- Reading ---- */

static bool refuse(char *error, size_t size, const char *path, const char *reason) {
  snprintf(error, size, "'%s': must be what tandem-bench --shapes --json wrote: %s", path, reason);
  return false;
}

static bool read_root(json_t *rows, const char *path, char *error, size_t size) {
  char reason[256];
  json_error_t why;
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) return refuse(error, size, path, reason);
  json_t *root = json_loadf(file, 0, &why);
  fclose(file);
  const json_t *list = json_object_get(root, "rows");
  bool ok = json_is_array(list) || refuse(error, size, path, root == NULL ? why.text : "it has no rows");
  for (size_t i = 0; ok && i < json_array_size(list); i++)
    ok = is_row(json_array_get(list, i))
             ? json_array_append(rows, json_array_get(list, i)) == 0 || refuse(error, size, path, "no memory for its rows")
             : refuse(error, size, path, "a row has no case or no outcome");
  json_decref(root);
  return ok;
}

json_t *bench_journal_machine(const char *path) {
  json_t *root = json_load_file(path, 0, NULL);
  json_t *machine = json_incref(json_object_get(root, "machine"));
  json_decref(root);
  return machine;
}

/* A case that was started and has no row: the program ended during it. Once is a run that was stopped, and the case is measured
 * again; the second time it is the case's own fault. */
static bool add_ended(json_t *rows, json_t *starts, const json_t *start) {
  const char *title = bench_json_text(start, "start");
  json_int_t before = json_integer_value(json_object_get(starts, title));
  if (json_object_set_new(starts, title, json_integer(before + 1)) != 0) return false;
  if (before == 0 || find(rows, title) != NULL) return true;
  json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "case", title, "device", bench_json_text(start, "device"), "by",
                          "tandem", "kernel", "", "outcome", "failed", "reason", "the program ended twice during this case");
  return row != NULL && json_array_append_new(rows, row) == 0;
}

/* Adds the row of a line, or notes what it starts. */
static bool read_line(json_t *rows, json_t *starts, json_t **start, json_t *value) {
  bool starts_case = bench_json_text(value, "start")[0] != '\0', ok = true;
  if (*start != NULL && starts_case) ok = add_ended(rows, starts, *start);
  /* A program that was killed between writing FILE and removing FILE.part left the rows in both. */
  if (!starts_case && find(rows, bench_json_text(value, "case")) == NULL) ok = json_array_append(rows, value) == 0;
  json_decref(*start);
  *start = starts_case ? json_incref(value) : NULL;
  return ok;
}

/* A last line without its end is what a killed program had begun to write. */
static bool read_lines(json_t *rows, const char *path, bool ended, char *error, size_t size) {
  char reason[256], *line = NULL;
  size_t room = 0;
  json_t *start = NULL, *starts = json_object();
  bool ok = starts != NULL;
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) {
    json_decref(starts);
    return refuse(error, size, path, reason);
  }
  for (ssize_t length; ok && (length = getline(&line, &room, file)) > 0 && line[length - 1] == '\n';) {
    json_error_t why;
    json_t *value = json_loads(line, 0, &why);
    bool known = bench_json_text(value, "start")[0] != '\0' || is_row(value);
    if (!known) refuse(error, size, path, value == NULL ? why.text : "a line is neither a start nor a row");
    ok = known && read_line(rows, starts, &start, value);
    json_decref(value);
  }
  if (ok && start != NULL && ended) ok = add_ended(rows, starts, start);
  json_decref(start);
  json_decref(starts);
  free(line);
  fclose(file);
  return ok || error[0] != '\0' || refuse(error, size, path, "no memory for its rows");
}

json_t *bench_journal_rows(const char *path, bool ended, char *error, size_t size) {
  json_t *rows = json_array();
  char *part = part_of(path);
  error[0] = '\0';
  bool ok = rows != NULL && part != NULL;
  if (!ok) snprintf(error, size, "'%s': no memory for its rows", path);
  if (ok && access(path, F_OK) == 0) ok = read_root(rows, path, error, size);
  if (ok && access(part, F_OK) == 0) ok = read_lines(rows, part, ended, error, size);
  free(part);
  if (ok) return rows;
  json_decref(rows);
  return NULL;
}

/* ---- Writing ---- */

/* What a killed program had begun to write. */
static bool cut_last_line(const char *path) {
  FILE *file = fopen(path, "r+");
  if (file == NULL) return errno == ENOENT;
  char *line = NULL;
  size_t room = 0;
  off_t whole = 0;
  for (ssize_t length; (length = getline(&line, &room, file)) > 0 && line[length - 1] == '\n';) whole += length;
  bool ok = !ferror(file) && ftruncate(fileno(file), whole) == 0;
  free(line);
  return fclose(file) == 0 && ok;
}

static bool put_line(bench_journal *j, const json_t *value, char *error, size_t size) {
  if (j->to == NULL) return true;
  if (json_dumpf(value, j->to, JSON_COMPACT) == 0 && fputc('\n', j->to) != EOF && fflush(j->to) == 0) return true;
  snprintf(error, size, "'%s': can't be written: %s", j->part, strerror(errno));
  return false;
}

/* A row that failed may have no list of kernels in either case. */
static bool is_of_run(const json_t *row, const char *path, const char *device, bool all_kernels, char *error, size_t size) {
  bool ok = strcmp(bench_json_text(row, "outcome"), "ok") == 0, has = json_object_get(row, "kernels") != NULL;
  if (strcmp(bench_json_text(row, "device"), device) != 0) {
    snprintf(error, size, "--json = '%s': has results of device %s, and this run is on %s: name another file", path,
             bench_json_text(row, "device"), device);
    return false;
  }
  if (!ok || has == all_kernels) return true;
  snprintf(error, size, "--json = '%s': has results of a run %s --all-kernels, and this one is %s it: name another file", path,
           has ? "with" : "without", all_kernels ? "with" : "without");
  return false;
}

bool bench_journal_check(const char *path, const char *device, bool all_kernels, char *error, size_t size) {
  json_t *rows = path != NULL ? bench_journal_rows(path, true, error, size) : json_array();
  bool ok = rows != NULL;
  size_t i;
  const json_t *row;
  json_array_foreach(rows, i, row) ok = ok && is_of_run(row, path, device, all_kernels, error, size);
  json_decref(rows);
  return ok;
}

bool bench_journal_open(bench_journal *j, const char *path, char *error, size_t size) {
  *j = (bench_journal){.path = path};
  if (path == NULL) {
    j->rows = json_array();
    if (j->rows == NULL) snprintf(error, size, "no memory for the results");
    return j->rows != NULL;
  }
  j->part = part_of(path);
  j->rows = j->part != NULL ? bench_journal_rows(path, true, error, size) : NULL;
  if (j->part == NULL) snprintf(error, size, "--json = '%s': no memory for its name", path);
  if (j->rows == NULL) return false;
  j->to = cut_last_line(j->part) ? fopen(j->part, "a") : NULL;
  if (j->to == NULL) snprintf(error, size, "'%s': can't be written: %s", j->part, strerror(errno));
  return j->to != NULL;
}

const json_t *bench_journal_find(const bench_journal *j, const char *title) { return find(j->rows, title); }

bool bench_journal_start(bench_journal *j, const char *title, const char *device, char *error, size_t size) {
  json_t *start = json_pack("{s:s, s:s}", "start", title, "device", device);
  bool ok = start != NULL && put_line(j, start, error, size);
  if (start == NULL) snprintf(error, size, "no memory for a result");
  json_decref(start);
  return ok;
}

bool bench_journal_add(bench_journal *j, json_t *row, char *error, size_t size) {
  if (row != NULL && put_line(j, row, error, size) && json_array_append(j->rows, row) == 0) {
    json_decref(row);
    return true;
  }
  if (row == NULL) snprintf(error, size, "no memory for a result, or a text in it is not UTF-8");
  json_decref(row);
  return false;
}

bool bench_journal_finish(bench_journal *j, json_t *root, char *error, size_t size) {
  if (j->path == NULL) {
    json_decref(root);
    return true;
  }
  if (!bench_write_root(j->path, root, error, size)) return false;
  if (unlink(j->part) == 0) return true;
  snprintf(error, size, "'%s': can't be removed: %s", j->part, strerror(errno));
  return false;
}

void bench_journal_close(bench_journal *j) {
  if (j->to != NULL) fclose(j->to);
  free(j->part);
  json_decref(j->rows);
}
