/* The user's code object is executed by the program gfxsim, in the sandbox that the kernel of a try runs in. Inputs are
 * zeros: the model's clocks depend on addresses, and in these exercises no address depends on an input. */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data.h"
#include "files/result.h"
#include "machine.h"
#include "process.h"

enum { SECONDS = 120, WORDS = 16 + 2 * (LEARN_ARRAYS + LEARN_SIZES), WORD = 96 };

typedef struct job {
  const learn_request *request;
  const learn_code *code;
  const char *gfxsim;
} job;

static const char picture[] = "trace.svg";

__attribute__((format(printf, 4, 5))) static void add_word(char (*word)[WORD], char **argv, int *count, const char *format,
                                                           ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(word[*count], WORD, format, args);
  va_end(args);
  argv[*count] = word[*count];
  (*count)++;
}

/* In the child: no loader of ours reads the user's object in this process. */
static void become_gfxsim(void *argument) {
  const job *j = argument;
  const learn_exercise *e = j->request->exercise;
  const char *chip = j->request->device + strlen("sim:");
  const int64_t *size = e->shapes[0].size;
  learn_outcome *o = calloc(1, sizeof *o);
  learn_launch launch = {0};
  case_array array[LEARN_ARRAYS];
  uint32_t grid[3] = {1, 1, 1};
  char word[WORDS][WORD], *argv[WORDS + 1];
  int count = 0, arrays = e->arrays(size, array);
  if (o == NULL || !learn_inspect(e, chip, j->code, &launch, o) || chdir(j->code->folder) != 0) _exit(1);
  e->grid(size, &launch, grid);
  add_word(word, argv, &count, "gfxsim");
  add_word(word, argv, &count, "time");
  add_word(word, argv, &count, "object");
  add_word(word, argv, &count, "--kernel=%s", e->kernel);
  add_word(word, argv, &count, "--grid=%u,%u,%u", grid[0], grid[1], grid[2]);
  add_word(word, argv, &count, "--block=%u", launch.block);
  if (e->cut != NULL) add_word(word, argv, &count, "--chip=%s,%s", chip, e->cut);
  add_word(word, argv, &count, "--timeline=%s", picture);
  for (int n = 0; n < arrays; n++) add_word(word, argv, &count, "--arg=zeros:%zu", case_array_bytes(&array[n]));
  for (int n = 0; n < learn_size_count(e); n++) add_word(word, argv, &count, "--arg=%" PRId64, size[n]);
  argv[count] = NULL;
  setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* of a sanitized gfxsim: the sandbox hides the files that it needs for that */
  execv(j->gfxsim, argv);
  fprintf(stderr, "%s: %s", j->gfxsim, strerror(errno));
  _exit(127);
}

static bool copy_picture(const learn_code *code, const char *to) {
  char path[LEARN_FOLDER + 16], error[256] = "", block[65536];
  result_file f;
  size_t got = 0;
  snprintf(path, sizeof path, "%s/%s", code->folder, picture);
  FILE *from = fopen(path, "r");
  bool open = from != NULL && result_open(&f, to, error, sizeof error);
  while (open && (got = fread(block, 1, sizeof block, from)) > 0) fwrite(block, 1, got, f.to);
  bool good = open && result_finish(&f, error, sizeof error);
  if (!good) fprintf(stderr, "tandem-learn: --trace = '%s': %s\n", to, from == NULL ? "gfxsim drew nothing" : error);
  if (from != NULL) fclose(from);
  return good;
}

static bool run(const job *j, const char *to) {
  process *p = malloc(sizeof *p);
  sandbox box = {.means = &j->code->means, .write = j->code->folder, .seconds = SECONDS, .processes = true};
  process_work w = {.work = become_gfxsim, .argument = (void *)(uintptr_t)j, .seconds = SECONDS, .sandbox = &box, .input = -1};
  char folder[512], *slash;
  snprintf(folder, sizeof folder, "%s", j->gfxsim); /* its libraries are beside it, or below the same prefix */
  if ((slash = strrchr(folder, '/')) != NULL) *slash = '\0';
  char library[600];
  snprintf(library, sizeof library, "%s/../lib", folder);
  sandbox_read_system(&box);
  sandbox_read(&box, folder);
  if (access(library, R_OK) == 0) sandbox_read(&box, library);
  bool good = p != NULL && process_run(&w, p) && WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0 && !p->timed_out;
  if (good) {
    printf("trace, predicted by gfxsim time\n");
    learn_print_text(p->text);
    printf("\n");
    good = copy_picture(j->code, to);
    if (good) printf("trace: %s: waves, units and waits\n", to);
  } else {
    fprintf(stderr, "tandem-learn: --trace: gfxsim time failed: %s\n", p != NULL ? p->text : "no memory");
  }
  free(p);
  return good;
}

bool learn_trace(const learn_request *r, const char *gfxsim, const char *to) {
  learn_code code;
  learn_outcome *o = calloc(1, sizeof *o);
  job j = {r, &code, gfxsim};
  bool good = o != NULL && learn_build(r, r->device + strlen("sim:"), &code, o) && run(&j, to);
  if (o != NULL) learn_code_free(&code);
  free(o);
  return good;
}
