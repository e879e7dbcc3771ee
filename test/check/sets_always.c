/* Cases that run with every part of a set (--every): one for each feature with its own code in a kernel, so that every run of
 * the tests notices a change of that code, whichever part it runs. Each case is as small as it can be. */
#include "sets.h"

/* Each step of an epilogue, by itself and on unchanged special values (k = 1); then each mix of types with the steps that
 * read an array, each in its own type: bias in the inputs', residual in the output's; then beta, batches, and their strides. */
#define STEP(step) {"f32", "nn", step, "fill=edges", "6x84x1"}, {"bf16", "nt", step, "fill=edges,out=f32", "6x84x1"}
#define MIX(type, out, layout) {type, layout, "bias+residual", "fill=real,beta=0.5,out=" out, "19x37x23"}
static const check_single gemm[] = {
    STEP("relu"),
    STEP("gelu"),
    STEP("gelu_tanh"),
    STEP("quick_gelu"),
    STEP("leaky_relu:0.25"),
    STEP("leaky_relu:3"),
    STEP("leaky_relu:-0.5"),
    STEP("silu"),
    STEP("scale:-1.5"),
    STEP("divide:3"),
    STEP("bias"),
    STEP("residual"),
    MIX("f32", "f32", "nn"),
    MIX("f32", "f16", "nt"),
    MIX("f32", "bf16", "tn"),
    MIX("f16", "f32", "tt"),
    MIX("f16", "f16", "nn"),
    MIX("f16", "bf16", "nt"),
    MIX("bf16", "f32", "tn"),
    MIX("bf16", "f16", "tt"),
    MIX("bf16", "bf16", "nn"),
    {"f32", "nn", "relu+bias+scale:2", "fill=real,batch=3,alpha=-0.5,pad=1", "7x18x9"},
    {"bf16", "nt", "residual", "fill=real,batch=2,broadcast_b=1,beta=-2,inplace=residual", "7x18x9"},
    {"f16", "tn", NULL, "fill=real,batch=2,broadcast_a=1,shift=1", "7x18x9"},
    {"f16", "nn", "bias", "fill=big", "9x35x5"},
    /* Few rows and a long k: what the dispatcher splits on HIP; with a batch. */
    {"bf16", "nt", "bias+silu+residual", "fill=real,beta=0.5,batch=2", "3x66x1034"},
    /* The ways of omp_gpu_skinny: matrices, along k, along n. */
    {"bf16", "nt", "bias", "fill=real,batch=2", "7x35x1064"},
    {"f32", "nt", NULL, "fill=real,batch=2", "7x35x1032"},
    {"f16", "nn", "residual", "fill=real", "6x104x301"},
    {"f32", "tn", NULL, "fill=real,batch=2", "3x75x203"},
    {"bf16", "tt", NULL, "fill=real", "2x75x603"},
    {0}};
static const check_single swiglu[] = {{"f32", "nn", NULL, "fill=edges", "5x35x1"},
                                      {"f32", "nt", NULL, "fill=real,out=f16", "19x37x23"},
                                      {"f32", "nn", NULL, "fill=real,out=bf16", "19x37x23"},
                                      {"f16", "nn", NULL, "fill=real,out=f32,pad=1", "19x37x23"},
                                      {"f16", "nt", NULL, "fill=real,out=bf16", "19x37x23"},
                                      {"bf16", "nt", NULL, "fill=special,out=f32", "19x37x23"},
                                      {"bf16", "nn", NULL, "fill=big,out=f16,shift=1", "19x37x23"},
                                      /* The ways of omp_gpu_skinny. */
                                      {"bf16", "nt", NULL, "fill=real", "7x35x1064"},
                                      {"f32", "nt", NULL, "fill=real", "7x35x1032"},
                                      {"f16", "nn", NULL, "fill=real", "6x104x301"},
                                      {"f32", "nn", NULL, "fill=real", "3x75x203"},
                                      {0}};
static const check_single rmsnorm[] = {{"f32", NULL, NULL, "eps=0,fill=huge", "20x65"},
                                       {"f32", NULL, NULL, "eps=0,fill=tiny,residual=1", "16x65"},
                                       {"bf16", NULL, NULL, "eps=0,fill=tiny", "5x16385"},
                                       {"f32", NULL, NULL, "eps=0,fill=huge", "5x16385"},
                                       {"f16", NULL, NULL, "eps=1,fill=real", "3x33"},
                                       {"bf16", NULL, NULL, "fill=special,residual=1,inplace=x+residual", "9x130"},
                                       {"f16", NULL, NULL, "fill=equal", "3x1025"},
                                       {"bf16", NULL, NULL, "fill=real,pad=2,shift=3", "2x16384"},
                                       {0}};
/* Decode: rows of one query and of some, with a batch and with groups of heads; the parts of 1100 keys. Guards: what a query
 * does not see is NaN. Maxima that jump by 2^16 and more. */
