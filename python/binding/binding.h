/* The Python module tandem._tandem: what its files share. A call of an op goes through these steps (call.c):
 *
 *   parse        the arguments, by the op's list of parameters
 *   describe     each array: pointer, type, shape, strides, device (array.c, torch.c, dlpack.c)
 *   shapes       the op checks its arguments and says what its outputs are (ops_*.c)
 *   outputs      out= is checked, or a new array of the caller's kind is made (result.c)
 *   describe     the op fills its C description, which is the key of the plan (cache.c)
 *   run          without the GIL
 *
 * Nothing here computes with elements. All of it runs with the GIL held, except plans and runs. */
#ifndef TANDEM_BINDING_H
#define TANDEM_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
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

enum { MAX_RANK = 12, MAX_PARAMETERS = 12, MAX_STEPS = 8 };

/* ---- Arrays ---- */

/* Who made an array, which decides how it is read and what the results are. */
typedef enum array_kind { KIND_NONE = 0, KIND_NUMPY, KIND_TORCH, KIND_DLPACK, KIND_INTERFACE } array_kind;

/* Element types: a tdm_type, or one of ids and targets. */
typedef enum array_type {
  ARRAY_F32 = TDM_F32,
  ARRAY_F16 = TDM_F16,
  ARRAY_BF16 = TDM_BF16,
  ARRAY_I32 = 16,
  ARRAY_I64 = 17,
  ARRAY_OTHER = -1,
  ARRAY_ANY = -2 /* for an output: that of out=, or of the first array */
} array_type;

typedef enum place { PLACE_HOST = 1, PLACE_CUDA = 2, PLACE_ROCM = 10 } place; /* the numbers are DLPack's */

typedef struct array {
  const char *name; /* of the argument */
  PyObject *object; /* borrowed from the caller; NULL for an output that explain only imagines */
  PyObject *held;   /* what keeps the memory described: a DLPack capsule, or NULL */
  void *data;
  array_kind kind;
  array_type type;
  size_t item; /* bytes of an element, for types that are none of ours too */
  int rank;
  int64_t shape[MAX_RANK], stride[MAX_RANK]; /* in elements */
  place place;
  int device; /* the number of the GPU */
  bool read_only;
} array;

/* A product that stays at the largest number instead of overflowing: shapes come from others. */
static inline int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Describes an object. -1: an exception with the op's and the argument's name. */
int array_describe(const char *op, const char *name, PyObject *object, array *a);
/* Gives back what array_describe holds. */
void array_release(array *a);
const char *array_type_name(array_type type);
size_t array_type_size(array_type type);
/* "[2, 3]"; valid until the next call but three. */
const char *shape_text(int rank, const int64_t *shape);
/* True if PyTorch is loaded and this is a tensor (torch.c). */
bool torch_is_tensor(PyObject *object);
int torch_describe(const char *op, array *a);
/* -1 if PyTorch's stream of a GPU captures a graph: contexts and plans allocate, which would end the capture. */
int torch_not_capturing(const char *op, const array *a);
/* The stream on which PyTorch queues work for a GPU now. */
int torch_stream(const array *a, void **stream);
/* Tells autograd that the caller's tensor has changed: a graph that saved it must not use what is there now. */
int torch_written(const char *op, const array *a);
PyObject *torch_empty(const array *like, int rank, const int64_t *shape, array_type type);
int dlpack_describe(const char *op, array *a);
void dlpack_release(array *a);
/* NumPy and others, by __array_struct__ or by a dictionary (interface.c). */
int interface_describe(const char *op, array *a);
int interface_of_dict(const char *op, array *a, PyObject *attribute);

/* ---- Devices ---- */

typedef struct device {
  struct device *next;
  place place;
  int number;
  char *name;   /* "host", "omp:N", "hip:N", "sim:CHIP" */
  char *kernel; /* the kernel that the caller named, or NULL */
  bool simulated;
  bool of_arrays; /* found by where arrays lie, and not only by its name */
  unsigned forks;
  tdm_context *context;
  struct {
    void *native;
    tdm_stream *stream;
  } streams[8];
  int stream_count;
} device;

/* The context for arrays of a place, opened when it is first needed. NULL: an exception. */
device *device_of(const char *op, const array *a, const char *kernel);
/* The context of the device that the caller named by device=. */
device *device_named(const char *op, const array *a, const char *name, const char *kernel);
/* -1: an exception, because the array can't be used on a device that was named. */
int device_reaches(const char *op, const device *d, const array *a);
/* Whose GPUs this build has kernels for; CUDA's if it has none. */
place device_gpus(void);
bool device_has_gpus(void);
/* The stream for a run: what the arrays' library has queued comes before it. */
int device_stream(const char *op, device *d, const array *a, tdm_stream **stream);
/* After a run: waits where the arrays' library does not know the stream of the run. */
tdm_status device_after(device *d, const array *a, tdm_stream *stream);

/* GPUs by their own runtimes (driver.c): waits for all work of one; sets the number of the GPU whose memory an array is. */
int driver_wait(const char *op, place place, int number);
int driver_owner(const char *op, array *a);

/* ---- Calls ---- */

typedef union description {
  tdm_add_desc add;
  tdm_attention_desc attention;
  tdm_cross_entropy_desc cross_entropy;
  tdm_embedding_desc embedding;
  tdm_gemm_desc gemm;
  tdm_rmsnorm_desc rmsnorm;
  tdm_rope_desc rope;
  tdm_silu_mul_desc silu_mul;
  tdm_softmax_desc softmax;
  tdm_swiglu_desc swiglu;
} description;

/* What a plan is found by. Unused bytes are 0. */
typedef struct plan_key {
  const struct op_row *op;
  tdm_context *context;
  description desc;
  int steps;
  tdm_epilogue_step step[MAX_STEPS];
} plan_key;

