/* What the library's own files share: the plan, the kernel row, the context, and the checks of arguments. */
#ifndef TANDEM_INTERNAL_H
#define TANDEM_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/cross_entropy.h"
#include "tandem/embedding.h"
#include "tandem/gemm.h"
#include "tandem/rmsnorm.h"
#include "tandem/rope.h"
#include "tandem/silu_mul.h"
#include "tandem/softmax.h"
#include "tandem/swiglu.h"
#include "tuning.h"

/* Returns the status of a failing call to the caller. */
#define TDM_TRY(call)                            \
  do {                                           \
    tdm_status try_status = (call);              \
    if (try_status != TDM_OK) return try_status; \
  } while (0)

/* ---- Errors (status.c) ---- */

/* Stores the message for tdm_last_error and returns status. */
tdm_status tdm_fail(tdm_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For a failure after work has begun: adds to the message that outputs may be partly written, once. Returns status. */
tdm_status tdm_may_have_written(tdm_status status);
/* Turns messages of this thread off or on; returns what it was before. */
bool tdm_quiet(bool on);
/* Cleans up after a failure: should this call fail too, the first failure's message stays. */
#define TDM_CLEAN_UP(call)      \
  do {                          \
    bool was = tdm_quiet(true); \
    (void)(call);               \
    tdm_quiet(was);             \
  } while (0)
/* While several things are released: status keeps the first failure, and the message stays with it. */
#define TDM_FIRST(status, call) \
  do {                          \
    if ((status) == TDM_OK)     \
      (status) = (call);        \
    else                        \
      TDM_CLEAN_UP(call);       \
  } while (0)

/* ---- Ops ---- */

typedef enum tdm_op {
  TDM_OP_GEMM,
  TDM_OP_SWIGLU,
  TDM_OP_RMSNORM,
  TDM_OP_ATTENTION,
  TDM_OP_ROPE,
  TDM_OP_SOFTMAX,
  TDM_OP_EMBEDDING,
  TDM_OP_SILU_MUL,
  TDM_OP_ADD,
  TDM_OP_CROSS_ENTROPY,
  TDM_OP_COUNT
} tdm_op;

extern const char *const tdm_op_names[TDM_OP_COUNT];
extern const char *const tdm_layout_names[TDM_TT + 1]; /* of gemm: "nn" ... */

/* ---- Backends: a device's memory and the completion of work. A second backend is a second table. ---- */

/* For plans whose runs share a workspace: a run waits, on its own stream, for the run before. */
typedef struct tdm_turns {
  tdm_status (*open)(const tdm_context *context, void **turns);
  tdm_status (*close)(const tdm_context *context, void *turns);
  tdm_status (*begin)(const tdm_context *context, void *turns, void *stream);
  tdm_status (*end)(const tdm_context *context, void *turns, void *stream);
} tdm_turns;

typedef struct tdm_backend {
  const char *name;
  tdm_status (*alloc)(const tdm_context *context, size_t bytes, void **pointer);
  tdm_status (*free)(const tdm_context *context, void *pointer);
  tdm_status (*copy)(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                     void *stream);
  /* The backend's own stream; NULL is its default one. */
  tdm_status (*stream_open)(const tdm_context *context, void **stream);
  tdm_status (*stream_close)(const tdm_context *context, void *stream);
  tdm_status (*sync)(const tdm_context *context, void *stream);
  const tdm_turns *turns; /* NULL: a run is done when it returns */
} tdm_backend;

struct tdm_stream {
  tdm_context *context;
  void *handle; /* the backend's */
};

/* offload/device/device.c: OpenMP target devices, and the host. */
extern const tdm_backend tdm_backend_omp;
int tdm_omp_device_count(void); /* offload devices, without the host; 0 in a build without offload */
int tdm_omp_host_threads(void); /* threads that a parallel region gets on the host */
int tdm_omp_mandatory(void);    /* OMP_TARGET_OFFLOAD=MANDATORY is set: the host must not run target regions */
/* offload/device/wait.c: how threads wait for the end of a run on the context's offload device: "spin", "block", or NULL: the
 * driver's own way, unless a call before named one. UNSUPPORTED: it is no NVIDIA GPU; DEVICE: its driver can't do that; reason
 * goes on behind the device's name. */
tdm_status tdm_omp_wait(const tdm_context *context, const char *wait, char *reason, size_t size);

/* threads.c: before a parallel region of this thread on the host, which asks for so many threads: DEVICE where they can't be
 * started, UNSUPPORTED where the region would wait for ever, in the child of a fork. `what` begins the message. */
tdm_status tdm_host_region(const char *what, int64_t threads);

/* hip/host/backend.c, in builds with -Dtdm_backend=hip: GPUs through HIP's runtime, and the simulator. */
typedef struct tdm_hip_device tdm_hip_device;
extern const tdm_backend tdm_backend_hip;
/* Opens "hip:N", whose number is also given, or "sim:CHIP"; on failure says why, without the device's name. */
tdm_status tdm_hip_open(const char *name, int number, tdm_hip_device **device, char *reason, size_t size);
tdm_status tdm_hip_close(tdm_hip_device *device); /* NULL is allowed */
/* Appends the devices that it would open here, each with a space in front. */
void tdm_hip_list(char *text, size_t size);

/* registry.c: the addresses of a context's allocations, so that tdm_free can refuse any other. */
typedef struct tdm_registry {
  pthread_mutex_t lock;
  uintptr_t *slots; /* NULL until the first allocation */
  size_t size;      /* a power of two */
  size_t count;     /* slots that are used or reserved: at most half of them */
} tdm_registry;

tdm_status tdm_registry_open(tdm_registry *registry);
void tdm_registry_close(tdm_registry *registry);
/* Room for one more, before the allocation; tdm_registry_add fills it, or gives it back with NULL. */
tdm_status tdm_registry_reserve(tdm_registry *registry);
void tdm_registry_add(tdm_registry *registry, const void *pointer);
/* Takes an allocation, to free it. false: there is none at this address, or another thread frees it. */
bool tdm_registry_take(tdm_registry *registry, const void *pointer);
/* Ends tdm_registry_take: one that could not be freed stays. */
void tdm_registry_settle(tdm_registry *registry, const void *pointer, bool freed);

struct tdm_context {
  const tdm_backend *backend;
  char device[48];       /* "host", "omp:0", "hip:0", "sim:gfx950" */
  int omp_device;        /* number for device(), -1: the host */
  tdm_hip_device *hip;   /* NULL: not a device of the hip backend */
  bool automatic;        /* the device was chosen, not named */
  char passed_over[320]; /* automatic: the devices that come before and why they were not taken, a line */
  char no_wait[128];     /* why how threads wait for the offload device is left to its runtime; "": it is not */
  bool strict, verbose, verify;
  int teams, threads; /* overrides, 0: none */
  int host_threads;
  char *kernel;               /* TANDEM_KERNEL or options.kernel, NULL: the dispatcher chooses */
  struct tdm_tuned *tuned[2]; /* of TANDEM_TUNED or options.tuned; built in for the chip (tuned.h). NULL: none */
  tdm_log_fn log;
  void *log_user;
  tdm_registry registry;
};

/* ---- Plans ---- */

typedef enum tdm_role { TDM_IN, TDM_OUT, TDM_IN_OUT } tdm_role;

/* One pointer argument of a run: what the plan knows about the array behind it. */
typedef struct tdm_buffer {
  const char *name;
  tdm_role role;
  size_t bytes;      /* from the pointer to the end of the last element */
  size_t align;      /* bytes of an element */
  bool used;         /* false: this plan has no such array, the pointer must be NULL */
  unsigned in_place; /* bit i: may be the same pointer as buffer i */
} tdm_buffer;

enum { TDM_MAX_BUFFERS = 6, TDM_HIP_ARGS = 640 };

/* Geometry of a launch. Kernels are right for any smaller number of teams and threads than they ask for. */
typedef struct tdm_launch {
  int device; /* for device() */
  int on_device;
  int teams, threads;
  int stream; /* results go past the caches (offload/device/chunk.h) */
} tdm_launch;

/* One launch of a HIP kernel: all but its arguments. */
typedef struct tdm_hip_kernel {
  void *function;          /* hipFunction_t */
  unsigned grid[3], block; /* workgroups, and work-items of each */
  unsigned lds;            /* dynamic bytes */
} tdm_hip_kernel;

/* Only a run tells where arrays begin. A run of which one of the arrays in `buffers` (bits 1 << number) does not begin at a
 * multiple of `align` bytes launches another row's kernel. */
typedef struct tdm_detour {
  int align; /* 0: every run launches the row's own kernel */
  unsigned buffers;
  const char *kernel; /* name of the other row */
} tdm_detour;

/* One kernel: one row of the table in kernels.c. */
typedef struct tdm_kernel {
  const char *name;
  tdm_op op;
  const tdm_backend *backend;
  /* Can it run on this device of its backend, whatever the plan? If not, writes the reason. NULL: on each of them. Its other
   * functions are called only where it can. */
  bool (*runs_on)(const tdm_context *context, char *reason, size_t size);
  /* Can it serve the plan's description? If not, writes the reason. NULL: it serves every valid description. */
  bool (*supports)(const tdm_plan *plan, char *reason, size_t size);
  /* Chooses tiles and launch geometry, names the workspace, uploads tables. */
  tdm_status (*prepare)(tdm_plan *plan);
  /* Launches. buffers are the run's pointers in the order of the plan's buffers. Allocates nothing. */
  tdm_status (*launch)(const tdm_plan *plan, void *const *buffers, tdm_stream *stream);
  /* Estimates a run with plan->tuning; only of plans that it serves and that are not empty. The heuristic compares rows by it.
   * NULL: this row states none, and of two rows the later one is chosen. */
  void (*cost)(const tdm_plan *plan, tdm_cost *cost);
  bool by_name;   /* a step of a ladder: runs where its name is given, and is no candidate otherwise */
  unsigned takes; /* parameters that supports, prepare and cost read: bits 1 << tdm_parameter */
  tdm_detour detour;
  /* launch takes attention's skv and rope's offset from plan->desc, and not from what prepare has left: a run may have fewer
   * keys, or begin at a later position, than the plan (tdm_plan_vary). */
  bool varies;
} tdm_kernel;

/* Who decided on a plan's kernel. */
typedef enum tdm_source { TDM_NAMED, TDM_TUNED, TDM_HEURISTIC } tdm_source;

struct tdm_plan {
  tdm_op op;
  const tdm_kernel *kernel;
  tdm_tuning tuning; /* parameters that the kernel is to use; supports, prepare and cost read them */
  tdm_source source;
  tdm_context *context;
  union {
    tdm_gemm_desc gemm;
    tdm_swiglu_desc swiglu;
    tdm_rmsnorm_desc rmsnorm;
    tdm_attention_desc attention;
    tdm_rope_desc rope;
    tdm_softmax_desc softmax;
    tdm_embedding_desc embedding;
    tdm_silu_mul_desc silu_mul;
    tdm_add_desc add;
    tdm_cross_entropy_desc cross_entropy;
  } desc;             /* with every default filled in */
  char title[160];    /* "gemm nt bf16 257x129x65" */
  const char *varied; /* what a run has another value of than its plan (tdm_plan_vary), "skv"; NULL: nothing */
  int64_t varied_to;
  bool empty; /* no output element: a run does nothing */

  int buffer_count;
  tdm_buffer buffers[TDM_MAX_BUFFERS];

  /* Set by the kernel's prepare. */
  tdm_launch launch;                                             /* omp */
  tdm_hip_kernel hip;                                            /* hip */
  unsigned char args[TDM_HIP_ARGS] __attribute__((aligned(16))); /* hip: the kernel's argument, without the run's pointers */
  int64_t tile_m, tile_n;                                        /* tile kernels only */
  size_t workspace_bytes;
  void *workspace; /* device memory of workspace_bytes; one run at a time uses it */
  void *table;     /* device copy of what was precomputed (epilogue steps, rope angles) */

  void *turns;               /* of backend->turns; NULL without a workspace */
  struct tdm_shadow *shadow; /* TANDEM_VERIFY (shadow.h); NULL: runs are not compared */
  const tdm_plan *made;      /* itself; in the copy that tdm_plan_vary makes, the plan that was copied */

  pthread_mutex_t turn; /* held by the run that uses the workspace; this and what follows has the plan alone, no copy */
  char explain[4096];
};

/* An op's plan function: begin, fill plan->desc, check, name the buffers, end. */
tdm_status tdm_plan_begin(tdm_context *context, tdm_op op, const void *desc, tdm_plan **out, tdm_plan **plan);
/* Ends an op's plan function: finishes on TDM_OK, else frees the plan and returns status. */
tdm_status tdm_plan_end(tdm_plan *plan, tdm_status status, tdm_plan **out);

void tdm_plan_title(tdm_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the next pointer argument. bytes 0: it may be NULL. */
void tdm_plan_buffer(tdm_plan *plan, const char *name, tdm_role role, size_t bytes, size_t align);
/* Adds a pointer argument that this plan doesn't use: it must be NULL. */
void tdm_plan_no_buffer(tdm_plan *plan, const char *name);
/* Copies bytes to the device as plan->table. */
tdm_status tdm_plan_upload(tdm_plan *plan, const void *bytes, size_t size);
/* Sets the geometry, unless the context overrides it; a value below 1 becomes 1. */
void tdm_plan_launch(tdm_plan *plan, int64_t teams, int64_t threads);
/* Checks every pointer and launches. */
tdm_status tdm_plan_run(const tdm_plan *plan, tdm_op op, const void *const *pointers, tdm_stream *stream);

/* Refuses what is no plan of the op. */
tdm_status tdm_plan_check(const tdm_plan *plan, tdm_op op);
/* For one run with another description: refuses kernels that can't vary, else copies into *run what runs read of the plan.
 * run->desc is then the caller's to change, before tdm_plan_run(run, ...). name, value: what becomes of it, for messages. */
tdm_status tdm_plan_vary(const tdm_plan *plan, const char *name, int64_t value, tdm_plan *run);
/* Of rope: floats of the plan's table of angles, head_dim for each position, before the one where the run begins. */
static inline int64_t tdm_rope_skipped(const tdm_plan *run) {
  return (run->desc.rope.offset - run->made->desc.rope.offset) * run->desc.rope.head_dim;
}
/* Can a run on the host begin its region? (tdm_host_region) */
tdm_status tdm_plan_ready(const tdm_plan *plan);
/* The title of a run: the plan's, and what was varied: "attention f32 ..., skv = 17". Returns text. */
enum { TDM_TITLE_TEXT = 224 };
const char *tdm_plan_run_title(const tdm_plan *plan, char text[TDM_TITLE_TEXT]);

/* context.c: a run's stream must be of the plan's context. */
tdm_status tdm_stream_check(const char *function, const tdm_context *context, const tdm_stream *stream);

/* Do these pointers of a run take plan->kernel's detour? */
bool tdm_plan_detours(const tdm_plan *plan, void *const *buffers);

/* choose.c: chooses plan->kernel and plan->tuning and writes plan->explain. */
tdm_status tdm_plan_choose(tdm_plan *plan);

/* ---- The table of kernels (kernels.c) ---- */

int tdm_kernel_count(void);
const tdm_kernel *tdm_kernel_row(int i); /* reference first, then overrides */
/* Has the device a place for the row: its backend, and what runs_on asks for? If not, writes the reason. */
bool tdm_kernel_runs_on(const tdm_kernel *kernel, const tdm_context *context, char *reason, size_t size);
/* For runs_on of the omp backend's rows: hosts alone, GPUs alone. */
bool tdm_hosts_only(const tdm_context *context, char *reason, size_t size);
bool tdm_gpus_only(const tdm_context *context, char *reason, size_t size);
/* Does the caller leave the threads of a team open, or ask for exactly this many? If not, writes the reason. */
bool tdm_threads_fit(const tdm_context *context, int threads, char *reason, size_t size);
/* The op's row of this name, NULL where it has none. */
const tdm_kernel *tdm_kernel_find(tdm_op op, const char *name, int length);
/* false: none is named for the op. context->kernel was checked when the context was opened. */
bool tdm_named_kernel(const char *kernels, tdm_op op, tdm_choice *named);
/* "CHOICE" or "OP=CHOICE,OP=CHOICE", as options.kernel has it: refuses what names no kernel. NULL is allowed. */
tdm_status tdm_check_kernel_names(const char *kernels);
/* Adds rows to the table, in front of the built-in ones: the checker's own test plants kernels with bugs. */
void tdm_kernels_extend(const tdm_kernel *const *rows, int count);

/* ---- Checks of a description (validate.c). Each names the argument, its value and what is allowed. ---- */

tdm_status tdm_check_range(const char *op, const char *name, int64_t value, int64_t least, int64_t most);
tdm_status tdm_check_type(const char *op, const char *name, tdm_type type);
tdm_status tdm_check_finite(const char *op, const char *name, double value);
/* 0 becomes length; less than length is refused. */
tdm_status tdm_check_leading(const char *op, const char *name, int64_t *leading, int64_t length);
/* Bytes from the first to the last element of a strided array, 0 if it has none; refuses what does not fit in 63 bits. */
tdm_status tdm_check_extent(const char *op, const char *name, int rank, const int64_t *dims, const int64_t *strides,
                            size_t element, size_t *bytes);
/* The same for rows x cols with a leading dimension. */
tdm_status tdm_check_matrix(const char *op, const char *name, int64_t rows, int64_t cols, int64_t leading, size_t element,
                            size_t *bytes);

#endif
