#include <math.h>
#include <string.h>

#include "learn.h"

enum { PIECE = 256, ROUNDS = 3 };

static int arrays(const int64_t *size, case_array *a) {
  a[0] = learn_output("out", CASE_F32, 0, size[0]);
  a[1] = learn_input("x", CASE_F32, 0, size[0]);
  return 2;
}

/* One round of a piece. */
static void smooth(double *to, const double *from, int64_t count) {
  for (int64_t i = 0; i < count; i++) to[i] = (from[i > 0 ? i - 1 : 0] + from[i] + from[i + 1 < count ? i + 1 : count - 1]) / 3;
}

static void reference(const int64_t *size, const double *const *in, double *value, double *bound) {
  for (int64_t first = 0; first < size[0]; first += PIECE) {
    int64_t count = size[0] - first < PIECE ? size[0] - first : PIECE;
    double now[PIECE], next[PIECE], absolute[PIECE];
    memcpy(now, in[1] + first, (size_t)count * sizeof *now);
    for (int64_t i = 0; i < count; i++) absolute[i] = fabs(now[i]);
    for (int round = 0; round < ROUNDS; round++) {
      smooth(next, now, count);
      memcpy(now, next, sizeof now);
      smooth(next, absolute, count);
      memcpy(absolute, next, sizeof absolute);
    }
    memcpy(value + first, now, (size_t)count * sizeof *now);
    /* a round: two sums and a quotient */
    for (int64_t i = 0; i < count; i++) bound[first + i] = learn_sum_bound(4 * ROUNDS, absolute[i]);
  }
}

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  (void)launch;
  grid[0] = learn_pieces(size[0], PIECE);
}

const learn_exercise learn_race = {
    .name = "race",
    .title = "find the missing barrier",
    .kernel = "smooth",
    .sizes = "n",
    .shapes = {{{1024}}, {{1}}, {{255}}, {{1000}}},
    .arrays = arrays,
    .reference = reference,
    .grid = grid,
};
