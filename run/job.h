/* tandem-run: one op on the user's arrays. run.c reads the command line and calls the steps: load.c reads the input files,
 * infer.c finds the shape, run_op.c runs the op on each device and compares, save.c writes the results. */
#ifndef TANDEM_RUN_JOB_H
#define TANDEM_RUN_JOB_H

#include "../case/op.h"
#include "../case/options.h"
#include "files/npy.h"

enum { JOB_ERROR_TEXT = 1024 };

/* One array of the op, and what the command line says about it. */
typedef struct job_array {
  char *file;       /* --NAME FILE, NULL: not given */
  npy_array npy;    /* of an input's file */
  void *file_bytes; /* what npy points into */
  case_array is;    /* as the case has it: job_name_arrays */
  void *host;       /* the array as the op wants it: the input, or poison for an output */
  void *result;     /* an output: what the first device made */
} job_array;

/* What a device's run is reported by. */
typedef struct job_run {
  char device[CASE_DEVICE_NAME], kernel[64];
  double seconds;  /* of the run alone, without copies; 0: the device is simulated and has no time */
  char *explained; /* tdm_plan_explain */
} job_run;

typedef struct job {
  tdm_case c;
  case_options options;
  char *out; /* --out FILE */
  int bf16;  /* --bf16: uint16 files hold bfloat16 words */
  int explain;
  int count; /* arrays */
  int main_output;
  job_array array[CASE_MAX_ARRAYS];
  case_devices devices;
  job_run run[CASE_MAX_DEVICES]; /* of the devices that have run */
  FILE *notes;                   /* printed after the line that says what was done */
  int exit_code;
  char error[JOB_ERROR_TEXT];
} job;

/* Stores the one line that the tool ends with; returns false. */
bool job_fail(job *j, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a file of the user: "--a = 'a.npy': ..." */
bool job_fail_file(job *j, int index, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* load.c: the files of all arrays that are known to be inputs and were not read yet. */
bool job_read_files(job *j);
/* load.c: the case computes in the type of the first file of floats. */
void job_choose_type(job *j);
/* infer.c: the shape of the case, from the shapes of the files. */
bool job_infer_shape(job *j);
/* run_op.c: lets the library check the case before anything is allocated for it. */
bool job_check_case(job *j);
/* Sets array[].is to what the case has now. */
void job_name_arrays(job *j);
/* load.c: inputs as the op wants them, poison for outputs. */
bool job_fill_arrays(job *j);
/* run_op.c: every device in turn; notes how far each one's results are from the first one's. */
bool job_launch(job *j);
/* save.c: writes the first device's results. On failure no file is changed. */
bool job_save(job *j);
/* save.c: "c f32 (2, 2) in out.npy, ...": the results that were written. */
void job_put_files(const job *j, char *text, size_t size);

#endif
