/* Tandem: the kernels that a transformer needs, each one twice: portable OpenMP offload, and hand-tuned HIP.
 *
 * Use: tdm_open -> tdm_<op>_plan -> tdm_<op>_run (as often as you like) -> tdm_plan_free -> tdm_close.
 * A plan validates its description, chooses a kernel and computes in advance all that a run needs. A run checks its
 * pointers and launches the kernel. It allocates no memory, with two exceptions, because only a run sees the pointers:
 *   - omp_gpu_wgmma and omp_gpu_tma (gemm, swiglu and attention on Hopper GPUs) copy each input that is not aligned to
 *     16 bytes;
 *   - gemm's tile kernels in HIP copy inputs of f16 and bf16 that are not aligned to 4 bytes, where the device has memory
 *     pools and a copy is estimated to pay (tdm_plan_explain says `unaligned:`).
 * A run takes the copy's memory from the runtime's pool (cuMemAllocAsync, hipMallocAsync) and gives it back before it
 * returns. If none is left, the run returns TDM_ERROR_MEMORY. docs/api.md is a tour, docs/glossary.md explains the terms.
 *
 * What all ops share:
 *   - Matrices are row-major. Shapes, strides and leading dimensions are int64_t and count elements. The leading
 *     dimension is the distance between the starts of two rows; 0 means packed, and otherwise it is at least the
 *     length of a row.
 *   - tdm_<op>_default(shape, type) fills in every default. tdm_<op>_plan copies the description.
 *   - Errors of tdm_<op>_plan: ARGUMENT for a NULL or a value that the header does not allow, or an array of 2^63
 *     bytes or more; UNSUPPORTED when no kernel supports the plan, or not the kernel that was named; MEMORY; DEVICE.
 *   - The pointers of tdm_<op>_run are device pointers, aligned to their element (tdm_alloc aligns to 256 bytes). The
 *     pointer of an array without elements may be NULL. An output must not overlap any other array, except where the
 *     op's header allows it to be the same one (in place). Errors: ARGUMENT for a pointer or stream that breaks these
 *     rules, MEMORY for a copy that the device has no memory for (above), DEVICE, UNSUPPORTED after a fork (below), VERIFY.
 *
 * Errors: every function that can fail returns a tdm_status. tdm_last_error() then names the argument that was wrong,
 * its value and what is allowed, or the function of the device's runtime that failed. On error, no output is written.
 * The exceptions are:
 *   - A run, a tdm_copy or a tdm_stream_sync that fails after work has begun on the device. The message then ends
 *     with "outputs may be partly written", and the outputs of these runs must not be used.
 *   - TDM_ERROR_VERIFY: the run has completed, and its results are wrong.
 * A later call on the same device may report the fault of a kernel that was still running, as in HIP.
 * tdm_free, tdm_plan_free, tdm_event_close, tdm_stream_close and tdm_close release everything that they can, even if
 * they return an error.
 * The library never exits, aborts or prints. The exceptions are the lines that TANDEM_VERBOSE and TANDEM_VERIFY ask
 * for, which go to the log function of tdm_options, and LLVM's offload runtime, which ends the process when a target
 * region fails on "omp:N".
 *
 * Threads: several threads may use a context and its plans at once. Runs of a plan that needs a workspace are
 * serialized. tdm_plan_free and tdm_close must come after all other calls.
 *
 * Threads on the host: runs on "host" use OpenMP's threads, and so does verify. An OpenMP runtime ends the process
 * when it can't start a thread. To prevent this, the first run of each calling thread, and each run with more threads
 * than before, first starts that many threads at once and lets them end. If the system refuses (ulimit -u, ulimit -v,
 * a cgroup's pids.max), the run returns TDM_ERROR_DEVICE. Threads that the program starts between this test and the
 * target region are not taken into account.
 *
 * fork: a child process can use Tandem. Its contexts and plans on "host" and "sim:CHIP" are copies that work. A GPU that
 * was opened before the fork is the parent's alone: in the child each call for it, tdm_open included, is UNSUPPORTED and
 * reaches no driver; tdm_free, tdm_plan_free, tdm_event_close, tdm_stream_close and tdm_close free the child's copies.
 * Start a child that needs a GPU with exec (in Python: "spawn").
 * On hosts gcc's libgomp has one limit: a thread that has run a parallel region with several threads and then calls
 * fork can't run another one in the child. The threads of its pool stay in the parent, and libgomp would wait for
 * them forever. In the child, such a thread's runs on the host return TDM_ERROR_UNSUPPORTED; a new thread of the
 * child can run the plans. Tandem only knows of its own regions, so after an OpenMP region of the program's own, run
 * the plans in a new thread of the child. LLVM's libomp has no such limit.
 *
 * Environment: tdm_open reads TANDEM_BACKEND, TANDEM_DEVICE, TANDEM_KERNEL, TANDEM_TUNED, TANDEM_WAIT,
 * TANDEM_STRICT=1 and TANDEM_VERIFY=1 for each option that the caller left at 0. TANDEM_VERBOSE=1 logs one line for
 * each run. TANDEM_CPU=avx2, avx512, avx512_bf16, avx512_fp16, amx or amx_fp16 limits the host's kernels to
 * instruction sets up to this one.
 *
 * Verify finds wrong kernels. Every run of a plan is repeated on the host by the op's reference kernel, the oracle,
 * from copies of the inputs, and the results are compared. Both results have rounding errors, so elements may differ
 * by twice the op's error bound, plus the rounding of each result to its type. Copies and f32 sums of two numbers
 * must be equal. The run's error and the log name the first element that differs by more. Such a run waits for the
 * device, and runs of one plan are serialized. The plan needs host memory for all its arrays, and twice for the
 * outputs. A plan whose kernel is the oracle on the host is not compared with itself; tdm_plan_explain says so. */
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TDM_API __attribute__((visibility("default")))

