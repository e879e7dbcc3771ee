/* What the tests of the dispatcher on a simulated chip share: a context, its log, and plans. */
#ifndef TANDEM_TEST_HIP_CHOOSE_H
#define TANDEM_TEST_HIP_CHOOSE_H

#include "../api/api.h"

#include <stdio.h>

#include "tandem/gemm.h"
#include "tandem/swiglu.h"

static const char *device; /* "sim:gfx950" */
static tdm_context *context;
static char logged[640];

static inline void log_line(void *user, const char *line) {
  (void)user;
  snprintf(logged, sizeof logged, "%s", line);
}

static inline void open_on(const char *chip, const char *kernel) {
  ACCEPTED(tdm_open(&(tdm_options){.device = chip, .kernel = kernel, .log = log_line}, &context));
}
static inline void open_with(const char *kernel) { open_on(device, kernel); }

static inline int setup(void **state) {
  (void)state;
  clear_environment();
  return 0;
}

static inline int teardown(void **state) {
  (void)state;
  tdm_close(context);
  context = NULL;
  clear_environment();
  return 0;
}

static inline tdm_plan *plan_gemm_of(tdm_layout layout, int64_t m, int64_t n, int64_t k, tdm_type type) {
  tdm_gemm_desc desc = tdm_gemm_default(m, n, k, type);
  tdm_plan *plan = NULL;
  desc.layout = layout;
  ACCEPTED(tdm_gemm_plan(context, &desc, &plan));
  return plan;
}

static inline tdm_plan *plan_gemm(int64_t m, int64_t n, int64_t k, tdm_type type) {
  return plan_gemm_of(TDM_NT, m, n, k, type);
}

static inline tdm_plan *plan_swiglu(int64_t m, int64_t n, int64_t k) {
  tdm_swiglu_desc desc = tdm_swiglu_default(m, n, k, TDM_BF16);
  tdm_plan *plan = NULL;
  desc.layout = TDM_NT;
  ACCEPTED(tdm_swiglu_plan(context, &desc, &plan));
  return plan;
}

static inline void says(tdm_plan *plan, const char *words) {
  if (strstr(tdm_plan_explain(plan), words) == NULL) fail_msg("explain lacks '%s':\n%s", words, tdm_plan_explain(plan));
}

/* The tests of a program whose argument is the device. */
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define MAIN_OF(program, tests)                                                 \
  int main(int argc, char **argv) {                                             \
    if (argc != 2) {                                                            \
      fprintf(stderr, program ": use: " program " DEVICE, as in sim:gfx950\n"); \
      return 2;                                                                 \
    }                                                                           \
    device = argv[1];                                                           \
    return cmocka_run_group_tests(tests, NULL, NULL);                           \
  }

#endif
