/* Plain kernels with planted bugs, one kind each: what the checker must catch. Built into its own test only. */
#ifndef TANDEM_TEST_PLANTED_H
#define TANDEM_TEST_PLANTED_H

typedef enum planted_bug {
  PLANTED_NONE,
  /* gemm */
  PLANTED_DROPPED_TILE,    /* the tile order of the seed document over 8 XCDs, which is not a bijection: tiles are left out */
  PLANTED_SWAPPED_PAIR,    /* two neighbours of a row changed places */
  PLANTED_K_TAIL,          /* the last k % 16 terms are left out, in the rows after the last whole tile of 16 */
  PLANTED_DROPPED_TERM,    /* one term of the sum of one element */
  PLANTED_LDA_IGNORED,     /* rows of A are taken as packed */
  PLANTED_LAYOUT_IGNORED,  /* B is read as [k, n] whatever the layout says */
  PLANTED_PAST_ROW_END,    /* one element too many in a row, into the gap after it */
  PLANTED_UNMASKED_TAIL,   /* columns rounded up to 16 */
  PLANTED_BEFORE_BEGIN,    /* one element in front of the array */
  PLANTED_INPUT_CHANGED,   /* A is used as scratch memory */
  PLANTED_OLD_C_READ,      /* beta = 0, and C is read */
  PLANTED_STALE_BUFFER,    /* the sums of the run before are still in the accumulator of one element */
  PLANTED_OTHER_LAST_BIT,  /* every second run rounds one element the other way, as unordered sums do */
  PLANTED_NAN_TO_ZERO,     /* relu as x > 0 ? x : 0 */
  PLANTED_BF16_MIDDLE,     /* a sum rounded to bf16 before the epilogue */
  PLANTED_STEPS_SWAPPED,   /* the first two epilogue steps in the wrong order */
  PLANTED_BATCH_IGNORED,   /* every matrix of the batch reads the first A */
  PLANTED_TRUNCATED_STORE, /* f16 results cut off instead of rounded */
  PLANTED_ROW_NOT_WRITTEN, /* rows rounded down to 16 */
  PLANTED_CRASH,           /* a wrong address is written */
  /* softmax */
  PLANTED_NO_MAX,     /* exp(x) instead of exp(x - max) */
  PLANTED_PADDED_SUM, /* columns rounded up to 16, those after the end count as 0 */
  /* attention */
  PLANTED_CAUSAL_LESS,     /* the diagonal is masked too */
  PLANTED_CAUSAL_MORE,     /* one key beyond the diagonal is seen */
  PLANTED_CAUSAL_AT_START, /* the diagonal begins at key 0 although there are more keys than queries */
  PLANTED_TILE_SCALE,      /* the seed document's kernel: the probabilities are scaled to the new maximum twice */
  PLANTED_KEYS_NOT_MASKED, /* keys after the last one are taken as zeros, not left out */
  PLANTED_WRONG_GROUP,     /* query head h reads key head h % heads_kv */
  PLANTED_LSE_NO_MAX,      /* log(sum) without the maximum */
  /* add, rmsnorm, cross_entropy */
  PLANTED_SUM_OFF,    /* one element of a sum of two arrays is off by 2^-6 of it */
  PLANTED_TARGET_OFF, /* one row's loss is that of the target's neighbour */
  PLANTED_COUNT
} planted_bug;

/* Names of the kernels: "bug-0", "bug-1", ...; adds them to the library's table. */
void planted_add(void);

#endif
