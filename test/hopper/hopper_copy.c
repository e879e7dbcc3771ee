/* Barriers of shared memory, copies of tensor boxes, products: PTX ISA, "mbarrier", "cp.async.bulk.tensor", "Swizzling
 * modes", and "Asynchronous warpgroup level matrix instructions". */
#include <string.h>

#include "hopper_inside.h"
#include "src/base/elem.h"

/* The swizzle of 128 bytes: address bits 4 to 6 are exclusive-ored with bits 7 to 9. */
static uint32_t swizzled(uint32_t address) { return address ^ (address >> 7 & 7) << 4; }

/* ---- Barriers ---- */

static hopper_barrier *barrier_of(int rank, uint32_t address) { return hopper_memory_of(rank, address); }

static void settle(hopper_barrier *b) {
  hopper.changes++;
  if (b->pending != 0 || b->bytes != 0) return;
  b->pending = b->count;
  b->parity ^= 1;
}

void hopper_barrier_init(uint32_t barrier, int count) {
  *barrier_of(hopper_rank(), barrier) = (hopper_barrier){.count = (int16_t)count, .pending = (int16_t)count};
}

static void arrive(hopper_barrier *b) {
  if (b->pending == 0) hopper_refuse("an arrival too many at a barrier for %d", b->count);
  b->pending--;
  settle(b);
}

void hopper_barrier_expect(uint32_t barrier, int bytes) {
  hopper_barrier *b = barrier_of(hopper_rank(), barrier);
  b->bytes += bytes;
  arrive(b);
}

void hopper_barrier_arrive(uint32_t barrier, int rank) { arrive(barrier_of(rank, barrier)); }

void hopper_barrier_wait(uint32_t barrier, int parity) {
  hopper_wait_for(barrier_of(hopper_rank(), barrier), (uint32_t)parity);
}

/* ---- Copies ---- */

void hopper_copy(uint32_t to, const void *map, uint32_t barrier, int x, int y, int z, int w, unsigned ranks) {
  if (hopper.copies == HOPPER_MOST_COPIES) {
    hopper_refuse("more than %d copies are under way", HOPPER_MOST_COPIES);
    return;
  }
  hopper_box *box = &hopper.copy[hopper.copies++];
  *box = (hopper_box){.to = to, .barrier = barrier, .at = {x, y, z, w}, .ranks = ranks};
  memcpy(&box->map, map, sizeof box->map);
  /* Not in the documents: an H200 stops with "illegal instruction" if a swizzled box begins inside of 16 bytes. */
  if (x * (int)box->map.element % 16 != 0) hopper_refuse("a box begins at element %d of a row: not at 16 bytes", x);
  if (to % 128 != 0) hopper_refuse("a box goes to address %u: must be a multiple of 128", to);
  hopper.changes++;
}

/* Where an element is; NULL: outside. */
static const char *element(const hopper_box *box, uint64_t x, uint64_t y) {
  const uint64_t z = (uint64_t)(int64_t)box->at[2], w = (uint64_t)(int64_t)box->at[3];
  const hopper_map *m = &box->map;
  if (x >= m->extent[0] || y >= m->extent[1] || z >= m->extent[2] || w >= m->extent[3]) return NULL;
  return (const char *)(uintptr_t)m->base + x * m->element + y * m->stride[0] + z * m->stride[1] + w * m->stride[2];
}

static void copy_to(const hopper_box *box, int rank) {
  const hopper_map *m = &box->map;
  for (uint32_t y = 0; y < m->box[1]; y++)
    for (uint32_t x = 0; x < m->box[0]; x++) {
      const char *from = element(box, (uint64_t)(box->at[0] + (int)x), (uint64_t)(box->at[1] + (int)y));
      void *to = hopper_memory_of(rank, swizzled(box->to + (y * m->box[0] + x) * m->element));
      if (from != NULL)
        memcpy(to, from, m->element);
      else
        memset(to, 0, m->element);
    }
  hopper_barrier *b = barrier_of(rank, box->barrier);
  b->bytes -= (int32_t)(m->box[0] * m->box[1] * m->element);
  settle(b);
}

bool hopper_copy_one(void) {
  if (hopper.copies == 0) return false;
  int i = (int)(hopper_random() % (uint32_t)hopper.copies);
  hopper_box box = hopper.copy[i];
  hopper.copy[i] = hopper.copy[--hopper.copies];
  for (int rank = 0; rank < hopper.cluster; rank++)
    if (box.ranks >> rank & 1) copy_to(&box, rank);
  return true;
}

/* ---- Products ---- */

/* An operand in the memory of the thread's block. */
typedef struct operand {
  const char *memory;
  uint32_t bytes, start, leading, stride;
  bool by_k;
  int type;
} operand;

