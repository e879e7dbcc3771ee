/* Activations through NCCL or RCCL, which have the same functions. The library and the device's runtime are loaded here, so
 * that a build needs neither. An exchange runs on a stream of its own; what was launched before it on the device has ended,
 * or is waited for, and what is launched later may run beside it until `wait`. Functions and numbers as in nccl.h, cuda.h and
 * hip_runtime_api.h. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mover.h"

enum { EVENTS = 64, NOT_READY = 600, IN_PROGRESS = 7, NON_BLOCKING = 1, NO_TIMING = 2 };

typedef struct nccl_id {
  char bytes[128];
} nccl_id;

/* What differs between the two. */
typedef struct vendor {
  const char *library, *runtime, *package;
  const char *stream, *event, *record, *query, *follow; /* functions of the runtime; follow: NULL, runs have ended on return */
} vendor;
static const vendor nvidia = {.library = "libnccl.so.2",
                              .runtime = "libcuda.so.1",
                              .package = "pip's nvidia-nccl-cu12",
                              .stream = "cuStreamCreate",
                              .event = "cuEventCreate",
                              .record = "cuEventRecord",
                              .query = "cuEventQuery"};
static const vendor amd = {.library = "librccl.so.1",
                           .runtime = "libamdhip64.so",
                           .package = "the package rccl of ROCm",
                           .stream = "hipStreamCreateWithFlags",
                           .event = "hipEventCreateWithFlags",
                           .record = "hipEventRecord",
                           .query = "hipEventQuery",
                           .follow = "hipStreamWaitEvent"};

typedef struct own {
  const vendor *vendor;
  void *library, *runtime;
  int (*unique_id)(nccl_id *);
  int (*init)(void **comm, int size, nccl_id id, int rank);
  int (*all_reduce)(const void *, void *, size_t, int type, int op, void *comm, void *stream);
  int (*reduce_scatter)(const void *, void *, size_t, int type, int op, void *comm, void *stream);
  int (*all_gather)(const void *, void *, size_t, int type, void *comm, void *stream);
  int (*async_error)(void *comm, int *result);
  int (*abort)(void *comm);
  int (*destroy)(void *comm);
  const char *(*error_text)(int);
  int (*new_stream)(void **stream, unsigned flags);
  int (*new_event)(void **event, unsigned flags);
  int (*record)(void *event, void *stream);
  int (*query)(void *event);
  int (*follow)(void *stream, void *event, unsigned flags);
  void *comm, *stream, *ready;
  void *ended[EVENTS]; /* of operation i: number i % EVENTS */
} own;

/* ---- Loading ---- */

static void *load(const char *file, const char *what, const char *package, llama_error *error) {
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    llama_fail(error, "--move: %s can't be loaded: %s (it is in %s; --move %s=FILE)", file, dlerror(), package, what);
  return handle;
}

/* From the library, if it has the function, as a stand-in of both does; else from the runtime. */
static bool find(const own *o, const char *name, void *function, llama_error *error) {
  void *found = dlsym(o->library, name);
  if (found == NULL && o->runtime != NULL) found = dlsym(o->runtime, name);
  memcpy(function, &found, sizeof found);
  const char *runtime = o->vendor->runtime;
  if (found == NULL && o->runtime == NULL)
    return llama_fail(error, "--move: %s, the device's runtime, can't be loaded", runtime);
  return found != NULL || llama_fail(error, "--move: %s and %s have no function %s", o->vendor->library, runtime, name);
}

static bool find_all(own *o, llama_error *error) {
  const vendor *v = o->vendor;
  return find(o, "ncclGetUniqueId", &o->unique_id, error) && find(o, "ncclCommInitRank", &o->init, error) &&
         find(o, "ncclAllReduce", &o->all_reduce, error) && find(o, "ncclReduceScatter", &o->reduce_scatter, error) &&
         find(o, "ncclAllGather", &o->all_gather, error) && find(o, "ncclCommGetAsyncError", &o->async_error, error) &&
         find(o, "ncclCommAbort", &o->abort, error) && find(o, "ncclCommDestroy", &o->destroy, error) &&
         find(o, "ncclGetErrorString", &o->error_text, error) && find(o, v->stream, &o->new_stream, error) &&
         find(o, v->event, &o->new_event, error) && find(o, v->record, &o->record, error) &&
         find(o, v->query, &o->query, error) && (v->follow == NULL || find(o, v->follow, &o->follow, error));
}

/* ---- Opening ---- */

static bool device_ok(int code, const char *doing, llama_error *error) {
  return code == 0 || llama_fail(error, "--move: %s: error %d of the device's runtime", doing, code);
}

static bool nccl_ok(const own *o, int code, const char *doing, llama_error *error) {
  return code == 0 || code == IN_PROGRESS || llama_fail(error, "%s: %s: %s", o->vendor->library, doing, o->error_text(code));
}

/* The thread's device, for a GPU's context. */
static bool set_device(const mover *m, llama_error *error) {
  const own *o = m->own;
  const char *name = tdm_context_device(m->context), *colon = strchr(name, ':');
  if (strncmp(name, "sim:", 4) == 0) return llama_fail(error, "--move: data of %s, a simulated chip, goes through mpi", name);
  int number = colon == NULL ? -1 : atoi(colon + 1);
  if (number < 0) return true;
  if (o->vendor == &amd) {
    int (*set)(int);
    return find(o, "hipSetDevice", &set, error) && device_ok(set(number), "hipSetDevice", error);
  }
  int (*retain)(void **, int), (*current)(void *);
  void *context;
  return find(o, "cuDevicePrimaryCtxRetain", &retain, error) && find(o, "cuCtxSetCurrent", &current, error) &&
         device_ok(retain(&context, number), "cuDevicePrimaryCtxRetain", error) &&
         device_ok(current(context), "cuCtxSetCurrent", error);
}

