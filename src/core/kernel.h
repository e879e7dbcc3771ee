/* What a kernel sees: its row in the table, its plan, and the functions that it may call. */
#ifndef TANDEM_CORE_KERNEL_H
#define TANDEM_CORE_KERNEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "cpu.h"
#include "tuning.h"
#define TDM_OP_HEADERS
#include "src/ops.def"

typedef enum tdm_op {
#define TDM_OP(number, name, ...) TDM_OP_##number,
#include "src/ops.def"
  TDM_OP_COUNT
} tdm_op;

extern const char *const tdm_op_names[TDM_OP_COUNT];
extern const char *const tdm_layout_names[TDM_TT + 1]; /* of gemm: "nn" ... */

/* ---- Plans ---- */

typedef enum tdm_role { TDM_IN, TDM_OUT, TDM_IN_OUT } tdm_role;

/* One pointer argument of a run: what the plan knows about its array. */
typedef struct tdm_buffer {
  const char *name;
  tdm_role role;
  size_t bytes;      /* from the pointer to the end of the last element */
  size_t align;      /* bytes of an element */
  bool used;         /* false: this plan has no such array, the pointer must be NULL */
  unsigned in_place; /* bit i: may be the same pointer as buffer i */
} tdm_buffer;

enum { TDM_MAX_BUFFERS = 6, TDM_PLAN_ARGS = 1408 };

/* Teams and threads of a launch. Kernels are correct with any smaller number of teams and threads than they ask for. */
typedef struct tdm_launch {
  int device; /* for device() */
  int on_device;
  int teams, threads;
  int stream; /* results are stored with non-temporal stores */
} tdm_launch;

/* One launch of a HIP kernel, without its arguments. */
typedef struct tdm_hip_kernel {
  void *function;          /* hipFunction_t */
  unsigned grid[3], block; /* workgroups, and work-items of each */
  unsigned lds;            /* dynamic bytes */
} tdm_hip_kernel;

typedef struct tdm_kernel tdm_kernel;

/* Only a run knows where its arrays begin. If one of the arrays in `buffers` (bits 1 << number) does not begin at a
 * multiple of `align` bytes, the run launches another row's kernel. */
typedef struct tdm_fallback {
  int align; /* 0: every run launches the row's own kernel */
  unsigned buffers;
  const tdm_kernel *kernel;
} tdm_fallback;

/* A kernel is one row of its op's table. The row contains everything that is asked about the kernel. The functions find
 * their row in plan->kernel, so several rows can share them and differ only in `variant`. */
struct tdm_kernel {
  const char *name;
  tdm_op op;
  const tdm_backend *backend;
  const void *variant; /* the parameters that distinguish the row from others with the same functions; NULL: it has none */
  /* Can it run on this device of its backend, whatever the plan? If not, writes the reason. NULL: it runs on each of them.
   * The functions below are called only if it can. */
  bool (*runs_on)(const tdm_context *context, char *reason, size_t size);
  /* Instruction sets of a host that it needs, beyond the library's (cpu.h): it runs only on hosts that have all. 0: none. */
  unsigned cpu;
  /* Does it support the plan's description? If not, writes the reason. NULL: it supports every valid description. */
  bool (*supports)(const tdm_plan *plan, char *reason, size_t size);
  /* Chooses tiles and the launch, sets the size of the workspace, uploads tables. */
  tdm_status (*prepare)(tdm_plan *plan);
  /* Launches. buffers are the run's pointers in the order of the plan's buffers. It allocates nothing. The launch of a
   * fallback is called with the plan of the row that falls back, so it must not read `variant`. */
  tdm_status (*launch)(const tdm_plan *plan, void *const *buffers, tdm_stream *stream);
  /* Estimates a run with plan->tuning; called only for plans that it supports and that are not empty. The heuristic
   * compares rows by it. NULL: this row has no estimate, and of two such rows the later one is chosen. */
  void (*cost)(const tdm_plan *plan, tdm_cost *cost);
  /* hip: the device kernels that it launches, beside those of its fallback (hip/host/code.h); the last one has no stem. */
  const struct hip_functions *functions;
  /* Types of the operands that it multiplies or reads: bits 1 << tdm_type. 0: TDM_USUAL_TYPES (src/base/types.def). Its
   * results may have a usual type or one of these. */
  unsigned types;
  unsigned takes; /* parameters that supports, prepare and cost read: bits 1 << tdm_parameter */
  tdm_fallback fallback;
  bool by_name; /* a step of a ladder, or not yet checked on its device: runs only by its name, and is no candidate otherwise */
  /* launch takes attention's skv and rope's offset from plan->desc, and not from what prepare has computed. So a run may
   * have fewer keys than the plan, or begin at a later position (tdm_plan_rebind). */
  bool rebindable;
  /* 16-bit types are multiplied by matrix units, or as pairs by a host's vectors: the ceiling of its arithmetic is theirs. */
  bool matrix_units;
  /* attention: the probabilities are rounded to the operands' type before they are multiplied by V (bound_weight_unit). */
  bool rounds_weights;
};

