/* Another library that can run a case, for comparison. bench/peer/ has them. */
#ifndef TANDEM_BENCH_CORE_PEER_H
#define TANDEM_BENCH_CORE_PEER_H

#include "bench/core/text.h"
#include "case/case.h"

typedef struct bench_peer {
  const char *name;
  /* Loads the library and sets its number of threads; version gets its name and version. false: the reason. */
  bool (*open)(int threads, char *version, char *reason, size_t size);
  /* Called before the runs of a case: it may allocate what they need. */
  bool (*supports)(const tdm_case *c, const char *device, char *reason, size_t size);
  /* On the default stream of a device; false: the reason. */
  bool (*run)(const tdm_case *c, const case_array *arrays, void *const pointers[CASE_MAX_ARRAYS], char *reason, size_t size);
} bench_peer;

#endif
