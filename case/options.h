/* The command line that tandem-check, tandem-bench and tandem-run share: the selectors of a case, and where it runs. */
#ifndef TANDEM_CASE_OPTIONS_H
#define TANDEM_CASE_OPTIONS_H

#include <popt.h>

#include "case.h"

/* What every tool returns. */
enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOTHING_RUN = 77 };

enum { CASE_OPTION_ROWS = 10, CASE_MAX_DEVICES = 8, CASE_DEVICE_NAME = 64 };

/* The texts of the options, NULL where one was not given; owned by this struct. --set may be given several times: settings has
 * all of them, with commas between, and case_parse_settings refuses a key that is in it twice. */
typedef struct case_options {
  char *dtype, *layout, *epilogue, *settings, *seed; /* the case */
  char *backend, *device, *kernel;                   /* where it runs */
  bool no_memory;                                    /* for a text */
} case_options;

/* Writes popt rows that store into *options, which must stay, the last one POPT_TABLEEND: a tool includes them in its own with
 *   {NULL, '\0', POPT_ARG_INCLUDE_TABLE, rows, 0, "Case:", NULL} */
void case_options_table(case_options *options, struct poptOption rows[CASE_OPTION_ROWS]);
void case_options_free(case_options *options);

/* Reads a tool's whole command line: options into the variables of their rows, operands (at most `most`, owned by popt) into
 * operands[]. false: one line in error. */
bool case_read_command_line(poptContext popt, const char *operands[], int most, int *count, char *error, size_t size);

/* Applies the selectors to a case whose op is set. Refuses a selector that the op does not take. */
bool case_options_apply(const case_options *options, tdm_case *c, char *error, size_t size);
/* For a run over all ops: refuses the selectors that not every op takes (--layout, --epilogue, --set). */
bool case_options_for_all(const case_options *options, char *error, size_t size);
/* "add|attention|...": the names of all ops, for messages and --help. */
const char *case_op_list(void);

/* --device as a list: "host,omp:0". Not given: TANDEM_DEVICE, else one entry "auto". */
typedef struct case_devices {
  int count;
  char name[CASE_MAX_DEVICES][CASE_DEVICE_NAME];
} case_devices;
bool case_options_devices(const case_options *options, case_devices *devices, char *error, size_t size);
/* tdm_open with --backend and --kernel, on one device of the list. */
tdm_status case_open(const case_options *options, const char *device, tdm_context **context);

/* ---- simulated.c: simulated devices have counts and no times ---- */

/* "sim:CHIP": gfxsim in this process. */
bool case_in_process(const char *device);
/* These, and omp:N and hip:N in a program that `gfxsim exec` runs. To be asked when the device is open. */
bool case_is_simulated(const char *device);
/* A function of the simulator behind an open device; NULL: the device is not simulated, or its version lacks the function. */
void *case_simulator_symbol(const char *device, const char *name);

/* ---- numbers.c ---- */

/* Refuses options other than --set that are given twice: popt would take the last one. To be called before popt reads. */
bool case_given_once(int argc, const char *const argv[], char *error, size_t size);
/* A whole number from least to most. what: "--repeats". */
bool case_parse_number(const char *what, const char *text, uint64_t least, uint64_t most, uint64_t *value, char *error,
                       size_t size);
/* what: "--min-time". A text that is NULL leaves *seconds as it is. */
bool case_parse_seconds(const char *what, const char *text, double *seconds, char *error, size_t size);

#endif
