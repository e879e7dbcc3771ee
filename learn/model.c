/* The user's code object is executed by the program tiny-llama, in the sandbox that the kernel of a try runs in. */
#include "model.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn_config.h"
#include "machine.h"
#include "process.h"

enum { SECONDS = 240, WORDS = 20, WORD = PATH_MAX, KINDS = 2 };

/* What is continued. Random weights of the preset continue nearly every text with its last id again, whatever a product is. So
 * a trained model comes after it, whose words depend on every kernel. */
typedef struct kind {
  const char *model, *input, *length; /* options of tiny-llama; model NULL: the trained one */
  bool predict;
} kind;
static const kind kinds[KINDS] = {
    {"--preset=tiny", "--ids=17,220,5,98,131,64,201,9,77,140,33,250", "--generate=8", true},
#ifdef LEARN_LLAMA_TEXT
    {NULL, "--prompt=The waves of a workgroup", "--generate=16", false},
#else
    {NULL, "--ids=306,313,394,272,257,455", "--generate=16", false},
#endif
};

typedef struct job {
  const learn_request *request;
  const learn_code *code;
  const char *llama, *chip, *words;
  const kind *kind;
  bool own; /* the user's kernel, else the library's */
} job;

typedef struct command {
  char word[WORDS][WORD], *argv[WORDS + 1];
  int count;
} command;

__attribute__((format(printf, 2, 3))) static void add_word(command *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(c->word[c->count], WORD, format, args);
  va_end(args);
  c->argv[c->count] = c->word[c->count];
  c->argv[++c->count] = NULL;
}

/* In the child: no loader of ours reads the user's object in this process. */
static void become_llama(void *argument) {
  const job *j = argument;
  const learn_exercise *e = j->request->exercise;
  const char *device = j->request->device;
  bool simulated = strncmp(device, "sim:", 4) == 0;
  learn_outcome *o = calloc(1, sizeof *o);
  learn_launch launch = {0};
  command c = {.count = 0};
  if (o == NULL || !learn_inspect(e, j->chip, j->code, &launch, o) || chdir(j->code->folder) != 0) _exit(1);
  add_word(&c, "tiny-llama");
  if (j->kind->model != NULL)
    add_word(&c, "%s", j->kind->model);
  else
    add_word(&c, "--model=%s", j->words);
  add_word(&c, "--dtype=f16");
  add_word(&c, "--device=%s", device);
  add_word(&c, "%s", j->kind->input);
  add_word(&c, "%s", j->kind->length);
  if (simulated && j->kind->predict) add_word(&c, "--predict");
  if (j->own) add_word(&c, "--own=%s=object:tile=%dx%d:block=%u", e->model, launch.tile[0], launch.tile[1], launch.block);
  setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* of a sanitized build: the sandbox hides the files that it needs for that */
  unsetenv("TANDEM_KERNEL");
  execv(j->llama, c.argv);
  fprintf(stderr, "%s: %s", j->llama, strerror(errno));
  _exit(127);
}

/* Programs and libraries that were built lie below the folder of builds, installed ones beside each other. */
static bool run(const job *j, process *p) {
  sandbox box = {.means = &j->code->means, .write = j->code->folder, .seconds = SECONDS, .processes = true};
  process_work w = {.work = become_llama, .argument = (void *)(uintptr_t)j, .seconds = SECONDS, .sandbox = &box, .input = -1};
  static const char *const beside[] = {"../lib", "../../src", "../../sim"};
  char folder[PATH_MAX], library[sizeof beside / sizeof beside[0]][PATH_MAX + 16], *slash;
  snprintf(folder, sizeof folder, "%s", j->llama);
  if ((slash = strrchr(folder, '/')) != NULL) *slash = '\0';
  sandbox_read_system(&box);
  sandbox_read(&box, folder);
  sandbox_read(&box, j->words);
  for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
    snprintf(library[i], sizeof library[i], "%s/%s", folder, beside[i]);
    if (access(library[i], R_OK) == 0) sandbox_read(&box, library[i]);
  }
  box.device = strncmp(j->request->device, "sim:", 4) != 0;
  return process_run(&w, p) && WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0 && !p->timed_out;
}

