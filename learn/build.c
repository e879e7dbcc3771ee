/* Compilers are started with an argument vector, without a shell, in a new folder, which is removed in the end. What
 * they compile is not trusted: it may include or embed any file that they can read, and ask for any amount of memory. */
#include "build.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn_config.h"
#include "process.h"
#include "read.h"

enum { COMPILE_SECONDS = 60, SOURCE_MOST = 4 << 20, PATH_MOST = 4200, ARGV_MOST = 64, ERRORS_SHOWN = 14 };
static const rlim_t most_memory = (rlim_t)4 << 30;

/* ---- The compiler ---- */

static bool is_program(const char *path) {
  struct stat is;
  return access(path, X_OK) == 0 && stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

/* A name without a slash is looked up in PATH. */
static bool find_program(const char *name, char *path, size_t size) {
  char here[PATH_MAX] = "";
  if (strchr(name, '/') != NULL) { /* made absolute: it runs in another folder */
    if (name[0] != '/' && getcwd(here, sizeof here) == NULL) return false;
    return snprintf(path, size, "%s%s%s", here, name[0] != '/' ? "/" : "", name) < (int)size && is_program(path);
  }
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
  if (r->races) {
    snprintf(code->compiler, sizeof code->compiler, "%s", LEARN_RACE_COMPILER);
    return true;
  }
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
  const char *folder;
  char chip[48], source[NAME_MAX + 8];
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
/* Known for the build's own compiler alone: where its OpenMP is, and checks of what the code does. */
static const char *const own_flags[] = {LEARN_C_FLAGS NULL};
static const char *const check_flags[] = {LEARN_CHECK_FLAGS NULL};
static const char *const race_flags[] = {LEARN_RACE_FLAGS NULL};
static const char *const offload_flags[] = {LEARN_OFFLOAD_FLAGS NULL};

static void put_c_flags(command *c, const learn_request *r, const learn_code *code) {
  if (r->races) { /* its symbols are those of the library that the runner gets */
    put_all(c, race_flags);
    return;
  }
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

/* Names are those in the folder of the try. source: no option, and no file of options. */
static void make_command(command *c, const learn_request *r, const char *chip, const learn_code *code) {
  c->count = 0;
  c->folder = code->folder;
  put(c, code->compiler);
  if (chip != NULL) {
    snprintf(c->chip, sizeof c->chip, "--offload-arch=%s", chip);
    put_all(c, hip_flags);
    put(c, c->chip);
    if (r->plain) put(c, "-O0");
    put(c, "-I."); /* hip/hip_runtime.h */
    put(c, "-include");
    put(c, "./hip.h");
  } else {
    put_c_flags(c, r, code);
  }
  put(c, "-include");
  put(c, "./kernel.h");
  put(c, c->source);
  put(c, "-o");
  put(c, "object");
  if (chip == NULL) put(c, "-lm"); /* after what needs it */
}

/* ---- Its folder ---- */

static bool lacks(const char *path, learn_outcome *o) {
  learn_found(o, LEARN_FAILED, "%s: %s", path, strerror(errno));
  return false;
}

/* Copies a regular file into the folder. */
static bool copy_file(const char *from, const char *folder, const char *name, learn_outcome *o) {
  char to[PATH_MOST], reason[256];
  int in = read_open(from, reason, sizeof reason);
  char *text = malloc(SOURCE_MOST + 1);
  ssize_t length = 0, got = 1;
  if (in < 0 || text == NULL) {
    learn_found(o, LEARN_FAILED, "%s: %s", from, in < 0 ? reason : "no memory");
    if (in >= 0) close(in);
    free(text);
    return false;
  }
  while (length <= SOURCE_MOST && (got = read(in, text + length, (size_t)(SOURCE_MOST + 1 - length))) > 0) length += got;
  snprintf(to, sizeof to, "%s/%s", folder, name);
  int out = got >= 0 && length <= SOURCE_MOST ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;
  bool good = out >= 0 && write(out, text, (size_t)length) == length;
  if (out >= 0 && close(out) != 0) good = false;
  if (length > SOURCE_MOST)
    learn_found(o, LEARN_COMPILE, "the file has more than %d MiB", SOURCE_MOST >> 20);
  else if (!good)
    lacks(got < 0 ? from : to, o);
  free(text);
  close(in);
  return good;
}

/* The folder to the user that the compiler runs as. */
static bool give_folder(learn_code *code, learn_outcome *o) {
  sandbox_means *m = &code->means;
  uid_t user = m->user;
  if (user != 0 && chown(code->folder, user, user) != 0) {
    m->user_error = errno;
    m->user = 0;
    return true;
  }
  sandbox_needs(m, code->folder);
  if (m->user == user || chown(code->folder, 0, 0) == 0) return true;
  learn_found(o, LEARN_FAILED, "%s: can't be taken back from user %u: %s", code->folder, (unsigned)user, strerror(errno));
  return false;
}

/* HIP's words, and headers of ROCm's names that include them. */
static bool copy_headers(const learn_request *r, learn_code *code, learn_outcome *o) {
  static const char *const names[] = {"hip.h", "hip/hip_runtime.h", "hip/hip_fp16.h"};
  char path[PATH_MOST];
  snprintf(path, sizeof path, "%s/hip", code->folder);
  if (mkdir(path, 0755) != 0) return lacks(path, o);
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    snprintf(path, sizeof path, "%s/%s", r->folder, names[n]);
    if (!copy_file(path, code->folder, names[n], o)) return false;
  }
  return true;
}

/* A folder that only this try's processes may enter. */
static bool make_folder(const learn_request *r, learn_code *code, command *c, learn_outcome *o) {
  char from[PATH_MOST];
  const char *temporary = getenv("TMPDIR"), *slash = strrchr(r->file, '/');
  snprintf(code->folder, sizeof code->folder, "%s/tandem-learn-XXXXXX",
           temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
  if (mkdtemp(code->folder) == NULL) {
    learn_found(o, LEARN_FAILED, "%s: this folder can't be made: %s", code->folder, strerror(errno));
    code->folder[0] = '\0';
    return false;
  }
  char *whole = realpath(code->folder, NULL); /* TMPDIR may be relative: other folders are entered */
  if (whole != NULL) snprintf(code->folder, sizeof code->folder, "%s", whole);
  free(whole);
  umask(022);
  snprintf(code->object, sizeof code->object, "%s/object", code->folder);
  const char *name = slash != NULL ? slash + 1 : r->file;
  snprintf(c->source, sizeof c->source, "%s%s", name[0] == '-' || name[0] == '@' ? "./" : "", name);
  sandbox_needs(&code->means, r->runner);
  sandbox_needs(&code->means, code->compiler);
  if (!give_folder(code, o)) return false;
  snprintf(from, sizeof from, "%s/%s/kernel.h", r->folder, r->exercise->name);
  if (!copy_file(r->file, code->folder, name, o) || !copy_file(from, code->folder, "kernel.h", o)) return false;
  return r->exercise->c || copy_headers(r, code, o);
}

/* ---- What it may read ---- */

static void add_library(learn_code *code, const char *folder, size_t length) {
  char *copy = length > 0 && folder[0] == '/' && code->library_count < LEARN_LIBRARIES ? strndup(folder, length) : NULL;
  if (copy != NULL) code->libraries[code->library_count++] = copy;
}

/* Beside the compiler: PREFIX/bin/clang has PREFIX/lib and others. Not all of the prefix, which may be somebody's home. */
static void add_prefix(learn_code *code, const char *compiler) {
  static const char *const parts[] = {"bin", "lib", "lib64", "libexec", "include"};
  char path[PATH_MAX];
  const char *name = strrchr(compiler, '/');
  if (name == NULL || name - compiler < 4 || strncmp(name - 4, "/bin", 4) != 0) return;
  for (size_t n = 0; n < sizeof parts / sizeof parts[0]; n++) {
    int length = snprintf(path, sizeof path, "%.*s/%s", (int)(name - compiler) - 4, compiler, parts[n]);
    if (length < (int)sizeof path) add_library(code, path, (size_t)length);
  }
}

static void find_libraries(learn_code *code) {
  add_library(code, LEARN_OPENMP_LIB, strlen(LEARN_OPENMP_LIB));
  add_library(code, LEARN_RACE_LIB, strlen(LEARN_RACE_LIB));
  char *whole = realpath(code->compiler, NULL);
  add_prefix(code, code->compiler);
  if (whole != NULL && strcmp(whole, code->compiler) != 0) add_prefix(code, whole);
  free(whole);
  for (const char *at = getenv("LD_LIBRARY_PATH"); at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ":");
    add_library(code, at, length);
    at += length + (at[length] == ':');
  }
}

void learn_read_libraries(const learn_code *code, sandbox *box) {
  for (int n = 0; n < code->library_count; n++) {
    const char *part = strrchr(code->libraries[n], '/');
    if (part != NULL && strcmp(part, "/bin") != 0 && strcmp(part, "/include") != 0) sandbox_read(box, code->libraries[n]);
  }
}

static void read_toolchain(const learn_code *code, sandbox *box) {
  static const char *const paths[] = {
      "/usr/bin", "/usr/libexec", "/usr/include", "/bin", "/usr/local/bin", "/usr/local/include", NULL};
  sandbox_read_system(box);
  for (int n = 0; paths[n] != NULL; n++) sandbox_read(box, paths[n]);
  for (int n = 0; n < code->library_count; n++) sandbox_read(box, code->libraries[n]);
  sandbox_read(box, code->compiler);
  if (LEARN_OPENMP_INCLUDE[0] != '\0') sandbox_read(box, LEARN_OPENMP_INCLUDE);
  if (LEARN_RACE_INCLUDE[0] != '\0') sandbox_read(box, LEARN_RACE_INCLUDE);
}

/* ---- Its run ---- */

static void start(void *argument) {
  command *c = argument;
  setenv("TMPDIR", c->folder, 1);
  setenv("HOME", c->folder, 1);
  setenv("LC_ALL", "C", 1);
  setenv("CCACHE_DISABLE", "1", 1); /* its folder is closed */
  setrlimit(RLIMIT_DATA, &(struct rlimit){most_memory, most_memory});
  if (chdir(c->folder) == 0) execv(c->argv[0], (char **)(uintptr_t)c->argv);
  fprintf(stderr, "%s: %s", c->argv[0], strerror(errno));
  _exit(127);
}

static int remove_entry(const char *path, const struct stat *is, int type, struct FTW *at) {
  (void)is, (void)type, (void)at;
  remove(path);
  return 0;
}

/* Nothing runs any more that could change it, and links in it are not followed. */
static void remove_folder(const char *folder) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

static bool read_object(const char *path, learn_code *code) {
  struct stat is;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  bool good = file >= 0 && fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0;
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

/* ---- Lines of addresses ---- */

typedef struct lookup {
  const learn_code *code;
  char address[24];
} lookup;

static void become_addr2line(void *argument) {
  const lookup *l = argument;
  setenv("LC_ALL", "C", 1);
  execlp("addr2line", "addr2line", "-s", "-e", l->code->object, l->address, (char *)NULL);
  _exit(127);
}

void learn_find_line(const learn_code *code, uint64_t address, char *line, size_t size) {
  lookup l = {.code = code};
  process *p = malloc(sizeof *p);
  sandbox box = {.means = &code->means, .seconds = COMPILE_SECONDS, .processes = true};
  process_work w = {.work = become_addr2line, .argument = &l, .seconds = COMPILE_SECONDS, .sandbox = &box, .input = -1};
  snprintf(l.address, sizeof l.address, "0x%" PRIx64, address);
  read_toolchain(code, &box);
  sandbox_read(&box, code->object);
  bool good = p != NULL && process_run(&w, p) && WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0 && p->text[0] != '?';
  snprintf(line, size, "%.*s", good ? (int)strcspn(p->text, " \n") : 0, good ? p->text : "");
  free(p);
}

static bool compiled(const process *p) { return !p->timed_out && WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0; }

static bool run_compiler(command *c, learn_code *code, learn_outcome *o) {
  process *p = malloc(sizeof *p);
  bool good = false;
  sandbox box = {.means = &code->means, .write = code->folder, .seconds = COMPILE_SECONDS, .processes = true};
  process_work w = {.work = start, .argument = c, .seconds = COMPILE_SECONDS, .sandbox = &box, .input = -1};
  read_toolchain(code, &box);
  if (p == NULL) {
    learn_found(o, LEARN_FAILED, "no memory");
  } else if (!process_run(&w, p)) {
    learn_found(o, LEARN_FAILED, "%s", p->text);
  } else if (process_interrupted()) {
    learn_found(o, LEARN_FAILED, "interrupted");
  } else if (p->timed_out) {
    learn_found(o, LEARN_SLOW, "%s took more than %d s", code->compiler, COMPILE_SECONDS);
  } else if (!compiled(p)) {
    learn_found(o, LEARN_COMPILE, "%s says:", code->compiler);
    add_lines(o, p->text, ERRORS_SHOWN);
  } else if (!read_object(code->object, code)) {
    learn_found(o, LEARN_FAILED, "%s made no object: %s", code->compiler, strerror(errno));
  } else {
    good = true;
  }
  free(p);
  return good;
}

bool learn_build(const learn_request *r, const char *chip, learn_code *code, learn_outcome *o) {
  command c = {.count = 0};
  *code = (learn_code){0};
  sandbox_find(r->without, &code->means);
  if (strncmp(r->device, "omp:", 4) == 0 && offload_flags[0] == NULL) {
    learn_found(o, LEARN_FAILED, "--device = '%s': this build does not compile for GPUs: configure it with -Domp_offload=CHIP",
                r->device);
    return false;
  }
  if (!find_compiler(r, code, o) || !make_folder(r, code, &c, o)) return false;
  sandbox_describe(&code->means, strncmp(r->device, "omp:", 4) == 0 || strncmp(r->device, "hip:", 4) == 0, o->sandbox,
                   sizeof o->sandbox);
  find_libraries(code);
  make_command(&c, r, chip, code);
  return run_compiler(&c, code, o);
}

/* ---- GPUs of OpenMP ---- */

static void count_devices(void *argument) {
  const learn_code *code = argument;
  void *handle = dlopen(code->object, RTLD_NOW), *symbol = handle != NULL ? dlsym(handle, "learn_probe") : NULL;
  int (*probe)(void);
  memcpy(&probe, &symbol, sizeof probe);
  if (symbol == NULL)
    printf("%s", dlerror());
  else
    printf("%d", probe());
}

/* A file of our own, compiled as the user's is: the user's code may say anything. */
bool learn_count_devices(const learn_request *r, learn_code *code, int *count, learn_outcome *o) {
  char path[PATH_MOST];
  command c = {.count = 0};
  learn_code own = *code; /* its object comes into the place of the user's, which is moved aside */
  own.data = NULL;
  snprintf(c.source, sizeof c.source, "./learn-probe.c");
  snprintf(path, sizeof path, "%s/learn-probe.c", code->folder);
  FILE *f = fopen(path, "wx");
  bool good =
      f != NULL && fputs("int omp_get_num_devices(void);\nint learn_probe(void) { return omp_get_num_devices(); }\n", f) >= 0;
  if (f != NULL && fclose(f) != 0) good = false;
  snprintf(path, sizeof path, "%s/object-of-user", code->folder);
  if (!good || rename(code->object, path) != 0) return lacks(path, o);
  make_command(&c, r, NULL, &own);
  good = run_compiler(&c, &own, o);
  process *p = malloc(sizeof *p);
  process_work w = {.work = count_devices, .argument = &own, .seconds = COMPILE_SECONDS, .input = -1};
  good = good && p != NULL && process_run(&w, p) && sscanf(p->text, "%d", count) == 1;
  if (!good && o->verdict != LEARN_FAILED)
    learn_found(o, LEARN_FAILED, "can't ask OpenMP for its GPUs: %s", p != NULL ? p->text : "no memory");
  free(p);
  free(own.data);
  return rename(path, code->object) == 0 ? good : lacks(path, o);
}

void learn_code_free(learn_code *code) {
  if (code->folder[0] != '\0') remove_folder(code->folder);
  for (int n = 0; n < code->library_count; n++) free(code->libraries[n]);
  free(code->data);
}
