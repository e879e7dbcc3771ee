/* tandem-bench: what its files share. main.c reads the command line. core/: cases.c chooses the cases, machine.c says what this
 * runs on, ceiling.c and ceiling_device.c time the machine itself, measure.c times a case, count.c and measure_simulated.c
 * count it on a simulated device, verify.c checks what the runs wrote. report/ prints and writes files, peer/ has other
 * libraries. */
#ifndef TANDEM_BENCH_BENCH_H
#define TANDEM_BENCH_BENCH_H

#include "../../case/case.h"
#include "../../case/options.h"
#include "../report/gnuplot.h"
#include "../report/table.h"
#include "count.h"
#include "result.h"

/* BENCH_TEXT: a case as case_print has it, with every setting and 32 steps of an epilogue. */
enum { BENCH_TEXT = 1280, BENCH_MAX_COPIES = 16384 };

/* ---- machine.c ---- */

typedef struct bench_machine {
  char cpu[128];         /* model, as the system names it */
  char system[128];      /* kernel and architecture */
  char compiler[64];     /* that built the library and this program */
  char instructions[96]; /* -march of the build, and the vector sets that it brought */
  int threads;           /* of a parallel region */
  size_t cache;          /* bytes of the last-level cache, 0: not known */
  size_t memory;         /* bytes of main memory */
  double load;           /* processes that were running, over the last minute */
} bench_machine;

bench_machine bench_machine_read(void);
/* Bytes that the buffers of a case have together, so that none is in a cache when its turn comes: four times the last level,
 * at most BENCH_MOST_ROTATION and a quarter of the memory. */
size_t bench_rotation(const bench_machine *m);
#define BENCH_MOST_ROTATION ((size_t)1 << 30)
double bench_seconds(void); /* monotonic */

/* ---- Ceilings: the best of several passes over the whole device. ---- */

typedef struct bench_ceiling {
  double flops;        /* f32 multiply-adds in registers, 2 FLOP each, per second */
  double matrix_f16;   /* the same by a GPU's matrix units, sums in f32, as far as kernels here use them; 0: not at all */
  double matrix_bf16;  /* the same */
  double copy;         /* bytes read and written by a copy, per second */
  double read;         /* bytes of a loop that only reads: what no memory figure can pass */
  const char *copy_by; /* the copy that was the fastest */
  double launch;       /* seconds of an empty target region, its end included; 0 on hosts */
} bench_ceiling;

/* Those of the context's device; bytes and threads are a host's. Zeros where none are measured (hip:, sim:): figures stand
 * without them. */
tdm_status bench_ceiling_of(tdm_context *context, size_t bytes, int threads, bench_ceiling *ceiling);
/* The memory is the context's own, as the ops' arrays are. bytes: of each of the copy's two arrays. */
tdm_status bench_ceiling_host(tdm_context *context, size_t bytes, int threads, bench_ceiling *ceiling);
/* The same on offload device `device` of the context: target regions. */
tdm_status bench_ceiling_device(tdm_context *context, int device, size_t bytes, bench_ceiling *ceiling);

/* ---- Peers: other libraries on the same case. Each is a row of the table in peer/peers.c. ---- */

typedef struct bench_peer {
  const char *name;
  /* Loads it and sets its threads; version gets what it says of itself. false: the reason. */
  bool (*open)(int threads, char *version, char *reason, size_t size);
  /* Called before the runs of a case: it may make what they need. */
  bool (*supports)(const tdm_case *c, const char *device, char *reason, size_t size);
  /* On the default stream of a device; false: the reason. */
  bool (*run)(const tdm_case *c, const case_array *arrays, void *const pointers[CASE_MAX_ARRAYS], char *reason, size_t size);
} bench_peer;

const bench_peer *bench_find_peer(const char *name);
const char *bench_peer_names(void);

/* ---- Results ---- */

typedef enum bench_outcome { BENCH_OK, BENCH_FAILED, BENCH_UNSUPPORTED } bench_outcome;

/* Seconds of a run. */
typedef struct bench_spread {
  double best, low, median, high; /* low, high: 10 % and 90 % of the samples are below */
  int samples, runs_per_sample;
} bench_spread;

/* One case, on one device, by one library. */
typedef struct bench_row {
  tdm_case c;
  char title[BENCH_TEXT]; /* "gemm --dtype f32 ... 1024x1024x1024" */
  char device[CASE_DEVICE_NAME];
  char by[16];       /* "tandem", or the peer */
  char kernel[64];   /* tandem's */
  bool matrix_units; /* the kernel multiplies f16 and bf16 on matrix units */
  bench_outcome outcome;
  char reason[BENCH_TEXT]; /* of what is not OK; or why nothing of a sample could be checked */
  const char *checked;     /* what of the results was compared with f64; NULL: nothing */
  bench_spread time;
  double flops, bytes; /* of the case */
  bench_ceiling ceiling;
  bool simulated;      /* counted in place of timed: no time, no ceiling */
  bench_counts counts; /* of a simulated device */
  bool alarm;          /* above a ceiling */
  size_t rotation;     /* bytes of all buffers that the runs go through */
  int copies;
  double against_peer;          /* speed over the peer's in the same run; 0: no peer */
  char peer_reason[BENCH_TEXT]; /* why the peer has no figure for the case */
} bench_row;

