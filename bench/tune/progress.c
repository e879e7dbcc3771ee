/* What a run of tune has found: a line for each candidate, its fields between tabs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune.h"

enum { LINE_MOST = 2048 };
static const char MAGIC[] = "tandem-tune-progress 1";

typedef struct line {
  char title[BENCH_TEXT];
  bool predicted;
  tune_candidate one;
} line;

struct tune_progress {
  FILE *to;
  char path[1024];
  line *lines;
  int count, room;
};

static bool keep(tune_progress *p, const char *title, bool predicted, const tune_candidate *one) {
  if (p->count == p->room) {
    int room = 2 * p->room + 64;
    line *grown = realloc(p->lines, (size_t)room * sizeof *grown);
    if (grown == NULL) return false;
    p->lines = grown;
    p->room = room;
  }
  line *l = &p->lines[p->count++];
  *l = (line){.predicted = predicted, .one = *one};
  snprintf(l->title, sizeof l->title, "%s", title);
  return true;
}

/* Reads the next field of a line, up to a tab or the end. */
static bool take(char **at, char *to, size_t size) {
  if (*at == NULL) return false;
  char *end = strchr(*at, '\t');
  size_t length = end != NULL ? (size_t)(end - *at) : strlen(*at);
  if (length >= size) return false;
  memcpy(to, *at, length);
  to[length] = '\0';
  *at = end != NULL ? end + 1 : NULL;
  return true;
}

static bool take_number(char **at, double *value) {
  char text[40], *end;
  if (!take(at, text, sizeof text)) return false;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && *value >= 0;
}

static bool read_line(tune_progress *p, char *text) {
  char title[BENCH_TEXT];
  double predicted, sampled;
  tune_candidate one = {.value = 0};
  return take(&text, title, sizeof title) && take_number(&text, &predicted) && take(&text, one.choice, sizeof one.choice) &&
         take(&text, one.key, sizeof one.key) && take_number(&text, &one.value) && take_number(&text, &one.predicted) &&
         take_number(&text, &sampled) && take(&text, one.floor, sizeof one.floor) && take(&text, one.check, sizeof one.check) &&
         text == NULL && (one.sampled = sampled != 0, keep(p, title, predicted != 0, &one));
}

static void put_head(char *text, size_t size, const char *command) {
  snprintf(text, size, "%s\t%s\t%s", MAGIC, tdm_version(), command);
}

/* Where the last line is cut off, it is dropped: it was being written when the run ended. */
static bool read_all(tune_progress *p, const char *command, char *error, size_t size) {
  char head[LINE_MOST], text[LINE_MOST];
  long good = 0;
  int number = 0;
  put_head(head, sizeof head, command);
  while (fgets(text, sizeof text, p->to) != NULL) {
    size_t length = strlen(text);
    if (text[length - 1] != '\n') break;
    text[length - 1] = '\0';
    if (number++ == 0 ? strcmp(text, head) != 0 : !read_line(p, text)) {
      snprintf(error, size, "--progress = '%s': line %d: %s", p->path, number,
               number == 1 ? "another command or version of tandem-bench began it: delete it, or name another file"
                           : "is not a line that tune wrote");
      return false;
    }
    good = ftell(p->to);
  }
  if (ferror(p->to) || fflush(p->to) != 0 || ftruncate(fileno(p->to), good) != 0 || fseek(p->to, good, SEEK_SET) != 0) {
    snprintf(error, size, "--progress = '%s': %s", p->path, strerror(errno));
    return false;
  }
  if (number == 0) fprintf(p->to, "%s\n", head);
  if (fflush(p->to) == 0) return true;
  snprintf(error, size, "--progress = '%s': can't be written: %s", p->path, strerror(errno));
  return false;
}

tune_progress *tune_progress_open(const char *path, const char *command, char *error, size_t size) {
  tune_progress *p = calloc(1, sizeof *p);
  if (p == NULL) {
    snprintf(error, size, "no memory for the progress");
    return NULL;
  }
  snprintf(p->path, sizeof p->path, "%s", path);
  p->to = fopen(path, "r+");
  if (p->to == NULL && errno == ENOENT) p->to = fopen(path, "w+");
  if (p->to == NULL)
    snprintf(error, size, "--progress = '%s': can't be opened: %s", path, strerror(errno));
  else if (read_all(p, command, error, size))
    return p;
  tune_progress_close(p, false);
  return NULL;
}

bool tune_progress_find(const tune_progress *p, const char *title, bool predicted, tune_candidate *one) {
  for (int i = 0; p != NULL && i < p->count; i++) {
    const line *l = &p->lines[i];
    if (l->predicted != predicted || strcmp(l->title, title) != 0 || strcmp(l->one.choice, one->choice) != 0) continue;
    *one = l->one;
    return true;
  }
  return false;
}

bool tune_progress_add(tune_progress *p, const char *title, bool predicted, const tune_candidate *one, char *error,
                       size_t size) {
  if (p == NULL) return true;
  fprintf(p->to, "%s\t%d\t%s\t%s\t%.17g\t%.17g\t%d\t%s\t%s\n", title, predicted, one->choice, one->key, one->value,
          one->predicted, one->sampled, one->floor, one->check);
  bool good = fflush(p->to) == 0;
  if (!good) snprintf(error, size, "--progress = '%s': can't be written: %s", p->path, strerror(errno));
  if (!keep(p, title, predicted, one)) {
    snprintf(error, size, "no memory for the progress");
    good = false;
  }
  return good;
}

void tune_progress_close(tune_progress *p, bool done) {
  if (p == NULL) return;
  if (p->to != NULL) fclose(p->to);
  if (done) remove(p->path);
  free(p->lines);
  free(p);
}