/* Who decided on a plan's kernel. */
typedef enum tdm_source { TDM_NAMED, TDM_TUNED, TDM_HEURISTIC } tdm_source;

struct tdm_plan {
  tdm_op op;
  const tdm_kernel *kernel;
  tdm_tuning tuning; /* parameters that the kernel is to use; supports, prepare and cost read them */
  tdm_source source;
  tdm_context *context;
  tdm_type type, out; /* of the operands and of the results */
  union {
#define TDM_OP(number, name, ...) tdm_##name##_desc name;
#include "src/ops.def"
  } desc;              /* with every default filled in */
  char title[160];     /* "gemm nt bf16 257x129x65" */
  const char *rebound; /* the name of what the run has changed (tdm_plan_rebind), such as "skv"; NULL: nothing */
  int64_t rebound_to;
  bool empty;  /* no output element: a run does nothing */
  double work; /* of a run: about as many nanoseconds of one thread of a host, without a region's own; 0: not known */

  int buffer_count;
  tdm_buffer buffers[TDM_MAX_BUFFERS];

  tdm_fallback fallback; /* the kernel's; its prepare may replace it for this plan */

  /* Set by the kernel's prepare. */
  unsigned any_address; /* bits of fallback.buffers whose alignment does not matter to this plan */
  unsigned copied;      /* bits of those that every run copies first; the others of any_address only where they are unaligned */
  tdm_launch launch;    /* omp */
  tdm_hip_kernel hip;   /* hip */
  /* What a launch needs, without the run's pointers: hip's argument, or what wgmma copies before it uses it. calloc aligns a
   * plan to 16 bytes. */
  unsigned char args[TDM_PLAN_ARGS] __attribute__((aligned(16)));
  int region; /* omp: which of its regions a row launches */
  size_t workspace_bytes;
  void *workspace; /* device memory of workspace_bytes; one run at a time uses it */
  void *table;     /* device copy of what was precomputed (epilogue steps, sines and cosines of rope) */

  void *serializer;          /* of backend->serializer; NULL without a workspace */
  struct tdm_shadow *shadow; /* TANDEM_VERIFY (shadow.h); NULL: runs are not compared */
  const tdm_plan *made;      /* itself; in the copy that tdm_plan_rebind makes, the plan that was copied */

  pthread_mutex_t
      lock; /* held by the run that uses the workspace. A copy (tdm_plan_rebind) does not have this field and those after it */
  char explain[4096];
};

/* ---- For prepare and launch (core/plan_parts.c) ---- */

/* Copies bytes to the device as plan->table. */
tdm_status tdm_plan_upload(tdm_plan *plan, const void *bytes, size_t size);
/* Sets teams and threads, unless the context overrides them. A value below 1 becomes 1. */
void tdm_plan_launch(tdm_plan *plan, int64_t teams, int64_t threads);
/* For plan->work: rows of so many elements, and what each takes beside them. The figures of the ops are of a thread of a Xeon
 * at about 2 GHz, in f32, with AVX2; one with AVX-512 takes a third to a half of that. A product of matrices: its
 * multiply-adds, and the elements of the operand that each row of the other one meets. */
#define TDM_PRODUCT 0.03
#define TDM_OPERAND 0.04
static inline double tdm_work(int64_t rows, double row, int64_t cols, double element) {
  return (double)rows * (row + (double)cols * element);
}
/* Of a host's threads, as many as the plan's work is worth. */
int tdm_plan_workers(const tdm_plan *plan);
/* For rope: the number of floats of the plan's table before the position where the run begins; each position has head_dim
 * floats. */
static inline int64_t tdm_rope_skipped(const tdm_plan *run) {
  return (run->desc.rope.offset - run->made->desc.rope.offset) * run->desc.rope.head_dim;
}
/* Do these pointers of a run need the plan's fallback? */
bool tdm_plan_falls_back(const tdm_plan *plan, void *const *buffers);
/* Bits of the buffers that a run with these pointers copies first, because the kernel can't load them as they are. */
unsigned tdm_plan_copies(const tdm_plan *plan, void *const *buffers);

/* ---- For runs_on and supports ---- */

/* For runs_on of the omp backend's rows: only hosts, only GPUs. */
bool tdm_hosts_only(const tdm_context *context, char *reason, size_t size);
bool tdm_gpus_only(const tdm_context *context, char *reason, size_t size);
/* Does the caller not set the threads of a team, or set exactly this many? If not, writes the reason. */
bool tdm_threads_fit(const tdm_context *context, int threads, char *reason, size_t size);

#endif
