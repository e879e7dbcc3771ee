/* The standard sets. A "" level is the default. Cases without fill= make a pass with EXACT data where the op allows it, and one
 * with REAL data. */
#include "sets.h"

#define LEVELS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const types[] = {"f32", "f16", "bf16", NULL};
static const char *const outs[] = {"", "out=f32", "out=f16", "out=bf16", NULL};
/* No equal rows for products: their results would all have one sign, and relu would leave only zeros. */
static const char *const product_fills[] = {"", "fill=big", "fill=special", NULL};
static const char *const fills[] = {"", "fill=big", "fill=special", "fill=equal", NULL};

/* Empty, one, primes, one below and above the kernels' blocks (vectors of 16, tiles of 64 to 256, blocks of 16384). */
static const char *const row_shapes[] = {"0x5",   "5x0",    "1x1",    "1x2",   "3x7",     "7x16",    "1x65",    "5x127",
                                         "64x64", "33x257", "2x1000", "300x3", "1x16384", "3x16385", "2x32771", NULL};

/* ---- gemm, swiglu. The last sizes, and the large single cases, cross the tiles and K steps of the omp kernels: 420 x 512 x
 * 192 on hosts with 512-bit vectors. ---- */

static const char *const layouts[] = {"nn", "nt", "tn", "tt", NULL};
static const char *const products[] = {
    "0x5x3",    "5x0x3",      "5x7x0",     "1x1x1",     "1x64x33",   "64x1x17",   "2x3x5",      "7x13x17",    "16x16x16",
    "17x15x31", "31x33x65",   "64x64x64",  "65x63x129", "1x127x255", "127x1x300", "97x101x7",   "128x256x9",  "5x300x4",
    "300x5x9",  "33x17x1000", "3x129x513", "129x65x33", "425x519x5", "430x7x195", "5x1030x385", "128x256x64", NULL};
static const char *const epilogues[] = {"",
                                        "bias",
                                        "residual",
                                        "relu",
                                        "gelu",
                                        "gelu_tanh",
                                        "quick_gelu",
                                        "leaky_relu:0.25",
                                        "silu",
                                        "scale:0.5",
                                        "divide:4",
                                        "leaky_relu:-0.3",
                                        "scale:-1.7",
                                        "bias+relu",
                                        "relu+bias",
                                        "bias+quick_gelu+scale:0.5",
                                        "scale:0.5+quick_gelu+bias",
                                        "residual+gelu+bias",
                                        "bias+gelu_tanh+residual",
                                        "silu+residual+divide:3+relu",
                                        "leaky_relu:2+scale:0.5+bias+residual",
                                        "bias+residual+bias+residual",
                                        "divide:-2+leaky_relu:0.5+relu+residual",
                                        "relu+silu+bias+gelu+scale:3+quick_gelu+leaky_relu:0.1+divide:0.7+gelu_tanh+residual",
                                        NULL};
static const char *const gemm_settings[] = {"",
                                            "alpha=2",
                                            "beta=1",
                                            "alpha=0.5,beta=-2",
                                            "alpha=-1.3,beta=0.7",
                                            "alpha=0,beta=1",
                                            "pad=3",
                                            "pad=8,beta=1",
                                            "shift=1",
                                            "shift=3,pad=1",
                                            "batch=3",
                                            "batch=2,pad=5,beta=0.5",
                                            "batch=3,broadcast_b=1",
                                            "batch=2,broadcast_a=1,pad=2",
                                            "batch=0",
                                            "inplace=residual",
                                            "inplace=residual,beta=2,batch=2,pad=1",
                                            NULL};