static const check_single attention[] = {
    {"bf16", NULL, NULL, "fill=real,lse=1", "2x4x2x1x1100x64"},
    {"f16", NULL, NULL, "fill=real,lse=1,causal=1", "2x2x1x3x600x128"},
    {"f32", NULL, NULL, "fill=real,lse=1", "2x2x2x1x600x20"},
    {"f16", NULL, NULL, "fill=guard,lse=1,causal=1", "1x3x3x70x70x64"},
    {"bf16", NULL, NULL, "fill=guard,lse=1,causal=1", "1x2x2x40x70x128"},
    {"f32", NULL, NULL, "fill=guard,lse=1,causal=1", "1x3x3x40x45x33"},
    {"f16", NULL, NULL, "fill=guard,lse=1,causal=1", "3x2x2x4x600x64"},
    /* Queries of several heads in a workgroup of HIP's flash, with parts of the keys, some of which a query does not see. */
    {"bf16", NULL, NULL, "fill=guard,lse=1,causal=1", "1x8x2x70x900x128"},
    {"f16", NULL, NULL, "fill=guard,lse=1,causal=1", "1x4x1x150x400x160"},
    /* As many heads as CUs, so that it does not split them. */
    {"f16", NULL, NULL, "fill=guard,lse=1,causal=1", "1x304x304x20x200x16"},
    {"f16", NULL, NULL, "fill=rising,scale=0.34657", "1x1x1x64x130x64"},
    {"f16", NULL, NULL, "fill=rising,scale=0.36", "1x32x1x2x600x128"},
    {"f16", NULL, NULL, "fill=rising,scale=0.45", "1x1x1x33x330x128"},
    {"bf16", NULL, NULL, "fill=rising,lse=1,scale=1.39", "1x1x1x64x330x64"},
    {"f32", NULL, NULL, "fill=rising,lse=1,scale=1.39", "1x1x1x20x330x16"},
    {"f16", NULL, NULL, "fill=big,lse=1", "1x1x1x33x70x128"},
    {"bf16", NULL, NULL, "fill=big,lse=1", "1x1x1x33x70x64"},
    {"f16", NULL, NULL, "fill=negative,lse=1", "1x1x1x33x80x128"},
    {"bf16", NULL, NULL, "fill=special,lse=1,scale=-4", "1x2x1x17x193x64"}, /* infinite values with weights that become 0 */
    {"bf16", NULL, NULL, "fill=masked,lse=1,causal=1", "3x1x1x70x90x64"},
    {"f32", NULL, NULL, "fill=equal,lse=1", "1x1x1x5x40x17"},
    {"bf16", NULL, NULL, "causal=1,lse=1,swap=1,pad=8,spare=3,fill=real,scale=-0.5", "2x4x2x9x33x64"},
    {"f16", NULL, NULL, "causal=1,lse=1,longer=500,fill=real", "2x2x1x1x90x64"},
    {0}};
static const check_single rope[] = {
    {"f32", NULL, NULL, "fill=real,offset=1048576,pad=1", "2x3x2x34"},
    {"f16", NULL, NULL, "fill=special,rope=half,inplace=x,swap=1", "2x3x2x34"},
    {"bf16", NULL, NULL, "fill=real,factor=8,trained=512,offset=700,rope=half,longer=7", "1x5x2x64"},
    {0}};
#define ROWS                                                                                          \
  {"f32", NULL, NULL, "fill=rising", "20x257"}, {"f16", NULL, NULL, "fill=rising", "3x5000"},         \
      {"bf16", NULL, NULL, "fill=rising", "2x16385"}, {"f32", NULL, NULL, "fill=negative", "20x257"}, \
      {"f16", NULL, NULL, "fill=masked,pad=1", "20x257"}, {"bf16", NULL, NULL, "fill=special,shift=1", "5x130"}
static const check_single softmax[] = {ROWS,
                                       {"f32", NULL, NULL, "fill=special,causal_rows=40", "40x70"},
                                       {"bf16", NULL, NULL, "fill=real,causal_rows=9,inplace=x", "18x5"},
                                       /* x begins between two dwords, y at one, and the row ends with a batch of loads. */
                                       {"bf16", NULL, NULL, "fill=real,pad=2,shift=3", "2x16384"},
                                       {0}};
static const check_single cross_entropy[] = {ROWS,
                                             {"f32", NULL, NULL, "fill=guard", "31x65"},
                                             {"f16", NULL, NULL, "fill=guard,ignore=3", "31x130"},
                                             {"bf16", NULL, NULL, "fill=special,wide=1", "31x130"},
                                             {"bf16", NULL, NULL, "fill=special", "60x65"},
                                             {"f32", NULL, NULL, "fill=special,first=100,total=700", "60x65"},
                                             {"f32", NULL, NULL, "fill=masked,first=5,total=262,wide=1", "20x257"},
                                             {"f16", NULL, NULL, "fill=guard,ignore=3,total=390", "31x130"},
                                             {"bf16", NULL, NULL, "fill=real,first=16385,total=32770,pad=1", "3x16385"},
                                             {"f16", NULL, NULL, "fill=real,first=4,total=9", "9x0"},
                                             {0}};
