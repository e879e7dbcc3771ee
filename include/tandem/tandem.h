/* Tandem: the kernels a transformer needs, each one twice: portable OpenMP offload, and hand-tuned HIP.
 *
 * Use: tdm_open -> tdm_<op>_plan -> tdm_<op>_run (as often as wanted) -> tdm_plan_free -> tdm_close.
 * A plan validates its description, chooses a kernel and precomputes everything; a run checks its pointers and launches.
 *
 * Threads: a context and its plans may be used by several threads at once. Runs of a plan that needs a workspace are
 * serialized; tdm_close and tdm_plan_free must come last.
 *
 * Errors: every function that can fail returns a tdm_status. tdm_last_error() then names the argument that was wrong, its value
 * and what is allowed, or the function of the device's runtime that failed. On error no output argument is written, and no
 * array, with two exceptions:
 *   - A run, a tdm_copy or a tdm_stream_sync fails after work has begun on the device. The message then ends with
 *     "outputs may be partly written", and the outputs of the runs concerned must not be used.
 *   - TDM_ERROR_VERIFY: the run has completed, and its results are wrong.
 * A fault of a kernel that is still running may also be reported by a later call of the same device, as HIP does it.
 * tdm_free, tdm_plan_free, tdm_stream_close and tdm_close release everything that they can, also when they return an error.
 * The library never exits, aborts or prints, except for the lines that TANDEM_VERBOSE and TANDEM_VERIFY ask for, and these go
 * through the log function of tdm_options. LLVM's offload runtime does: it ends the process when a target region fails on
 * "omp:N".
 *
 * Threads of the host: runs on "host", and verify, use OpenMP's threads. An OpenMP runtime ends the process when it can't start
 * one. So the first run of each calling thread, and each run with more threads than before, first starts as many threads, all
 * at once, and lets them end. Where the system refuses (ulimit -u, ulimit -v, a cgroup's pids.max) the run returns
 * TDM_ERROR_DEVICE. Threads that other parts of the program start between this test and the region are not seen.
 *
 * fork: a child process can use Tandem. Its contexts and plans on "host" are copies that work there; those on GPUs must not be
 * used. With gcc's libgomp there is one limit: a thread that has run a parallel region with several threads and then calls fork
 * can't run another one in the child, because the threads of its pool stay in the parent, and libgomp would wait for them for
 * ever. In the child its runs on the host return TDM_ERROR_UNSUPPORTED; a new thread of the child can run them. Tandem only
 * sees its own regions: after an OpenMP region of the program's own code, let a new thread of the child run the plans. LLVM's
 * libomp has no such limit.
 *
 * Environment, read by tdm_open for every option that the caller left at 0: TANDEM_BACKEND, TANDEM_DEVICE, TANDEM_KERNEL,
 * TANDEM_TUNED, TANDEM_WAIT, TANDEM_STRICT=1, TANDEM_VERIFY=1; and TANDEM_VERBOSE=1: one line a run.
 *
 * Verify, for whoever suspects a kernel: every run of a plan is repeated on the host by the op's reference kernel, the oracle,
 * from copies of the inputs, and both results are compared. Elements may differ by twice the op's error bound, as both results
 * have errors, and by the rounding of each to its type; copies and f32 sums of two must be equal. The first element that
 * differs by more is named by the run's error and through the log function. Such a run waits for the device, and takes turns
 * with other runs of its plan; the plan's memory is that of its arrays on the host, outputs twice. A plan whose kernel is the
 * oracle on the host is not compared with itself; tdm_plan_explain says so. */
#ifndef TANDEM_TANDEM_H
#define TANDEM_TANDEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TDM_API __attribute__((visibility("default")))

typedef enum tdm_status {
  TDM_OK = 0,
  TDM_ERROR_ARGUMENT = -1,    /* a value outside what the function allows */
  TDM_ERROR_UNSUPPORTED = -2, /* a valid request that no kernel, backend or device of this build can serve */
  TDM_ERROR_MEMORY = -3,      /* an allocation failed */
  TDM_ERROR_DEVICE = -4,      /* the device or its runtime reported a failure, or the host's threads can't be started */
  TDM_ERROR_VERIFY = -5       /* verify: a run wrote what the oracle does not have; its arrays hold the kernel's results */
} tdm_status;

/* The status as a word: "ok", "argument", "unsupported", "memory", "device", "verify", or "unknown status". */
TDM_API const char *tdm_status_name(tdm_status status);

/* What the last failing call of this thread said; "" when none failed. Valid until this thread's next failing call. */
TDM_API const char *tdm_last_error(void);

/* "MAJOR.MINOR.PATCH". */
TDM_API const char *tdm_version(void);

/* Element types. bf16 and f16 are stored as 16-bit words; sums are always f32. */
typedef enum tdm_type { TDM_F32 = 0, TDM_F16 = 1, TDM_BF16 = 2 } tdm_type;

/* Bytes of an element, 0 for a value that is no type. */
TDM_API size_t tdm_type_size(tdm_type type);
/* "f32", "f16", "bf16", or "unknown type". */
TDM_API const char *tdm_type_name(tdm_type type);

typedef struct tdm_context tdm_context;
typedef struct tdm_plan tdm_plan;
typedef struct tdm_stream tdm_stream;

/* Receives one line, without a newline. May be called from any thread that runs a plan. */
typedef void (*tdm_log_fn)(void *user, const char *line);