static const check_single gemm_single[] = {
    {"f32", "nn", NULL, "batch=3,stride_a=1000,stride_b=700,stride_c=500", "17x19x23"},
    /* Matrices between each other's rows, as heads lie. */
    {"f32", "nt", NULL, "batch=6,lda=138,stride_a=23,ldb=140,stride_b=23,ldc=114,stride_c=19", "17x19x23"},
    {"bf16", "nn", "residual", "batch=3,lda=576,stride_a=192,ldb=384,stride_b=128,ldc=390,stride_c=130,ldr=512,stride_r=128",
     "258x128x192"},
    {"f16", "nt", NULL, "batch=2,lda=256,stride_a=128,ldb=128,stride_b=64,out=f32", "258x130x64"},
    {"bf16", "tt", "residual", "batch=2,stride_a=611,stride_c=401,stride_r=457", "13x29x31"},
    {"f16", "nt", "bias", "lda=50,ldb=47,ldc=101,out=f32", "33x37x41"},
    {"f32", "tn", NULL, "beta=1,ldc=77", "65x66x67"},
    {"f16", "nn", NULL, "fill=exact,out=f32", "40x48x4096"},
    {"f32", "nn", NULL, NULL, "257x263x269"},
    {"bf16", "nt", "bias+quick_gelu+scale:0.5", NULL, "257x129x65"},
    {"f32", "nt", NULL, NULL, "12x20x5000"},
    {"f16", "tn", NULL, NULL, "513x5x77"},
    {"bf16", "nn", NULL, NULL, "6x1030x130"},
    {"f32", "nn", "bias+gelu", "pad=1,beta=1", "845x1030x33"},
    {"f16", "nt", "residual+relu", "out=f32,batch=2", "423x515x21"},
    {"bf16", "tn", "quick_gelu", "alpha=0.5,pad=3", "845x517x31"},
    {"f32", "tt", "silu", "out=bf16", "421x1027x45"},
    /* Rows of whole dwords, more tiles of 256 than one, a tail of k: for hip's pipeline. */
    {"bf16", "nt", "bias+gelu", "pad=2", "302x522x194"},
    {"f16", "nn", "residual", "batch=2,pad=4", "258x130x328"},
    {"bf16", "tn", NULL, "beta=1,out=f32", "130x514x258"},
    {"f16", "tt", "silu", NULL, "516x66x132"},
    {"f32", "nt", "relu+bias", "pad=1", "259x257x201"},
    /* Few tiles and a long k, few rows, few columns: for hip's tiles from 16 lines on, and its split of k. */
    {"bf16", "nt", "bias+silu+residual", "beta=0.5", "5x194x2090"},
    {"f16", "nn", NULL, "batch=2,out=f32", "29x258x1030"},
    {"bf16", "tn", "bias", NULL, "130x14x1154"},
    {"f32", "tt", NULL, "pad=1", "266x30x517"},
    {"bf16", "nn", "gelu", "batch=2,beta=1", "70x130x2178"},
    /* Few rows: what omp_gpu_skinny splits among the waves of a team. Along k in pieces and in single elements, matrices, and
     * along n; the last two with so few columns that a team has more waves, or a wave fewer columns. */
    {"f32", "nt", "bias+gelu", "batch=2,pad=4", "3x70x2060"},
    {"bf16", "nt", "bias+silu+residual", "beta=0.5,batch=2", "5x194x2104"},
    {"f16", "nt", "divide:3", "pad=8,out=f32", "8x2119x552"},
    {"f16", "nt", NULL, "shift=1,batch=3,broadcast_a=1", "2x133x1016"},
    {"bf16", "tt", "residual", NULL, "7x83x1389"},
    {"f32", "tt", NULL, "batch=2", "1x39x3189"},
    {"f32", "nn", "bias+residual", "inplace=residual", "2x1600x640"},
    {"bf16", "nn", "bias", "batch=2,alpha=0.5", "8x4360x120"},
    {"f16", "nn", NULL, "out=f32", "1x2056x329"},
    {"f32", "tn", NULL, "batch=3,broadcast_b=1", "6x1131x267"},
    {"bf16", "tn", "gelu_tanh", "shift=1", "4x5101x83"},
    {"f16", "nt", "relu", NULL, "4x72x8200"},
    {"bf16", "nt", NULL, "shift=1", "8x72x8200"},
    {"bf16", "nn", NULL, "pad=1", "3x61x4111"},
    /* Whole tiles and few k: for omp_gpu_small_k, the last for its fallback. */
    {"f32", "nn", NULL, NULL, "256x640x64"},
    {"f32", "nt", NULL, "batch=2,lda=44,ldb=48,ldc=516", "128x512x40"},
    {"f32", "tn", NULL, NULL, "256x512x8"},
    {"f32", "tt", NULL, "batch=3", "128x640x32"},
    {"f32", "nn", NULL, "shift=1", "128x512x16"},
    /* For omp_gpu in f32 (offload/engine/gpu_shape.h): parts of K in two kinds of its tiles, then other kinds. */
    {"f32", "tt", "bias+gelu", "beta=0.5,out=bf16", "17x30x517"},
    {"f32", "nt", "residual", "inplace=residual,batch=2,pad=1", "17x514x517"},
    {"f32", "nn", "relu+bias", "alpha=-0.5,shift=1", "257x65x517"},
    {"f32", "tn", "bias+residual", "batch=2,out=f16", "123x75x708"},
    {"f32", "nt", NULL, NULL, "257x65x517"},
    {"f32", "nn", NULL, NULL, "1500x129x9"},
    {"f32", "tn", NULL, "pad=3", "1025x1500x5"},
    {"f32", "nt", NULL, NULL, "513x4100x5"},
    /* Whole tiles in 16 bits: what omp_gpu_mma takes, the last by its fallback. */
    {"f16", "nn", NULL, NULL, "256x384x96"},
    {"bf16", "nt", "bias+gelu+residual", "batch=2,pad=8", "128x256x64"},
    {"f16", "tn", "relu", "alpha=0.5,beta=0.5,out=f32,batch=2", "384x256x160"},
    {"bf16", "tt", NULL, "out=f32,batch=3", "256x128x32"},
    {"f16", "nt", NULL, "ldc=133", "128x128x256"},
    {"bf16", "nn", NULL, "shift=1", "128x256x64"},
    {0}};