/* The version of these headers. Until 1.0.0 a new MINOR may change the API; a new PATCH never does. */
#define TDM_VERSION_MAJOR 0
#define TDM_VERSION_MINOR 1
#define TDM_VERSION_PATCH 0

typedef enum tdm_status {
  TDM_OK = 0,
  TDM_ERROR_ARGUMENT = -1,    /* a value that the function does not allow */
  TDM_ERROR_UNSUPPORTED = -2, /* a valid request that no kernel, backend or device of this build supports */
  TDM_ERROR_MEMORY = -3,      /* an allocation failed */
  TDM_ERROR_DEVICE = -4,      /* the device or its runtime reported a failure, or threads of the host can't be started */
  TDM_ERROR_VERIFY = -5       /* verify: the kernel's results differ from the oracle's; the arrays hold the kernel's */
} tdm_status;

/* The status as a word: "ok", "argument", "unsupported", "memory", "device", "verify", or "unknown status". */
TDM_API const char *tdm_status_name(tdm_status status);

/* The message of this thread's last failed call; "" if none has failed. Valid until this thread's next failed call. */
TDM_API const char *tdm_last_error(void);

/* The version of the library that runs, "MAJOR.MINOR.PATCH": it can differ from that of the headers a program was compiled
 * with. */
TDM_API const char *tdm_version(void);

/* Element types. f16 (IEEE binary16) and bf16 are stored as 16-bit words. Sums are always f32. */
typedef enum tdm_type { TDM_F32 = 0, TDM_F16 = 1, TDM_BF16 = 2 } tdm_type;

/* The size of an element in bytes; 0 for a value that is not a type. */
TDM_API size_t tdm_type_size(tdm_type type);
/* "f32", "f16", "bf16", or "unknown type". */
TDM_API const char *tdm_type_name(tdm_type type);

/* Types of ids and targets, which are numbers of rows or columns. */
typedef enum tdm_index_type { TDM_I32 = 0, TDM_I64 = 1 } tdm_index_type;

