#include "parameters.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/include/gfxsim_time.h"

enum kind { SOURCE, FITTED, FREQUENCY };

static const gfxsim_time_parameter rows[] = {
#define PARAMETER(name, unit, gfx942, gfx950, kind, source) \
  {#name, unit, gfx942, gfx950, kind != SOURCE, kind == FREQUENCY, source},
#include "parameters.def"
#undef PARAMETER
};

bool gfxsim_time_parameter_at(int index, gfxsim_time_parameter *row) {
  if (index < 0 || (size_t)index >= sizeof rows / sizeof rows[0]) return false;
  *row = rows[index];
  return true;
}

time_parameters parameters_of(const chip *chip) {
  if (chip->machine == TDM_MACHINE_GFX942)
    return (time_parameters){
#define PARAMETER(name, unit, gfx942, gfx950, kind, source) gfx942,
#include "parameters.def"
#undef PARAMETER
    };
  return (time_parameters){
#define PARAMETER(name, unit, gfx942, gfx950, kind, source) gfx950,
#include "parameters.def"
#undef PARAMETER
  };
}

/* ---- Other numbers ---- */

static const size_t offsets[] = {
#define PARAMETER(name, unit, gfx942, gfx950, kind, source) offsetof(time_parameters, name),
#include "parameters.def"
#undef PARAMETER
};

/* Clocks and entries of queues are whole. */
static bool is_whole(const gfxsim_time_parameter *row) { return !row->frequency; }

/* own: the numbers before any change, which say how far one may go. */
static gfxsim_status change(time_parameters *p, const time_parameters *own, const char *text, size_t length) {
  gfxsim_time_parameter row;
  for (int n = 0; gfxsim_time_parameter_at(n, &row); n++) {
    size_t name = strlen(row.name);
    if (!row.fitted || length <= name || strncmp(text, row.name, name) != 0 || text[name] != '=') continue;
    const double *before = (const double *)((const char *)own + offsets[n]);
    double *number = (double *)((char *)p + offsets[n]), least = *before / 2, most = *before * 2;
    char *end;
    double value = strtod(text + name + 1, &end);
    bool good = length > name + 1 && end == text + length && value >= least && value <= most;
    if (!good || (is_whole(&row) && value != floor(value)))
      return fail(GFXSIM_INVALID, "time: model: %.*s: must be %g to %g%s", (int)length, text, least, most,
                  is_whole(&row) ? ", and whole" : "");
    *number = value;
    return GFXSIM_OK;
  }
  return fail(GFXSIM_INVALID, "time: model: '%.*s': must be NAME=VALUE with a fitted number of gfxsim time --parameters",
              (int)length, text);
}

gfxsim_status parameters_change(time_parameters *p, const char *text) {
  const time_parameters own = *p;
  gfxsim_status status = GFXSIM_OK;
  while (text != NULL && status == GFXSIM_OK) {
    size_t length = strcspn(text, ",");
    status = change(p, &own, text, length);
    text = text[length] == ',' ? text + length + 1 : NULL;
  }
  return status;
}
