/* Predicted clocks of a launch, by a model of CDNA 3 and 4 that executes the waves in the order of its own time. All of this is
 * predicted: docs/gfxsim-time.md says what is modelled, and `gfxsim time --parameters` lists every number with its source. */
#ifndef GFXSIM_TIME_H
#define GFXSIM_TIME_H
#include "gfxsim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a wave's clocks went to. */
typedef enum gfxsim_cause {
  GFXSIM_CAUSE_ISSUED,
  GFXSIM_CAUSE_DEPENDENCY, /* on a register that an instruction in flight writes */
  GFXSIM_CAUSE_VMCNT,      /* s_waitcnt, or the counter is full */
  GFXSIM_CAUSE_LGKMCNT,
  GFXSIM_CAUSE_BARRIER,
  GFXSIM_CAUSE_PIPE,       /* its unit is busy, or the unit's queue is full */
  GFXSIM_CAUSE_OTHER_WAVE, /* its unit took another wave's instruction */
  GFXSIM_CAUSE_PAUSE,      /* s_nop, s_sleep, and what follows a branch that was taken */
  GFXSIM_CAUSE_COUNT
} gfxsim_cause;
GFXSIM_API const char *gfxsim_cause_name(gfxsim_cause cause);

/* One executed instruction of the code. */
typedef struct gfxsim_time_instruction {
  uint64_t pc; /* as in gfxsim_report */
  const char *text;
  uint64_t count;                      /* waves that executed it */
  uint64_t clocks[GFXSIM_CAUSE_COUNT]; /* of all of them: before it was issued, and to issue it */
  uint64_t in_flight;                  /* s_waitcnt: vector memory instructions in flight when waves reached it, summed */
} gfxsim_time_instruction;

typedef struct gfxsim_time_wave {
  uint64_t workgroup; /* its number */
  uint32_t wave, xcd, cu, simd;
  uint64_t begin, end; /* clocks of the launch */
  uint64_t clocks[GFXSIM_CAUSE_COUNT];
} gfxsim_time_wave;

/* The loop whose own instructions, without those of loops inside of it, were executed most often. */
typedef struct gfxsim_time_loop {
  bool found;
  uint64_t begin, end; /* pc of its first and its last instruction */
  double iterations;   /* of a wave, mean */
  double clocks;       /* of an iteration, mean */
  double mfma_share;   /* of the SIMDs' clocks while a wave is in it: those in which its matrix instructions run */
} gfxsim_time_loop;

/* What happened on a CU that is traced: an instruction, and the wait before it. */
typedef struct gfxsim_time_event {
  uint64_t workgroup;
  uint32_t wave, xcd, cu, simd;
  uint64_t pc;
  const char *text, *unit;
  uint64_t waited, issued, done; /* clocks of the launch: where the wait began, the issue, and the end of its work */
  gfxsim_cause cause;            /* of most of the wait */
} gfxsim_time_event;

struct gfxsim_timing {
  /* What is asked for. */
  bool skip_matrix; /* matrix instructions take time, but multiply nothing (D = C): the launch's output is wrong */
  bool warm;        /* the memory-side cache has what the launch reads first; otherwise all caches are empty */
  /* Only so many rounds of workgroups run, each as many as the chip holds at once; every later round takes as long as the last
   * one that ran. 0: all run. Memory then holds the results of those that ran alone. */
  uint32_t rounds;
  bool spread; /* these rounds are drawn from the whole grid, and a later one takes as long as their workgroups do on average */
  /* "hbm_latency=1260,launch=4800": fitted numbers of the model, by their names in its table, in place of its own, to see what
   * a prediction rests on: half to twice its own number. NULL: none. The errors of set P are not those of such a model. */
  const char *model;
  const char *trace_cus; /* "0-3,17": CUs by xcd * CUs of an XCD + cu, whose events are told; NULL: none */
  bool (*event)(const gfxsim_time_event *e, void *user); /* false ends the launch with GFXSIM_INVALID */
  void *user;

  /* What is predicted. */
  char chip[16];
  uint64_t clocks;        /* of the launch: from its dispatch to its last write */
  double extrapolated;    /* share of the workgroups that did not run (rounds) */
  uint64_t launch_clocks; /* of these, before the first wave begins */
  double mfma_share;      /* of the clocks of all SIMDs of the chip: those in which matrix units are busy */
  double no_wave;         /* share of the clocks of SIMDs that have a wave, in which none issues an instruction */
  /* By a second, small model: power falls with the share of busy matrix units, and with zeros among what they multiply. */
  double frequency_ghz, microseconds;
  double data; /* share of the matrices' registers that are not 0, in a sample; 1 without matrix instructions */
  uint64_t wave_clocks[GFXSIM_CAUSE_COUNT]; /* of all waves */
  gfxsim_time_loop loop;
  gfxsim_time_instruction *instructions; /* by pc */
  int instruction_count;
  gfxsim_time_wave *waves; /* those that ended first come first */
  uint64_t wave_count;
};
GFXSIM_API void gfxsim_timing_release(gfxsim_timing *timing); /* what a launch put into it; the struct is the caller's */

/* Who is told the predictions of all launches of this process, as gfxsim_count has counters of them; it needs to be set with
 * gfxsim_count. Launches of a sample of workgroups, and those that failed, are not predicted. */
typedef struct gfxsim_time_watch {
  size_t timing_bytes; /* sizeof(gfxsim_timing) of the caller, who may be of another version */
  /* After a launch, before the function of gfxsim_count: the prediction is released when it returns. */
  void (*timed)(const char *kernel, const gfxsim_timing *timing, void *user);
  void *user;
  bool skip_matrix, warm, spread; /* what is asked for, as in gfxsim_timing */
  uint32_t rounds;
  const char *model;     /* as in gfxsim_timing, while it is set */
  const char *trace_cus; /* as in gfxsim_timing, while it is set; NULL: no events are told */
  bool (*event)(const gfxsim_time_event *e, void *user);
} gfxsim_time_watch;
/* NULL ends it. GFXSIM_INVALID: timed is NULL, or timing_bytes is of another version. */
GFXSIM_API gfxsim_status gfxsim_time_launches(const gfxsim_time_watch *watch);

/* The numbers of the model: row number `index`, 0 upwards. False after the last. */
typedef struct gfxsim_time_parameter {
  const char *name, *unit;
  double gfx942, gfx950;
  bool fitted;    /* chosen to fit published rows; otherwise the source has it */
  bool frequency; /* of the model of frequency, and not of clocks */
  const char *source;
} gfxsim_time_parameter;
GFXSIM_API bool gfxsim_time_parameter_at(int index, gfxsim_time_parameter *row);

/* How far predictions were off, of kernels that others measured and that no number was fitted to (bench/TIMING.md, set P): a
 * class of figures, 0 upwards. False after the last. */
typedef struct gfxsim_time_error {
  const char *figures;  /* clocks, frequency, TFLOPS (with microseconds) */
  int count;            /* of the figures that were predicted; 0: the class has no error that is known */
  double median, worst; /* percent */
} gfxsim_time_error;
GFXSIM_API bool gfxsim_time_error_at(int index, gfxsim_time_error *row);

#ifdef __cplusplus
}
#endif
#endif
