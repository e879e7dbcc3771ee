/* The other libraries, by name. */
#ifndef TANDEM_BENCH_PEER_PEERS_H
#define TANDEM_BENCH_PEER_PEERS_H

#include "bench/core/peer.h"

const bench_peer *bench_find_peer(const char *name);
const char *bench_peer_names(void);

#endif