double bench_row_flops(const bench_row *row); /* FLOP per second, by the median */
double bench_row_bytes(const bench_row *row); /* bytes per second, by the median */
/* FLOP per second of the units that the kernel uses: matrix units for f16 and bf16 where the row says so and their rate is
 * known. */
double bench_row_ceiling(const bench_row *row);
double bench_row_arithmetic_bound(const bench_row *row); /* seconds */
double bench_row_memory_bound(const bench_row *row);     /* seconds */

/* Is a figure higher than this machine can reach? Then something is wrong. */
bool bench_above_ceiling(const bench_row *row);

/* ---- cases.c ---- */

enum { BENCH_MAX_CASES = 64 };

typedef struct bench_case_list {
  int count;
  tdm_case c[BENCH_MAX_CASES];
} bench_case_list;

/* op and shape as on the command line. No shape: the op's standard set. No op: the standard sets of all. false: one line in
 * error. */
bool bench_choose_cases(bench_case_list *list, const char *op, const char *shape, const case_options *options, char *error,
                        size_t size);

/* ---- buffers.c: the arrays of a case, `copies` times over, so that a run finds none of its data in a cache ---- */

enum {
  BENCH_RUNNERS = 2,  /* tandem, and a peer */
  BENCH_POISON = 0xff /* every byte of an output before a run: NaN in each of the types */
};

typedef struct bench_buffers {
  const tdm_case *c;
  tdm_context *context;
  int count, runners, copies;
  size_t total; /* bytes of all of them */
  case_array array[CASE_MAX_ARRAYS];
  void *host[CASE_MAX_ARRAYS];                /* an input's data, NULL of a mere output */
  size_t step[CASE_MAX_ARRAYS];               /* bytes from copy to copy */
  char *base[BENCH_RUNNERS][CASE_MAX_ARRAYS]; /* device memory; what is only read is shared by the runners */
  bool written[CASE_MAX_ARRAYS];
  bool rewrites; /* a run replaces one of its own inputs */
} bench_buffers;

/* The case must have been accepted by plan. rotation: bytes that all buffers should have together. */
bool bench_buffers_open(bench_buffers *b, const tdm_case *c, tdm_context *context, int runners, size_t rotation, char *reason,
                        size_t size);
/* false: device memory could not be freed, tdm_last_error says why. */
bool bench_buffers_close(bench_buffers *b);
/* The arguments of a run. */
void bench_buffers_pointers(const bench_buffers *b, int runner, int copy, void *pointers[CASE_MAX_ARRAYS]);
/* Puts back what the arrays of a copy held before the first run. */
tdm_status bench_buffers_restore(const bench_buffers *b, int runner, int copy);

/* report.c: what a row says of its case and buffers; and that it has no figure, and why. */
void bench_row_describe(bench_row *row, const bench_buffers *b);
void bench_row_fail(bench_row *row, bench_outcome outcome, const char *reason);

/* ---- verify.c ---- */

/* What is compared with the f64 reference. */
typedef enum bench_coverage {
  BENCH_EVERY_ELEMENT,
  BENCH_SUMS, /* gemm: sums over every element (case/sums.h), and BENCH_ROWS */
  BENCH_ROWS  /* the first row, the last, and six between */
} bench_coverage;

/* What a host compares in about `seconds` for one copy: every element, if it can. */
bench_coverage bench_coverage_of(const bench_buffers *b, double seconds);
const char *bench_coverage_name(bench_coverage how, bool part); /* "every element"; part: of those that a part wrote */
/* Checks what a runner left in its first `copies` copies, and that no element is NaN, which is also what the outputs held
 * before. false: the reason names the first wrong element. */
bool bench_verify(const bench_buffers *b, int runner, int copies, bench_coverage how, char *reason, size_t size);
/* The same for a run of a part of the workgroups: elements that are as they were before the run are passed over, but each
 * output must have some that are not. how: not BENCH_SUMS, which need whole rows. */
bool bench_verify_part(const bench_buffers *b, bench_coverage how, char *reason, size_t size);

/* ---- measure.c ---- */

typedef struct bench_limits {
  uint64_t repeats;    /* samples; 0: as many as fit into seconds, at least 5 */
  double seconds;      /* of measuring, for each library */
  size_t rotation;     /* bytes of all buffers together */
  double check;        /* seconds that every element of a case's result may take to check */
  uint64_t workgroups; /* of each launch, that a simulated device executes at most; 0: bench_sample_of */
} bench_limits;

