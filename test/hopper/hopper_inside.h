/* What the stand-in's files share. */
#ifndef TANDEM_TEST_HOPPER_INSIDE_H
#define TANDEM_TEST_HOPPER_INSIDE_H

#include <setjmp.h>
#include <ucontext.h>

#include "hopper.h"

/* A product that is under way: it happens when its group is waited for, as late as it can. */
typedef struct hopper_product {
  float *sums;
  uint64_t a, b;
  bool add, a_by_k, b_by_k;
  int n, type, group;
  /* Not NULL: the first operand is in registers. held: what the lane had there; line: the 16 k of its two lines. */
  const uint32_t *words;
  uint32_t held[4];
  uint16_t line[2][16];
} hopper_product;

enum { HOPPER_MOST_PRODUCTS = 64 };

typedef struct hopper_meeting {
  int arrived, turn;
  bool any, answer; /* hopper_any_of_threads: of those that have arrived; of the last turn */
} hopper_meeting;

/* A barrier in shared memory: 8 bytes, as the hardware's, whose form is not documented. */
typedef struct hopper_barrier {
  int16_t count, pending; /* arrivals of a phase; those that are missing */
  int32_t bytes : 31;     /* expected minus arrived: may be below 0 for a while */
  uint32_t parity : 1;    /* of the current phase */
} hopper_barrier;

typedef struct hopper_fiber {
  ucontext_t context; /* where its first turn begins */
  jmp_buf place;      /* where the next one does */
  bool begun, ended;
  /* What it waits for, if not NULL, and what that was when it began to wait. */
  const hopper_meeting *meeting;
  const hopper_barrier *barrier;
  uint32_t before;
  hopper_product product[HOPPER_MOST_PRODUCTS];
  int products, group; /* group: of the next product */
} hopper_fiber;

/* A copy that is under way. */
typedef struct hopper_box {
  uint32_t to, barrier;
  hopper_map map;
  int at[4];
  unsigned ranks;
} hopper_box;

enum { HOPPER_MOST_COPIES = 1024 };

typedef struct hopper_state {
  void (*run)(const void *);
  const void *argument;
  int blocks, threads, shared_bytes, cluster, first_block;
  char *memory[8];
  hopper_fiber fiber[HOPPER_MOST_THREADS];
  hopper_meeting wave[HOPPER_MOST_THREADS / 32], block_meeting[8][16], cluster_meeting;
  uint32_t lane[HOPPER_MOST_THREADS][4]; /* what a lane shows the others of its wave */
  hopper_box copy[HOPPER_MOST_COPIES];
  int copies, running, alive, alive_in[8]; /* threads that have not ended: of the cluster, of a block */
  uint64_t changes, seed;
  bool refused;
} hopper_state;

extern hopper_state hopper;

/* Ends the launch with a message: hardware would not do this. */
__attribute__((format(printf, 1, 2))) void hopper_refuse(const char *format, ...);
uint32_t hopper_random(void);
void hopper_yield(void);
/* Gives turns away until the barrier has another parity. */
void hopper_wait_for(const hopper_barrier *barrier, uint32_t parity);
/* Executes a drawn copy. false: none is under way. */
bool hopper_copy_one(void);

#endif
