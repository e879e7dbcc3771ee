/* Options that belong to some kinds of devices only. */
#include "bench/core/device_options.h"

#include <stdio.h>

#include "bench/core/count.h"
#include "bench/core/text.h"

static bool any_device(const case_devices *devices, bool simulated) {
  for (int d = 0; d < devices->count; d++)
    if (bench_is_simulated(devices->name[d]) == simulated) return true;
  return false;
}

/* text: "" of a flag. */
static bool refuse_option(const char *option, const char *text, const char *why, char *error, size_t size) {
  bool flag = text[0] == '\0';
  snprintf(error, size, "%s%s%s%s: %s", option, flag ? "" : " = '", text, flag ? "" : "'", why);
  return false;
}

bool bench_check_simulated(const char *option, const char *text, const case_devices *devices, char *error, size_t size) {
  static const char why[] =
      "must not be given without a simulated device (--device sim:gfx950, or omp:0 and hip:0 under gfxsim exec)";
  return text == NULL || any_device(devices, true) || refuse_option(option, text, why, error, size);
}

bool bench_check_timed(const char *option, const char *text, const case_devices *devices, char *error, size_t size) {
  char why[BENCH_TEXT];
  snprintf(why, sizeof why, "is about times, and %s has counts alone", devices->name[0]);
  return text == NULL || any_device(devices, false) || refuse_option(option, text, why, error, size);
}

/* The simulator of `gfxsim exec` has its own options. */
bool bench_check_checks(bool asked, const case_devices *devices, char *error, size_t size) {
  static const char why[] = "is for sim: devices; gfxsim exec has --no-check for omp: and hip: ones";
  bool in_process = false;
  for (int d = 0; d < devices->count; d++) in_process = in_process || bench_in_process(devices->name[d]);
  return bench_check_simulated("--checks", asked ? "" : NULL, devices, error, size) &&
         (!asked || in_process || refuse_option("--checks", "", why, error, size));
}
