/* The runtime is the one that the library has loaded for the device: HIP's, or gfxsim in its place. */
#include "own.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "sim/include/hip_abi.h"

enum { OPS = 2, NAMES = 200, HEAD_DIM = 16, OBJECT_MOST = 1 << 26 };

typedef struct runtime {
  __typeof__(hipModuleLoadData) *load;
  __typeof__(hipModuleUnload) *unload;
  __typeof__(hipModuleGetFunction) *find;
  __typeof__(hipModuleLaunchKernel) *launch;
  __typeof__(hipStreamSynchronize) *sync;
  __typeof__(hipGetErrorName) *name;
  const char *(*words)(void); /* of gfxsim; NULL with ROCm */
} runtime;

typedef struct own_kernel {
  const char *op;
  own_kernels *all;
  char file[256];
  uint32_t rows, cols, block; /* TILE, and __launch_bounds__ */
  void *object;
  hipModule_t module;
  hipFunction_t function;
  uint64_t launches;
  char others[NAMES], reason[NAMES]; /* steps that stay the library's, and why the first of them does */
} own_kernel;

struct own_kernels {
  tdm_context *context;
  runtime runtime;
  own_kernel kernel[OPS];
  int count;
};

static const char *const ops[OPS] = {"gemm", "attention"};

/* ---- The runtime ---- */

static bool symbol(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static bool find_runtime(runtime *r, const char *device, llama_error *error) {
  static const struct {
    const char *prefix, *file;
  } runtimes[] = {
      {"sim:", "libgfxsim-hip.so"}, {"hip:", "libamdhip64.so.7"}, {"hip:", "libamdhip64.so.6"}, {"hip:", "libamdhip64.so"}};
  for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++) {
    if (strncmp(device, runtimes[i].prefix, strlen(runtimes[i].prefix)) != 0) continue;
    void *library = dlopen(runtimes[i].file, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) continue;
    bool all = symbol(library, "hipModuleLoadData", &r->load) && symbol(library, "hipModuleUnload", &r->unload) &&
               symbol(library, "hipModuleGetFunction", &r->find) && symbol(library, "hipModuleLaunchKernel", &r->launch) &&
               symbol(library, "hipStreamSynchronize", &r->sync) && symbol(library, "hipGetErrorName", &r->name);
    symbol(library, "gfxsim_last_error", &r->words);
    dlclose(library); /* the library keeps it */
    if (all) return true;
  }
  return llama_fail(error, "--own: the device is %s: must be sim:gfx950, sim:gfx942 or hip:N", device);
}

static bool failed(const own_kernel *k, const char *doing, hipError_t code, llama_error *error) {
  const runtime *r = &k->all->runtime;
  return llama_fail(error, "--own %s=%s: %s: %s%s%.400s", k->op, k->file, doing, r->name(code), r->words != NULL ? ": " : "",
                    r->words != NULL ? r->words() : "");
}

/* ---- The text ---- */

/* "OP=FILE:tile=RxC:block=N" of the given length. */
static bool parse(own_kernels *own, const char *text, int length, llama_error *error) {
  char word[512], tail = 0;
  own_kernel *k = &own->kernel[own->count];
  snprintf(word, sizeof word, "%.*s", length, text);
  char *file = strchr(word, '='), *tile = strstr(word, ":tile=");
  if (file != NULL) *file++ = '\0';
  for (int i = 0; i < OPS && k->op == NULL; i++)
    if (strcmp(word, ops[i]) == 0) k->op = ops[i];
  bool good = length < (int)sizeof word && k->op != NULL && file != NULL && tile != NULL && tile > file &&
              tile - file < (int)sizeof k->file &&
              sscanf(tile, ":tile=%" SCNu32 "x%" SCNu32 ":block=%" SCNu32 "%c", &k->rows, &k->cols, &k->block, &tail) == 3 &&
              k->rows >= 1 && k->cols >= 1 && k->block >= 1 && k->block <= 1024;
  if (!good)
    return llama_fail(error, "--own = '%.*s': must be gemm=FILE.hsaco:tile=ROWSxCOLUMNS:block=1..1024, or attention=...",
                      length, text);
  for (int i = 0; i < own->count; i++)
    if (own->kernel[i].op == k->op) return llama_fail(error, "--own: has two kernels for %s", k->op);
  snprintf(k->file, sizeof k->file, "%.*s", (int)(tile - file), file);
  k->all = own;
  own->count++;
  return true;
}

