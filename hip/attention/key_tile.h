/* Tiles of keys and values in LDS, for 16-bit types: where a chunk of 16 bytes (8 values) is, how it comes there, and how the
 * waves read it as operands of 32x32 matrix instructions. A tile has 64 keys; above head_dim 128 it has 32, because
 * of the size of the LDS. Only on gfx950, and above 192, it has 64.
 *
 * Keys: rows are stored as in memory. Chunk c of row r is at place c ^ key_place(r) of its row, so that the 32 rows that a
 * wave reads at once have no bank conflict (device/lds.h has the phases). Values: an operand has 8 keys of one column.
 * gfx950 transposes as it reads (ds_read_b64_tr_b16), so rows are stored as in memory. gfx942 can't do that: its tile has a
 * row for each column, written from registers. The 8 keys are those whose probabilities the lane holds after the first
 * product. Step s has keys 16 s + i; lane half h takes i = 4 h + 0..3 and 8 + 4 h + 0..3. */
#ifndef TANDEM_HIP_ATTENTION_KEY_TILE_H
#define TANDEM_HIP_ATTENTION_KEY_TILE_H

#include "args.h"
#include "hip/device/buffer.h"
#include "hip/device/lds.h"
#include "hip/device/wait.h"

/* head: head_dim rounded up to 64, 96, 128, 160, 192 or 256: the columns that the kernel computes. A row in LDS has WIDTH. */
template <int head>
constexpr int WIDTH = head <= 64    ? 64
                      : head <= 128 ? 128
                                    : 256;
template <int head>
constexpr int THREADS = head > FAST_COLUMNS ? WIDE_THREADS : FAST_THREADS; /* of a workgroup */
template <int head>
constexpr int KEYS = head > 128 && (head <= FAST_COLUMNS || !CHIP_TRANSPOSED_LDS_READS) ? 32 : FAST_KEYS; /* of a tile */
template <int head>
constexpr int HALF_TILE = KEYS<head> * WIDTH<head> * 2; /* bytes: the keys, or the values */

template <int head>
struct alignas(2 * HALF_TILE<head>) tile { /* aligned, because places are or-ed into addresses */
  char k[HALF_TILE<head>];
  char v[HALF_TILE<head>];
};

enum { CHUNK = 16 };

/* A tile's blocks of 32 keys and steps of 16, and the products that it takes. */
template <int head>
constexpr int BLOCKS = KEYS<head> / 32;
template <int head>
constexpr int STEPS = KEYS<head> / 16;
template <int head>
constexpr int SCORE_PRODUCTS = BLOCKS<head> * head / 16;
template <int head>
constexpr int VALUE_PRODUCTS = STEPS<head> * head / 32;

/* A row has 8, 16 or 32 chunks. 16 chunks fill all 64 banks of gfx950; a row of 8 fills half of them, or the 32 banks of
 * gfx942. LDS_ROWS rows of 8 fill all. */
template <int head>
DEVICE uint32_t key_place(uint32_t row) {
  return WIDTH<head> >= 128 ? row % 16 : row / (uint32_t)LDS_ROWS % 8;
}

/* The LDS addresses of what a lane reads of the first tile. The swizzle makes a different one for each chunk of a key, and
 * for each block of columns (gfx950) or step (gfx942) of the values. The rest of an address is a constant, and part of the
 * instruction. */
template <int head>
struct lane_places {
  uint32_t k[head / 16], v[CHIP_TRANSPOSED_LDS_READS ? head / 32 : KEYS<head> / 16];
};

/* Makes the compiler keep x in a register, instead of computing it again for every use. */
DEVICE void keep_in_register(uint32_t *x) { asm volatile("" : "+v"(*x)); }

/* Keys: chunk 2 s + lane / 32 of row 32 block + lane % 32. */
template <int head>
DEVICE u32x4 read_keys(const lane_places<head> *at, int block, int s) {
  return *(const LDS u32x4 *)(at->k[s] + (uint32_t)(32 * block * WIDTH<head> * 2));
}

template <int head>
DEVICE uint32_t keys_of_lane(void) {
  uint32_t row = (uint32_t)lane_index() % 32, chunk = (uint32_t)lane_index() / 32;
  return row * WIDTH<head> * 2 + (chunk ^ key_place<head>(row)) * CHUNK;
}

/* ---- From memory ---- */

/* One head's rows, from the tile's first row on. */
typedef struct tile_source {
  const char *base;
  int64_t stride, left; /* bytes from one row to the next; bytes to the end of the last row */
  uint32_t chunks;      /* of a row */
} tile_source;

