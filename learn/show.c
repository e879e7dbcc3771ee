#include "show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read.h"

enum { TEXT_MOST = 1 << 20, HINTS_MOST = 32 };

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

/* ---- Hints: the list after "## Hints" in task.md, "1. ..." with lines of its own. "1. {wrong, race} ..." is for these
 * verdicts first, {target} for a missed target ---- */

static const char *find_hints(const char *task) {
  const char *at = strstr(task, "\n## Hints\n");
  return at != NULL ? at + strlen("\n## Hints\n") : task + strlen(task);
}

/* The text of hint n and its length, without the verdicts that it is for; NULL: there is none. */
static const char *find_hint(const char *task, int n, int *length, const char **verdicts) {
  char begin[16], next[16];
  snprintf(begin, sizeof begin, "\n%d. ", n);
  snprintf(next, sizeof next, "\n%d. ", n + 1);
  const char *at = strstr(find_hints(task) - 1, begin);
  if (at == NULL) return NULL;
  at += strlen(begin);
  const char *end = strstr(at, next), *close = *at == '{' ? strchr(at, '}') : NULL;
  if (end == NULL) end = at + strlen(at);
  while (end > at && end[-1] == '\n') end--;
  *verdicts = at;
  if (close != NULL) at = close + 1 + strspn(close + 1, " \n");
  *length = (int)(end - at);
  return at;
}

static int count_hints(const char *task) {
  int count = 0, length;
  const char *verdicts;
  while (count < HINTS_MOST && find_hint(task, count + 1, &length, &verdicts) != NULL) count++;
  return count;
}

/* Whether "{wrong, race} ..." names a word. */
static bool names(const char *verdicts, const char *word) {
  size_t length = strlen(word);
  if (*verdicts != '{') return false;
  for (const char *at = verdicts + 1, *end = strchr(verdicts, '}'); at < end;) {
    size_t own = strcspn(at, ",}");
    if (own == length && memcmp(at, word, length) == 0) return true;
    at += own + 1;
    at += strspn(at, " ");
  }
  return false;
}

/* Those for the verdict first; then the others as they are written. Without a verdict: as they are written. */
static int order_hints(const char *task, const char *verdict, int order[HINTS_MOST]) {
  int count = count_hints(task), used = 0, length;
  const char *verdicts;
  for (int pass = 0; pass < 2; pass++)
    for (int n = 1; n <= count; n++) {
      find_hint(task, n, &length, &verdicts);
      if ((verdict != NULL && names(verdicts, verdict)) == (pass == 0)) order[used++] = n;
    }
  return used;
}

static int print_hints(const char *task, const char *verdict, int hints) {
  int order[HINTS_MOST], count = order_hints(task, verdict, order), length;
  const char *verdicts;
  for (int n = 0; n < hints && n < count; n++) {
    const char *hint = find_hint(task, order[n], &length, &verdicts);
    printf("hint %d of %d: %.*s\n", n + 1, count, length, hint);
  }
  return count;
}

bool learn_show_hints(const learn_exercise *e, const char *folder, learn_verdict verdict, int hints) {
  static const char *const words[LEARN_VERDICTS] = {
      [LEARN_RIGHT] = "target",    [LEARN_COMPILE] = "compile",       [LEARN_SLOW] = "slow",
      [LEARN_SYMBOL] = "missing",  [LEARN_LAUNCH] = "launch",         [LEARN_ENDLESS] = "endless",
      [LEARN_BOUNDS] = "outside",  [LEARN_MISALIGNED] = "misaligned", [LEARN_RACE] = "race",
      [LEARN_WAIT] = "wait",       [LEARN_BARRIER] = "barrier",       [LEARN_UNDEFINED] = "undefined",
      [LEARN_CHANGED] = "changed", [LEARN_UNWRITTEN] = "unwritten",   [LEARN_NAN] = "nan",
      [LEARN_WRONG] = "wrong",     [LEARN_CRASH] = "crash",           [LEARN_FORBIDDEN] = "forbidden",
      [LEARN_FAILED] = "failed"};
  char *task = read_part(e, folder, "task.md");
  int count = task != NULL ? print_hints(task, words[verdict], hints) : 0;
  free(task);
  return count > hints;
}

