/* Values at the ends of the types, and rows whose maxima rise, are far below 0 or come late (case/case.h says what the fills
 * are): where a sum of squares, an exponential or a scaling could leave f32, or f16. */
#include "sets.h"

/* Lengths for one chunk, for hip's registers and for its loop; 16 rows and more have all magnitudes of HUGE and TINY. */
static const check_single rmsnorm[] = {{"f32", NULL, NULL, "eps=0,fill=huge", "40x65"},
                                       {"bf16", NULL, NULL, "eps=0,fill=huge,residual=1", "40x257"},
                                       {"f16", NULL, NULL, "eps=0,fill=huge", "5x16385"},
                                       {"f32", NULL, NULL, "fill=huge,residual=1,pad=1", "21x1000"},
                                       {"bf16", NULL, NULL, "fill=huge,inplace=x", "9x16385"},
                                       {"f32", NULL, NULL, "eps=0,fill=tiny", "40x65"},
                                       {"bf16", NULL, NULL, "eps=0,fill=tiny", "40x257"},
                                       {"f16", NULL, NULL, "eps=0,fill=tiny,residual=1", "21x1000"},
                                       {"f32", NULL, NULL, "eps=0,fill=tiny,residual=1,inplace=x", "9x16385"},
                                       {"f32", NULL, NULL, "eps=1e-30,fill=tiny", "33x257"},
                                       {"bf16", NULL, NULL, "eps=0,fill=tiny,shift=1", "20x5000"},
                                       {"f16", NULL, NULL, "eps=0,fill=subnormal", "7x129"},
                                       {"f32", NULL, NULL, "fill=subnormal", "7x129"},
                                       {"f32", NULL, NULL, "eps=0,fill=subnormal", "7x129"},
                                       {"bf16", NULL, NULL, "eps=0,fill=subnormal", "5x4100"},
                                       /* Quotients that f32 can't hold, and weights that make results of them. */
                                       {"f32", NULL, NULL, "fill=edges", "200x7"},
                                       {"bf16", NULL, NULL, "fill=edges,residual=1,pad=1", "200x5"},
                                       {0}};

#define MAXIMA(shape_a, shape_b, shape_c)                                                            \
  {"f32", NULL, NULL, "fill=rising", shape_a}, {"f16", NULL, NULL, "fill=rising", shape_b},          \
      {"bf16", NULL, NULL, "fill=rising", shape_c}, {"f32", NULL, NULL, "fill=negative", shape_b},   \
      {"f16", NULL, NULL, "fill=negative", shape_c}, {"bf16", NULL, NULL, "fill=negative", shape_a}, \
      {"f32", NULL, NULL, "fill=masked", shape_c}, {"f16", NULL, NULL, "fill=masked", shape_a},      \
      {"bf16", NULL, NULL, "fill=masked", shape_b}, {"f32", NULL, NULL, "fill=huge", shape_a}, {     \
    "bf16", NULL, NULL, "fill=huge", shape_b                                                         \
  }
static const check_single softmax[] = {MAXIMA("40x257", "21x5000", "9x16385"),
                                       {"f32", NULL, NULL, "fill=rising,inplace=x", "3x32771"},
                                       {"f16", NULL, NULL, "fill=rising,causal_rows=700", "700x701"},
                                       {0}};
static const check_single cross_entropy[] = {MAXIMA("40x257", "21x5000", "9x16385"),
                                             {"f32", NULL, NULL, "fill=guard", "64x257"},
                                             {"f16", NULL, NULL, "fill=guard,ignore=7", "33x1000"},
                                             {"bf16", NULL, NULL, "fill=guard,ignore=2147483647", "33x5000"},
                                             {0}};

/* RISING: probabilities jump by 32 scale log2(e) powers of 2. 0.34657: just below 2^16, the largest f16 that rounds to an
 * infinity; 0.36: 2^16.6; 0.45: 2^20.8; 1.39: 2^64; by default 2^5.8 with head_dim 64. */
#define RISING(type, shape)                                                                                                \
  {type, NULL, NULL, "fill=rising,scale=0.34657", shape}, {type, NULL, NULL, "fill=rising,lse=1,scale=0.36", shape},       \
      {type, NULL, NULL, "fill=rising,scale=0.45", shape}, {type, NULL, NULL, "fill=rising,scale=1.39,causal=1", shape}, { \
    type, NULL, NULL, "fill=rising,lse=1", shape                                                                           \
  }