DEVICE tile_source source_of(const char *base, int64_t stride, int64_t rows, int64_t head_dim) {
  return (tile_source){base, 2 * stride, rows > 0 ? 2 * ((rows - 1) * stride + head_dim) : 0, (uint32_t)head_dim / 8};
}

/* An offset after every tile, even if rows of a tile are added to it: these are below 2^30 bytes. */
enum : uint32_t { NOT_IN_TILE = 0x80000000u };

/* v_readfirstlane_b32. The compiler would leave it out, because x is the same in all lanes; but it keeps some of those in
 * VGPRs. */
DEVICE uint32_t in_scalar(uint32_t x) {
  asm volatile("v_readfirstlane_b32 %0, %1" : "=s"(x) : "v"(x));
  return x;
}
DEVICE const char *in_scalars(const char *x) {
  uint64_t bits = (uint64_t)x;
  return (const char *)((uint64_t)in_scalar((uint32_t)(bits >> 32)) << 32 | in_scalar((uint32_t)bits));
}

/* A scalar is computed here, not where the compiler likes it: see add_here. On gfx942 it keeps some of these in VGPRs. */
#if CHIP_TRANSPOSED_LDS_READS
template <typename value>
DEVICE value scalar_here(value x) {
  asm volatile("" : "+s"(x));
  return x;
}
#else
DEVICE uint32_t scalar_here(uint32_t x) { return in_scalar(x); }
DEVICE const char *scalar_here(const char *x) { return in_scalars(x); }
#endif

/* The length of the buffer of a tile. */
DEVICE uint32_t tile_length(const tile_source *s) {
  uint32_t length = buffer_length(s->left);
  return length < NOT_IN_TILE ? length : NOT_IN_TILE;
}

/* The buffer of a tile: its length, and the bytes from one row to the next. */
typedef struct tile_buffer {
  const char *base;
  uint32_t length, stride;
} tile_buffer;

/* Place n of the tile, 16 bytes, holds this part of the rows. place(row) is the row's swizzle. */
template <int head>
DEVICE uint32_t piece_offset(const tile_source *s, uint32_t n, uint32_t place(uint32_t)) {
  uint32_t row = n / (WIDTH<head> / 8), chunk = n % (WIDTH<head> / 8) ^ place(row);
  return chunk < s->chunks ? row * (uint32_t)s->stride + chunk * CHUNK : NOT_IN_TILE;
}

/* The tiles of keys, or of values, that are loaded next, in SGPRs. */
typedef struct coming {
  const char *base;
  int64_t step;      /* bytes from one tile to the next */
  uint32_t row, end; /* bytes from one row to the next, and how many more the last row has */
  uint32_t length;   /* of the tile's buffer */
  int left;          /* rows from the tile's first on */
} coming;

template <int head>
DEVICE coming coming_of(const tile_source *s, int rows) {
  return (coming){
      in_scalars(s->base), KEYS<head> * s->stride, (uint32_t)s->stride, 16 * s->chunks - (uint32_t)s->stride, 0, rows};
}

/* The buffer of a tile ends with its last row: after it, loads give zeros. */
template <int head>
DEVICE void find_length(coming *c) {
  int rows = c->left < KEYS<head> ? c->left : KEYS<head>;
  c->length = scalar_here(rows > 0 ? (uint32_t)rows * c->row + c->end : 0);
}
template <int head>
DEVICE void advance(coming *c) {
  c->base = scalar_here(c->base + c->step);
  c->left = (int)scalar_here((uint32_t)(c->left - KEYS<head>));
}
DEVICE tile_buffer buffer_of(const coming *c) { return (tile_buffer){c->base, c->length, c->row}; }

/* Of a part, in the scalar unit, so that the loops are there too. */
DEVICE int tiles_of_keys(uint32_t keys) { return (int)in_scalar((keys + FAST_KEYS - 1) / FAST_KEYS); }

#if CHIP_TRANSPOSED_LDS_READS

/* Lanes 0-31 read 4 rows of 32 columns at once, 64 bytes of each. They are in 4 different quarters of the banks. */
template <int head>
DEVICE uint32_t value_place(uint32_t row) {
  return (WIDTH<head> >= 128 ? row % 4 : row / 2 % 2) * 4;
}

/* Values of column 32 block + lane % 32, keys of step s. Within 16 lanes, lane r gets column r of 4 rows; it gives the
 * address of columns 4 (r % 4) .. + 3 of row r / 4. */
