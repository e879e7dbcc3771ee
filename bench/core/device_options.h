/* Options that belong to some kinds of devices only. Each function returns false with one line in error. */
#ifndef TANDEM_BENCH_CORE_DEVICE_OPTIONS_H
#define TANDEM_BENCH_CORE_DEVICE_OPTIONS_H

#include "case/options.h"

/* Refuses an option for simulated devices if the run has none. text: its value; NULL: it was not given. */
bool bench_check_simulated(const char *option, const char *text, const case_devices *devices, char *error, size_t size);
/* Refuses an option about times if every device is simulated. */
bool bench_check_timed(const char *option, const char *text, const case_devices *devices, char *error, size_t size);
/* --checks is for devices that are simulated in this process. */
bool bench_check_checks(bool asked, const case_devices *devices, char *error, size_t size);

#endif
