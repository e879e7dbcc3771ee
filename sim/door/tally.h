/* What the doors count, in a file that the program's processes and the tool map together: what was counted survives _exit, fork
 * and crashes. */
#ifndef GFXSIM_DOOR_TALLY_H
#define GFXSIM_DOOR_TALLY_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TALLY_VARIABLE "GFXSIM_TALLY" /* the environment's name for the file's path */
enum { TALLY_VERSION = 2, TALLY_FINDINGS = 256, TALLY_NAMES = 128, TALLY_KEY = 256, TALLY_TEXT = 2048, TALLY_NAME = 160 };

/* A row is claimed by one process, written, and then read by all. */
enum { TALLY_FREE, TALLY_CLAIMED, TALLY_READY };

typedef struct tally_finding {
  _Atomic int state;
  _Atomic uint64_t count;
  char key[TALLY_KEY], text[TALLY_TEXT];
} tally_finding;

typedef struct tally_name {
  _Atomic int state;
  _Atomic uint64_t count;
  char name[TALLY_NAME];
} tally_name;

typedef struct tally_list {
  tally_name row[TALLY_NAMES];
  _Atomic uint64_t lost; /* names for which there was no row */
} tally_list;

enum { TALLY_CLASSES = 8 };
typedef struct tally_kernel { /* of --profile and --time */
  _Atomic int state;
  char name[TALLY_NAME];
  _Atomic uint64_t launches, workgroups, waves, classes[TALLY_CLASSES], lds_conflict_clocks, loaded, stored, mfma_flops;
  _Atomic uint64_t clocks, matrix_clocks; /* of --time: predicted; all matrix units busy */
} tally_kernel;

typedef struct tally {
  uint32_t version;
  _Atomic uint64_t processes;       /* that opened a device */
  _Atomic uint64_t launches, ended; /* kernels: started, and ended */
  _Atomic uint64_t findings, lost;  /* all of them; those for which there was no row */
  tally_finding finding[TALLY_FINDINGS];
  tally_list unserved;   /* calls, and attributes of calls, that the door does not have */
  tally_list suppressed; /* findings that do not count, by function and reason */
  tally_list notes;      /* what else the user should know */
  tally_kernel kernel[TALLY_NAMES];
} tally;

/* The file that TALLY_VARIABLE names; if it names none, memory of this process only. Never NULL: if there is no memory
 * for it, it is a small one that is not shared. `own`: whether nobody else will print it. */
tally *tally_open(bool *own);
void tally_find(tally *t, const char *key, const char *text);
void tally_count(tally_list *list, const char *name);
tally_kernel *tally_kernel_of(tally *t, const char *name); /* NULL: no row left */

#endif