template <int head>
DEVICE u32x4 read_values(const lane_places<head> *at, int block, int s) {
  typedef short four __attribute__((vector_size(8)));
  uint32_t first = at->v[block] + (uint32_t)(16 * s * WIDTH<head> * 2);
  u32x2 low = __builtin_bit_cast(u32x2, __builtin_amdgcn_ds_read_tr16_b64_v4i16((LDS four *)first));
  u32x2 high = __builtin_bit_cast(u32x2, __builtin_amdgcn_ds_read_tr16_b64_v4i16((LDS four *)(first + 8 * WIDTH<head> * 2)));
  return (u32x4){low[0], low[1], high[0], high[1]};
}

/* The same for an s that is not a constant. */
template <int head>
DEVICE u32x4 read_values_of_step(const lane_places<head> *at, int block, int s) {
  return read_values(at, block, s);
}

enum { VALUE_PLACE_BYTES = 4 * CHUNK }; /* what the exclusive or takes from one of lane_places.v to the next */

template <int head>
DEVICE uint32_t values_of_lane(void) {
  uint32_t lane = (uint32_t)lane_index(), r = lane % 16, row = 4 * (lane / 32) + r / 4, column = lane / 16 % 2 * 16 + r % 4 * 4;
  return row * WIDTH<head> * 2 + (column / 8 ^ value_place<head>(row)) * CHUNK + column % 8 * 2;
}

/* Load-to-LDS, 16 bytes per lane. It is assembly, because the compiler would let every read of LDS wait for every
 * outstanding load: it can't know that they fill the other tile. The wait is in tile_arrived(). m0 can't be named as clobbered,
 * because clang reserves it: so no builtin that sets it, such as buffer_load_to_lds, may come after this. A load may use m0 a
 * wait state after it was written (CDNA 4 ISA 4.5). */
DEVICE void load_to_lds(tile_buffer from, uint32_t offset, const LDS char *to) {
  u32x4 resource = {(uint32_t)(uintptr_t)from.base, (uint32_t)((uintptr_t)from.base >> 32) & 0xffff, from.length, 0x20000};
  asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tbuffer_load_dwordx4 %1, %2, 0 offen lds" ::"s"(
                   __builtin_amdgcn_readfirstlane((uint32_t)(uintptr_t)to)),
               "v"(offset), "s"(resource)
               : "memory");
}

/* A tile's loads, 1024 bytes per instruction and wave: the offsets of the lane's parts, which are the same for every tile. */
template <int head>
constexpr int TILE_LOADS = HALF_TILE<head> / THREADS<head> / CHUNK; /* of a wave for the keys, or for the values */
template <int head>
constexpr int LOAD_STEPS = 2 * TILE_LOADS<head>; /* of tile_step */
template <int head>
struct tile_load {
  uint32_t k[TILE_LOADS<head>], v[TILE_LOADS<head>];
};

template <int head>
DEVICE void tile_places(tile_load<head> *load, const tile_source *k, const tile_source *v) {
#pragma unroll
  for (int i = 0; i < TILE_LOADS<head>; i++) {
    uint32_t n = (uint32_t)(i * THREADS<head> + thread_index());
    load->k[i] = piece_offset<head>(k, n, key_place<head>);
    load->v[i] = piece_offset<head>(v, n, value_place<head>);
    keep_in_register(&load->k[i]);
    keep_in_register(&load->v[i]);
  }
}

/* Starts a part of the loads, so that other work may be between the parts. */
template <int head>
DEVICE void tile_step(tile_load<head> *load, int i, LDS char *k_to, LDS char *v_to, tile_buffer k, tile_buffer v) {
  int wave = i / 2 * THREADS<head> + wave_index() * WAVE;
  if (i % 2 == 0)
    load_to_lds(k, load->k[i / 2], k_to + wave * CHUNK);
  else
    load_to_lds(v, load->v[i / 2], v_to + wave * CHUNK);
}

template <int head>
DEVICE void tile_finish(const tile_load<head> *, LDS char *, LDS char *) {}

/* Waits until the tile has arrived for all waves: each wave waits for its own loads, then for the other waves. All are done
 * with the previous tile. */
DEVICE void tile_arrived(void) {
  wait_memory<0>();
  sync_lds();
}

#else

/* A row of 64 keys is 8 chunks: chunk 2 s + h has the 8 keys of step s and lane half h. Reads need 8 different places for
 * the columns {0-3, 20-23} and similar groups; so do writes of 8 columns that are 4 apart. Rows of 32 keys lie in pairs. */
