/* Tiles of engine/tile.h, which have a kernel for each number of stages of LDS: their depth. */
#ifndef TANDEM_HIP_HOST_DEPTHS_H
#define TANDEM_HIP_HOST_DEPTHS_H

#include "tile_launch.h"

typedef struct hip_depth_tile {
  hip_tile_kernel kernel; /* its functions: one kernel for each depth, in this order */
  int least, most;        /* the depths for which there are kernels; that by cache lines is the last one. 0: it has one depth */
  bool spares_across; /* of gemm: has a spare stage (engine/tile.h) if A or B is stored across k, though it costs a workgroup */
} hip_depth_tile;

/* With so many stages: the workgroups that share a CU, and what reads and loads wait for. `turns`: as the op says. */
hip_tile_shape tdm_hip_at_depth(const tdm_plan *plan, const hip_depth_tile *t, int depth);
/* Is there a kernel for the depth that the plan names, and has the chip LDS for it, or for the least one? */
bool tdm_hip_supports_depth(const tdm_plan *plan, const hip_depth_tile *t, char *reason, size_t size);

/* The estimate of the plan, whose depth is this one, and the K split that it is for. */
typedef tdm_cost hip_cost_of_depth(const tdm_plan *plan, const hip_depth_tile *t, int depth, int *split);
/* Is this depth tried where the plan names none? */
typedef bool hip_tries_depth(const tdm_plan *plan, const hip_depth_tile *t, int depth);
/* The estimate with the plan's depth and split, or with the best ones if the plan has none; then it sets them. tries: NULL if
 * all depths are. */
tdm_cost tdm_hip_best_depth(const tdm_plan *plan, const hip_depth_tile *t, hip_cost_of_depth *cost_of, hip_tries_depth *tries,
                            tdm_tuning *tuning);

#endif
