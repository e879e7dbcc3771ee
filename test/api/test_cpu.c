/* TANDEM_CPU, with whatever instruction sets this machine has. */
#include "api.h"
#include "src/core/context.h"
#include "src/core/cpu.h"

static void refused_with(const char *name, const char *words) {
  tdm_context *context = UNTOUCHED;
  setenv("TANDEM_CPU", name, 1);
  REFUSED(tdm_open(&(tdm_options){.device = "host"}, &context), TDM_ERROR_UNSUPPORTED, words, name);
  unsetenv("TANDEM_CPU");
  assert_ptr_equal(context, UNTOUCHED);
}

/* A name that the processor lacks is refused; with one that it has, no kernel above it is used, and the plan says so. */
static void cpu_limits_the_kernels(void **state) {
  (void)state;
  static const char *const names[] = {"avx2", "avx512", "avx512_bf16", "avx512_fp16", "amx", "amx_fp16"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    tdm_context *context = NULL;
    unsigned sets, built = tdm_cpu_built();
    assert_true(tdm_cpu_named(names[i], &sets));
    assert_int_equal(sets, (1u << i) - 1);
    if (i > 0 && (tdm_cpu_sets() >> (i - 1) & 1) == 0) {
      refused_with(names[i], "lacks it; it has: avx2");
      continue;
    }
    if ((built & ~sets) != 0) {
      refused_with(names[i], "build with -Dhost_cpu=x86-64-v3");
      continue;
    }
    setenv("TANDEM_CPU", names[i], 1);
    ACCEPTED(tdm_open(&(tdm_options){.device = "host"}, &context));
    unsetenv("TANDEM_CPU");
    assert_int_equal(context->cpu, tdm_cpu_sets() & sets);
#ifdef TDM_HAS_AVX512
    const char *refused = tdm_kernel_refused(context, "add", "omp_avx512");
    assert_true(i > 0 ? refused[0] == '\0' : strstr(refused, tdm_cpu_sets() == 0 ? "lacks" : "TANDEM_CPU leaves out") != NULL);
#endif
    tdm_close(context);
  }
}

int main(void) {
  clear_environment();
  const struct CMUnitTest tests[] = {cmocka_unit_test(cpu_limits_the_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