static const check_single attention[] = {RISING("f32", "1x2x1x66x300x20"),
                                         RISING("f32", "1x2x1x2x1100x64"),
                                         RISING("f16", "1x1x1x64x330x64"),
                                         RISING("f16", "1x1x1x64x330x128"),
                                         RISING("f16", "1x32x1x2x1100x64"),
                                         RISING("f16", "1x4x2x8x1100x128"),
                                         RISING("f16", "1x1x1x65x330x72"),
                                         RISING("bf16", "1x1x1x64x330x64"),
                                         RISING("bf16", "1x1x1x64x330x128"),
                                         RISING("bf16", "2x8x1x1x1100x128"),
                                         RISING("bf16", "1x1x1x40x330x33"),
                                         RISING("bf16", "1x1x1x40x330x256"),
                                         {"f32", NULL, NULL, "fill=negative,lse=1", "1x2x1x33x300x33"},
                                         {"f16", NULL, NULL, "fill=negative,lse=1,causal=1", "1x2x1x70x200x64"},
                                         {"bf16", NULL, NULL, "fill=negative,lse=1", "1x2x1x70x200x128"},
                                         {"f16", NULL, NULL, "fill=negative,lse=1", "2x4x2x1x1100x128"},
                                         /* Weights below the normal numbers of f32. */
                                         {"f32", NULL, NULL, "fill=exact,lse=1,scale=1", "2x8x1x2x300x80"},
                                         {"bf16", NULL, NULL, "fill=exact,lse=1,scale=1,swap=1", "2x33x1x2x695x80"},
                                         {"f32", NULL, NULL, "fill=masked,lse=1", "3x4x2x33x300x33"},
                                         {"f16", NULL, NULL, "fill=masked,lse=1", "3x2x1x70x200x64"},
                                         {"bf16", NULL, NULL, "fill=masked,lse=1,causal=1", "3x2x1x200x200x128"},
                                         {"bf16", NULL, NULL, "fill=masked,lse=1", "2x4x2x1x1100x64"},
                                         {"f32", NULL, NULL, "fill=guard,lse=1,causal=1", "2x4x2x66x66x33"},
                                         {"f16", NULL, NULL, "fill=guard,lse=1,causal=1", "2x4x2x140x140x64"},
                                         {"bf16", NULL, NULL, "fill=guard,lse=1,causal=1", "2x4x2x140x150x128"},
                                         {"f16", NULL, NULL, "fill=guard,lse=1,causal=1", "3x4x2x4x1100x128"},
                                         {0}};

/* Every special value goes through every step; in some epilogues two arrays have special values. With k = 1 the sums are the
 * values. */
static const check_single gemm[] = {{"f16", "nt", "bias+gelu+residual", "fill=edges,out=f32", "40x63x5"},
                                    {"bf16", "tn", "residual+leaky_relu:3+bias", "fill=edges,beta=0.5", "33x70x2"},
                                    {"f32", "tt", "bias+silu+divide:-2", "fill=edges,alpha=-1", "65x66x1"},
                                    {0}};
static const check_single silu_mul[] = {{"f32", NULL, NULL, "fill=edges", "20x257"},
                                        {"f16", NULL, NULL, "fill=edges,pad=3", "20x257"},
                                        {"bf16", NULL, NULL, "fill=edges,inplace=up", "20x257"},
                                        {"f32", NULL, NULL, "fill=tiny", "20x257"},
                                        {0}};
static const check_single add[] = {{"f32", NULL, NULL, "fill=edges", "20x257"},
                                   {"f16", NULL, NULL, "fill=edges,pad=3", "20x257"},
                                   {"bf16", NULL, NULL, "fill=edges,inplace=a", "20x257"},
                                   {"f32", NULL, NULL, "fill=subnormal", "20x257"},
                                   {"f16", NULL, NULL, "fill=subnormal", "20x257"},
                                   {0}};
static const check_single embedding[] = {{"f32", NULL, NULL, "fill=edges", "20x9x257"},
                                         {"f16", NULL, NULL, "fill=edges", "20x9x257"},
                                         {"bf16", NULL, NULL, "fill=edges", "20x9x257"},
                                         {0}};

const check_more check_extreme[] = {{"rmsnorm", rmsnorm},
                                    {"softmax", softmax},
                                    {"cross_entropy", cross_entropy},
                                    {"attention", attention},
                                    {"gemm", gemm},
                                    {"silu_mul", silu_mul},
                                    {"add", add},
                                    {"embedding", embedding},
                                    {0}};