static const check_single gemm_huge[] = {
    {"f16", "nn", NULL, "fill=exact", "46349x46351x2"}, {"bf16", "tn", "relu", "fill=exact,ldc=715827883", "4x129x33"}, {0}};

static const char *const swiglu_settings[] = {"", "pad=3", "shift=1", "pad=9,shift=1", NULL};
static const check_single swiglu_single[] = {{"bf16", "nn", NULL, "pad=1", "425x1030x23"},
                                             {"f32", "nt", NULL, NULL, "845x519x19"},
                                             {"f32", "nn", NULL, "ldx=70,ldg=90,ldu=91,ldy=95", "33x65x67"},
                                             {"f16", "nt", NULL, "ldx=70,ldg=90,ldu=91,ldy=95,out=f32", "33x65x67"},
                                             {"bf16", "nt", NULL, "pad=2", "302x262x194"},
                                             {"f16", "nn", NULL, NULL, "258x130x328"},
                                             /* For omp_gpu in f32, as for gemm. */
                                             {"f32", "nt", NULL, "pad=1", "17x514x517"},
                                             {"f32", "nn", NULL, "shift=1,out=f16", "33x300x700"},
                                             {"f32", "nt", NULL, NULL, "513x1500x5"},
                                             /* Few rows, as for gemm. */
                                             {"f32", "nt", NULL, "pad=4", "3x70x2060"},
                                             {"bf16", "nt", NULL, "pad=8", "5x1195x1048"},
                                             {"f16", "nt", NULL, NULL, "7x37x4104"},
                                             {"f16", "nt", NULL, "ldg=1031,ldu=1040,out=f32", "2x133x1017"},
                                             {"f32", "nn", NULL, "ldg=708,ldu=712", "8x700x333"},
                                             {"bf16", "nn", NULL, NULL, "4x2312x520"},
                                             {"f16", "nn", NULL, "shift=1", "1x701x885"},
                                             /* Many rows in 16 bits, for whole tiles of omp_gpu_wgmma and their edges. */
                                             {"bf16", "nt", NULL, NULL, "330x264x200"},
                                             /* Whole tiles in 16 bits: what omp_gpu_mma takes, the last two by its fallback and
                                              * not. */
                                             {"f16", "nt", NULL, NULL, "256x192x96"},
                                             {"bf16", "nn", NULL, "pad=8", "128x320x64"},
                                             {"f16", "nn", NULL, "out=f32", "384x64x32"},
                                             {"bf16", "nt", NULL, "ldy=197,out=f32", "256x192x160"},
                                             {"bf16", "nt", NULL, "shift=1", "128x64x64"},
                                             {"f16", "nn", NULL, "ldg=200,ldu=208", "128x192x64"},
                                             {0}};

/* ---- Rows ---- */

static const check_single add_huge[] = {{"f16", NULL, NULL, "inplace=a,fill=real", "65537x32771"}, {0}};
static const check_single silu_mul_huge[] = {{"bf16", NULL, NULL, "inplace=up,fill=real", "65537x32771"}, {0}};
/* Rows that begin and end inside of 16 bytes, at the same place in all arrays. */
static const check_single add_single[] = {
    {"f16", NULL, NULL, "lda=269,ldb=277,ldc=285", "20x257"}, {"f32", NULL, NULL, "lda=5,ldb=5,ldc=9", "70x2"}, {0}};
