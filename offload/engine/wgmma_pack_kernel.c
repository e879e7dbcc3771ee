/* Copies an operand to rows of whole 16 bytes (wgmma_pack.h), at the rate of memory. Compiled to sm_90a alone. */
#include "wgmma_pack.h"

#include "offload/device/wgmma.h"

typedef uint32_t four_words __attribute__((vector_size(16), may_alias));
typedef uint32_t one_word __attribute__((may_alias));

/* 8 elements from an even address: words from the next multiple of 4 on, and a half word at either end. Nothing else is
 * read. */
TDM_INLINE four_words whole_piece(const WG_GLOBAL uint16_t *from) {
  if ((uintptr_t)from % 4 == 0) {
    const WG_GLOBAL one_word *word = (const WG_GLOBAL one_word *)from;
    return (four_words){word[0], word[1], word[2], word[3]};
  }
  const WG_GLOBAL one_word *word = (const WG_GLOBAL one_word *)(from + 1);
  uint32_t first = from[0], a = word[0], b = word[1], c = word[2], last = from[7];
  return (four_words){first | a << 16, a >> 16 | b << 16, b >> 16 | c << 16, c >> 16 | last << 16};
}

TDM_INLINE four_words part_of_piece(const WG_GLOBAL uint16_t *from, int count) {
  uint32_t element[8];
  WG_UNROLL
  for (int e = 0; e < 8; e++) element[e] = e < count ? from[e] : 0;
  return (four_words){element[0] | element[1] << 16, element[2] | element[3] << 16, element[4] | element[5] << 16,
                      element[6] | element[7] << 16};
}

TDM_INLINE void pack(const wg_pack_job *x) {
  const int64_t teams = wg_blocks();
  for (int64_t i = (int64_t)wg_block() * WG_PACK_THREADS + wg_thread(); i < x->pieces; i += teams * WG_PACK_THREADS) {
    int64_t row = i / x->row_pieces, batch = row / x->outer;
    int at = (int)(i - row * x->row_pieces) * WG_PIECE, left = x->inner - at;
    row -= batch * x->outer;
    const WG_GLOBAL uint16_t *from = (const WG_GLOBAL uint16_t *)x->from + batch * x->stride + row * x->ld + at;
    four_words words = left >= WG_PIECE ? whole_piece(from) : part_of_piece(from, left);
    *(WG_GLOBAL four_words *)((WG_GLOBAL uint16_t *)x->to + batch * x->to_stride + row * x->to_ld + at) = words;
  }
}

WG_FUNCTION(tdm_wg_pack, wg_pack_args, x) {
  for (int i = 0; i < x->jobs; i++) pack(&x->job[i]);
}
