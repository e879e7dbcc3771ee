/* Statuses, types and the last error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "status.h"

#include "src/base/types.h"

static _Thread_local char last_error[1024];
static _Thread_local bool quiet;

bool tdm_quiet(bool on) {
  bool before = quiet;
  quiet = on;
  return before;
}

tdm_status tdm_fail(tdm_status status, const char *format, ...) {
  va_list args;
  if (quiet) return status;
  va_start(args, format);
  vsnprintf(last_error, sizeof last_error, format, args);
  va_end(args);
  return status;
}

tdm_status tdm_may_have_written(tdm_status status) {
  static const char note[] = "; outputs may be partly written";
  if (status == TDM_OK || quiet || strstr(last_error, note) != NULL) return status;
  size_t used = strlen(last_error), most = sizeof last_error - sizeof note; /* a message that is too long is truncated */
  memcpy(last_error + (used < most ? used : most), note, sizeof note);
  return status;
}

const char *tdm_last_error(void) { return last_error; }

const char *tdm_version(void) { return TDM_VERSION; }

const char *tdm_status_name(tdm_status status) {
  switch (status) {
    case TDM_OK: return "ok";
    case TDM_ERROR_ARGUMENT: return "argument";
    case TDM_ERROR_UNSUPPORTED: return "unsupported";
    case TDM_ERROR_MEMORY: return "memory";
    case TDM_ERROR_DEVICE: return "device";
    case TDM_ERROR_VERIFY: return "verify";
  }
  return "unknown status";
}

size_t tdm_type_size(tdm_type type) { return (size_t)tdm_bytes(type); }

static const char *const type_names[TDM_TYPES] = {
#define TDM_TYPE(number, name, ...) [number] = #name,
#include "src/base/types.def"
};

const char *tdm_type_name(tdm_type type) { return (int)type >= 0 && (int)type < TDM_TYPES ? type_names[type] : "unknown type"; }

bool tdm_type_find(const char *text, size_t length, tdm_type *type) {
  for (int t = 0; t < TDM_TYPES; t++)
    if (strlen(type_names[t]) == length && strncmp(type_names[t], text, length) == 0) return *type = (tdm_type)t, true;
  return false;
}
