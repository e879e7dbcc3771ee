/* The buffers that the timed runs go through in turn. */
#include <stdlib.h>
#include <string.h>

#include "bench/core/buffers.h"

enum { ALIGNMENT = 256, POISON_BYTES = 1 << 20 };

const void *bench_block(uint64_t seed, case_element element, int64_t index_limit) {
  static struct {
    void *values;
    uint64_t seed;
    int64_t index_limit;
  } blocks[CASE_I64 + 1];
  bool there = blocks[element].values != NULL;
  if (there && blocks[element].seed == seed && blocks[element].index_limit == index_limit) return blocks[element].values;
  if (!there) blocks[element].values = malloc(CASE_BLOCK * case_element_size(element));
  if (blocks[element].values == NULL) return NULL;
  case_fill_block(seed, element, index_limit, blocks[element].values);
  blocks[element].seed = seed;
  blocks[element].index_limit = index_limit;
  return blocks[element].values;
}

static size_t shift_bytes(const bench_buffers *b, int i) {
  return (size_t)b->c->shift * case_element_size(b->array[i].element);
}

/* Does the array have memory of its own? An output in place uses its input's. */
static bool has_memory(const bench_buffers *b, int i) { return b->array[i].used && b->array[i].same_as < 0; }

static void plan_memory(bench_buffers *b, size_t rotation) {
  size_t all = 0;
  for (int i = 0; i < b->count; i++) {
    const case_array *array = &b->array[i];
    if (array->used && array->same_as >= 0) b->written[array->same_as] = b->rewrites = true;
    if (array->used && array->output) b->written[i] = true;
    if (array->input && array->output) b->rewrites = true;
  }
  for (int i = 0; i < b->count; i++) {
    if (!has_memory(b, i)) continue;
    b->step[i] = (case_array_bytes(&b->array[i]) + shift_bytes(b, i) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    all += b->step[i] * (size_t)(b->written[i] ? b->runners : 1);
  }
  size_t copies = all == 0 ? 1 : (rotation + all - 1) / all;
  b->copies = copies < 1 ? 1 : copies > BENCH_MAX_COPIES ? BENCH_MAX_COPIES : (int)copies;
  b->total = all * (size_t)b->copies;
}

/* Writes what an input holds before the first run, including the gaps between its rows. */
static bool make_host(bench_buffers *b, int i, bool in_blocks) {
  size_t bytes = case_array_bytes(&b->array[i]);
  if (!b->array[i].input) return true;
  if (in_blocks) return (b->block[i] = bench_block(b->c->seed, b->array[i].element, b->array[i].index_limit)) != NULL;
  b->host[i] = malloc(bytes > 0 ? bytes : 1);
  if (b->host[i] == NULL) return false;
  memset(b->host[i], BENCH_POISON, bytes);
  case_fill_array(b->c, i, &b->array[i], b->host[i]);
  return true;
}

static char *address(const bench_buffers *b, int runner, int copy, int i) {
  return b->base[runner][i] + (size_t)copy * b->step[i] + shift_bytes(b, i);
}

/* The device repeats the first `done` bytes until all `bytes` have a value. */
static tdm_status repeat(const bench_buffers *b, char *to, size_t done, size_t bytes) {
  tdm_status status = TDM_OK;
  for (; done < bytes && status == TDM_OK; done *= 2)
    status = tdm_copy(b->context, to + done, to, done < bytes - done ? done : bytes - done, TDM_ON_DEVICE, NULL);
  return status;
}

/* An output can be most of the memory, and the host need not hold it twice. */
static tdm_status poison(const bench_buffers *b, char *to, size_t bytes) {
  static unsigned char piece[POISON_BYTES];
  memset(piece, BENCH_POISON, sizeof piece);
  size_t first = bytes < sizeof piece ? bytes : sizeof piece;
  tdm_status status = tdm_copy(b->context, to, piece, first, TDM_TO_DEVICE, NULL);
  return status == TDM_OK ? repeat(b, to, sizeof piece, bytes) : status;
}

/* The block from the array's phase to its end, and from its beginning to the phase; then that again. */
static tdm_status upload_block(const bench_buffers *b, int i, char *to, size_t bytes) {
  size_t element = case_element_size(b->array[i].element), block = CASE_BLOCK * element;
  size_t phase = (size_t)(case_block_phase(i) % CASE_BLOCK) * element, first = block - phase;
  const char *from = b->block[i];
  tdm_status status = tdm_copy(b->context, to, from + phase, bytes < first ? bytes : first, TDM_TO_DEVICE, NULL);
  if (status == TDM_OK && bytes > first)
    status = tdm_copy(b->context, to + first, from, bytes < block ? bytes - first : phase, TDM_TO_DEVICE, NULL);
  return status == TDM_OK ? repeat(b, to, block, bytes) : status;
}

static tdm_status upload(const bench_buffers *b, int runner, int copy, int i) {
  char *to = address(b, runner, copy, i);
  size_t bytes = case_array_bytes(&b->array[i]);
  if (b->block[i] != NULL) return upload_block(b, i, to, bytes);
  return b->host[i] != NULL ? tdm_copy(b->context, to, b->host[i], bytes, TDM_TO_DEVICE, NULL) : poison(b, to, bytes);
}

static tdm_status make_device(bench_buffers *b, int runner, int i) {
  void *memory = NULL;
  tdm_status status = tdm_alloc(b->context, b->step[i] * (size_t)b->copies, &memory);
  b->base[runner][i] = memory;
  for (int copy = 0; copy < b->copies && status == TDM_OK && memory != NULL; copy++) status = upload(b, runner, copy, i);
  return status;
}

static bool make_array(bench_buffers *b, int i, bool in_blocks, char *reason, size_t size) {
  if (!make_host(b, i, in_blocks)) {
    snprintf(reason, size, "%s: no memory for %zu bytes", b->array[i].name, case_array_bytes(&b->array[i]));
    return false;
  }
  for (int runner = 0; runner < b->runners; runner++) {
    if (runner > 0 && !b->written[i]) {
      b->base[runner][i] = b->base[0][i];
    } else if (make_device(b, runner, i) != TDM_OK) {
      snprintf(reason, size, "%s: %s", b->array[i].name, tdm_last_error());
      return false;
    }
  }
  return true;
}

bool bench_buffers_open(bench_buffers *b, const tdm_case *c, tdm_context *context, int runners, size_t rotation, bool in_blocks,
                        char *reason, size_t size) {
  *b = (bench_buffers){.c = c, .context = context, .runners = runners};
  b->count = c->op->arrays(c, b->array);
  plan_memory(b, rotation);
  for (int i = 0; i < b->count; i++)
    if (has_memory(b, i) && !make_array(b, i, in_blocks, reason, size)) return false;
  return true;
}

bool bench_buffers_close(bench_buffers *b) {
  bool freed = true;
  for (int i = 0; i < b->count; i++) {
    free(b->host[i]);
    for (int runner = 0; runner < b->runners; runner++)
      if (runner == 0 || b->base[runner][i] != b->base[0][i]) freed &= tdm_free(b->context, b->base[runner][i]) == TDM_OK;
  }
  return freed;
}

void bench_buffers_pointers(const bench_buffers *b, int runner, int copy, void *pointers[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < b->count; i++) {
    int memory = b->array[i].same_as >= 0 ? b->array[i].same_as : i;
    bool there = b->array[i].used && b->base[runner][memory] != NULL;
    pointers[i] = there ? address(b, runner, copy, memory) : NULL;
  }
}

tdm_status bench_buffers_restore(const bench_buffers *b, int runner, int copy) {
  tdm_status status = TDM_OK;
  for (int i = 0; i < b->count && status == TDM_OK; i++)
    if (has_memory(b, i) && b->written[i] && b->base[runner][i] != NULL) status = upload(b, runner, copy, i);
  return status;
}