static bool open_comm(mover *m, llama_error *error) {
  own *o = m->own;
  nccl_id mine = {{0}}, all[RANKS_MOST];
  if (m->ranks->rank == 0 && !nccl_ok(o, o->unique_id(&mine), "ncclGetUniqueId", error)) return false;
  if (!ranks_gather(m->ranks, &mine, sizeof mine, all, error)) return false;
  if (!nccl_ok(o, o->init(&o->comm, m->ranks->size, all[0], m->ranks->rank), "ncclCommInitRank", error)) return false;
  if (!device_ok(o->new_stream(&o->stream, NON_BLOCKING), o->vendor->stream, error) ||
      !device_ok(o->new_event(&o->ready, NO_TIMING), o->vendor->event, error))
    return false;
  for (int i = 0; i < EVENTS; i++)
    if (!device_ok(o->new_event(&o->ended[i], NO_TIMING), o->vendor->event, error)) return false;
  return true;
}

static bool count_processors(mover *m, int *count, llama_error *error) {
  enum { PROCESSORS = 16 };
  int (*get)(int *, int, int);
  const char *colon = strchr(tdm_context_device(m->context), ':');
  return find(m->own, "cuDeviceGetAttribute", &get, error) &&
         device_ok(get(count, PROCESSORS, colon == NULL ? 0 : atoi(colon + 1)), "cuDeviceGetAttribute", error);
}

static void close_nccl(mover *m) {
  own *o = m->own;
  if (o->comm != NULL) o->destroy(o->comm); /* streams and events go with the process: the libraries stay loaded */
  free(o);
  m->own = NULL;
}

static bool open_vendor(mover *m, const vendor *v, const char *file, llama_error *error) {
  own *o = m->own = calloc(1, sizeof *o);
  if (o == NULL) return llama_fail(error, "--move: no memory");
  o->vendor = v;
  o->library = load(file == NULL ? v->library : file, v == &amd ? "rccl" : "nccl", v->package, error);
  o->runtime = o->library == NULL ? NULL : dlopen(v->runtime, RTLD_NOW | RTLD_LOCAL);
  if (o->library != NULL && find_all(o, error) && set_device(m, error) && open_comm(m, error)) return true;
  free(o);
  m->own = NULL;
  return false;
}

static bool open_nccl(mover *m, const char *file, llama_error *error) { return open_vendor(m, &nvidia, file, error); }
static bool open_rccl(mover *m, const char *file, llama_error *error) { return open_vendor(m, &amd, file, error); }

/* ---- Exchanges ---- */

static int number_of(tdm_type type) { return type == TDM_F32 ? 7 : type == TDM_F16 ? 6 : 9; }

static bool begin(mover *m, llama_error *error) {
  own *o = m->own;
  return o->follow == NULL || (device_ok(o->record(o->ready, NULL), o->vendor->record, error) &&
                               device_ok(o->follow(o->stream, o->ready, 0), o->vendor->follow, error));
}

static bool began(mover *m, int code, const char *doing, llama_error *error) {
  own *o = m->own;
  return nccl_ok(o, code, doing, error) &&
         device_ok(o->record(o->ended[++m->begun % EVENTS], o->stream), o->vendor->record, error);
}

static bool sum(mover *m, void *data, int64_t count, tdm_type type, llama_error *error) {
  own *o = m->own;
  return begin(m, error) &&
         began(m, o->all_reduce(data, data, (size_t)count, number_of(type), 0, o->comm, o->stream), "ncclAllReduce", error);
}

static bool sum_part(mover *m, const void *all, void *part, int64_t count, tdm_type type, llama_error *error) {
  own *o = m->own;
  return begin(m, error) && began(m, o->reduce_scatter(all, part, (size_t)count, number_of(type), 0, o->comm, o->stream),
                                  "ncclReduceScatter", error);
}

static bool join(mover *m, const void *part, void *all, int64_t count, tdm_type type, llama_error *error) {
  own *o = m->own;
  return begin(m, error) &&
         began(m, o->all_gather(part, all, (size_t)count, number_of(type), o->comm, o->stream), "ncclAllGather", error);
}

static void abort_nccl(mover *m) {
  own *o = m->own;
  if (o != NULL && o->comm != NULL) o->abort(o->comm);
}

/* Operations end in their order, so a later one's event will do where number's was used again. */
static bool wait_nccl(mover *m, int64_t number, llama_error *error) {
  enum { BUSY = 10000, PAUSE = 50 };
  own *o = m->own;
  int code, state = 0;
  if (number <= 0) return true;
  for (int64_t tests = 0; (code = o->query(o->ended[number % EVENTS])) == NOT_READY; tests++) {
    if (tests % 1000 == 999 && (o->async_error(o->comm, &state) != 0 || (state != 0 && state != IN_PROGRESS))) {
      abort_nccl(m);
      o->comm = NULL;
      return llama_fail(error, "%s: an exchange has failed: %s", o->vendor->library, o->error_text(state));
    }
    if (tests > BUSY) usleep(PAUSE);
  }
  return device_ok(code, o->vendor->query, error);
}

const mover_row mover_nccl = {.name = "nccl",
                              .loads = true,
                              .open = open_nccl,
                              .close = close_nccl,
                              .sum = sum,
                              .sum_part = sum_part,
                              .join = join,
                              .wait = wait_nccl,
                              .processors = count_processors,
                              .abort = abort_nccl};
const mover_row mover_rccl = {.name = "rccl",
                              .loads = true,
                              .open = open_rccl,
                              .close = close_nccl,
                              .sum = sum,
                              .sum_part = sum_part,
                              .join = join,
                              .wait = wait_nccl,
                              .abort = abort_nccl};