typedef struct tdm_context tdm_context;
typedef struct tdm_plan tdm_plan;
typedef struct tdm_stream tdm_stream;
typedef struct tdm_event tdm_event;

/* Receives one line, without a newline. Any thread that runs a plan may call it, also several at once. */
typedef void (*tdm_log_fn)(void *user, const char *line);

/* What to open. With all fields 0, Tandem chooses ("auto"). What the caller names is used or refused, never replaced. */
typedef struct tdm_options {
  const char *backend; /* "omp" or "hip"; NULL or "auto": that of the device */
  /* "host", "omp:N" (the N-th offload device), "hip:N" (the N-th GPU of the HIP runtime), "sim:gfx942" or "sim:gfx950"
   * (simulated). NULL or "auto": the first that works of hip:0, omp:0 and host. */
  const char *device;
  /* The kernel of every op, "NAME", or of some ops, "OP=NAME,OP=NAME". NULL or "auto": the dispatcher chooses. Parameters
   * follow the name: "hip_256x256:window=4:chunk=64" (tdm_kernel_parameters). */
  const char *kernel;
  int strict;     /* 1: auto never chooses the host; default 0 */
  int teams;      /* OpenMP teams of a launch, for tests and tuning; 0 (default): the kernel decides */
  int threads;    /* OpenMP threads of a team, likewise */
  tdm_log_fn log; /* NULL (default): lines go to stderr */
  void *log_user; /* passed to log */
  int verify;     /* 1: repeat every run with the oracle and compare (see above); default 0 */
  /* A file with a tuned table. Its entries come before those that are built in for the chip; docs/tuning.md has the format.
   * "none": no table, the heuristic decides. NULL: TANDEM_TUNED, or the built-in table. */
  const char *tuned;
  int xcds; /* HIP: the number of XCDs (dies with their own L2) to order the work for, 1 to 1024; 0 (default): the device's */
  /* How a thread waits for a run on an NVIDIA GPU through OpenMP ("omp:N").
   *   "spin"   keeps its core busy.
   *   "block"  sleeps. On an H200 this adds 18 us to a short wait, and 70 us to waits longer than 0.5 ms
   *            (bench/results/h200.md).
   *   "auto"   keeps what an earlier tdm_open of this process has named for the device. If none has, it is CUDA's own default,
   *            which spins if the machine has at least as many cores as the process has contexts. A driver older than CUDA 12.1
   *            stays at "block", and tdm_plan_explain says so.
   *   NULL     TANDEM_WAIT, or "auto" if that is not set.
   * The setting belongs to the driver's primary context of the device. It holds for the whole process and outlasts tdm_close:
   * the last tdm_open that names one decides for all contexts. On other devices only "auto" is allowed; TANDEM_WAIT is checked,
   * but has no effect there. */
  const char *wait;
} tdm_options;

/* Opens a device. options may be NULL: all auto.
 * Errors: ARGUMENT for an unknown name, or a tuned table with a mistake; UNSUPPORTED for a backend, a device or a way to wait
 * that this build or machine does not have; MEMORY; DEVICE. */
TDM_API tdm_status tdm_open(const tdm_options *options, tdm_context **context);
/* Closes a context. NULL is allowed. Free all plans, streams and memory of the context first. DEVICE: something could not be
 * released; the context is closed all the same. */
TDM_API tdm_status tdm_close(tdm_context *context);

/* The device of a context: "host", "omp:N", "hip:N" or "sim:CHIP". */
TDM_API const char *tdm_context_device(const tdm_context *context);
/* The devices that tdm_open can open on this machine, separated by spaces: "host omp:0 sim:gfx950". Valid until this thread's
 * next call. */
TDM_API const char *tdm_devices(void);
/* The kernels of an op ("gemm") in this build, separated by spaces, the reference kernel first; NULL if the op is unknown. The
 * steps of ladders (docs/ladder.md) run only by name and are not listed. Valid until this thread's next call. */
TDM_API const char *tdm_kernels(const char *op);

