/* What the tests of the public API share: a refused call has the right status, and a message that names argument, value and
 * what is allowed. */
#ifndef TANDEM_TEST_API_H
#define TANDEM_TEST_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tandem/tandem.h"

/* What an output argument holds before a call that must not touch it. */
#define UNTOUCHED ((void *)(uintptr_t)0x5eed)

/* The call returns `wanted`, and tdm_last_error then holds each of the words. */
#define REFUSED(call, wanted, ...) check_refused(call, wanted, #call, __LINE__, (const char *const[]){__VA_ARGS__, NULL})

static inline void check_refused(tdm_status got, tdm_status wanted, const char *call, int line, const char *const *words) {
  if (got != wanted)
    fail_msg("line %d: %s: status %s, wanted %s; last error: %s", line, call, tdm_status_name(got), tdm_status_name(wanted),
             tdm_last_error());
  for (; *words != NULL; words++)
    if (strstr(tdm_last_error(), *words) == NULL)
      fail_msg("line %d: %s: '%s' is not in: %s", line, call, *words, tdm_last_error());
}

/* The call returns TDM_OK. */
#define ACCEPTED(call)                                                                                         \
  do {                                                                                                         \
    tdm_status accepted = (call);                                                                              \
    if (accepted != TDM_OK) fail_msg("%s: status %s: %s", #call, tdm_status_name(accepted), tdm_last_error()); \
  } while (0)

/* The test's own settings only. */
static inline void clear_environment(void) {
  static const char *const names[] = {"TANDEM_BACKEND", "TANDEM_DEVICE", "TANDEM_KERNEL", "TANDEM_TUNED", "TANDEM_STRICT",
                                      "TANDEM_VERBOSE", "TANDEM_VERIFY", "TANDEM_WAIT",   "TANDEM_CPU"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
}

static inline tdm_context *open_host(void) {
  tdm_context *context = NULL;
  ACCEPTED(tdm_open(&(tdm_options){.device = "host"}, &context));
  return context;
}

#endif
