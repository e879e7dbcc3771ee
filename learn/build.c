/* Compilers are started with an argument vector, no shell between, in a folder of their own, which is removed. */
#include "build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn_config.h"
#include "process.h"

enum { COMPILE_SECONDS = 60, FOLDER_MOST = 256, PATH_MOST = 4200, ARGV_MOST = 64, ERRORS_SHOWN = 14 };

/* ---- The compiler ---- */

static bool is_program(const char *path) {
  struct stat is;
  return access(path, X_OK) == 0 && stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

/* A name without a slash is looked up in PATH. */
static bool find_program(const char *name, char *path, size_t size) {
  if (strchr(name, '/') != NULL) return snprintf(path, size, "%s", name) < (int)size && is_program(path);
  const char *at = getenv("PATH");
  while (at != NULL && *at != '\0') {
    size_t length = strcspn(at, ":");
    if (snprintf(path, size, "%.*s/%s", (int)length, at, name) < (int)size && is_program(path)) return true;
    at += length;
    at += *at == ':';
  }
  return false;
}

/* The build's own compiler, then what is found. */
static const char *const hip_compilers[] = {LEARN_HIP_COMPILER, "amdclang++", "hipcc", "clang++-22",
                                            "clang++-21",       "clang++-20", NULL};
static const char *const c_compilers[] = {LEARN_C_COMPILER, "gcc", "clang", "cc", NULL};

static bool find_compiler(const learn_request *r, learn_code *code, learn_outcome *o) {
  if (r->compiler != NULL) {
    if (find_program(r->compiler, code->compiler, sizeof code->compiler)) return true;
    learn_found(o, LEARN_FAILED, "--compiler = '%s': no such program", r->compiler);
    return false;
  }
  const char *const *names = r->exercise->c ? c_compilers : hip_compilers;
  for (; *names != NULL; names++)
    if (**names != '\0' && find_program(*names, code->compiler, sizeof code->compiler)) return true;
  learn_found(o, LEARN_FAILED, "%s",
              r->exercise->c ? "no C compiler found: install gcc, or name one with --compiler"
                             : "no HIP compiler found: install clang-22 and lld-22 or ROCm, or name one with --compiler");
  return false;
}

/* ---- Its arguments ---- */

typedef struct command {
  const char *argv[ARGV_MOST];
  int count;
  char chip[48], folder[FOLDER_MOST], object[FOLDER_MOST + 8];
  char header[PATH_MOST], language[PATH_MOST], source[PATH_MOST];
} command;

static void put(command *c, const char *argument) {
  if (c->count < ARGV_MOST - 1) c->argv[c->count++] = argument;
}

static void put_all(command *c, const char *const *arguments) {
  for (; *arguments != NULL; arguments++) put(c, *arguments);
}

static const char *const hip_flags[] = {LEARN_HIP_FLAGS NULL};
/* An unknown symbol is an error of the linker, not of a run. */
static const char *const c_flags[] = {"-x",    "c",       "-std=gnu17", "-O2",         "-g", "-fPIC",
                                      "-Wall", "-Wextra", "-shared",    "-Wl,-z,defs", NULL};
/* Of the build's own compiler alone: where its OpenMP is, and checks of what the code does. */
static const char *const own_flags[] = {LEARN_C_FLAGS NULL};
static const char *const check_flags[] = {LEARN_CHECK_FLAGS NULL};
static const char *const offload_flags[] = {LEARN_OFFLOAD_FLAGS NULL};

static void put_c_flags(command *c, const learn_request *r, const learn_code *code) {
  bool own = strcmp(code->compiler, LEARN_C_COMPILER) == 0, device = strncmp(r->device, "omp:", 4) == 0;
  put_all(c, c_flags);
  if (own)
    put_all(c, own_flags);
  else
    put(c, "-fopenmp");
  if (device)
    put_all(c, offload_flags);
  else if (own)
    put_all(c, check_flags);
}

static void make_command(command *c, const learn_request *r, const char *chip, const learn_code *code) {
  const learn_exercise *e = r->exercise;
  snprintf(c->header, sizeof c->header, "%s/%s/kernel.h", r->folder, e->name);
  snprintf(c->language, sizeof c->language, "%s/hip.h", r->folder);
  /* a file name is no option, and no file of options */
  snprintf(c->source, sizeof c->source, "%s%s", r->file[0] == '-' || r->file[0] == '@' ? "./" : "", r->file);
  snprintf(c->object, sizeof c->object, "%s/object", c->folder);
  put(c, code->compiler);
  if (chip != NULL) {
    snprintf(c->chip, sizeof c->chip, "--offload-arch=%s", chip);
    put_all(c, hip_flags);
    put(c, c->chip);
    put(c, "-include");
    put(c, c->language);
  } else {
    put_c_flags(c, r, code);
  }
  put(c, "-include");
  put(c, c->header);
  put(c, c->source);
  put(c, "-o");
  put(c, c->object);
  if (chip == NULL) put(c, "-lm"); /* behind what needs it */
}

/* ---- Its run ---- */

static void start(void *argument) {
  command *c = argument;
  setenv("TMPDIR", c->folder, 1);
  setenv("LC_ALL", "C", 1);
  execv(c->argv[0], (char **)(uintptr_t)c->argv);
  fprintf(stderr, "%s: %s", c->argv[0], strerror(errno));
  _exit(127);
}

static void remove_folder(const char *folder) {
  char path[FOLDER_MOST + 300];
  DIR *d = opendir(folder);
  struct dirent *entry;
  while (d != NULL && (entry = readdir(d)) != NULL) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    unlink(path);
  }
  if (d != NULL) closedir(d);
  rmdir(folder);
}

