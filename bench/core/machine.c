/* What a run ran on. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/core/machine.h"
#include "src/core/cpu.h"

double bench_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_cpu(char *name, size_t size) {
  snprintf(name, size, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL) return;
  char line[512];
  while (fgets(line, sizeof line, file) != NULL) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
    snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    break;
  }
  fclose(file);
}

/* The largest cache that the system shows for its first core. */
static size_t read_cache(void) {
  size_t largest = 0;
  for (int i = 0; i < 8; i++) {
    char path[80], text[32] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
    FILE *file = fopen(path, "r");
    if (file == NULL) break;
    char *unit = text;
    size_t bytes = fgets(text, sizeof text, file) != NULL ? strtoul(text, &unit, 10) : 0;
    bytes *= *unit == 'K' ? 1024 : *unit == 'M' ? 1 << 20 : 1;
    if (bytes > largest) largest = bytes;
    fclose(file);
  }
  return largest;
}

size_t bench_rotation(const bench_machine *m) {
  size_t bytes = m->cache > 0 ? 4 * m->cache : BENCH_MOST_ROTATION;
  if (bytes > BENCH_MOST_ROTATION) bytes = BENCH_MOST_ROTATION;
  return bytes > m->memory / 4 ? m->memory / 4 : bytes;
}

bench_machine bench_machine_read(void) {
  bench_machine m = {.threads = omp_get_max_threads(), .cache = read_cache()};
  struct utsname names;
  read_cpu(m.cpu, sizeof m.cpu);
  if (uname(&names) == 0) snprintf(m.system, sizeof m.system, "%.32s %.60s %.30s", names.sysname, names.release, names.machine);
  snprintf(m.compiler, sizeof m.compiler, "%s", BENCH_COMPILER);
  char sets[96];
  snprintf(m.instructions, sizeof m.instructions, "-march=%s, and of this processor:%s", BENCH_HOST_CPU,
           tdm_cpu_text(tdm_cpu_sets(), sets, sizeof sets));
  m.memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  if (getloadavg(&m.load, 1) != 1) m.load = 0;
  return m;
}
