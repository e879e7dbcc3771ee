#include "best.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <tandem/cross_entropy.h>

enum { PARTS = 3 }; /* of a row: maximum, sum, the target's logit */

/* The smallest divisor of vocab that is at least its root: as many blocks as ids of a block, nearly. */
static int64_t block_of(int64_t vocab) {
  int64_t blocks = (int64_t)sqrt((double)vocab);
  while (blocks > 1 && vocab % blocks != 0) blocks--;
  return vocab / (blocks < 1 ? 1 : blocks);
}
static int64_t blocks_of(int64_t batch, int64_t vocab) { return vocab == 0 ? 0 : batch * (vocab / block_of(vocab)); }

static size_t targets_bytes(int64_t blocks) { return memory_bytes((double)blocks * sizeof(int32_t)); }
static size_t parts_bytes(int64_t blocks) { return memory_bytes((double)blocks * PARTS * sizeof(float)); }

size_t best_bytes(int64_t batch, int64_t vocab) {
  int64_t blocks = blocks_of(batch, vocab);
  return targets_bytes(blocks) + parts_bytes(blocks);
}

/* Targets that all are the first id: a row without one would have no maximum. */
static bool write_targets(best_finder *b, int64_t blocks, llama_error *error) {
  int32_t *zeros = calloc((size_t)blocks, sizeof *zeros);
  if (zeros == NULL) return llama_fail(error, "no memory for %" PRId64 " blocks of logits", blocks);
  tdm_status status = tdm_copy(b->m->context, b->targets, zeros, (size_t)blocks * sizeof *zeros, TDM_TO_DEVICE, NULL);
  free(zeros);
  return status == TDM_OK || llama_fail_tandem(error, "blocks of logits");
}

bool best_open(best_finder *b, memory *m, int64_t batch, int64_t vocab, llama_error *error) {
  int64_t blocks = blocks_of(batch, vocab);
  *b = (best_finder){.m = m, .batch = batch, .vocab = vocab};
  if (blocks == 0) return true;
  b->block = block_of(vocab);
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(blocks, b->block, TDM_F32);
  d.total = d.vocab;
  int64_t floats = blocks * PARTS > b->block ? blocks * PARTS : b->block;
  b->host = malloc((size_t)floats * sizeof *b->host);
  if (b->host == NULL) {
    llama_fail(error, "no memory for %" PRId64 " blocks of logits", blocks);
  } else if (memory_take(m, MEMORY_LOGITS, targets_bytes(blocks), &b->targets, error) &&
             memory_take(m, MEMORY_LOGITS, parts_bytes(blocks), &b->parts, error) && write_targets(b, blocks, error)) {
    if (tdm_cross_entropy_plan(m->context, &d, &b->plan) == TDM_OK) return true;
    llama_fail_tandem(error, "blocks of logits");
  }
  best_close(b);
  return false;
}

void best_close(best_finder *b) {
  if (b->m == NULL) return;
  tdm_plan_free(b->plan);
  memory_give(b->m, b->targets);
  memory_give(b->m, b->parts);
  free(b->host);
  *b = (best_finder){0};
}

/* The block with the largest maximum; -1: there is none, or a logit is not a number. */
static int64_t largest_block(const float *parts, int64_t count) {
  int64_t found = -1;
  for (int64_t i = 0; i < count; i++) {
    const float *part = parts + i * PARTS;
    if (!isfinite(part[0])) return -1;
    if (part[1] > 0 && (found < 0 || part[0] > parts[found * PARTS])) found = i;
  }
  return found;
}

static bool to_host(const best_finder *b, float *to, const void *from, int64_t floats, llama_error *error) {
  tdm_status status = tdm_copy(b->m->context, to, from, (size_t)floats * sizeof *to, TDM_TO_HOST, NULL);
  return status == TDM_OK || llama_fail_tandem(error, "logits");
}

bool best_find(const best_finder *b, const float *logits, int64_t first, candidate *best, llama_error *error) {
  for (int64_t i = 0; i < b->batch; i++) best[i] = (candidate){-INFINITY, -1};
  if (b->plan == NULL) return true; /* no columns */
  int64_t each = b->vocab / b->block;
  if (tdm_cross_entropy_run(b->plan, logits, b->targets, b->parts, NULL) != TDM_OK)
    return llama_fail_tandem(error, "blocks of logits");
  if (!to_host(b, b->host, b->parts, b->batch * each * PARTS, error)) return false;
  for (int64_t i = 0; i < b->batch; i++) {
    int64_t block = largest_block(b->host + i * each * PARTS, each);
    best[i] =
        block < 0 ? (candidate){INFINITY, -1} : (candidate){b->host[(i * each + block) * PARTS], (int32_t)(block * b->block)};
  }
  for (int64_t i = 0; i < b->batch; i++) {
    if (best[i].id < 0) continue;
    if (!to_host(b, b->host, logits + i * b->vocab + best[i].id, b->block, error)) return false;
    int64_t j = 0;
    while (j < b->block - 1 && b->host[j] != best[i].logit) j++;
    best[i].id += (int32_t)(first + j);
  }
  return true;
}