static const check_single embedding[] = {{"f32", NULL, NULL, "fill=special,pad=1", "40x5x65"},
                                         {"bf16", NULL, NULL, "fill=special,wide=1", "40x5x64"},
                                         {"f16", NULL, NULL, "fill=edges,shift=1", "9x5x131"},
                                         {"bf16", NULL, NULL, "fill=special", "40x5x2049"},
                                         {"f32", NULL, NULL, "fill=special,first=3,total=20,wide=1", "40x5x65"},
                                         {"bf16", NULL, NULL, "fill=real,first=5,total=10", "40x5x2048"},
                                         {"f16", NULL, NULL, "fill=edges,first=2,total=9,shift=1", "9x0x131"},
                                         {0}};
#define TWO                                                                                     \
  {"f32", NULL, NULL, "fill=edges", "7x131"}, {"f16", NULL, NULL, "fill=edges,pad=1", "7x131"}, \
      {"bf16", NULL, NULL, "fill=edges,shift=1", "7x131"}, {"f16", NULL, NULL, "fill=big", "2x1025"}
static const check_single silu_mul[] = {TWO, {"f32", NULL, NULL, "fill=real,inplace=gate,pad=3", "5x257"}, {0}};
static const check_single add[] = {TWO,
                                   {"f32", NULL, NULL, "fill=real,inplace=b,pad=3", "5x257"},
                                   {"bf16", NULL, NULL, "fill=edges,sums=1", "7x131"},
                                   {"f16", NULL, NULL, "fill=real,sums=1,pad=3,shift=1", "5x257"},
                                   {"bf16", NULL, NULL, "fill=real,sums=1,inplace=a", "3x1024"},
                                   {0}};

const check_more check_always[] = {{"gemm", gemm},
                                   {"swiglu", swiglu},
                                   {"rmsnorm", rmsnorm},
                                   {"attention", attention},
                                   {"rope", rope},
                                   {"softmax", softmax},
                                   {"cross_entropy", cross_entropy},
                                   {"embedding", embedding},
                                   {"silu_mul", silu_mul},
                                   {"add", add},
                                   {0}};

/* ---- By every kernel, whichever the dispatcher prefers ---- */

/* Each layout with tails in every length, and each type. */
static const check_single gemm_kernel[] = {{"bf16", "nn", "bias", "fill=real", "21x45x70"},
                                           {"f16", "nt", NULL, "fill=real,pad=1,out=f32", "45x21x70"},
                                           {"f32", "tn", NULL, "fill=real,beta=0.5", "21x45x33"},
                                           {"bf16", "tt", "residual", "fill=real,batch=2,out=f32", "21x23x35"},
                                           {0}};
static const check_single swiglu_kernel[] = {{"bf16", "nn", NULL, "fill=real", "21x45x70"},
                                             {"f16", "nt", NULL, "fill=real,pad=1,out=f32", "45x21x70"},
                                             {"f32", "nn", NULL, "fill=real", "21x45x33"},
                                             {0}};
/* The kernels for head_dim 64 and 128 take two of the three types. */
static const check_single attention_kernel[] = {{"f16", NULL, NULL, "fill=rising,lse=1,scale=0.34657", "1x4x1x5x330x64"},
                                                {"f16", NULL, NULL, "fill=rising,scale=0.36", "1x2x1x9x130x128"},
                                                {"bf16", NULL, NULL, "fill=guard,lse=1,causal=1", "2x4x2x7x75x128"},
                                                {"f16", NULL, NULL, "fill=guard,causal=1", "1x2x1x9x75x160"},
                                                {"bf16", NULL, NULL, "fill=real,scale=-0.5", "2x1x1x9x75x64"},
                                                {"f32", NULL, NULL, "fill=real,lse=1", "2x2x2x2x70x20"},
                                                {0}};
static const check_single rows_kernel[] = {{"f32", NULL, NULL, "fill=huge", "17x130"},
                                           {"f16", NULL, NULL, "fill=real,pad=3", "3x1030"},
                                           {"bf16", NULL, NULL, "fill=special,shift=1", "5x77"},
                                           {0}};
static const check_single rope_kernel[] = {{"f16", NULL, NULL, "fill=real,pad=1,shift=1", "2x3x2x34"}, {0}};
static const check_single embedding_kernel[] = {{"bf16", NULL, NULL, "fill=real,pad=1,shift=1", "9x5x131"}, {0}};

const check_more check_kernel[] = {{"gemm", gemm_kernel},
                                   {"swiglu", swiglu_kernel},
                                   {"attention", attention_kernel},
                                   {"rmsnorm", rows_kernel},
                                   {"softmax", rows_kernel},
                                   {"cross_entropy", rows_kernel},
                                   {"silu_mul", rows_kernel},
                                   {"add", rows_kernel},
                                   {"rope", rope_kernel},
                                   {"embedding", embedding_kernel},
                                   {0}};
