#include "scores.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "show.h"

enum { NAME_MOST = 40, LINES_MOST = 1000 };

const char learn_scores_file[] = "tandem-learn-scores.tsv";

typedef struct score {
  char date[24], exercise[24], name[NAME_MOST + 1], device[24], pipe[16];
  double predicted, floor, valu, conflicts, occupancy;
} score;

bool learn_score_name(const char *name) {
  size_t length = strlen(name);
  for (const char *at = name; *at != '\0'; at++)
    if ((unsigned char)*at < ' ' || *at == 127) return false;
  return length > 0 && length <= NAME_MOST && name[0] != ' '; /* parse skips white space in front */
}

/* In one write under a lock, so that the lines of two runs do not mix. A line that does not fit the disk is taken back: half of
 * one would make the whole file unreadable. */
static bool append(const char *path, const char *line, size_t length) {
  struct stat is;
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return false;
  bool locked = flock(file, LOCK_EX) == 0 && fstat(file, &is) == 0;
  signal(SIGXFSZ, SIG_IGN); /* with a limit on the size of files, an error */
  ssize_t wrote = locked ? write(file, line, length) : -1;
  int fault = wrote >= 0 ? ENOSPC : errno;
  bool good = wrote == (ssize_t)length;
  if (good && S_ISREG(is.st_mode) && fsync(file) != 0) good = false, fault = errno;
  if (!good && wrote > 0 && ftruncate(file, is.st_size) != 0) fault = errno;
  if (close(file) != 0 && good) good = false, fault = errno;
  errno = fault;
  return good;
}

bool learn_score_add(const char *path, const char *name, const learn_request *r, const learn_outcome *o) {
  char line[512], date[24];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%MZ", &utc);
  const double *c = o->counter;
  int length =
      snprintf(line, sizeof line, "%s\t%s\t%s\t%s\t%.0f\t%.0f\t%s\t%.0f\t%.0f\t%.0f\n", date, r->exercise->name, name,
               r->device, c[LEARN_PREDICTED], c[LEARN_FLOOR], o->floor, c[LEARN_VALU], c[LEARN_CONFLICTS], c[LEARN_OCCUPANCY]);
  bool good = append(path, line, (size_t)length);
  if (good)
    printf("%s: a line for %s; tandem-learn scores %s shows it\n", path, name, path);
  else
    fprintf(stderr, "tandem-learn: --scores = '%s': can't be written: %s\n", path, strerror(errno));
  return good;
}

static int by_predicted(const void *a, const void *b) {
  const score *x = a, *y = b;
  int order = strcmp(x->exercise, y->exercise);
  if (order != 0) return order;
  return x->predicted != y->predicted ? (x->predicted > y->predicted) - (x->predicted < y->predicted)
                                      : strcmp(x->date, y->date);
}

/* The lines of a text; -1: one of them is none of ours, and *bad is its number. */
static int parse(const char *text, score *scores, int *bad) {
  int count = 0;
  for (const char *at = text; *at != '\0' && count < LINES_MOST; count++) {
    score *s = &scores[count];
    int used = 0;
    if (sscanf(at, "%23[^\t\n]\t%23[^\t\n]\t%40[^\t\n]\t%23[^\t\n]\t%lf\t%lf\t%15[^\t\n]\t%lf\t%lf\t%lf%n", s->date,
               s->exercise, s->name, s->device, &s->predicted, &s->floor, s->pipe, &s->valu, &s->conflicts, &s->occupancy,
               &used) != 10 ||
        at[used] != '\n') {
      *bad = count + 1;
      return -1;
    }
    at += used + 1;
  }
  return count;
}

bool learn_scores_show(const char *path) {
  char *text = learn_read_text(path);
  score *scores = calloc(LINES_MOST, sizeof *scores);
  int bad = 0, count = text != NULL && scores != NULL ? parse(text, scores, &bad) : 0;
  bool good = text != NULL && scores != NULL && count >= 0;
  if (text != NULL && scores == NULL) fprintf(stderr, "tandem-learn: no memory\n");
  if (count < 0) fprintf(stderr, "tandem-learn: %s: line %d: is not a line that --score wrote\n", path, bad);
  if (good) {
    qsort(scores, (size_t)count, sizeof *scores, by_predicted);
    printf("%-12s %12s %12s %-8s %12s %10s %6s  %-11s %-18s %s\n", "exercise", "predicted*", "at least*", "pipe", "vector",
           "conflicts", "waves", "device", "date", "name");
    for (int i = 0; i < count; i++) {
      const score *s = &scores[i];
      printf("%-12s %12.0f %12.0f %-8s %12.0f %10.0f %6.0f  %-11s %-18s %s\n", s->exercise, s->predicted, s->floor, s->pipe,
             s->valu, s->conflicts, s->occupancy, s->device, s->date, s->name);
    }
    printf("* clocks: predicted by a model of time, and at least needed by the fullest pipe, by counts; none is measured\n");
  }
  free(text);
  free(scores);
  return good;
}
