#include "parameters.h"

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
