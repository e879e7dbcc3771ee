/* Flash attention for head_dim up to 192, and decode up to 128, of f16 and bf16: 8 waves, each with 32 rows of queries, loop
 * over tiles of 64 keys, or of 32 above head_dim 128.
 *
 *   S' = K Q'                        32 keys x 32 queries per instruction; transposed, so that a lane has one query
 *   P' = 2^(scale S' - reference)    scale has the factor log2(e)
 *   O' += V' P'                      the lane has the probabilities where the instruction needs them: nothing moves
 *
 * Each chip has its own loops: gfx950, whose loads go to LDS, ping_pong.h and decode_loop.h; gfx942 register_loads.h and
 * decode_registers.h. */
#include "key_tile.h"

#include "query_rows.h"

#include "last_part.h"
#include "memory_rows.h"

#if CHIP_TRANSPOSED_LDS_READS
#include "decode_loop.h"
#include "ping_pong.h"
#else
#include "decode_registers.h"
#include "register_loads.h"
#endif

/* The queries of all heads that share keys, and a part of the keys. */
template <int head>
DEVICE void decode_body(const attention_first *first, LDS decode_stages<head> *lds, tdm_type type) {
  if (wave_index() >= 4) {
    set_priority<1>(); /* rows wait for what they load */
    load_all_keys(first, lds, type);
    set_priority<0>();
  } else {
    const attention_args a = attention_args_again();
    attention_work work = find_part(&a, type);
    decode_rows(&a, &work, lds, type);
  }
  end_part<head>(wave_index(), (LDS char *)lds, type);
}

#define FLASH_KERNEL(name, head, units, type)                          \
  KERNEL WORKGROUP(FAST_THREADS, 2) void name(attention_args a) {      \
    SHARED flash_stages<head> lds;                                     \
    flash_body<head, units>(&a, (LDS flash_stages<head> *)&lds, type); \
  }
#define DECODE_KERNEL(name, head, type)                                   \
  KERNEL WORKGROUP(FAST_THREADS, 2) void name(ARGUMENT(attention_args)) { \
    SHARED decode_stages<head> lds;                                       \
    const attention_first first = FIRST_OF_ARGUMENT(attention_first);     \
    decode_body<head>(&first, (LDS decode_stages<head> *)&lds, type);     \
  }
DECODE_KERNEL(decode64_f16, 64, TDM_F16)
DECODE_KERNEL(decode64_bf16, 64, TDM_BF16)
DECODE_KERNEL(decode96_f16, 96, TDM_F16)
DECODE_KERNEL(decode96_bf16, 96, TDM_BF16)
DECODE_KERNEL(decode128_f16, 128, TDM_F16)
DECODE_KERNEL(decode128_bf16, 128, TDM_BF16)
#define FLASH_KERNELS(head)                                  \
  FLASH_KERNEL(flash##head##_f16, head, false, TDM_F16)      \
  FLASH_KERNEL(flash##head##_bf16, head, false, TDM_BF16)    \
  FLASH_KERNEL(flash_units##head##_f16, head, true, TDM_F16) \
  FLASH_KERNEL(flash_units##head##_bf16, head, true, TDM_BF16)
FLASH_KERNELS(64)
FLASH_KERNELS(96)
FLASH_KERNELS(128)
FLASH_KERNELS(160)
FLASH_KERNELS(192)
