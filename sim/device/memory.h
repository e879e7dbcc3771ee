/* The device's global memory. Addresses are our own and never used twice, so a freed one is always recognised; between two
 * allocations lies a gap that belongs to nobody, so an overrun by less than 64 KiB can't hit a neighbour. */
#ifndef GFXSIM_MEMORY_H
#define GFXSIM_MEMORY_H
#include <pthread.h>

#include "sim/base/types.h"
#include "sim/include/gfxsim.h"

enum { MEMORY_PAGE = 4096, MEMORY_DEVICES_MOST = 16 };

/* Bytes begin .. end - 1 of an allocation. */
typedef struct memory_part {
  u64 begin, end;
} memory_part;

typedef struct allocation {
  u64 base, size; /* size: what was asked for; data has it rounded up to pages */
  u8 *data;       /* NULL once freed */
  u8 *undefined;  /* a set bit: nobody wrote it; NULL where memory.checked is off, or once freed */
  bool on_host;   /* data lies at the address `base` of this process */
  bool writable;  /* by kernels. Not: what gfxsim_protect says, kernel arguments, and code objects except for these parts: */
  memory_part *parts; /* sorted, with gaps between them (image.c) */
  size_t part_count;
} allocation;

/* Addresses reserved for one array. Only parts of it may be memory; each part is a separate allocation. */
typedef struct reservation {
  char name[32];
  u64 base, size; /* the array: its first byte, and its bytes with the gaps between parts */
  u64 low, high;  /* all addresses that are kept for it */
} reservation;

/* Host memory that kernels reach at its own address (mapped.c). */
typedef struct mapped mapped;

typedef struct memory {
  mapped *mapped;      /* NULL: none */
  allocation **sorted; /* by base; rows stay where they are so that waves may keep pointers during a launch */
  size_t count, capacity;
  reservation *reserved; /* by base */
  size_t reserved_count, reserved_capacity;
  u64 first; /* addresses that were handed out: from first up to next */
  /* gfxsim_owns and gfxsim_device_describe read these while another thread's launch allocates. */
  _Atomic u64 next;
  _Atomic u64 used;                                /* bytes of live allocations */
  bool checked;                                    /* for what nobody wrote */
  const struct memory *peers[MEMORY_DEVICES_MOST]; /* other devices' that may be accessed, by their place; NULL: not */
} memory;

void memory_init(memory *m);
/* Before the first allocation: one of MEMORY_DEVICES_MOST ranges of addresses, so that devices of one process share none. */
void memory_place(memory *m, u32 number);
void memory_release(memory *m);
/* Its bytes count as written: memory_written with false says otherwise. */
gfxsim_status memory_alloc(memory *m, u64 bytes, bool writable, allocation **made);
/* The same, but this process can use the memory at the device's address. What it writes there nobody sees, so the bytes had
 * better count as written. They are zeros. */
gfxsim_status memory_alloc_on_host(memory *m, u64 bytes, allocation **made);
/* Whether somebody wrote [address, address + bytes), which lie in one live allocation. */
void memory_written(const memory *m, u64 address, u64 bytes, bool written);
/* Whether a kernel may write [offset, offset + bytes), which lie in the allocation. */
bool memory_writable(const allocation *a, u64 offset, u64 bytes);
/* Frees the bytes and keeps the row, for reports. */
void memory_drop(memory *m, allocation *a);
/* The place of the device that the address belongs to; -1: to none. */
int memory_place_of(u64 address);
/* The reverse of the last memory_alloc: its addresses may come again. For what a launch alone needs, or every launch would cost
 * more than the one before. */
void memory_pop(memory *m);
/* Keeps addresses for an array of `bytes` that begins `offset` bytes after the begin of a page. None of it is memory yet. On
 * both sides lies a gap that belongs to nobody: 16 GiB for arrays above 1 GiB, so that an offset cut to 32 bits, of elements of
 * up to 4 bytes, still lands in it. */
gfxsim_status memory_reserve(memory *m, const char *name, u64 offset, u64 bytes, u64 *base);
/* Makes memory of a part of a reservation, exactly from its first to its last byte. Nobody has written it. */
gfxsim_status memory_map(memory *m, u64 address, u64 bytes);
/* Frees every part of the reservation whose array begins at `base`. Its addresses may come again if nothing was allocated
 * since. */
gfxsim_status memory_unreserve(memory *m, u64 base);
/* The reservation that keeps this address; NULL where none does. */
const reservation *memory_reservation(const memory *m, u64 address);
/* The allocation at or before the address (also one that was freed), or the mapped host range that holds it; NULL where there
 * is neither. */
allocation *memory_find(const memory *m, u64 address);
/* Whether the address lies between the first and the next address to be handed out. */
bool memory_owns(const memory *m, u64 address);
/* Bytes of live allocations. */
u64 memory_used(const memory *m);
/* Host bytes of [address, address + bytes); NULL (and an error naming `what`) unless one live allocation holds them all. */
u8 *memory_range(const memory *m, u64 address, u64 bytes, const char *what);

#endif