/* The parameters of an op's kernel, separated by spaces, out of window, chunk, split and depth (docs/tuning.md); "" if it has
 * none, NULL if the op or the kernel is unknown. Valid until this thread's next call. */
TDM_API const char *tdm_kernel_parameters(const char *op, const char *kernel);

/* What is true of a kernel for every plan. */
typedef struct tdm_kernel_facts {
  const char *backend; /* "omp" or "hip" */
  int matrix_units;    /* 1: it multiplies f16 and bf16 on matrix units. hip: f32 too */
  int rounds_weights;  /* 1: attention's probabilities are rounded to a 16-bit type before they are multiplied by V */
} tdm_kernel_facts;
/* The facts of an op's kernel. ARGUMENT: the op or the kernel is unknown, or facts is NULL. */
TDM_API tdm_status tdm_kernel_describe(const char *op, const char *kernel, tdm_kernel_facts *facts);
/* Why an op's kernel can't run on the context's device, whatever the plan, such as "runs only on hosts"; "" if it can, NULL if
 * the op or the kernel is unknown. Valid until this thread's next call. */
TDM_API const char *tdm_kernel_refused(const tdm_context *context, const char *op, const char *kernel);

/* ---- Memory of the context's device. The device must be able to reach every pointer that is given to a run: it can always
 * reach memory from tdm_alloc, and "host" can reach any memory. On NVIDIA GPUs and through HIP a run asks the runtime about
 * the beginning of each array. Memory of another device, and memory of the host that the device can't read, are ARGUMENT.
 * Managed and registered memory passes, and all memory of the host where the device can read that. ---- */

/* Allocates memory, aligned to 256 bytes and not initialized. With bytes = 0, *pointer is NULL. Errors: MEMORY. */
TDM_API tdm_status tdm_alloc(tdm_context *context, size_t bytes, void **pointer);
/* Frees memory. NULL is allowed. ARGUMENT: pointer is not from tdm_alloc of this context, or has been freed already. DEVICE:
 * the device's runtime refused; the memory still belongs to the context. */
TDM_API tdm_status tdm_free(tdm_context *context, void *pointer);

typedef enum tdm_direction { TDM_TO_DEVICE = 0, TDM_TO_HOST = 1, TDM_ON_DEVICE = 2 } tdm_direction;

/* Copies bytes between the caller's memory and the device, after the earlier work of the stream. The copy is done when it
 * returns. The two ranges must not overlap. */
TDM_API tdm_status tdm_copy(tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                            tdm_stream *stream);

/* ---- Streams: the runs of a stream are done in the order of their calls. NULL is the context's default stream. On the omp
 * backend a run is done when it returns. On the hip backend it is done after tdm_stream_sync, or after a tdm_copy on the same
 * stream.
 *
 * Sharing a GPU with another library in the same process, such as PyTorch or cuBLAS: wrap its stream (tdm_stream_wrap).
 *   omp:N  of an NVIDIA GPU: LLVM's OpenMP runtime launches on non-blocking streams of its own. So a run, a copy or
 *          tdm_stream_sync on a wrapped stream first waits on the host for the work that the stream has so far, and is done
 *          when it returns. Without a wrapped stream (NULL, tdm_stream_open) it waits for nothing that others have launched,
 *          not even on CUDA's default stream: then wait before the call, by cudaDeviceSynchronize() or
 *          torch.cuda.synchronize(). After the call there is nothing to wait for. On other GPUs this wait is the only way.
 *   hip:N  A run on a wrapped stream is launched on it. NULL is HIP's default stream. A stream of tdm_stream_open is
 *          non-blocking: it waits for no other stream, and none waits for it.
 * The device, and on NVIDIA's GPUs CUDA's context, that are current in the calling thread are the same after each call as
 * before it. (With a driver older than CUDA 12.1 the offload runtime's context stays.) Loading the library is not a call: where
 * it has code for NVIDIA's GPUs, LLVM's runtime opens all of them then, and leaves the context of one current in the thread
 * that loads. A program with several GPUs chooses its device after that: cudaSetDevice(), torch.cuda.set_device().
 *
 * Graphs: a run on a HIP stream that captures becomes part of the graph, and makes no call that capture forbids. Make plans
 * and memory before: they are no runs, and a capture in the global mode forbids what they need. tdm_copy, tdm_stream_sync and
 * runs with verify would have to wait, so they are UNSUPPORTED there, and the capture goes on. Plans that need a workspace:
 * the runs of such a plan outside of graphs are serialized, but a graph's runs wait only for what is before them in the
 * graph. The caller must order all launches of graphs that have runs of the plan, with each other and with its other runs,
 * and runs of the plan on several streams of one graph (by events); if two of them overlap, later runs of the plan may be
 * wrong too. The plan must outlive the graph. Memory of a run that
 * copies (head of this file) becomes a part of the graph, and HIP limits what may be done with such graphs; align arrays to
 * 4 bytes where that matters.
 * What runs through OpenMP can't be captured: a wrapped stream that captures is UNSUPPORTED on omp:N, and runs without a
 * wrapped stream must not be called while the thread captures. ---- */

