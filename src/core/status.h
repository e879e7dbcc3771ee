/* Errors: how a failure is stored for tdm_last_error and returned to the caller. */
#ifndef TANDEM_CORE_STATUS_H
#define TANDEM_CORE_STATUS_H

#include <stdbool.h>

#include "tandem/tandem.h"

/* If the call fails, returns its status to the caller. */
#define TDM_TRY(call)                            \
  do {                                           \
    tdm_status try_status = (call);              \
    if (try_status != TDM_OK) return try_status; \
  } while (0)

/* Stores the message for tdm_last_error and returns status. */
tdm_status tdm_fail(tdm_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For a failure after work has begun: adds to the message, once, that outputs may be partly written. Returns status. */
tdm_status tdm_may_have_written(tdm_status status);
/* Switches messages of this thread off or on; returns the previous setting. */
bool tdm_quiet(bool on);
/* Cleans up after a failure: if this call fails too, the message of the first failure is kept. */
#define TDM_CLEAN_UP(call)      \
  do {                          \
    bool was = tdm_quiet(true); \
    (void)(call);               \
    tdm_quiet(was);             \
  } while (0)
/* When several things are released: status keeps the first failure, and its message is kept. */
#define TDM_FIRST(status, call) \
  do {                          \
    if ((status) == TDM_OK)     \
      (status) = (call);        \
    else                        \
      TDM_CLEAN_UP(call);       \
  } while (0)

/* Reads the `length` characters of a type's name. false: there is no such type. */
bool tdm_type_find(const char *text, size_t length, tdm_type *type);

#endif
