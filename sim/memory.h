/* The device's global memory. Addresses are our own and never used twice, so a freed one is always recognised; between two
 * allocations lies a gap that belongs to nobody, so an overrun by less than 64 KiB can't hit a neighbour. */
#ifndef GFXSIM_MEMORY_H
#define GFXSIM_MEMORY_H
#include <pthread.h>

#include "gfxsim.h"
#include "types.h"

enum { MEMORY_PAGE = 4096 };

/* Bytes begin .. end - 1 of an allocation. */
typedef struct memory_part {
  u64 begin, end;
} memory_part;

typedef struct allocation {
  u64 base, size;     /* size: what was asked for; data has it rounded up to pages */
  u8 *data;           /* NULL once freed */
  u8 *undefined;      /* a set bit: nobody wrote it; NULL where memory.checked is off, or once freed */
  bool writable;      /* by kernels. Not: kernel arguments, and code objects except for these parts: */
  memory_part *parts; /* sorted, with gaps between them (image.c) */
  size_t part_count;
} allocation;

typedef struct memory {
  allocation **sorted; /* by base; rows stay where they are so that waves may keep pointers during a launch */
  size_t count, capacity;
  u64 next;
  bool checked; /* for what nobody wrote */
} memory;

void memory_init(memory *m);
void memory_release(memory *m);
/* Its bytes count as written: memory_written with false says otherwise. */
gfxsim_status memory_alloc(memory *m, u64 bytes, bool writable, allocation **made);
/* Whether somebody wrote [address, address + bytes), which lie in one live allocation. */
void memory_written(const memory *m, u64 address, u64 bytes, bool written);
/* Whether a kernel may write [offset, offset + bytes), which lie in the allocation. */
bool memory_writable(const allocation *a, u64 offset, u64 bytes);
/* Frees the bytes and keeps the row, for reports. */
void memory_drop(allocation *a);
/* The reverse of the last memory_alloc: its addresses may come again. For what a launch alone needs, or every launch would cost
 * more than the one before. */
void memory_pop(memory *m);
/* The allocation at or before the address (also one that was freed); NULL below the first. */
allocation *memory_find(const memory *m, u64 address);
/* Whether the address lies between the first and the next address to be handed out. */
bool memory_owns(const memory *m, u64 address);
/* Bytes of live allocations. */
u64 memory_used(const memory *m);
/* Host bytes of [address, address + bytes); NULL (and an error naming `what`) unless one live allocation holds them all. */
u8 *memory_range(const memory *m, u64 address, u64 bytes, const char *what);

#endif