TDM_API tdm_status tdm_stream_open(tdm_context *context, tdm_stream **stream);
/* A stream of the caller: a hipStream_t on hip:N, a CUstream (cudaStream_t) on omp:N of an NVIDIA GPU. NULL is HIP's default
 * stream, or CUDA's legacy default stream; so a wrapped NULL is not the same as no stream on omp:N. It must be open as long as
 * it is used here, and tdm_stream_close leaves it open.
 * Errors: ARGUMENT for a stream of another device or context; UNSUPPORTED on hosts and on other GPUs; MEMORY; DEVICE. */
TDM_API tdm_status tdm_stream_wrap(tdm_context *context, void *native, tdm_stream **stream);
/* The hipStream_t or CUstream of a stream. NULL for NULL, for the default stream, and for a stream of tdm_stream_open on the
 * omp backend. */
TDM_API void *tdm_stream_native(const tdm_stream *stream);
TDM_API tdm_status tdm_stream_sync(tdm_context *context, tdm_stream *stream);
/* NULL is allowed. All runs of the stream must be done. */
TDM_API tdm_status tdm_stream_close(tdm_stream *stream);

/* ---- Events: marks in the order of a stream's work. On the hip backend they are HIP's. On the omp backend runs are done when
 * they return: so tdm_event_record waits for a wrapped stream's work, then notes the time of the host, and there is nothing
 * for tdm_event_wait and tdm_event_sync to wait for. Streams and events of one call must be of one context, or the stream NULL.
 * ---- */

TDM_API tdm_status tdm_event_open(tdm_context *context, tdm_event **event);
/* Marks the work that the stream has so far; the last record counts. */
TDM_API tdm_status tdm_event_record(tdm_event *event, tdm_stream *stream);
/* Work that the stream gets after this call waits for the mark. It waits for nothing if the event has not been recorded. */
TDM_API tdm_status tdm_event_wait(tdm_event *event, tdm_stream *stream);
/* Waits on the host for the mark. */
TDM_API tdm_status tdm_event_sync(tdm_event *event);
/* Waits for both marks, and sets *milliseconds to the time from one to the other. ARGUMENT: one has not been recorded. */
TDM_API tdm_status tdm_event_elapsed(tdm_event *begin, tdm_event *end, double *milliseconds);
/* NULL is allowed. */
TDM_API tdm_status tdm_event_close(tdm_event *event);

/* ---- Plans ---- */

/* Several lines of text: the device, the kernel, why it was chosen, and why each other kernel was not. Valid as long as the
 * plan. */
TDM_API const char *tdm_plan_explain(const tdm_plan *plan);
/* The name of the plan's kernel. */
TDM_API const char *tdm_plan_kernel(const tdm_plan *plan);
/* NULL is allowed. All runs of the plan must be done. DEVICE: something could not be released; the plan is freed anyway. */
TDM_API tdm_status tdm_plan_free(tdm_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
