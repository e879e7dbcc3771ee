/* tandem-cuts: times cuts of drawn products on Hopper's matrix units, and fits the constants of the estimate that chooses
 * among cuts (offload/engine/wgmma_choice.c) to these times. docs/tuning.md says how to use it. */
#ifndef TANDEM_BENCH_CUTS_CUTS_H
#define TANDEM_BENCH_CUTS_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "offload/engine/wgmma_choice.h"

enum { CUTS_OF_A_PRODUCT = 12 };

typedef struct cuts_time {
  wg_choice cut;
  double ns; /* of a run, until it has ended */
} cuts_time;

typedef struct cuts_product {
  wg_problem problem;
  char title[128];
  cuts_time time[CUTS_OF_A_PRODUCT]; /* the first is what the library chose when it was timed */
  int times;
} cuts_product;

typedef struct cuts_set {
  cuts_product *product;
  int count, processors;
} cuts_set;

typedef struct cuts_request {
  const char *device, *path;
  uint64_t seed;
  double seconds, most_flop; /* of a product */
} cuts_request;

/* Times cuts of products that are drawn from the seed, for that many seconds, and writes them as JSON. */
bool cuts_measure(const cuts_request *request, char *error, size_t size);

bool cuts_read(cuts_set *set, const char *path, char *error, size_t size);
bool cuts_write(const cuts_set *set, const cuts_request *request, char *error, size_t size);
void cuts_free(cuts_set *set);

/* Prints how well the constants describe the times; then fits them, unless `rounds` is 0, and prints both. */
void cuts_fit(const cuts_set *set, int rounds);

#endif