template <int head>
DEVICE uint32_t column_place(uint32_t column) {
  uint32_t pair = column / 2;
  return KEYS<head> == 64 ? column % 8 ^ column / 8 % 4
                          : column % 2 * 4 ^ ((pair ^ pair / 4) & 1) ^ (pair & 2) ^ (pair / 2 & 4);
}
template <int head>
DEVICE uint32_t column_offset(uint32_t column) {
  return column / (64 / KEYS<head>)*128;
}

template <int head>
DEVICE u32x4 read_values(const lane_places<head> *at, int block, int s) {
  return *(const LDS u32x4 *)(at->v[s] + (uint32_t)(32 * block * KEYS<head> * 2));
}

enum { VALUE_PLACE_BYTES = 2 * CHUNK }; /* what the exclusive or takes from one of lane_places.v to the next */

/* The same for an s that is not a constant. */
template <int head>
DEVICE u32x4 read_values_of_step(const lane_places<head> *at, int block, int s) {
  uint32_t first = at->v[0] ^ (uint32_t)(s * VALUE_PLACE_BYTES);
  return *(const LDS u32x4 *)(first + (uint32_t)(32 * block * KEYS<head> * 2));
}

template <int head>
DEVICE uint32_t values_of_lane(void) {
  uint32_t lane = (uint32_t)lane_index(), column = lane % 32;
  return column_offset<head>(column) + (lane / 32 ^ column_place<head>(column)) * CHUNK;
}

/* A block of 4 keys by 4 columns, for each thread that has one. Neighbouring lanes have 8 blocks along a row, then the
 * other half of the same chunks, so that writes use all banks. */
typedef struct value_block {
  uint32_t key, column;
} value_block;

template <int head>
DEVICE value_block block_of(uint32_t thread) {
  uint32_t along = thread % 8 + thread / 16 % (WIDTH<head> / 32) * 8, rest = thread / 16 / (WIDTH<head> / 32);
  return (value_block){rest / 2 * 16 + thread / 8 % 2 * 8 + rest % 2 * 4, along * 4};
}

/* The loads of a tile by `threads` of the workgroup: those with its last numbers. */
template <int threads>
DEVICE uint32_t loading_thread(void) {
  return (uint32_t)thread_index() % threads;
}

template <int head>
constexpr int BLOCKS_OF_TILE = KEYS<head> / 4 * WIDTH<head> / 4;
template <int head, int threads>
constexpr int BLOCKS_OF_THREAD = (BLOCKS_OF_TILE<head> - 1) / threads + 1; /* some threads have none */
template <int head, int threads>
DEVICE bool has_block(void) {
  return BLOCKS_OF_TILE<head> >= threads || loading_thread<threads>() < BLOCKS_OF_TILE<head>;
}
template <int head, int threads>
constexpr uint32_t BLOCK_KEYS = threads / 16 / (WIDTH<head> / 32) / 2 * 16; /* from a thread's block to its next one */

/* Rows of keys that these threads load at once, and after how many such loads the rows' places are the same again. */
template <int head, int threads>
constexpr int KEY_ROWS = threads / (WIDTH<head> / 8);
template <int head, int threads>
constexpr int KEY_PLACES = KEY_ROWS<head, threads> < 16 ? 16 / KEY_ROWS<head, threads> : 1;

/* What is being loaded from memory, and where the lane's parts are there and in LDS, which is the same for every tile. */
template <int head, int threads = THREADS<head> >
struct tile_load {
  u32x4 k[HALF_TILE<head> / threads / CHUNK];
  u32x2 v[BLOCKS_OF_THREAD<head, threads>][4];
  uint32_t k_from[KEY_PLACES<head, threads>], v_from, v_to;
};
template <int head>
constexpr int LOAD_STEPS = 2; /* of tile_step */

template <int head, int threads>
DEVICE void key_places(tile_load<head, threads> *load, const tile_source *k) {
#pragma unroll
  for (uint32_t i = 0; i < KEY_PLACES<head, threads>; i++)
    load->k_from[i] = piece_offset<head>(k, i * threads + loading_thread<threads>(), key_place<head>);
}
template <int head, int threads>
DEVICE void value_places(tile_load<head, threads> *load, const tile_source *v) {
  value_block b = block_of<head>(loading_thread<threads>());
  uint32_t chunk = b.key / 16 * 2 + b.key / 4 % 2;
  load->v_from = b.column < 8 * v->chunks ? b.key * (uint32_t)v->stride + b.column * 2 : NOT_IN_TILE;
  load->v_to = column_offset<head>(b.column) + (chunk ^ column_place<head>(b.column)) * CHUNK + b.key / 8 % 2 * 8;
}
template <int head, int threads>
DEVICE void tile_places(tile_load<head, threads> *load, const tile_source *k, const tile_source *v) {
  key_places(load, k);
  value_places(load, v);
}

