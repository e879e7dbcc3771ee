/* What a launch made the hardware do, counted while gfxsim executes it, and the clocks that follow as lower bounds.
 * docs/gfxsim-profile.md says what each number means, where it comes from, and what is not modelled.
 *
 * When only a part of the workgroups ran, every count but `longest_wave` is scaled by workgroups / workgroups_run. The caches
 * then miss what the others would have brought in, so the bounds beyond the vL1D are not modelled. */
#ifndef GFXSIM_COUNTERS_H
#define GFXSIM_COUNTERS_H
#include "gfxsim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an instruction occupies. */
typedef enum gfxsim_class {
  GFXSIM_CLASS_SALU,
  GFXSIM_CLASS_BRANCH, /* also messages and cache control */
  GFXSIM_CLASS_SMEM,
  GFXSIM_CLASS_VALU,
  GFXSIM_CLASS_MFMA,
  GFXSIM_CLASS_LDS,
  GFXSIM_CLASS_VMEM,     /* global, buffer, flat, scratch */
  GFXSIM_CLASS_INTERNAL, /* s_nop, s_waitcnt, s_barrier, s_sleep, s_setprio: no unit executes them */
  GFXSIM_CLASS_COUNT
} gfxsim_class;
GFXSIM_API const char *gfxsim_class_name(gfxsim_class class_of);

/* One executed instruction of the code. The text lives as long as the code object. */
typedef struct gfxsim_instruction {
  uint64_t pc; /* as in gfxsim_report */
  const char *text;
  gfxsim_class class_of;
  uint64_t count;     /* waves that executed it */
  uint64_t clocks;    /* of its pipe for all of them: VALU and MFMA alone */
  const char *source; /* file:line, of the innermost where it was inlined; "" where it is not known */
} gfxsim_instruction;

/* Vector accesses to global memory of one direction. */
typedef struct gfxsim_traffic {
  uint64_t accesses;          /* of waves */
  uint64_t asked;             /* bytes of all active lanes, also those that several lanes ask for */
  uint64_t lines64, lines128; /* distinct aligned pieces of so many bytes, counted for each access */
} gfxsim_traffic;

typedef struct gfxsim_lds_count {
  uint64_t accesses, bytes;
  uint64_t clocks;          /* conflicts included */
  uint64_t conflict_clocks; /* in addition to the clock that each phase takes; where `unmodelled` is not 0: at least so many */
  /* Accesses whose phases have no source. They take the clocks of their bytes, or of the bank of which the wave wants the most
   * distinct dwords, whichever are more. */
  uint64_t unmodelled;
} gfxsim_lds_count;

/* One XCD's L2, in lines of 128 bytes. */
typedef struct gfxsim_l2 {
  uint64_t reads, read_hits;
  uint64_t writes, write_hits;        /* atomics are writes */
  uint64_t write_halves;              /* half lines of 64 bytes */
  uint64_t fabric_read, fabric_write; /* bytes */
} gfxsim_l2;

typedef struct gfxsim_occupancy {
  uint32_t vgprs, sgprs, lds_bytes, scratch_bytes; /* of a wave, a wave, a workgroup, a lane; as allocated */
  uint32_t waves;                                  /* of a workgroup */
  uint32_t waves_per_simd, workgroups_per_cu;      /* at most */
  const char *limit;                               /* the resource that allows no more */
} gfxsim_occupancy;

typedef enum gfxsim_pipe {
  GFXSIM_PIPE_MFMA,
  GFXSIM_PIPE_VALU,
  GFXSIM_PIPE_SALU,
  GFXSIM_PIPE_LDS,
  GFXSIM_PIPE_ISSUE,
  GFXSIM_PIPE_L1,
  GFXSIM_PIPE_L2,
  GFXSIM_PIPE_FABRIC,
  GFXSIM_PIPE_MALL,
  GFXSIM_PIPE_HBM,
  GFXSIM_PIPE_COUNT
} gfxsim_pipe;
GFXSIM_API const char *gfxsim_pipe_name(gfxsim_pipe pipe);