static const check_single silu_mul_single[] = {{"bf16", NULL, NULL, "ldg=269,ldu=277,ldy=285", "20x257"}, {0}};
/* Rows that half a wave, a wave, and teams of 64 to 1024 threads of a GPU hold, in whole pieces of 16 bytes and not
 * (gpu_row_shape_for). */
#define GROUPS                                                                                                               \
  {"f32", NULL, NULL, NULL, "35x60"}, {"f16", NULL, NULL, "inplace=x", "17x131"}, {"bf16", NULL, NULL, NULL, "33x250"},      \
      {"f32", NULL, NULL, NULL, "17x254"}, {"bf16", NULL, NULL, "ldx=1023,ldy=1031", "9x1019"},                              \
      {"f32", NULL, NULL, NULL, "5x1020"}, {"f16", NULL, NULL, NULL, "3x4088"}, {"bf16", NULL, NULL, "inplace=x", "3x4091"}, \
      {"f32", NULL, NULL, NULL, "3x4092"}, {"f16", NULL, NULL, NULL, "3x8187"}, {"f32", NULL, NULL, "inplace=x", "2x8188"},  \
      {"bf16", NULL, NULL, NULL, "2x8195"}, {"f32", NULL, NULL, "ldx=16384,ldy=16388", "2x16380"},                           \
      {"f32", NULL, NULL, NULL, "133x5001"}, {"bf16", NULL, NULL, "inplace=x", "140x16401"}
/* Score matrices: square, more and fewer columns than rows, a part of a matrix at the end. */
static const check_single softmax_single[] = {{"f32", NULL, NULL, "causal_rows=64", "192x64"},
                                              {"f16", NULL, NULL, "causal_rows=33,inplace=x", "66x97"},
                                              {"bf16", NULL, NULL, "causal_rows=40,pad=3", "100x23"},
                                              {"f32", NULL, NULL, "causal_rows=1,shift=1", "5x1030"},
                                              {"f32", NULL, NULL, "causal_rows=7,fill=special", "35x257"},
                                              {"f32", NULL, NULL, "causal_rows=3,inplace=x", "7x9001"},
                                              {"bf16", NULL, NULL, "causal_rows=5", "9x40003"},
                                              {"f16", NULL, NULL, "causal_rows=20", "40x131"},
                                              {"f32", NULL, NULL, "causal_rows=300", "301x1020"},
                                              {"bf16", NULL, NULL, "causal_rows=9,inplace=x", "9x4091"},
                                              {"f16", NULL, NULL, "causal_rows=140", "140x12299"},
                                              GROUPS,
                                              {0}};
static const check_single rmsnorm_single[] = {GROUPS,
                                              {"bf16", NULL, NULL, "residual=1", "17x131"},
                                              {"f32", NULL, NULL, "residual=1,inplace=sum=x", "17x254"},
                                              {"f16", NULL, NULL, "residual=1,ldx=1021,ldr=1029,lds=1037,ldy=1021", "9x1019"},
                                              {"f32", NULL, NULL, "residual=1", "3x2049"},
                                              {"f16", NULL, NULL, "residual=1", "3x8184"},
                                              {"f16", NULL, NULL, "residual=1,inplace=x+residual", "133x12299"},
                                              {"bf16", NULL, NULL, "residual=1,inplace=residual", "2x40003"},
                                              {"bf16", NULL, NULL, "residual=1,lds=40004", "2x40003"},
                                              {0}};
static const check_single cross_entropy_single[] = {
    {"bf16", NULL, NULL, NULL, "133x16385"},
    {"f32", NULL, NULL, "pad=3", "132x8195"},
    {"f16", NULL, NULL, NULL, "41x2047"},
    /* Short rows: 1 and 2 chunks of a work-item, and the first row after them. */
    {"bf16", NULL, NULL, "fill=special,wide=1", "70x64"},
    {"bf16", NULL, NULL, "fill=special,shift=1", "70x64"},
    {"f16", NULL, NULL, "ignore=3,pad=1", "67x71"},
    {"f16", NULL, NULL, "shift=1,first=7,total=300", "67x128"},
    {"bf16", NULL, NULL, "fill=special,pad=3", "35x135"},
    {"bf16", NULL, NULL, "shift=1", "35x136"},
    {"f32", NULL, NULL, "fill=special,ignore=3", "130x67"},
    {"f32", NULL, NULL, NULL, "130x68"},
    {0}};
