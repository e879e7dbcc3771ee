/* Rows that are reduced: which work-items share a row. Host code fills this in, device code loops over it. */
#ifndef TANDEM_HIP_ARGS_TEAMS_H
#define TANDEM_HIP_ARGS_TEAMS_H

#include <stdint.h>

enum {
  HIP_TEAM_MOST = 1024,
  HIP_TEAM_WORKGROUP = 256, /* work-items, unless a team needs more */
  HIP_KEPT_ELEMENTS = 32,   /* of a row, as f32 in a work-item's registers: with 64, rmsnorm spills */
};

/* A team of 2^team_log2 work-items takes a row: part of a wave, a wave, or several waves of one workgroup. */
typedef struct hip_teams {
  int64_t rows, cols;
  int64_t workgroups;         /* each takes a row for each of its teams, then strides over the rows */
  int32_t team_log2, threads; /* of a workgroup */
} hip_teams;

#endif