typedef enum role { IN, OPTIONAL, OUT, VALUE } role;

typedef struct parameter {
  const char *name;
  role role;
  const char *c_name; /* the array's name in the C API, if it is another one */
} parameter;

typedef struct call {
  const struct op_row *op;
  bool explain;                    /* makes a plan and runs nothing */
  PyObject *value[MAX_PARAMETERS]; /* borrowed; NULL: not given, or None */
  array array[MAX_PARAMETERS];     /* of the parameters that are arrays; KIND_NONE: not given */
  PyObject *made[MAX_PARAMETERS];  /* new outputs */
  const array *first;              /* the first array: its kind and its device are those of the results */
  const char *kernel;
  plan_key key;
  int64_t number[2]; /* what a run gets beside its arrays: keys of attention, offset of rope */
} call;

typedef struct op_row {
  const char *name, *c_name;
  int positional; /* parameters that may be given without their name */
  int count;
  parameter parameters[MAX_PARAMETERS]; /* the last two are `kernel` and `device` in every op */
  int (*shapes)(call *c);
  int (*describe)(call *c);
  tdm_status (*plan)(tdm_context *context, const plan_key *key, tdm_plan **plan);
  tdm_status (*run)(const tdm_plan *plan, const call *c, tdm_stream *stream);
} op_row;

PyObject *call_op(const op_row *op, bool explain, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* Takes the list of all ops, which ends with NULL, and makes the names of their parameters Python strings. */
int call_prepare(const op_row *const *all);

/* Values of arguments. -1: an exception that names the argument. */
int value_float(const call *c, int i, double missing, double *value);
int value_int(const call *c, int i, int64_t missing, int64_t *value);
int value_bool(const call *c, int i, bool *value);
/* NULL if it is missing. */
int value_text(const call *c, int i, const char **value);
/* A type by its name, as "f32"; `missing` if it is not given. */
int value_type(const call *c, int i, array_type missing, array_type *type);

/* ---- Shapes ---- */

/* TypeError: the array's type, and what is allowed. Returns -1. */
int refuse_type(const call *c, int i, const char *allowed);
/* Fails unless the array has a floating-point type, that of the first one. */
int need_floats(const call *c, int i);
int need_rank(const call *c, int i, int least, int most);
int need_shape(const call *c, int i, int rank, const int64_t *shape);
/* A contiguous vector of `length`. */
int need_vector(const call *c, int i, int64_t length);
/* [..., cols] as rows with a leading dimension. */
int fold_rows(const call *c, int i, int64_t *rows, int64_t *cols, int64_t *leading);
/* The matrix in the last two dimensions: as it is stored, or transposed. */
int fold_matrix(const call *c, int i, bool *transposed, int64_t *leading);
/* The dimensions before the last `inner` as one, with its stride; count 1 and stride 0 if there are none. */
int fold_batch(const call *c, int i, int inner, int64_t *count, int64_t *stride);
/* The innermost dimension must be contiguous, and the others must not be repeated or reversed. */
/* Contiguous, of any rank. */
int need_packed(const call *c, int i);
int need_inner(const call *c, int i);
int64_t elements(const array *a);
/* What output i is: its shape and type. Checks out=, or makes an array. */
int output(call *c, int i, int rank, const int64_t *shape, array_type type);

/* ---- Results ---- */

/* A new array of the kind of `like`. */
PyObject *result_empty(const char *op, const array *like, int rank, const int64_t *shape, array_type type);
/* What the caller gets for it: an array of its library that shares the memory. Takes the reference. */
PyObject *result_returned(const char *op, const array *like, PyObject *made);
int memory_ready(PyObject *module);
PyObject *memory_new(device *d, int rank, const int64_t *shape, array_type type);

/* ---- Plans ---- */

typedef struct cached cached;
/* The plan for a key, new or kept. NULL: an exception. */
cached *cache_plan(const call *c);
const tdm_plan *cache_get(const cached *entry);
void cache_leave(cached *entry);
PyObject *cache_info(PyObject *module, PyObject *none);
PyObject *cache_clear(PyObject *module, PyObject *none);

/* ---- Errors ---- */

extern PyObject *error_argument, *error_unsupported, *error_device, *error_verify;
int errors_ready(PyObject *module);
/* For tandem._sim, which stands beside the module that makes the exceptions: the same ones. */
int errors_shared(void);
/* An exception for a status of the library, with the names of Python's arguments. Returns -1. */
int raise_status(const op_row *op, tdm_status status, const char *message);
/* ArgumentError "OP: ...". Returns -1. */
__attribute__((format(printf, 2, 3))) int raise_argument(const char *op, const char *format, ...);
/* The exception that is set becomes the cause of ArgumentError "OP: NAME: its text". Returns -1. */
int raise_from(const char *op, const char *name);

/* Names of attributes and modules, as Python strings. */
#define NAMES(X)              \
  X(__array_interface__)      \
  X(__array_namespace__)      \
  X(__array_struct__)         \
  X(__cuda_array_interface__) \
  X(__dlpack__)               \
  X(__dlpack_device__)        \
  X(__module__)               \
  X(__torch_dispatch__)       \
  X(_current_level)           \
  X(data_ptr)                 \
  X(device)                   \
  X(dtype)                    \
  X(from_dlpack)              \
  X(index)                    \
  X(is_neg)                   \
  X(max_version)              \
  X(name)                     \
  X(requires_grad)            \
  X(shape)                    \
  X(stream)                   \
  X(stride)                   \
  X(type)
typedef struct names {
#define X(name) PyObject *name;
  NAMES(X)
#undef X
} names;
extern names word;

#endif
