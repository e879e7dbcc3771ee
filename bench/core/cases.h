/* The cases that a command line asks for. */
#ifndef TANDEM_BENCH_CORE_CASES_H
#define TANDEM_BENCH_CORE_CASES_H

#include "case/case.h"
#include "case/options.h"

enum { BENCH_MAX_CASES = 64 };

typedef struct bench_case_list {
  int count;
  tdm_case c[BENCH_MAX_CASES];
} bench_case_list;

/* op and shape as on the command line. No shape: the op's standard set, or brief: the most telling one or two cases of it. No
 * op: those of all ops. false: one line in error. */
bool bench_choose_cases(bench_case_list *list, const char *op, const char *shape, bool brief, const case_options *options,
                        char *error, size_t size);

#endif