template <int head, int threads>
DEVICE void begin_keys(tile_load<head, threads> *load, tile_buffer k) {
  const uint32_t places = KEY_PLACES<head, threads>;
#pragma unroll
  for (uint32_t p = 0; p < places; p++) {
    uint32_t from = load->k_from[p];
    keep_in_register(&from); /* otherwise all offsets would stay in registers */
#pragma unroll
    for (uint32_t i = p; i < sizeof load->k / CHUNK; i += places)
      load->k[i] =
          buffer_load(make_short_buffer(k.base, k.length), from + i / places * places * KEY_ROWS<head, threads> * k.stride);
  }
}

template <int head, int threads>
DEVICE void begin_values(tile_load<head, threads> *load, tile_buffer v) {
  if (!has_block<head, threads>()) return;
  uint32_t from = load->v_from;
  keep_in_register(&from);
#pragma unroll
  for (uint32_t b = 0; b < BLOCKS_OF_THREAD<head, threads>; b++)
#pragma unroll
    for (uint32_t i = 0; i < 4; i++)
      load->v[b][i] = __builtin_amdgcn_raw_buffer_load_b64(make_short_buffer(v.base, v.length),
                                                           (int)(from + (BLOCK_KEYS<head, threads> * b + i) * v.stride), 0, 0);
}

/* Starts a part of the loads, so that other work may be between the parts. */
template <int head>
DEVICE void tile_step(tile_load<head> *load, int i, LDS char *, LDS char *, tile_buffer k, tile_buffer v) {
  if (i == 0)
    begin_keys(load, k);
  else
    begin_values(load, v);
}

template <int head, int threads>
DEVICE void finish_keys(const tile_load<head, threads> *load, LDS char *k_to) {
  LDS char *k = k_to + loading_thread<threads>() * CHUNK;
#pragma unroll
  for (uint32_t i = 0; i < sizeof load->k / CHUNK; i++) *(LDS u32x4 *)(k + i * threads * CHUNK) = load->k[i];
}

template <int head, int threads>
DEVICE void finish_values(const tile_load<head, threads> *load, LDS char *v_to) {
  if (!has_block<head, threads>()) return;
#pragma unroll
  for (uint32_t b = 0; b < BLOCKS_OF_THREAD<head, threads>; b++) {
    uint32_t first = load->v_to ^ b * (BLOCK_KEYS<head, threads> / 16 * 2 * CHUNK);
    keep_in_register(&first); /* as in begin_keys */
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      uint32_t halves = i % 2 == 0 ? 0x05040100 : 0x07060302; /* v_perm_b32: the low or the high halves of two dwords */
      const u32x2 *from = load->v[b];
      u32x2 keys = {__builtin_amdgcn_perm(from[1][i / 2], from[0][i / 2], halves),
                    __builtin_amdgcn_perm(from[3][i / 2], from[2][i / 2], halves)};
      /* Column b.column + i. Its place differs by an exclusive or with i's, because the columns of a block begin at a multiple
       * of 4. */
      *(LDS u32x2 *)(lds_address(v_to) + (first ^ column_place<head>(i) * CHUNK) + column_offset<head>(i)) = keys;
    }
  }
}

template <int head>
DEVICE void tile_finish(const tile_load<head> *load, LDS char *k_to, LDS char *v_to) {
  finish_keys(load, k_to);
  finish_values(load, v_to);
}

DEVICE void tile_arrived(void) { sync_lds(); }

#endif

/* For the tile whose keys are at k and whose values are at v. */
template <int head>
DEVICE void lane_places_of(lane_places<head> *at, LDS char *k, LDS char *v) {
#pragma unroll
  for (uint32_t s = 0; s < sizeof at->k / 4; s++) {
    at->k[s] = lds_address(k) + keys_of_lane<head>() ^ s * 2 * CHUNK;
    keep_in_register(&at->k[s]);
  }
#pragma unroll
  for (uint32_t i = 0; i < sizeof at->v / 4; i++) {
    at->v[i] = lds_address(v) + values_of_lane<head>() ^ i * VALUE_PLACE_BYTES;
    keep_in_register(&at->v[i]);
  }
}

#endif
