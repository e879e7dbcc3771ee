/* A question is a file of learn/ask:
 *
 *   draw NAME VALUE VALUE ...   one of the values is drawn; ${NAME} in what follows is its place
 *   within N                    how many % an answer may be away
 *   ## ask                      the question
 *   ## run                      a shell script of ours, whose last word is the answer; $WORK is a folder of its own
 *   ## because                  why
 *
 * No answer is in the file: the page's own tools count it, and another shape has another one. */
#include "ask.h"

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

enum { NAME_MOST = 32, DRAWS_MOST = 6, SCRIPT_MOST = 8192, WRONG = 1, USAGE = 2, NOT_ASKED = 77 };

typedef struct question {
  char *text;
  char name[DRAWS_MOST][NAME_MOST], value[DRAWS_MOST][NAME_MOST];
  int draws;
  double within; /* % */
} question;

/* ---- The file ---- */

/* "5", "05" and "05-lds-banks" are the same page. */
static bool find_file(const char *folder, const char *page, char *path, size_t size) {
  DIR *all = opendir(folder);
  long number = strtol(page, NULL, 10);
  bool found = false;
  for (struct dirent *e; all != NULL && !found && (e = readdir(all)) != NULL;) {
    size_t length = strlen(page);
    bool named = strncmp(e->d_name, page, length) == 0 && strcmp(e->d_name + length, ".txt") == 0;
    bool numbered = strspn(page, "0123456789") == length && strtol(e->d_name, NULL, 10) == number && number > 0;
    found = named || numbered;
    if (found) snprintf(path, size, "%s/%s", folder, e->d_name);
  }
  if (all != NULL) closedir(all);
  return found;
}

static uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* One of the words of the line after the name. Values follow each other from seed to seed, so that two seeds side by side
 * differ. */
static void draw(question *q, const char *line, size_t length, uint64_t seed) {
  char copy[512], *word[64], *rest = NULL;
  int words = 0;
  snprintf(copy, sizeof copy, "%.*s", (int)length, line);
  for (char *at = strtok_r(copy, " ", &rest); at != NULL && words < 64; at = strtok_r(NULL, " ", &rest)) word[words++] = at;
  if (words < 2 || q->draws == DRAWS_MOST) return;
  uint64_t number = q->draws == 0 ? seed : mix(seed + (uint64_t)q->draws * UINT64_C(0x9e3779b97f4a7c15));
  snprintf(q->name[q->draws], NAME_MOST, "%s", word[0]);
  snprintf(q->value[q->draws], NAME_MOST, "%s", word[1 + number % (uint64_t)(words - 1)]);
  q->draws++;
}

static void parse(question *q, uint64_t seed) {
  for (const char *at = q->text; *at != '\0' && strncmp(at, "## ", 3) != 0;) {
    size_t length = strcspn(at, "\n");
    if (strncmp(at, "draw ", 5) == 0) draw(q, at + 5, length - 5, seed);
    if (strncmp(at, "within ", 7) == 0) q->within = strtod(at + 7, NULL);
    at += length + (at[length] == '\n');
  }
}

/* A part of the file, with ${NAME} replaced. */
static void fill_part(const question *q, const char *part, char *to, size_t size) {
  char heading[32];
  snprintf(heading, sizeof heading, "\n## %s\n", part);
  const char *at = strstr(q->text, heading), *end = at != NULL ? strstr(at + strlen(heading), "\n## ") : NULL;
  size_t used = 0;
  to[0] = '\0';
  if (at == NULL) return;
  at += strlen(heading);
  if (end == NULL) end = q->text + strlen(q->text);
  while (end > at && end[-1] == '\n') end--;
  while (at < end && used + NAME_MOST < size) {
    int n = 0;
    size_t length = 0;
    for (; n < q->draws; n++) {
      length = strlen(q->name[n]);
      if (strncmp(at, "${", 2) == 0 && strncmp(at + 2, q->name[n], length) == 0 && at[2 + length] == '}') break;
    }
    if (n < q->draws) {
      used += (size_t)snprintf(to + used, size - used, "%s", q->value[n]);
      at += length + 3;
    } else {
      to[used++] = *at++;
    }
  }
  to[used] = '\0';
}

/* ---- The command ---- */

static int remove_entry(const char *path, const struct stat *is, int type, struct FTW *at) {
  (void)is, (void)type, (void)at;
  return remove(path);
}

/* The script's last word as a number. */
static bool compute(const question *q, const char *script, double *answer) {
  char work[] = "/tmp/tandem-ask-XXXXXX", word[256] = "", last[256] = "", *end = last;
  if (mkdtemp(work) == NULL) return false;
  setenv("WORK", work, 1);
  for (int n = 0; n < q->draws; n++) setenv(q->name[n], q->value[n], 1);
  char all[SCRIPT_MOST + 16];
  snprintf(all, sizeof all, "set -e\n%s", script);
  FILE *f = popen(all, "r");
  while (f != NULL && fscanf(f, "%255s", word) == 1) memcpy(last, word, sizeof last);
  bool good = f != NULL && pclose(f) == 0;
  if (good) *answer = strtod(last, &end);
  nftw(work, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  return good && end != last && *end == '\0' && isfinite(*answer);
}

static bool read_answer(const char *given, double *answer) {
  char line[128] = "", *end;
  if (given == NULL) {
    printf("your answer: ");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) return false;
    given = line;
  }
  *answer = strtod(given, &end);
  return end != given && end[strspn(end, " \n")] == '\0' && isfinite(*answer);
}

static int judge(const question *q, const char *script, const char *because, double given) {
  double answer;
  printf("the command:\n%s\n", script);
  fflush(stdout);
  if (!compute(q, script, &answer)) {
    fprintf(
        stderr,
        "tandem-learn: ask: the command failed: run it in the top folder of the clone, with the build's programs in PATH\n");
    return NOT_ASKED;
  }
  bool right = fabs(given - answer) <= q->within / 100 * fabs(answer);
  printf("its answer: %.10g\n%s: you said %.10g\nbecause: %s\n", answer, right ? "right" : "not right", given, because);
  return right ? 0 : WRONG;
}

int learn_ask(const char *folder, const char *page, uint64_t seed, const char *answer) {
  char path[LEARN_PATH], text[SCRIPT_MOST], script[SCRIPT_MOST], because[SCRIPT_MOST];
  question q = {.within = 0};
  double given;
  if (!find_file(folder, page, path, sizeof path)) {
    fprintf(stderr, "tandem-learn: PAGE = '%s': must be the number of a page of the guide, 1 to 15\n", page);
    return USAGE;
  }
  if ((q.text = learn_read_text(path)) == NULL) return NOT_ASKED;
  parse(&q, seed);
  fill_part(&q, "ask", text, sizeof text);
  fill_part(&q, "run", script, sizeof script);
  fill_part(&q, "because", because, sizeof because);
  free(q.text);
  printf("%s\n", text);
  if (q.within > 0) printf("(within %g %%)\n", q.within);
  if (read_answer(answer, &given)) return judge(&q, script, because, given);
  printf("no number was given: type one, or --answer N; the same question again: --seed %" PRIu64 "\n", seed);
  return WRONG;
}
