#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read.h"

enum { TEXT_MOST = 1 << 20 };

const char *const learn_counter_names[LEARN_COUNTERS] = {
#define LEARN_COUNTER(name, unit, text, value) text,
#include "counters.def"
#undef LEARN_COUNTER
};

void learn_list(void) {
  for (int i = 0; learn_exercises[i] != NULL; i++) {
    const learn_exercise *e = learn_exercises[i];
    printf("%-16s %-4s %s\n", e->name, e->c ? "C" : "HIP", e->title);
  }
}

/* ---- Files ---- */

char *learn_read_text(const char *path) {
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) {
    fprintf(stderr, "tandem-learn: %s: %s\n", path, reason);
    return NULL;
  }
  char *text = malloc(TEXT_MOST);
  size_t used = text != NULL ? fread(text, 1, TEXT_MOST - 1, file) : 0;
  bool good = text != NULL && !ferror(file);
  if (!good) fprintf(stderr, "tandem-learn: %s: can't be read: %s\n", path, strerror(errno));
  fclose(file);
  if (good) text[used] = '\0';
  if (good) return text;
  free(text);
  return NULL;
}

static char *read_part(const learn_exercise *e, const char *folder, const char *name) {
  char path[LEARN_PATH];
  snprintf(path, sizeof path, "%s/%s/%s", folder, e->name, name);
  return learn_read_text(path);
}

bool learn_write_start(const learn_exercise *e, const char *folder, const char *to) {
  char *text = read_part(e, folder, e->c ? "start.c" : "start.hip");
  if (text == NULL) return false;
  size_t length = strlen(text);
  int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  bool good = file >= 0 && write(file, text, length) == (ssize_t)length;
  int fault = errno;
  if (file >= 0 && close(file) != 0 && good) good = false, fault = errno;
  if (file >= 0 && !good) unlink(to); /* it is ours, and new */
  errno = fault;
  free(text);
  if (good)
    printf("%s: the start of %s; then: tandem-learn try %s %s\n", to, e->name, e->name, to);
  else
    fprintf(stderr, "tandem-learn: --start = '%s': %s\n", to,
            errno == EEXIST ? "exists already: must name a new file" : strerror(errno));
  return good;
}

/* ---- Hints: the list after "## Hints" in task.md, "1. ..." with lines of its own ---- */

static const char *find_hints(const char *task) {
  const char *at = strstr(task, "\n## Hints\n");
  return at != NULL ? at + strlen("\n## Hints\n") : task + strlen(task);
}

/* The text of hint n and its length; NULL: there is none. */
static const char *find_hint(const char *task, int n, int *length) {
  char begin[16], next[16];
  snprintf(begin, sizeof begin, "\n%d. ", n);
  snprintf(next, sizeof next, "\n%d. ", n + 1);
  const char *at = strstr(find_hints(task) - 1, begin);
  if (at == NULL) return NULL;
  at += strlen(begin);
  const char *end = strstr(at, next);
  if (end == NULL) end = at + strlen(at);
  while (end > at && end[-1] == '\n') end--;
  *length = (int)(end - at);
  return at;
}

static int count_hints(const char *task) {
  int count = 0, length;
  while (find_hint(task, count + 1, &length) != NULL) count++;
  return count;
}

static void print_hint(const char *task, int n) {
  int length;
  const char *hint = find_hint(task, n, &length);
  if (hint != NULL) printf("hint %d of %d: %.*s\n", n, count_hints(task), length, hint);
}

bool learn_show_hints(const learn_exercise *e, const char *folder, int hints) {
  char *task = read_part(e, folder, "task.md");
  int count = task != NULL ? count_hints(task) : 0;
  for (int n = 1; n <= hints && n <= count; n++) print_hint(task, n);
  free(task);
  return count > hints;
}

/* ---- Targets ---- */

static const char *relation_words(learn_relation r) { return r == LEARN_AT_MOST ? "at most" : "at least"; }

/* Bank conflicts of some widths have no source: a count that leaves accesses out shows nothing. */
static bool judged(const learn_target *t, const learn_outcome *o) {
  return t->counter != LEARN_CONFLICTS || o->counter[LEARN_UNMODELLED] == 0;
}

static bool reached(const learn_target *t, const learn_outcome *o) {
  double got = o->counter[t->counter];
  return judged(t, o) && (t->relation == LEARN_AT_MOST ? got <= t->goal : got >= t->goal);
}

static void print_targets(const learn_exercise *e) {
  char shape[128];
  if (e->targets[0].relation == LEARN_NO_TARGET) return;
  learn_print_shape(e, 0, shape, sizeof shape);
  printf("\nTargets, counted by gfxsim at %s:\n", shape);
  for (int t = 0; t < LEARN_TARGETS && e->targets[t].relation != LEARN_NO_TARGET; t++)
    printf("  %s: %s %.0f\n    %s\n", learn_counter_names[e->targets[t].counter], relation_words(e->targets[t].relation),
           e->targets[t].goal, e->targets[t].why);
}

static const learn_target *target_of(const learn_exercise *e, int counter) {
  for (int t = 0; t < LEARN_TARGETS && e->targets[t].relation != LEARN_NO_TARGET; t++)
    if (e->targets[t].counter == (learn_counter)counter) return &e->targets[t];
  return NULL;
}

bool learn_show_targets(const learn_exercise *e, const learn_outcome *o) {
  char shape[128];
  bool all = true;
  learn_print_shape(e, 0, shape, sizeof shape);
  printf("counters at %s (counts of gfxsim, not times)\n", shape);
  for (int c = 0; c < LEARN_COUNTERS; c++) {
    const learn_target *t = target_of(e, c);
    if (t == NULL && o->counter[c] == 0) continue;
    printf("  %-36s %12.0f", learn_counter_names[c], o->counter[c]);
    if (c == LEARN_FLOOR) printf(" %s", o->floor);
    if (t != NULL) printf("   target: %s %.0f", relation_words(t->relation), t->goal);
    if (t != NULL && !reached(t, o))
      printf(judged(t, o) ? ", missed" : ", not modelled for accesses of this width on this chip");
    putchar('\n');
    all = all && (t == NULL || reached(t, o));
  }
  for (int t = 0; t < LEARN_TARGETS && e->targets[t].relation != LEARN_NO_TARGET; t++)
    if (!reached(&e->targets[t], o)) printf("why: %s\n", e->targets[t].why);
  return all;
}

/* ---- An exercise ---- */

bool learn_show(const learn_exercise *e, const char *folder, int hints) {
  char *task = read_part(e, folder, "task.md"), *kernel = read_part(e, folder, "kernel.h");
  bool good = task != NULL && kernel != NULL;
  if (good) {
    char shape[128];
    printf("%.*s", (int)(find_hints(task) - task) - (int)strlen("\n## Hints\n"), task);
    printf("\nThe kernel:\n%s\nIt is tried with:\n", kernel);
    for (int s = 0; s < learn_shape_count(e); s++) {
      learn_print_shape(e, s, shape, sizeof shape);
      printf("  %s\n", shape);
    }
    print_targets(e);
    printf("\nBegin with: tandem-learn show %s --start my.%s, then: tandem-learn try %s my.%s\n", e->name, e->c ? "c" : "hip",
           e->name, e->c ? "c" : "hip");
    for (int n = 1; n <= hints && n <= count_hints(task); n++) print_hint(task, n);
  }
  free(task);
  free(kernel);
  return good;
}