/* ---- Targets ---- */

static const char *relation_words(learn_relation r) { return r == LEARN_AT_MOST ? "at most" : "at least"; }

/* Clocks of LDS accesses of some widths are a lower bound, as nobody has published which lanes they serve together. */
static bool is_bound(int counter, const learn_outcome *o) {
  return (counter == LEARN_CONFLICTS || counter == LEARN_LDS_CLOCKS) && o->counter[LEARN_UNMODELLED] > 0;
}

typedef enum judgement { REACHED, MISSED, NOT_MODELLED } judgement;

/* A lower bound can show that a target is missed, but not that it is reached. */
static judgement judge(const learn_target *t, const learn_outcome *o) {
  double got = o->counter[t->counter];
  bool good = t->relation == LEARN_AT_MOST ? got <= t->goal : got >= t->goal;
  if (is_bound(t->counter, o) && good == (t->relation == LEARN_AT_MOST)) return NOT_MODELLED;
  return good ? REACHED : MISSED;
}

/* Registers that do not fit, and arrays that are indexed by variables, go to memory: no exercise needs that. */
static const learn_target no_scratch = {
    LEARN_SCRATCH, LEARN_AT_MOST, 0,
    "Scratch is memory: arrays that are indexed by a variable, and registers that do not fit, "
    "are stored there."};

static void print_targets(const learn_exercise *e) {
  char shape[128];
  if (e->targets[0].relation == LEARN_NO_TARGET) return;
  learn_print_shape(e, 0, shape, sizeof shape);
  printf("\nTargets, counted or predicted by gfxsim at %s:\n", shape);
  for (int t = 0; t < LEARN_TARGETS && e->targets[t].relation != LEARN_NO_TARGET; t++)
    printf("  %s: %s %.0f\n    %s\n", learn_counter_names[e->targets[t].counter], relation_words(e->targets[t].relation),
           e->targets[t].goal, e->targets[t].why);
}

static const learn_target *target_of(const learn_exercise *e, int counter) {
  for (int t = 0; t < LEARN_TARGETS && e->targets[t].relation != LEARN_NO_TARGET; t++)
    if (e->targets[t].counter == (learn_counter)counter) return &e->targets[t];
  return counter == (int)no_scratch.counter ? &no_scratch : NULL;
}

static void print_counter(int c, const learn_target *t, const learn_outcome *o) {
  bool bound = is_bound(c, o);
  printf("  %-36s ", learn_counter_names[c]);
  if (bound && o->counter[c] == 0)
    printf("not modelled");
  else if (bound)
    printf("at least %.0f", o->counter[c]);
  else
    printf("%12.0f", o->counter[c]);
  if (c == LEARN_FLOOR) printf(" %s", o->floor);
  if (t != NULL) printf("   target: %s %.0f", relation_words(t->relation), t->goal);
  if (t != NULL && judge(t, o) == MISSED) printf(", missed");
  if (t != NULL && judge(t, o) == NOT_MODELLED) printf(", not judged: not modelled for these accesses on this chip");
  putchar('\n');
}

bool learn_show_targets(const learn_exercise *e, const learn_outcome *o) {
  char shape[128];
  bool all = true;
  learn_print_shape(e, 0, shape, sizeof shape);
  printf("counters at %s (counts of gfxsim, and clocks that a model predicts; no time was measured)\n", shape);
  for (int c = 0; c < LEARN_COUNTERS; c++) {
    const learn_target *t = target_of(e, c);
    if ((t == NULL || t == &no_scratch) && o->counter[c] == 0 && !is_bound(c, o)) continue;
    print_counter(c, t, o);
  }
  for (int c = 0; c < LEARN_COUNTERS; c++) {
    const learn_target *t = target_of(e, c);
    if (t == NULL || judge(t, o) == REACHED) continue;
    printf("%s: %s\n", judge(t, o) == MISSED ? "why" : "not judged", t->why);
    all = all && judge(t, o) != MISSED;
  }
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
    print_hints(task, NULL, hints);
  }
  free(task);
  free(kernel);
  return good;
}