static bool load(own_kernel *k, llama_error *error) {
  char reason[256];
  FILE *file = read_open_stream(k->file, reason, sizeof reason);
  if (file == NULL) return llama_fail(error, "--own %s=%s: %s", k->op, k->file, reason);
  k->object = malloc(OBJECT_MOST);
  size_t bytes = k->object != NULL ? fread(k->object, 1, OBJECT_MOST, file) : 0;
  bool whole = bytes > 0 && feof(file);
  fclose(file);
  if (!whole) return llama_fail(error, "--own %s=%s: can't be read, or is empty or larger than 64 MiB", k->op, k->file);
  hipError_t code = k->all->runtime.load(&k->module, k->object);
  if (code != hipSuccess) return k->module = NULL, failed(k, "the code object", code, error);
  code = k->all->runtime.find(&k->function, k->module, k->op);
  return code == hipSuccess || failed(k, "the kernel, which must have the op's name", code, error);
}

bool own_open(const char *text, tdm_context *context, own_kernels **out, llama_error *error) {
  own_kernels *own = *out = calloc(1, sizeof *own);
  if (own == NULL) return llama_fail(error, "--own: no memory");
  own->context = context;
  for (const char *at = text;; at++) {
    int length = (int)strcspn(at, ",");
    if (own->count == OPS) return llama_fail(error, "--own: more than %d kernels", OPS);
    if (!parse(own, at, length, error)) return false;
    at += length;
    if (*at == '\0') break;
  }
  bool good = find_runtime(&own->runtime, tdm_context_device(context), error);
  for (int i = 0; i < own->count && good; i++) good = load(&own->kernel[i], error);
  return good;
}

void own_close(own_kernels *own) {
  for (int i = 0; own != NULL && i < own->count; i++) {
    if (own->kernel[i].module != NULL) own->runtime.unload(own->kernel[i].module);
    free(own->kernel[i].object);
  }
  free(own);
}

/* ---- Launches ---- */

static uint32_t pieces(int64_t of, uint32_t size) { return (uint32_t)((of + size - 1) / size); }

static bool launch(own_kernel *k, uint32_t x, uint32_t y, void *args, size_t bytes, llama_error *error) {
  const runtime *r = &k->all->runtime;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  /* The library's launches are in a stream of its own, ours in the default one: each waits for the other. */
  if (tdm_stream_sync(k->all->context, NULL) != TDM_OK) return llama_fail_tandem(error, k->op);
  hipError_t code = r->launch(k->function, x, y, 1, k->block, 1, 1, 0, NULL, NULL, extra);
  if (code == hipSuccess) code = r->sync(NULL);
  k->launches++;
  return code == hipSuccess || failed(k, "a launch", code, error);
}

static bool run_gemm(const graph_step *s, llama_error *error) {
  own_kernel *k = s->own;
  struct {
    void *c;
    const void *a, *b;
    int32_t m, n, k, add;
  } args = {s->out,
            s->in[0],
            s->in[1],
            (int32_t)s->own_size[0],
            (int32_t)s->own_size[1],
            (int32_t)s->own_size[2],
            (int32_t)s->own_size[3]};
  return launch(k, pieces(args.n, k->cols), pieces(args.m, k->rows), &args, sizeof args, error);
}

static bool run_attention(const graph_step *s, llama_error *error) {
  own_kernel *k = s->own;
  struct {
    void *out;
    const void *q, *kv;
    int32_t queries, keys, heads, kv_heads;
  } args = {s->out,
            s->in[0],
            s->in[2], /* a token's values stand before its keys */
            (int32_t)s->own_size[0],
            (int32_t)s->number,
            (int32_t)s->own_size[1],
            (int32_t)s->own_size[2]};
  return launch(k, pieces(args.queries, k->rows), (uint32_t)args.heads, &args, sizeof args, error);
}

/* ---- Which steps ---- */

static own_kernel *find(own_kernels *own, const char *op) {
  for (int i = 0; own != NULL && i < own->count; i++)
    if (strcmp(own->kernel[i].op, op) == 0) return &own->kernel[i];
  return NULL;
}