/* What every command begins with: `seconds` of measuring, and else the defaults. */
bench_limits bench_usual_limits(const bench_machine *machine, double seconds);
#define BENCH_CHECK_TIME_HELP                                                                                              \
  "Seconds in which the host may compare every element of a case with f64; above a tenth of it gemm is compared by sums, " \
  "other ops above it by 8 rows; default 20"

/* Measures a case on one device: rows[0] is tandem's, rows[1] the peer's, where peer is not NULL. The caller has set c, title,
 * device, by and ceiling. */
void bench_measure(tdm_context *context, const bench_peer *peer, const bench_limits *limits, bench_row *rows);

/* ---- measure_simulated.c ---- */

/* Counts a case on a simulated device, on cold caches, and checks its results. The caller has set c, title, device and by. */
void bench_measure_simulated(tdm_context *context, const bench_limits *limits, bench_row *row);

/* ---- report.c: everything of a run, and its tables ---- */

typedef struct bench_run {
  bench_machine machine;
  case_devices devices;
  bench_ceiling ceiling[CASE_MAX_DEVICES];
  const bench_peer *peer;        /* NULL: none asked for */
  char peer_version[BENCH_TEXT]; /* what it says of itself, or why it is absent */
  bool peer_open;
  bench_limits limits;
  bool hot;    /* caches are left warm */
  bool checks; /* gfxsim's are on in simulated devices */
  table_style style;
  bench_row *row;
  int rows;
} bench_run;

typedef struct bench_count {
  int measured, failed, unsupported, alarms;
} bench_count;

bench_count bench_count_rows(const bench_run *run);
int bench_timed_devices(const bench_run *run); /* those that are not simulated */
/* "gemm f32 nn 1024x1024x1024": the title without the names of its options, the seed and the fill. */
void bench_label(const bench_row *row, char text[BENCH_TEXT]);

void bench_print_machine(FILE *out, const bench_run *run);
void bench_print_head(FILE *out, table_style style);
void bench_print_row(FILE *out, table_style style, const bench_row *row);
/* report_simulated.c: the same for simulated devices, a line for each kernel that a run launched. */
void bench_print_sim_head(FILE *out, table_style style);
void bench_print_sim_row(FILE *out, table_style style, const bench_row *row);
void bench_print_sim_table(FILE *out, const bench_run *run); /* all of them, as Markdown */
/* How far the row's results were compared with f64, where not every element was; and where nothing was, why. "": all were. */
void bench_put_check(char *text, size_t size, const bench_row *row);
/* "MFMA 131072": the pipe that takes longest and its clocks; in the order of the launches where there are several. */
void bench_put_floor(char *text, size_t size, const bench_counts *counts);
/* report_sides.c: devices that are simulated as the same chip, one below the other for each case: what their paths do. */
void bench_print_sides(FILE *out, const bench_run *run, table_style style);
/* The chip of a simulated device, as its runs told it; "": not known. */
const char *bench_chip_of(const bench_run *run, int device);
/* A column for each device and peer, where there is more than one. */
void bench_print_comparison(FILE *out, const bench_run *run, table_style style);
void bench_print_count(FILE *out, const bench_run *run);

/* ---- Files. false: one line in error. ---- */

/* files.c. What is written to file->to replaces what was there when it is closed (files/result.h). */
bool bench_open_file(result_file *file, const char *path, char *error, size_t size);
/* Can a file be written? Asked before minutes of measuring. NULL: none is wanted. */
bool bench_can_write(const char *option, const char *path, char *error, size_t size);
/* An option for simulated devices alone must not be given where the run has none. text: its value; NULL: it was not given. */
bool bench_check_simulated(const char *option, const char *text, const case_devices *devices, char *error, size_t size);
/* The same for an option about times, where every device is simulated. */
bool bench_check_timed(const char *option, const char *text, const case_devices *devices, char *error, size_t size);
/* --checks is for devices that are simulated in this process. */
bool bench_check_checks(bool asked, const case_devices *devices, char *error, size_t size);
bool bench_close_file(result_file *file, const char *path, char *error, size_t size);
bool bench_write_json(const char *path, const bench_run *run, char *error, size_t size);
/* root, which it releases; NULL: no memory for it. */
bool bench_write_root(const char *path, json_t *root, char *error, size_t size);
json_t *bench_row_json(const bench_row *row); /* NULL: no memory */
bool bench_write_csv(const char *path, const bench_run *run, char *error, size_t size);
/* report.c: the tables, for a document. command: what the user typed. */
bool bench_write_markdown(const char *path, const bench_run *run, const char *command, char *error, size_t size);
/* plot.c: a roofline as SVG, drawn by gnuplot. */
bool bench_write_plot(const char *path, const bench_run *run, char *error, size_t size);

/* ---- Commands of their own, which are no ops. argv[0] is the command; they return the exit code. ---- */

int bench_order(int argc, char **argv);  /* order.c */
int bench_ladder(int argc, char **argv); /* ladder.c */
/* tune.c. command: what the user typed. */
int bench_tune(int argc, char **argv, const char *command);

#endif