static bool read_object(const char *path, learn_code *code) {
  struct stat is;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool good = file >= 0 && fstat(file, &is) == 0 && is.st_size > 0;
  if (good) {
    code->bytes = (size_t)is.st_size;
    code->data = malloc(code->bytes);
    good = code->data != NULL && read(file, code->data, code->bytes) == (ssize_t)code->bytes;
  }
  if (file >= 0) close(file);
  return good;
}

/* The first lines of the compiler's. */
static void add_lines(learn_outcome *o, const char *text, int most) {
  int shown = 0;
  while (*text != '\0' && shown < most) {
    int length = (int)strcspn(text, "\n");
    learn_add(o, "\n  %.*s", length, text);
    shown++;
    text += length;
    text += *text == '\n';
  }
  if (*text != '\0') learn_add(o, "\n  ...");
}

static bool compiled(const process *p) { return !p->timed_out && WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0; }

static bool run_compiler(command *c, learn_code *code, learn_outcome *o) {
  process *p = malloc(sizeof *p);
  bool good = false;
  if (p == NULL) {
    learn_found(o, LEARN_FAILED, "no memory");
  } else if (!process_run(start, c, COMPILE_SECONDS, p)) {
    learn_found(o, LEARN_FAILED, "%s", p->text);
  } else if (process_interrupted()) {
    learn_found(o, LEARN_FAILED, "interrupted");
  } else if (p->timed_out) {
    learn_found(o, LEARN_COMPILE, "%s took more than %d s", code->compiler, COMPILE_SECONDS);
  } else if (!compiled(p)) {
    learn_found(o, LEARN_COMPILE, "%s says:", code->compiler);
    add_lines(o, p->text, ERRORS_SHOWN);
  } else if (!read_object(c->object, code)) {
    learn_found(o, LEARN_FAILED, "%s made no object: %s", code->compiler, strerror(errno));
  } else {
    good = true;
  }
  free(p);
  return good;
}

bool learn_build(const learn_request *r, const char *chip, learn_code *code, learn_outcome *o) {
  command c = {.count = 0};
  const char *temporary = getenv("TMPDIR");
  *code = (learn_code){0};
  if (strncmp(r->device, "omp:", 4) == 0 && offload_flags[0] == NULL) {
    learn_found(o, LEARN_FAILED, "--device = '%s': this build compiles for no GPU: configure with -Domp_offload=CHIP",
                r->device);
    return false;
  }
  if (!find_compiler(r, code, o)) return false;
  snprintf(c.folder, sizeof c.folder, "%s/tandem-learn-XXXXXX", temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
  if (mkdtemp(c.folder) == NULL) {
    learn_found(o, LEARN_FAILED, "%s: no folder can be made there: %s", c.folder, strerror(errno));
    return false;
  }
  make_command(&c, r, chip, code);
  bool good = run_compiler(&c, code, o);
  remove_folder(c.folder);
  return good;
}

void learn_code_free(learn_code *code) { free(code->data); }
