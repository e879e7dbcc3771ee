/* What is decided about a plan in addition to its kernel: the kernel's parameters, an estimate of its run, and who decided. */
#ifndef TANDEM_CORE_TUNING_H
#define TANDEM_CORE_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parameters of kernels; a row names those that its prepare reads. */
typedef enum tdm_parameter {
  TDM_TUNE_WINDOW, /* tile rows of a band (order.h) */
  TDM_TUNE_CHUNK,  /* consecutive tiles for one XCD (order.h); more than an XCD's share means all of it */
  TDM_TUNE_SPLIT,  /* K splits, each computed by its own workgroups */
  TDM_TUNE_DEPTH,  /* stages of LDS */
  TDM_PARAMETERS
} tdm_parameter;

enum { TDM_MOST_PARAMETER = 1 << 20 };

typedef struct tdm_tuning {
  int of[TDM_PARAMETERS]; /* 0: the kernel's own choice; else 1 .. TDM_MOST_PARAMETER */
} tdm_tuning;

/* A kernel with parameters, as text: "NAME" or "NAME:window=4:split=2". name points into the text. */
typedef struct tdm_choice {
  const char *name;
  int name_length;
  tdm_tuning tuning;
} tdm_choice;

/* Reads the `length` characters of a choice. false: reason is one line that names the part and what is allowed. */
bool tdm_choice_parse(const char *text, int length, tdm_choice *choice, char *reason, size_t size);
/* Prints the parameters that are not 0, as ":window=4:split=2"; "" if all are 0. */
void tdm_tuning_print(const tdm_tuning *tuning, char *text, size_t size);
/* Does a row that takes `takes` (bits 1 << tdm_parameter) take these parameters? If not, writes which ones it takes. */
bool tdm_tuning_taken(const tdm_tuning *tuning, const char *kernel, unsigned takes, char *reason, size_t size);
/* The names in `takes`: "window chunk"; "" for 0. */
void tdm_parameter_names(unsigned takes, char *text, size_t size);

/* An estimate of a run, to compare the kernels that support a plan: clocks of the whole device. A bound by counts, or, for
 * gemm and swiglu by OpenMP on GPUs, fitted to times of an H200 and with the launch: clocks of TDM_H200_CLOCKS_PER_NS. */
#define TDM_H200_CLOCKS_PER_NS 1.755

typedef struct tdm_cost {
  double clocks;     /* below 0: the row has no estimate for this plan */
  const char *floor; /* what most of it is: "mfma", "lds", "hbm" ... */
} tdm_cost;

#endif
