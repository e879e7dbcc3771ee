/* The table of peers. */
#include <string.h>

#include "bench/peer/peers.h"

extern const bench_peer bench_hipblaslt, bench_openblas, bench_rocblas;

static const bench_peer *const peers[] = {&bench_openblas, &bench_hipblaslt, &bench_rocblas};
enum { PEERS = sizeof peers / sizeof peers[0] };

const bench_peer *bench_find_peer(const char *name) {
  for (int i = 0; i < PEERS; i++)
    if (strcmp(peers[i]->name, name) == 0) return peers[i];
  return NULL;
}

const char *bench_peer_names(void) {
  static char text[128];
  size_t used = 0;
  for (int i = 0; i < PEERS && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", peers[i]->name);
  return text;
}
