/* A stand-in of one Hopper GPU, on which a test executes the kernels of wgmma as C of the host: the CUDA driver's functions
 * that the library calls, and what a block's threads do to each other. Its words are those of NVIDIA's PTX ISA; what is not
 * in them is said where it stands.
 *
 * A cluster's threads are fibers that take turns, in an order that is drawn; copies happen as late as they can. So a kernel
 * that reads before it has waited reads NaN. */
#ifndef TANDEM_TEST_HOPPER_HOPPER_H
#define TANDEM_TEST_HOPPER_HOPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  HOPPER_MOST_THREADS = 8 * 384, /* of a cluster */
  HOPPER_SHARED = 232448,        /* bytes of a block */
  HOPPER_BEGIN = 64,             /* where a kernel's shared memory begins: no more aligned than it asks for */
};

/* A tensor map, as the stand-in's driver makes it. */
typedef struct hopper_map {
  uint64_t base, extent[4], stride[3];
  uint32_t box[4], element; /* bytes */
} hopper_map;

/* A kernel, registered by the file that defines it. columns: of its image. */
void hopper_register(int columns, const char *name, void (*run)(const void *argument));
void (*hopper_find(int columns, const char *name))(const void *argument);

/* The order of turns and copies from now on is drawn from it. */
void hopper_seed(uint64_t seed);

/* Executes a launch. Returns false, and says why on stderr, if threads wait for ever or do what hardware would refuse. */
bool hopper_launch(void (*run)(const void *), const void *argument, int blocks, int threads, int shared_bytes, int cluster);

/* Makes a call of a function fail, the call-th from now on, alone or with all later ones; NULL: none. Returns true if the
 * call that was named before has failed. The names: the driver's functions, "alloc" and "copy" of the device's memory,
 * "malloc", "calloc". */
bool hopper_fail(const char *name, int call, bool later_ones);
/* Is this call to fail? */
bool hopper_fails(const char *name);

/* What LLVM's plugin does in each call: makes the device's context current, and leaves it. unset: the thread has none again. */
void hopper_plugin(void);
void hopper_unset(void);

/* What is held: contexts that are pushed or left, allocations of the driver, and of the device's other memory. */
typedef struct hopper_things {
  int contexts, memory, arrays;
} hopper_things;
extern hopper_things hopper_held;

/* ---- For kernels: the calling thread's place and what it does ---- */

int hopper_thread(void);
int hopper_block(void);
int hopper_blocks(void);
int hopper_rank(void);
int hopper_cluster_size(void);

void *hopper_memory(uint32_t address); /* of the thread's own block */
void *hopper_memory_of(int rank, uint32_t address);

void hopper_sync_wave(void);
void hopper_sync_threads(int id, int threads);
void hopper_arrive_threads(int id, int threads);
bool hopper_any_of_threads(int id, int threads, bool value);
void hopper_sync_cluster(void);

void hopper_barrier_init(uint32_t barrier, int count);
void hopper_barrier_expect(uint32_t barrier, int bytes);
void hopper_barrier_arrive(uint32_t barrier, int rank);
void hopper_barrier_wait(uint32_t barrier, int parity);

/* What lane `lane` of the wave has; is it true in any lane? */
uint32_t hopper_lane(uint32_t x, int lane);
bool hopper_any(bool value);

/* ranks: a bit for each block of the cluster that gets the box. */
void hopper_copy(uint32_t to, const void *map, uint32_t barrier, int x, int y, int z, int w, unsigned ranks);

/* The calling thread's part of a product of 64 lines by n. It happens when it is waited for: hopper_wait_products leaves as
 * many groups as `but` under way. */
void hopper_multiply(float *sums, uint64_t a, uint64_t b, bool add, int n, bool a_by_k, bool b_by_k, int type);
/* The same with the 64 lines in the registers of the warpgroup's lanes, which must not change until then. */
void hopper_multiply_words(float *sums, const uint32_t *a, uint64_t b, int n, bool b_by_k, int type);
void hopper_commit(void);
void hopper_wait_products(int but);

#endif
