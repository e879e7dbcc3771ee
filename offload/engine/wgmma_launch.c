#include "wgmma_launch.h"

enum { LAUNCH_CLUSTER = 4, PACK_TEAMS = 8 /* blocks of a copy on each multiprocessor */ };

int wg_make_map(const cuda_driver *d, wg_map *map, int element, unsigned rank, uintptr_t base, const uint64_t *extent,
                const uint64_t *stride, const unsigned *box) {
  enum { UINT16 = 1, UINT32 = 2, NO_INTERLEAVE = 0, SWIZZLE_128 = 3, PROMOTE_256 = 3, FILL_ZERO = 0 };
  const unsigned each[5] = {1, 1, 1, 1, 1};
  return d->tensor_map(map, element == 2 ? UINT16 : UINT32, rank, (void *)base, extent, stride, box, each, NO_INTERLEAVE,
                       SWIZZLE_128, PROMOTE_256, FILL_ZERO);
}

int wg_launch_blocks(const cuda_driver *d, void *function, unsigned blocks, unsigned threads, unsigned shared, unsigned cluster,
                     void *args) {
  cuda_attribute attribute = {.id = LAUNCH_CLUSTER, .value = {cluster, 1, 1}};
  const cuda_launch how = {.grid = {blocks, 1, 1},
                           .block = {threads, 1, 1},
                           .shared_bytes = shared,
                           .stream = WG_STREAM,
                           .attribute = &attribute,
                           .attributes = cluster > 1}; /* one block alone is a cluster: its launch takes 0.4 us less */
  return d->launch(&how, function, (void *[]){args}, NULL);
}

int wg_launch_pack(const cuda_driver *d, void *function, wg_pack_args *args, int processors) {
  int64_t pieces = 0;
  for (int i = 0; i < args->jobs; i++) pieces = args->job[i].pieces > pieces ? args->job[i].pieces : pieces;
  const int64_t most = (int64_t)processors * PACK_TEAMS, teams = (pieces + WG_PACK_THREADS - 1) / WG_PACK_THREADS;
  return wg_launch_blocks(d, function, (unsigned)(teams < most ? teams : most), WG_PACK_THREADS, 0, 1, args);
}

int wg_finish(const cuda_driver *d, const uintptr_t *memory, int count) {
  int code = 0;
  for (int i = 0; i < count; i++) {
    const int freed = memory[i] != 0 ? d->free(memory[i], WG_STREAM) : 0;
    if (code == 0) code = freed;
  }
  const int done = d->synchronize(WG_STREAM);
  return code != 0 ? code : done;
}
