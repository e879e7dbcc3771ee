#include "reference.h"

static void grid(const int64_t *size, const learn_launch *launch, uint32_t grid[3]) {
  grid[0] = learn_pieces(size[1], launch->tile[0]);
  grid[1] = (uint32_t)size[0];
}

const learn_exercise learn_attention = {
    .name = "attention",
    .title = "tiles, a causal mask, and numbers that stay finite",
    .kernel = "attention",
    .tile = true,
    .sizes = "heads seq",
    .shapes = {{{1, 128}}, {{1, 1}}, {{2, 33}}, {{1, 65}}, {{1, 70}, 30}},
    .arrays = learn_attention_arrays,
    .reference = learn_attention_reference,
    .grid = grid,
    /* queries 0-63 need one tile of 64 keys, 64-127 two: 12 of them, K and V, beside Q */
    .targets = {{LEARN_LOADED, LEARN_AT_MOST, (12 * 64 * 2 + 128) * 64 * 4,
                 "16 queries share each tile of 64 keys and values, and no tile after the last query is read."},
                {LEARN_CONFLICTS, LEARN_AT_MOST, 0,
                 "Lanes that read rows of 64 floats all use one bank: rows of 65 use all banks."},
                {LEARN_PREDICTED, LEARN_AT_MOST, 110000,
                 "A query for each workgroup takes 183000 by the model of time; 16 take 78000."}},
};