static void refuse(own_kernel *k, const char *step, const char *why) {
  char word[64];
  size_t used = strlen(k->others);
  snprintf(word, sizeof word, "%s%s", used > 0 ? ", " : "", step);
  if (strstr(k->others, step) == NULL) snprintf(k->others + used, sizeof k->others - used, "%s", word);
  if (k->reason[0] == '\0') snprintf(k->reason, sizeof k->reason, "%s", why);
}

static bool fits(int64_t number) { return number <= INT32_MAX; }
static bool gap(int64_t leading, int64_t row) { return leading != 0 && leading != row; }

void own_take_gemm(own_kernels *own, graph_step *s, const tdm_gemm_desc *d) {
  own_kernel *k = find(own, "gemm");
  if (k == NULL) return;
  bool add = d->epilogue_steps == 1 && d->epilogue[0].op == TDM_RESIDUAL && s->in[2] == s->out;
  const char *why = d->type != TDM_F16                     ? "its type is not f16"
                    : d->out != TDM_F16                    ? "its result is not f16"
                    : d->layout != TDM_NT || d->batch != 1 ? "it is no single a b^T"
                    : d->epilogue_steps != 0 && !add       ? "it has an epilogue"
                    : d->alpha != 1 || d->beta != 0        ? "it has factors"
                    : d->m > 1 && (gap(d->lda, d->k) || gap(d->ldc, d->n) || (add && gap(d->ldr, d->n)))
                        ? "its rows are not packed"
                    : gap(d->ldb, d->k)                                              ? "its weights are not packed"
                    : !fits(d->m * d->k) || !fits(d->n * d->k) || !fits(d->m * d->n) ? "it has more than 2^31 elements"
                                                                                     : NULL;
  if (why != NULL) {
    refuse(k, s->name, why);
    return;
  }
  s->own = k;
  s->own_size[0] = d->m, s->own_size[1] = d->n, s->own_size[2] = d->k, s->own_size[3] = add;
  s->move = run_gemm;
}

void own_take_attention(own_kernels *own, graph_step *s, const tdm_attention_desc *d) {
  own_kernel *k = find(own, "attention");
  if (k == NULL) return;
  int64_t q = d->heads_q * HEAD_DIM, kv = d->heads_kv * HEAD_DIM;
  const char *keys = s->in[1], *values = s->in[2];
  const char *why = d->type != TDM_F16                                      ? "its type is not f16"
                    : d->head_dim != HEAD_DIM                               ? "head_dim is not 16"
                    : d->batch != 1 || !d->causal                           ? "it is of several sequences, or not causal"
                    : keys - values != kv * (int64_t)sizeof(uint16_t)       ? "keys and values are not those of a cache"
                    : d->k.row != 2 * kv || d->k.head != HEAD_DIM           ? "keys and values are not those of a cache"
                    : d->q.head != HEAD_DIM || (d->sq > 1 && d->q.row != q) ? "its queries are not packed"
                    : d->o.head != HEAD_DIM || (d->sq > 1 && d->o.row != q) ? "its output is not packed"
                                                                            : NULL;
  if (why != NULL) {
    refuse(k, s->name, why);
    return;
  }
  s->own = k;
  s->own_size[0] = d->sq, s->own_size[1] = d->heads_q, s->own_size[2] = d->heads_kv;
  s->move = run_attention;
}

bool own_has(const own_kernels *own, const char *kernel) {
  for (int i = 0; own != NULL && i < own->count; i++)
    if (strcmp(own->kernel[i].op, kernel) == 0) return true;
  return false;
}

bool own_report(const own_kernels *own, llama_error *error) {
  for (int i = 0; own != NULL && i < own->count; i++) {
    const own_kernel *k = &own->kernel[i];
    if (k->launches == 0)
      return llama_fail(error, "--own %s=%s: ran in no step: %s", k->op, k->file,
                        k->reason[0] != '\0' ? k->reason : "there is none");
    printf("own          %s: %" PRIu64 " launches", k->op, k->launches);
    if (k->others[0] != '\0') printf("; the library's: %s (%s)", k->others, k->reason);
    putchar('\n');
  }
  return true;
}
