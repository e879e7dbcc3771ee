/* A place for one workgroup after the other: waves, registers, LDS and scratch. */
#ifndef GFXSIM_ROOM_H
#define GFXSIM_ROOM_H
#include "wave.h"

typedef struct room {
  group group; /* the one that is in it */
  void *waves, *registers, *lds, *scratch;
} room;

/* room_free also after a room_make that failed, or of zeros. */
gfxsim_status room_make(room *r, launch *run);
void room_free(room *r);
/* Makes it that workgroup's, by its position among those that run, with memory and registers of zeros. */
void room_take(room *r, u64 position);

#endif
