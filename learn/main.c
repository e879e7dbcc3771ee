/* tandem-learn list | show | try | scores */
#include <errno.h>
#include <limits.h>
#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "help.h"
#include "learn_config.h"
#include "model.h"
#include "options.h"
#include "output.h"
#include "process.h"
#include "read.h"
#include "sandbox.h"
#include "scores.h"
#include "show.h"
#include "trace.h"
#include "try.h"

static const char usage[] =
    "list | show NAME [--start FILE] [--hints N] | try NAME FILE [--device DEV] [--hints N] [--score NAME] | scores [FILE] | "
    "ask PAGE [--answer N]";

typedef struct options {
  char *device, *start, *answer, *trace, *compiler, *score, *scores, *hints_text, *seconds_text, *seed_text, *without;
  uint64_t hints, seed;
  double seconds; /* 0: the device's own */
} options;

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("tandem-learn: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return EXIT_USAGE;
}

/* ---- Where the exercises are, and the program that runs C: installed next to this one, else where it was built ---- */

static void find_beside(const char *installed, const char *source, char *folder, size_t size) {
  char program[PATH_MAX];
  struct stat is;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(program, '/');
  if (slash != NULL) *slash = '\0';
  if (slash == NULL || snprintf(folder, size, "%s/%s", program, installed) >= (int)size || stat(folder, &is) != 0)
    snprintf(folder, size, "%s", source);
}

static void find_runner(char *path, size_t size) {
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(program, '/');
  if (slash != NULL) *slash = '\0';
  if (slash == NULL || snprintf(path, size, "%s/%s", program, LEARN_RUNNER_INSTALLED) >= (int)size || access(path, X_OK) != 0)
    snprintf(path, size, "%s", LEARN_RUNNER_BUILT);
}

/* ---- Commands ---- */