static const check_single softmax_huge[] = {{"f16", NULL, NULL, "inplace=x,fill=real", "2097169x1031"}, {0}};
static const check_single rmsnorm_huge[] = {{"bf16", NULL, NULL, "inplace=x,fill=real", "65537x32771"}, {0}};
static const check_single rope_huge[] = {{"f16", NULL, NULL, "inplace=x,fill=real", "3x65537x171x64"}, {0}};
static const check_single embedding_huge[] = {{"f16", NULL, NULL, "fill=exact", "2097169x37x1031"}, {0}};
static const check_single cross_entropy_huge[] = {{"f16", NULL, NULL, "fill=real", "65537x32771"}, {0}};

/* ---- Attention: heads in groups, fewer and more keys than queries, one query, none, every kind of head_dim; the last size and
 * the single cases cross the tiles of 252 queries and 384 keys that hosts use, and of 256 and 64 of GPUs. ---- */

static const char *const attention_shapes[] = {"0x2x1x3x3x16",   "1x2x1x0x5x32",   "1x2x1x5x0x32",      "1x1x1x1x1x16",
                                               "1x2x1x5x7x20",   "2x4x2x33x33x32", "1x4x4x64x64x64",    "1x8x2x1x129x64",
                                               "1x2x2x17x65x72", "1x3x1x65x17x80", "1x2x1x100x100x128", "1x1x1x37x61x256",
                                               "1x6x3x16x48x16", "1x1x1x3x257x17", "1x2x1x128x130x96",  "1x2x2x31x31x33",
                                               "1x2x2x127x2x64", "3x2x1x2x3x200",  "1x1x1x261x779x24",  NULL};
static const char *const attention_settings[] = {"",
                                                 "causal=1",
                                                 "lse=1",
                                                 "causal=1,lse=1",
                                                 "scale=0.5",
                                                 "scale=-0.25,causal=1",
                                                 "swap=1",
                                                 "pad=3",
                                                 "causal=1,swap=1,pad=8",
                                                 "shift=1",
                                                 "causal=1,lse=1,swap=1,pad=1,shift=1",
                                                 "longer=3",
                                                 "causal=1,lse=1,longer=1000",
                                                 NULL};
static const check_single attention_single[] = {
    {"f32", NULL, NULL, "causal=1,lse=1", "1x2x2x257x257x64"},
    {"f16", NULL, NULL, "causal=1,lse=1", "1x2x1x509x773x33"},
    {"f32", NULL, NULL, NULL, "1x1x1x30x1537x250"},
    {"bf16", NULL, NULL, "causal=1", "1x4x1x1x1000x128"},
    {"bf16", NULL, NULL, "causal=1,lse=1,swap=1", "1x4x2x300x333x128"},
    {"f16", NULL, NULL, "causal=1,lse=1,scale=-0.2", "2x2x1x270x200x64"},
    /* One query or few, many keys; caches with room for more. */
    {"bf16", NULL, NULL, "causal=1,lse=1,spare=300", "1x4x2x1x1700x64"},
    {"bf16", NULL, NULL, "causal=1,lse=1,longer=2700", "1x4x2x1x1700x64"},
    {"f16", NULL, NULL, "lse=1,longer=64,swap=1", "1x4x2x1x512x128"},
    {"f16", NULL, NULL, "lse=1,spare=8,pad=8", "2x8x2x1x2050x128"},
    {"f32", NULL, NULL, "causal=1,lse=1,spare=1", "1x8x2x3x777x80"},
    {"bf16", NULL, NULL, "causal=1,lse=1,swap=1,pad=3,spare=5", "2x12x2x4x600x33"},
    {"f16", NULL, NULL, "causal=1,lse=1,fill=special", "1x4x2x2x1030x128"},
    {"f16", NULL, NULL, "causal=1,fill=guard", "1x1x1x256x288x64"}, /* 5 tiles are masked */
    {"f32", NULL, NULL, "lse=1,scale=-0.3", "1x1x1x1x8192x17"},
    /* Maxima that rise from tile to tile: sums are scaled in the middle. */
    {"bf16", NULL, NULL, "lse=1,scale=2", "1x2x1x140x333x64"},
    {"f16", NULL, NULL, "causal=1,scale=3", "1x1x1x150x270x128"},
    {0}};