/* The lines that begin with a word, after what they are about. */
static void tell(const char *text, const char *word, const char *whose) {
  for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, word, strlen(word)) != 0) continue;
    const char *rest = at + strcspn(at, " ");
    char line[512];
    rest += strspn(rest, " ");
    snprintf(line, sizeof line, "%.*s", (int)strcspn(rest, "\n"), rest);
    printf("  %-14s ", whose);
    learn_print_line(line);
    putchar('\n');
  }
}

/* What was generated: all before the lines that end it. */
static size_t generated(const char *text) {
  const char *end = strstr(text, "\npredicted  "), *own = strstr(text, "\nown  ");
  if (end == NULL || (own != NULL && own < end)) end = own;
  return end != NULL ? (size_t)(end - text) : strlen(text) - (text[0] != '\0' && text[strlen(text) - 1] == '\n');
}

static void print_generated(const char *whose, const char *text) {
  char line[1024];
  snprintf(line, sizeof line, "%.*s", (int)generated(text), text);
  for (char *at = line; *at != '\0'; at++)
    if (*at == '\n') *at = ' ';
  printf("  %-14s ", whose);
  learn_print_line(line);
  putchar('\n');
}

static bool compare(const job *j, const process *library, const process *own) {
  const kind *k = j->kind;
  size_t length = generated(library->text);
  bool same = length > 0 && length == generated(own->text) && memcmp(library->text, own->text, length) == 0;
  const char *slash = strrchr(j->words, '/'), *words = slash != NULL ? slash + 1 : j->words;
  printf("in tiny-llama: %s%s --dtype f16 %s %s\n", k->model != NULL ? k->model : "--model ", k->model != NULL ? "" : words,
         k->input, k->length);
  print_generated("the library's", library->text);
  if (same)
    printf("  %-14s the same\n", "yours");
  else
    print_generated("yours", own->text);
  tell(library->text, "predicted", "the library's");
  tell(own->text, "predicted", "yours");
  tell(own->text, "own", "");
  return same;
}

static bool compare_kind(job *j, process *library, process *own) {
  j->own = false;
  bool good = run(j, library);
  if (good) j->own = true, good = run(j, own);
  if (good) return compare(j, library, own);
  const char *text = j->own ? own->text : library->text;
  fprintf(stderr, "tandem-learn: the model: tiny-llama with %s failed: %s\n", j->own ? "your kernel" : "the library's kernels",
          text);
  return false;
}

bool learn_model(const learn_request *r, const char *llama, const char *words) {
  learn_code code;
  learn_outcome *o = calloc(1, sizeof *o);
  process *library = calloc(1, sizeof *library), *own = calloc(1, sizeof *own);
  char chip[32];
  job j = {.request = r, .code = &code, .llama = llama, .chip = chip, .words = words};
  bool memory = o != NULL && library != NULL && own != NULL, simulated = strncmp(r->device, "sim:", 4) == 0, same = true;
  bool good = memory && (simulated || learn_gpu_chip(r->device, chip, sizeof chip, o));
  if (good && simulated) snprintf(chip, sizeof chip, "%.31s", r->device + strlen("sim:"));
  bool made = good; /* learn_code_free in any case */
  if (good) good = learn_build(r, chip, &code, o);
  if (!good) fprintf(stderr, "tandem-learn: the model: %s\n", memory ? o->text : "no memory");
  for (int n = 0; n < KINDS && good; n++) {
    j.kind = &kinds[n];
    if (!compare_kind(&j, library, own)) same = false;
  }
  if (good && simulated)
    printf(
        "  (predicted of launches alone by gfxsim's model of time: what the host does, and gaps between launches, are not "
        "modelled)\n");
  if (good)
    printf("the model: %s\n",
           same ? "both texts are equal"
                : "another text: a result differs by more than its rounding, or at a shape that was not tried");
  if (made) learn_code_free(&code);
  free(library);
  free(own);
  free(o);
  return good && same;
}