#ifdef LEARN_SIM
/* A program of ours: installed beside this one, else where it was built. */
static void find_program(const char *name, const char *built, char path[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  path[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(path, '/');
  if (slash == NULL || snprintf(slash + 1, PATH_MAX - (size_t)(slash + 1 - path), "%s", name) < 0 || access(path, X_OK) != 0)
    snprintf(path, PATH_MAX, "%s", built);
}

static bool trace(const learn_request *r, const char *to) {
  char gfxsim[PATH_MAX];
  find_program("gfxsim", LEARN_GFXSIM_BUILT, gfxsim);
  return learn_trace(r, gfxsim, to);
}

static bool model(const learn_request *r) {
  char llama[PATH_MAX], words[PATH_MAX];
  find_program("tiny-llama", LEARN_LLAMA_BUILT, llama);
  find_beside(LEARN_WORDS_INSTALLED, LEARN_WORDS_SOURCE, words, sizeof words);
  return learn_model(r, llama, words);
}
#else
static bool model(const learn_request *r) {
  (void)r;
  return false; /* nothing was tried */
}

static bool trace(const learn_request *r, const char *to) {
  (void)r, (void)to;
  return false; /* nothing was tried */
}
#endif

static int show(const learn_exercise *e, const options *o, const char *folder) {
  if (o->start != NULL) return learn_write_start(e, folder, o->start) ? 0 : 1;
  return learn_show(e, folder, (int)o->hints) ? 0 : 1;
}

/* "hip:3" */
static bool is_gpu(const char *device, const char *kind) {
  const char *number = device + strlen(kind);
  return strncmp(device, kind, strlen(kind)) == 0 && strlen(number) >= 1 && strlen(number) <= 3 &&
         strspn(number, "0123456789") == strlen(number);
}

static bool known_device(const learn_exercise *e, const char *device) {
  if (e->c) return strcmp(device, "host") == 0 || is_gpu(device, "omp:");
  return strcmp(device, "sim:gfx950") == 0 || strcmp(device, "sim:gfx942") == 0 || is_gpu(device, "hip:");
}

static const char *own_device(const learn_exercise *e) {
  if (e->device != NULL) return e->device;
  return e->c ? "host" : "sim:gfx950";
}

static int try_file(const learn_exercise *e, const char *file, const options *o, const char *folder) {
  learn_request r = {.exercise = e,
                     .file = file,
                     .device = o->device != NULL ? o->device : own_device(e),
                     .compiler = o->compiler,
                     .seconds = o->seconds,
                     .folder = folder,
                     .seed = o->seed};
  char runner[PATH_MAX];
  const char *dot = strrchr(file, '.'), *wanted = e->c ? ".c" : ".hip";
  if (dot == NULL || strcmp(dot, wanted) != 0)
    return refuse("FILE = '%s': %s is done in %s: must end in %s", file, e->name, e->c ? "OpenMP and C" : "HIP", wanted);
  char reason[256];
  int readable = read_open(file, reason, sizeof reason);
  if (readable < 0) return refuse("FILE = '%s': %s", file, reason);
  close(readable);
  if (!known_device(e, r.device))
    return refuse("--device = '%s': must be %s", r.device, e->c ? "host or omp:N" : "sim:gfx950, sim:gfx942 or hip:N");
  if (o->score != NULL && (!e->open || strncmp(r.device, "sim:", 4) != 0))
    return refuse("--score = '%s': %s on %s has no scoreboard: only open challenges in gfxsim have one, as gemm", o->score,
                  e->name, r.device);
  if (o->trace != NULL && strncmp(r.device, "sim:", 4) != 0)
    return refuse("--trace = '%s': only simulated chips have one, not %s", o->trace, r.device);
  if (o->score != NULL && !learn_score_name(o->score))
    return refuse("--score = '%s': must be 1 to 40 printable characters, and must not begin with a space", o->score);
  if (o->score != NULL && (o->seed_text != NULL || o->without != NULL))
    return refuse("--score = '%s': needs inputs that nobody could know, and the whole sandbox: not with --seed or --without",
                  o->score);
  if (o->without != NULL && !sandbox_parse(o->without, &r.without))
    return refuse("--without = '%s': must be of landlock, namespaces, seccomp, with commas between", o->without);
  if (o->seed_text == NULL && getrandom(&r.seed, sizeof r.seed, 0) != (ssize_t)sizeof r.seed)
    return refuse("no random seed: %s", strerror(errno));
  find_runner(runner, sizeof runner);
  r.runner = runner;
  learn_outcome *outcome = calloc(1, sizeof *outcome);
  if (outcome == NULL) return refuse("no memory");
  process_catch_interrupts();
  learn_try(&r, outcome);
  int result = learn_tell(&r, outcome, (int)o->hints);
  if (e->model != NULL && outcome->verdict == LEARN_RIGHT && !model(&r)) result = 1;
  if (o->trace != NULL && outcome->verdict == LEARN_RIGHT && !trace(&r, o->trace)) result = 1;
  if (o->score != NULL && outcome->verdict == LEARN_RIGHT &&
      !learn_score_add(o->scores != NULL ? o->scores : learn_scores_file, o->score, &r, outcome))
    result = 1;
  free(outcome);
  return result;
}

static int ask(const char *page, const options *o, const char *folder) {
  char questions[LEARN_PATH];
  struct stat is;
  uint64_t seed = o->seed;
  if (o->seed_text == NULL && getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
    return refuse("no random seed: %s", strerror(errno));
  snprintf(questions, sizeof questions, "%.*s/ask", LEARN_PATH - 8, folder); /* installed; else beside the exercises */
  if (stat(questions, &is) != 0) snprintf(questions, sizeof questions, "%.*s/../ask", LEARN_PATH - 8, folder);
  return learn_ask(questions, page, o->seed_text != NULL ? seed : seed % 1000000, o->answer);
}

static int command(const char **words, const options *o) {
  char folder[LEARN_PATH];
  int count = 0;
  while (words != NULL && words[count] != NULL) count++;
  if (count == 0) return refuse("COMMAND: must be one of: %s", usage);
  find_beside(LEARN_INSTALLED, LEARN_SOURCE, folder, sizeof folder);
  bool is_try = strcmp(words[0], "try") == 0, is_show = strcmp(words[0], "show") == 0;
  if (strcmp(words[0], "list") == 0 && count == 1) {
    learn_list();
    return 0;
  }
  if (strcmp(words[0], "scores") == 0 && count <= 2)
    return learn_scores_show(count == 2 ? words[1] : o->scores != NULL ? o->scores : learn_scores_file) ? 0 : 1;
  if (strcmp(words[0], "list") == 0) return refuse("'%s': list takes no argument", words[1]);
  if (strcmp(words[0], "scores") == 0) return refuse("'%s': scores takes one FILE", words[2]);
  if (strcmp(words[0], "ask") == 0 && count == 2) return ask(words[1], o, folder);
  if (strcmp(words[0], "ask") == 0) return refuse("ask: one PAGE must be given, a number of the guide's");
  if (!is_try && !is_show) return refuse("COMMAND = '%s': must be one of: %s", words[0], usage);
  if (count == 1) return refuse("%s: NAME: must be given; `tandem-learn list` has the names", words[0]);
  if (is_try && count == 2) return refuse("try %s: FILE: must be given, your solution", words[1]);
  if (count > (is_try ? 3 : 2)) return refuse("'%s': %s takes no more arguments", words[is_try ? 3 : 2], words[0]);
  const learn_exercise *e = learn_find(words[1]);
  if (e == NULL) return refuse("NAME = '%s': no such exercise: `tandem-learn list` has their names", words[1]);
  return is_try ? try_file(e, words[2], o, folder) : show(e, o, folder);
}

static void print_help(FILE *out, const char *operand) {
  (void)operand;
  fprintf(out,
          "\nNAME is an exercise; `tandem-learn list` lists them. FILE is your solution: .hip, or .c for OpenMP.\n"
          "DEV is where it runs:\n"
          "  sim:gfx950, sim:gfx942   a simulated MI350 or MI300; the default of HIP exercises is sim:gfx950\n"
          "  hip:N                    GPU number N of HIP's runtime, from 0 on\n"
          "  host                     this machine's processors; the default of C exercises\n"
          "  omp:N                    GPU number N of OpenMP's runtime, from 0 on\n"
          "Exit status of try: 0 right and all targets reached, 1 not, 2 bad usage, 77 nothing was tried.\n");
}

int main(int argc, const char **argv) {
  options o = {.hints = 1};
  char error[256];
  struct poptOption help[HELP_ROWS];
  output_begin("tandem-learn");
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"device", '\0', POPT_ARG_STRING, &o.device, 0, "try: where it runs, see below; default: sim:gfx950, for C host", "DEV"},
      {"trace", '\0', POPT_ARG_STRING, &o.trace, 0, "try: draw what gfxsim time predicts of a right kernel's waves",
       "FILE.svg"},
      {"answer", '\0', POPT_ARG_STRING, &o.answer, 0, "ask: your answer (default: it is read from stdin)", "N"},
      {"hints", '\0', POPT_ARG_STRING, &o.hints_text, 0, "Hints to print: 1 to 99 (default 1)", "N"},
      {"start", '\0', POPT_ARG_STRING, &o.start, 0, "show: write the file to begin with to a new file", "FILE"},
      {"seconds", '\0', POPT_ARG_STRING, &o.seconds_text, 0,
       "try: how many seconds it may run: 0.001 to 3600 (default: C 20 per run, HIP 120)", "S"},
      {"compiler", '\0', POPT_ARG_STRING, &o.compiler, 0, "try: the compiler (default: the build's, or one in PATH)",
       "PROGRAM"},
      {"score", '\0', POPT_ARG_STRING, &o.score, 0, "try of an open challenge: append a right result to the scoreboard",
       "NAME"},
      {"scores", '\0', POPT_ARG_STRING, &o.scores, 0, "The scoreboard (default tandem-learn-scores.tsv, here)", "FILE"},
      {"seed", '\0', POPT_ARG_STRING, &o.seed_text, 0, "try: the inputs of an earlier try again (default: new ones)", "N"},
      {"without", '\0', POPT_ARG_STRING, &o.without, 0,
       "try: leave layers of the sandbox out: landlock, namespaces, seccomp, with commas between", "LAYERS"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND};
  poptContext context = poptGetContext("tandem-learn", argc, argv, rows, 0);
  poptSetOtherOptionHelp(context, usage);
  bool once = case_given_once(argc, argv, error, sizeof error);
  int got = once ? poptGetNextOpt(context) : 0, result;
  if (!once)
    result = refuse("%s", error);
  else if (got < -1)
    result = refuse("%s: %s: see --help", poptBadOption(context, 0), poptStrerror(got));
  else if ((o.hints_text != NULL && !case_parse_number("--hints", o.hints_text, 1, 99, &o.hints, error, sizeof error)) ||
           (o.seed_text != NULL && !case_parse_number("--seed", o.seed_text, 0, UINT64_MAX, &o.seed, error, sizeof error)) ||
           !case_parse_seconds("--seconds", o.seconds_text, &o.seconds, error, sizeof error))
    result = refuse("%s", error);
  else
    result = command(poptGetArgs(context), &o);
  poptFreeContext(context);
  free(o.device);
  free(o.start);
  free(o.answer);
  free(o.trace);
  free(o.compiler);
  free(o.score);
  free(o.scores);
  free(o.hints_text);
  free(o.seconds_text);
  free(o.seed_text);
  free(o.without);
  return result;
}