/* What to open. All zero is "auto". What the caller names is used or refused, never replaced. */
typedef struct tdm_options {
  const char *backend; /* "omp", "hip"; NULL or "auto": the device's */
  /* "host", "omp:N" (N-th offload device), "hip:N" (N-th GPU of HIP's runtime), "sim:gfx942", "sim:gfx950" (simulated);
   * NULL or "auto": hip:0 where it answers, else omp:0, else host. */
  const char *device;
  /* "NAME", or "OP=NAME,OP=NAME": the kernel of these ops; NULL or "auto": the dispatcher chooses. Parameters that the kernel
   * takes may stand behind it: "hip_256x256:window=4:chunk=64" (tdm_kernel_parameters). */
  const char *kernel;
  int strict;     /* 1: auto refuses to run on the host */
  int teams;      /* OpenMP teams of a launch, 0: chosen by the kernel; for tests and tuning */
  int threads;    /* OpenMP threads of a team, 0: chosen by the kernel */
  tdm_log_fn log; /* NULL: stderr */
  void *log_user; /* passed to log */
  int verify;     /* 1: repeat every run by the oracle and compare (above) */
  /* A file with a tuned table, which comes before the one that is built in for the chip; "none": no table at all, the
   * heuristic alone; NULL: TANDEM_TUNED, else the built-in one. docs/tuning.md has the format. */
  const char *tuned;
  int xcds; /* HIP: XCDs (dies with an L2 of their own) that work is ordered for, at most 1024; 0: the device's */
  /* How a thread waits for the end of a run on an NVIDIA GPU through OpenMP ("omp:N"): "spin" keeps its core busy until then;
   * "block" sleeps: on an H200 this adds 18 us to a short wait, and 70 us to waits longer than 0.5 ms (bench/RESULTS.md). NULL:
   * TANDEM_WAIT, else "auto": what an open of this process named for the device before, else CUDA's own default, which spins
   * where the machine has as many cores as the process has contexts; a driver before CUDA 12.1 leaves it at "block", which
   * explain says. It is set in the driver's primary context of the device, for the whole process, and outlasts tdm_close: the
   * last open that names a way decides for all contexts. On other devices it must be "auto", and TANDEM_WAIT is checked but has
   * no effect. */
  const char *wait;
} tdm_options;

/* Opens a device. options may be NULL (all auto).
 * Errors: ARGUMENT for a name that is not known or a tuned table that has a mistake, UNSUPPORTED for a backend, device or way
 * to wait that this build or machine lacks. */
TDM_API tdm_status tdm_open(const tdm_options *options, tdm_context **context);
/* Closes; NULL is allowed. All plans, streams and memory of the context must have been freed before. DEVICE: something could
 * not be released; the context is closed all the same. */
TDM_API tdm_status tdm_close(tdm_context *context);

/* The device of a context: "host", "omp:N", "hip:N" or "sim:CHIP". */
TDM_API const char *tdm_context_device(const tdm_context *context);
/* The devices that tdm_open would take here, separated by spaces: "host omp:0 sim:gfx950". Valid until this thread's next call.
 */
TDM_API const char *tdm_devices(void);
/* The kernels built in for an op ("gemm"), separated by spaces, reference first; NULL for a name that is no op. The steps of
 * ladders (docs/ladder.md), which only run by name, are not among them. Valid until this thread's next call. */
TDM_API const char *tdm_kernels(const char *op);

/* The parameters that a kernel of an op takes, separated by spaces, of window, chunk, split and depth (docs/tuning.md); ""
 * where it takes none, NULL for names that are none. Valid until this thread's next call. */
TDM_API const char *tdm_kernel_parameters(const char *op, const char *kernel);
/* Why a kernel of an op can't run on the context's device, whatever the plan: "is for hosts"; "" where it can, NULL for names
 * that are none. Valid until this thread's next call. */
TDM_API const char *tdm_kernel_refused(const tdm_context *context, const char *op, const char *kernel);

/* ---- Memory of the context's device. Every pointer given to a run must be reachable from that device: memory from
 * tdm_alloc always is; on "host" any memory is. ---- */

/* bytes may be 0: *pointer is then NULL. Alignment: 256 bytes. Errors: MEMORY when it can't be had. */
TDM_API tdm_status tdm_alloc(tdm_context *context, size_t bytes, void **pointer);
/* NULL is allowed. ARGUMENT: pointer is not from tdm_alloc of this context, or was freed before. DEVICE: the device's runtime
 * refused; the memory is still the context's. */
TDM_API tdm_status tdm_free(tdm_context *context, void *pointer);

typedef enum tdm_direction { TDM_TO_DEVICE = 0, TDM_TO_HOST = 1, TDM_ON_DEVICE = 2 } tdm_direction;

/* Copies bytes between the caller's memory and the device, in stream order; the ranges must not overlap.
 * When it returns, the copy is done. */
TDM_API tdm_status tdm_copy(tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                            tdm_stream *stream);

/* ---- Streams: runs of one stream are done in the order of their calls. NULL is the context's default stream. On the omp
 * backend a run is done when it returns, so a stream adds nothing there; on others only tdm_stream_sync tells. ---- */

TDM_API tdm_status tdm_stream_open(tdm_context *context, tdm_stream **stream);
TDM_API tdm_status tdm_stream_sync(tdm_context *context, tdm_stream *stream);
/* NULL is allowed. No run of the stream may be under way. */
TDM_API tdm_status tdm_stream_close(tdm_stream *stream);

/* ---- Plans ---- */

/* Why this kernel: the device, the kernel, the reason, and each candidate that was refused with its reason, a line each.
 * Lives as long as the plan. */
TDM_API const char *tdm_plan_explain(const tdm_plan *plan);
/* The name of the plan's kernel. */
TDM_API const char *tdm_plan_kernel(const tdm_plan *plan);
/* NULL is allowed. No run of the plan may be under way. DEVICE: something could not be released; the plan is gone all the same.
 */
TDM_API tdm_status tdm_plan_free(tdm_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
