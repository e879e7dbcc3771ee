/* tandem-learn: exercises whose kernel the user writes. An exercise is a folder of exercises/: task.md (the task, its limits
 * and hints), kernel.h (the signature, which check.c, the user's file and the solution share), a start file, a solution, and
 * check.c with the row below. `try` compiles the user's file, runs it over the shapes and says what it found. */
#ifndef TANDEM_LEARN_H
#define TANDEM_LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "case.h"

enum { LEARN_ARRAYS = 6, LEARN_SIZES = 4, LEARN_SHAPES = 6, LEARN_TARGETS = 5, LEARN_TEXT = 4096 };

/* ---- Exercises ---- */

/* What gfxsim counts of a launch (counters.def), and the clocks that its model of time predicts. No time is measured. */
typedef enum learn_counter {
#define LEARN_COUNTER(name, unit, text, value) LEARN_##name,
#include "counters.def"
#undef LEARN_COUNTER
  LEARN_COUNTERS
} learn_counter;

typedef enum learn_relation { LEARN_NO_TARGET, LEARN_AT_MOST, LEARN_AT_LEAST } learn_relation;

/* Judged at the exercise's first shape. */
typedef struct learn_target {
  learn_counter counter;
  learn_relation relation;
  double goal;
  const char *why; /* where the goal comes from */
} learn_target;

typedef struct learn_shape {
  int64_t size[LEARN_SIZES]; /* the kernel's int arguments after its pointers */
  double scale;              /* of float inputs, whose deviation is 1; 0: 1 */
  bool integers;             /* inputs from -4 to 4: all sums are exact in any order, so the result must be, too */
} learn_shape;

/* What the user's file says beside the kernel, for exercises that leave it open (hip.h). */
typedef struct learn_launch {
  uint32_t block;  /* work-items of a workgroup: __launch_bounds__ */
  int32_t tile[2]; /* TILE(rows, columns); 0: not said */
} learn_launch;

typedef struct learn_exercise {
  const char *name;   /* of the folder, too */
  const char *title;  /* one line */
  const char *kernel; /* the function that the user writes */
  bool c;             /* OpenMP in C; otherwise HIP */
  const char *device; /* HIP: where it is tried by itself, where its counters are modelled; NULL: sim:gfx950 */
  const char *cut;    /* changes of the simulated chip, as gfxsim --chip has them: "xcds=1,cus_per_xcd=1"; NULL: none */
  bool tile;          /* the file must say TILE(rows, columns) */
  const char *model;  /* the op of tiny-llama that a right kernel then replaces (model.h); NULL: none */
  bool open;          /* an open challenge: its results may go to a scoreboard */
  const char *sizes;  /* names of the int arguments: "rows columns" */
  learn_shape shapes[LEARN_SHAPES]; /* up to the first whose sizes are all 0 */
  int (*arrays)(const int64_t *size, case_array *arrays);
  /* The f64 reference: of every element of the output its value and the allowed difference before it is rounded to its type.
   * in: the inputs as doubles, by the number of the array; an output that is read too stands there as it was. */
  void (*reference)(const int64_t *size, const double *const *in, double *value, double *bound);
  void (*grid)(const int64_t *size, const learn_launch *launch, uint32_t grid[3]); /* HIP: workgroups */
  learn_target targets[LEARN_TARGETS];
} learn_exercise;

extern const learn_exercise *const learn_exercises[]; /* NULL-terminated, in the order in which they are best done */
const learn_exercise *learn_find(const char *name);
int learn_size_count(const learn_exercise *e);
int learn_shape_count(const learn_exercise *e);
void learn_print_shape(const learn_exercise *e, int shape, char *text, size_t size); /* "rows 33, columns 70" */

/* ---- Building blocks of rows ---- */

case_array learn_input(const char *name, case_element element, int64_t rows, int64_t columns);
case_array learn_output(const char *name, case_element element, int64_t rows, int64_t columns);
uint32_t learn_pieces(int64_t of, int64_t size); /* of / size, rounded up */
/* The allowed difference of an f32 sum of so many terms, in any order: src/base/bound.h. */
double learn_sum_bound(int64_t terms, double absolute_sum);

/* ---- Verdicts ---- */

typedef enum learn_verdict {
  LEARN_RIGHT,
  LEARN_COMPILE, /* the file does not compile */
  LEARN_SLOW,    /* the compiler takes too long */
  LEARN_SYMBOL,  /* the kernel is missing, or has other arguments */
  LEARN_LAUNCH,  /* this workgroup or tile can't be launched */
  LEARN_ENDLESS, /* a budget or time limit was exceeded */
  LEARN_BOUNDS,  /* an access outside an array, LDS or scratch */
  LEARN_MISALIGNED,
  LEARN_RACE,
  LEARN_WAIT,
  LEARN_BARRIER,
  LEARN_UNDEFINED, /* a value that nobody wrote decides */
  LEARN_CHANGED,   /* an input was written */
  LEARN_UNWRITTEN, /* elements of the output were not written */
  LEARN_NAN,
  LEARN_WRONG,
  LEARN_CRASH,
  LEARN_FORBIDDEN, /* it did what no kernel needs: processes, the network, another's memory, a forged result */
  LEARN_FAILED,    /* not the user's doing: no device, no memory */
  LEARN_VERDICTS
} learn_verdict;

/* What a try found. */
typedef struct learn_outcome {
  learn_verdict verdict;
  int shapes_done;       /* that came out right before */
  int shape;             /* that is running */
  int runs_done;         /* C: runs that came out right before, the first of them with one thread */
  char text[LEARN_TEXT]; /* what was found, in lines */
  bool recognised;       /* what the wrong elements have in common */
  bool counted;
  double counter[LEARN_COUNTERS];
  char floor[16]; /* the pipe that needs the most clocks */
  /* Where the arrays of the running shape lie, so that a fault can be told of: addresses of the device. */
  struct {
    uint64_t address, bytes;
  } array[LEARN_ARRAYS];
  char sandbox[600]; /* sandbox_describe */
  char races[256];   /* C: what looked for races, or why nothing did */
  bool races_unseen; /* nothing did */
} learn_outcome;

__attribute__((format(printf, 3, 4))) void learn_found(learn_outcome *o, learn_verdict verdict, const char *format, ...);
/* Adds to the text. */
__attribute__((format(printf, 2, 3))) void learn_add(learn_outcome *o, const char *format, ...);

/* What the user asked for. */
typedef struct learn_request {
  const learn_exercise *exercise;
  const char *file;
  const char *device;   /* "sim:gfx950", "host", ... */
  const char *compiler; /* NULL: searched */
  double seconds;       /* that the user's code may run; 0: the default of the device */
  const char *folder;   /* of the exercises */
  const char *runner;   /* the program that runs C */
  uint64_t seed;        /* of the inputs; a try draws its own, unless the user asks for one again */
  unsigned without;     /* layers of the sandbox that are left out: sandbox.h */
  bool races;           /* C: compiled so that ThreadSanitizer watches it */
  bool plain;           /* HIP: compiled without optimisation, so that what nobody wrote is read as it is written */
} learn_request;

/* The seed of a shape's inputs; each run of the user's code gets others. */
uint64_t learn_seed(const learn_request *r, int run, int shape);
/* Text from elsewhere: control characters and bytes above ASCII are printed as \xNN, so that it can't draw on a terminal. Each
 * line of learn_print_text begins with two blanks, so that none looks like one of ours. */
void learn_print_line(const char *text);
void learn_print_text(const char *text);

#endif