static const check_single attention_huge[] = {{"f16", NULL, NULL, "fill=real", "1x4x1x2097169x1x256"}, {0}};

const check_op_set check_op_sets[] = {
    {"gemm",
     7,
     {{CHECK_DTYPE, types},
      {CHECK_SETTINGS, outs},
      {CHECK_LAYOUT, layouts},
      {CHECK_EPILOGUE, epilogues},
      {CHECK_SHAPE, products},
      {CHECK_SETTINGS, gemm_settings},
      {CHECK_SETTINGS, product_fills}},
     gemm_single,
     gemm_huge},
    {"swiglu",
     6,
     {{CHECK_DTYPE, types},
      {CHECK_SETTINGS, outs},
      {CHECK_LAYOUT, LEVELS("nn", "nt")},
      {CHECK_SHAPE, products},
      {CHECK_SETTINGS, swiglu_settings},
      {CHECK_SETTINGS, product_fills}},
     swiglu_single,
     NULL},
    {"rmsnorm",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, row_shapes},
      {CHECK_SETTINGS,
       LEVELS("", "residual=1", "eps=0.1", "eps=0", "pad=5", "residual=1,pad=3", "shift=1", "inplace=x", "residual=1,inplace=x",
              "residual=1,inplace=residual", "residual=1,inplace=sum=x", "residual=1,inplace=x+residual,pad=2")},
      {CHECK_SETTINGS, fills}},
     rmsnorm_single,
     rmsnorm_huge},
    {"attention",
     4,
     {{CHECK_DTYPE, types}, {CHECK_SHAPE, attention_shapes}, {CHECK_SETTINGS, attention_settings}, {CHECK_SETTINGS, fills}},
     attention_single,
     attention_huge},
    {"rope",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, LEVELS("0x3x2x4", "1x0x2x4", "1x1x1x2", "1x5x3x6", "2x7x2x64", "1x33x4x128", "1x129x1x20", "3x2x5x80",
                           "1x65x2x256", "1x1x8x64")},
      {CHECK_SETTINGS, LEVELS("", "rope=half", "offset=100", "rope=half,offset=4095", "theta=500000", "swap=1", "pad=2",
                              "swap=1,pad=3,rope=half", "inplace=x", "inplace=x,rope=half,pad=1", "shift=1", "offset=1048576",
                              "factor=4,offset=300", "factor=8,trained=512,offset=700,rope=half",
                              "factor=3,trained=64,low=2,high=32,offset=60", "longer=7", "longer=30,offset=100,rope=half")},
      {CHECK_SETTINGS, fills}},
     NULL,
     rope_huge},
    {"softmax",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, row_shapes},
      {CHECK_SETTINGS, LEVELS("", "pad=5", "shift=1", "inplace=x", "inplace=x,pad=3")},
      {CHECK_SETTINGS, fills}},
     softmax_single,
     softmax_huge},
    {"embedding",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, LEVELS("0x5x3", "5x7x0", "5x0x3", "1x1x1", "7x5x3", "33x100x64", "5x1000x129", "128x50x1", "3x2x4099")},
      {CHECK_SETTINGS, LEVELS("", "pad=5", "shift=1", "pad=2,shift=3", "wide=1", "wide=1,shift=1")},
      {CHECK_SETTINGS, fills}},
     NULL,
     embedding_huge},
    {"silu_mul",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, row_shapes},
      {CHECK_SETTINGS, LEVELS("", "pad=5", "shift=1", "inplace=gate", "inplace=up", "inplace=gate,pad=3")},
      {CHECK_SETTINGS, fills}},
     silu_mul_single,
     silu_mul_huge},
    {"add",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, row_shapes},
      {CHECK_SETTINGS, LEVELS("", "pad=5", "shift=1", "inplace=a", "inplace=b", "inplace=b,pad=3")},
      {CHECK_SETTINGS, fills}},
     add_single,
     add_huge},
    {"cross_entropy",
     4,
     {{CHECK_DTYPE, types},
      {CHECK_SHAPE, row_shapes},
      {CHECK_SETTINGS, LEVELS("", "pad=5", "shift=1", "ignore=3", "ignore=1,pad=1", "wide=1", "wide=1,ignore=3,shift=1")},
      {CHECK_SETTINGS, fills}},
     cross_entropy_single,
     cross_entropy_huge},
    {0}};