static operand operand_of(uint64_t descriptor, bool by_k, int type) {
  return (operand){.memory = hopper_memory(0),
                   .bytes = HOPPER_BEGIN + (uint32_t)hopper.shared_bytes,
                   .start = (uint32_t)(descriptor & 0x3fff) << 4,
                   .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                   .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                   .by_k = by_k,
                   .type = type};
}

static float value_of(uint16_t word, int type) { return type == TDM_F16 ? tdm_f16_to_f32(word) : tdm_bf16_to_f32(word); }

/* The 16 k of a line. */
static inline void take_line(const operand *x, int line, float *value) {
  for (int k = 0; k < 16; k++) {
    uint32_t at = x->by_k ? x->start + (uint32_t)(line / 8) * x->stride + (uint32_t)(line % 8) * 128 + (uint32_t)k * 2
                          : x->start + (uint32_t)(line / 64) * x->leading + (uint32_t)(k / 8) * x->stride +
                                (uint32_t)(k % 8) * 128 + (uint32_t)(line % 64) * 2;
    uint16_t word;
    at = swizzled(at);
    memcpy(&word, at < x->bytes ? x->memory + at : hopper_memory(at), sizeof word);
    value[k] = value_of(word, x->type);
  }
}

static void multiply(const hopper_product *p) {
  const int lane = hopper_thread() % 32, wave = hopper_thread() / 32 % 4;
  const operand a = operand_of(p->a, p->a_by_k, p->type), b = operand_of(p->b, p->b_by_k, p->type);
  float line[2][16], column[16];
  if (p->words != NULL && memcmp(p->words, p->held, sizeof p->held) != 0)
    hopper_refuse("the first operand has changed before its product was complete");
  for (int h = 0; h < 2; h++)
    if (p->words == NULL)
      take_line(&a, 16 * wave + lane / 4 + 8 * h, line[h]);
    else
      for (int k = 0; k < 16; k++) line[h][k] = value_of(p->line[h][k], p->type);
  for (int g = 0; g < p->n / 8; g++)
    for (int c = 0; c < 2; c++) {
      take_line(&b, 8 * g + 2 * (lane % 4) + c, column);
      for (int h = 0; h < 2; h++) {
        float *sum = &p->sums[4 * g + 2 * h + c], x = p->add ? *sum : 0;
        for (int k = 0; k < 16; k++) x += line[h][k] * column[k];
        *sum = x;
      }
    }
}

void hopper_multiply(float *sums, uint64_t a, uint64_t b, bool add, int n, bool a_by_k, bool b_by_k, int type) {
  hopper_fiber *f = &hopper.fiber[hopper.running];
  if (a >> 62 != 1 || b >> 62 != 1) hopper_refuse("a descriptor is not for a swizzle of 128 bytes");
  if (f->products == HOPPER_MOST_PRODUCTS)
    hopper_refuse("more than %d products are under way", HOPPER_MOST_PRODUCTS);
  else
    f->product[f->products++] = (hopper_product){sums, a, b, add, a_by_k, b_by_k, n, type, f->group, NULL, {0}, {{0}}};
}

/* The other lanes' words are taken when the product begins. */
void hopper_multiply_words(float *sums, const uint32_t *a, uint64_t b, int n, bool b_by_k, int type) {
  hopper_fiber *f = &hopper.fiber[hopper.running];
  hopper_product p = {.sums = sums, .b = b, .add = true, .b_by_k = b_by_k, .n = n, .type = type, .words = a};
  memcpy(hopper.lane[hopper.running], a, sizeof p.held);
  memcpy(p.held, a, sizeof p.held);
  hopper_sync_wave();
  for (int h = 0; h < 2; h++)
    for (int k = 0; k < 16; k++)
      p.line[h][k] = (uint16_t)(hopper.lane[hopper.running / 4 * 4 + k % 8 / 2][k / 8 * 2 + h] >> k % 2 * 16);
  hopper_sync_wave();
  p.group = f->group;
  if (b >> 62 != 1) hopper_refuse("a descriptor is not for a swizzle of 128 bytes");
  if (f->products == HOPPER_MOST_PRODUCTS)
    hopper_refuse("more than %d products are under way", HOPPER_MOST_PRODUCTS);
  else
    f->product[f->products++] = p;
}

void hopper_commit(void) { hopper.fiber[hopper.running].group++; }

void hopper_wait_products(int but) {
  hopper_fiber *f = &hopper.fiber[hopper.running];
  int done = 0;
  hopper.changes++;
  hopper_yield(); /* others first */
  while (done < f->products && f->product[done].group < f->group - but) multiply(&f->product[done++]);
  f->products -= done;
  memmove(f->product, f->product + done, (size_t)f->products * sizeof f->product[0]);
}