/* What a sample's error is estimated for. */
typedef enum gfxsim_estimate {
  GFXSIM_ESTIMATE_INSTRUCTIONS, /* that units executed, of all waves */
  GFXSIM_ESTIMATE_MFMA_FLOPS,
  GFXSIM_ESTIMATE_BYTES, /* asked for by vector accesses to global memory */
  GFXSIM_ESTIMATE_LDS_CLOCKS,
  GFXSIM_ESTIMATE_COUNT
} gfxsim_estimate;
GFXSIM_API const char *gfxsim_estimate_name(gfxsim_estimate estimate);

struct gfxsim_counters {
  char chip[16];
  uint64_t workgroups, workgroups_run, waves;
  /* Where workgroups_run is less than workgroups: half of the interval that holds the true count in 95 of 100 cases, as a share
   * of the count. Estimated from the differences between workgroups, so that a kind of workgroup of which the sample has none
   * is not in it. Negative: can't be estimated. 0 where all ran. */
  double sample_error[GFXSIM_ESTIMATE_COUNT];
  uint64_t classes[GFXSIM_CLASS_COUNT];
  gfxsim_instruction *instructions; /* by pc */
  int instruction_count;
  char *sources;         /* where their `source` points into */
  uint64_t longest_wave; /* instructions that its units executed */

  uint64_t mfma_flops, mfma_clocks, valu_clocks; /* of one SIMD each, summed */
  gfxsim_lds_count lds;
  gfxsim_traffic load, store, atomic;
  uint64_t scalar_bytes, scratch_read, scratch_written; /* not in the caches below */

  uint64_t l1_lines, l1_hits; /* reads */
  gfxsim_l2 *l2;              /* of each XCD */
  int xcds;
  uint64_t mall_lines, mall_hits; /* reads */
  uint64_t hbm_read, hbm_written; /* bytes */

  gfxsim_occupancy occupancy;
  /* Clocks that the launch takes at least, were this pipe the only one: from counts, not a time. Negative: not modelled. */
  double bound[GFXSIM_PIPE_COUNT];
  gfxsim_pipe floor; /* the largest of them */
  double tail;       /* workgroups of the busiest CU (or of the busiest XCD's share) over the mean: multiplies what CUs do */
};

GFXSIM_API void gfxsim_counters_release(gfxsim_counters *counters); /* what a launch put into it; the struct is the caller's */

/* Who counts the launches of this process: those of gfxsim_run, of libgfxsim-hip, and of the two libraries by which `gfxsim
 * exec` replaces ROCm's runtimes. A program asks whether its GPU is simulated by looking the name "gfxsim_count" up in the
 * runtime that it loaded, with dlsym: ROCm's own has no such name. The functions are called one at a time, by the thread that
 * runs the launch; they must not call gfxsim or a runtime that is in front of it. */
typedef struct gfxsim_counting {
  size_t counters_bytes; /* sizeof(gfxsim_counters) of the caller, who may be of another version */
  /* Before a launch that does not choose itself: which of its workgroups run, as gfxsim_launch.workgroups, in a text that lives
   * until the launch ends. NULL, as the function or the text: all. */
  const char *(*sample)(const char *kernel, uint64_t workgroups, void *user);
  /* After a launch. counters: NULL when it failed or a check found something. They are released when it returns. */
  void (*counted)(const char *kernel, const gfxsim_counters *counters, void *user);
  void *user;
} gfxsim_counting;
/* Counts every launch from now on; NULL ends it. A launch that is running may be reported to either. GFXSIM_INVALID: counted is
 * NULL, or counters_bytes is of another version. */
GFXSIM_API gfxsim_status gfxsim_count(const gfxsim_counting *counting);

#ifdef __cplusplus
}
#endif
#endif
