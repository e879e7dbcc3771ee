/* Results of 16 MiB and more, which hosts write with non-temporal stores (offload/device/chunk.h): a little above that size, in
 * rows that begin at every place within a line of 64 bytes and end in the middle of one. A row's last chunk of 256 elements is
 * shorter than the way to the next line in some rows, longer in others; between the rows lies memory that nobody may write.
 * Each op that streams has f32 and bf16, of which the tests with 1 x 1 and 3 x 2 threads run one each; add also f16. */
#include "sets.h"

/* 2051 = 8 x 256 + 3. */
static const check_single add[] = {{"f32", NULL, NULL, "fill=real,lda=2060,ldb=2051,ldc=2053", "2051x2051"},
                                   {"f16", NULL, NULL, "fill=real,ldc=2911,shift=3", "2900x2907"},
                                   {"bf16", NULL, NULL, "fill=real,inplace=b,pad=2,shift=1", "2903x2899"},
                                   {"f32", NULL, NULL, "fill=real,shift=1", "2053x2064"}, /* one long row */
                                   {0}};
static const check_single silu_mul[] = {{"f32", NULL, NULL, "fill=real,ldy=2053,shift=5", "2051x2051"},
                                        {"bf16", NULL, NULL, "fill=real,inplace=gate,pad=2", "2900x2907"},
                                        {0}};
static const check_single rmsnorm[] = {
    {"f32", NULL, NULL, "fill=real,residual=1,ldx=2060,ldr=2051,lds=2053,ldy=2057,shift=1", "2051x2051"},
    {"bf16", NULL, NULL, "fill=real,residual=1,lds=2913,ldy=2909", "2900x2907"},
    {"f16", NULL, NULL, "fill=real,inplace=x,pad=1,shift=7", "41x204911"},
    {0}};
/* Pairs of neighbours: chunks of 128 pairs, 128 and 9; of halves: 256 and 9. */
static const check_single rope[] = {{"f32", NULL, NULL, "fill=real,pad=1", "1x53x150x530"},
                                    {"f32", NULL, NULL, "fill=real,rope=half,pad=3,swap=1,shift=1", "2x27x147x530"},
                                    {"bf16", NULL, NULL, "fill=real,rope=half,inplace=x,pad=1", "1x107x148x530"},
                                    {"bf16", NULL, NULL, "fill=real,shift=3", "3x36x147x530"},
                                    {0}};
/* Causal rows see any number of columns, and clear the others. The third has rows of many segments. */
static const check_single softmax[] = {{"f32", NULL, NULL, "fill=real,ldy=2053,shift=1", "2051x2051"},
                                       {"f32", NULL, NULL, "fill=real,causal_rows=1027,ldx=2060,ldy=2049", "2054x2047"},
                                       {"f32", NULL, NULL, "fill=real,inplace=x,pad=1", "19x221003"},
                                       {"bf16", NULL, NULL, "fill=real,causal_rows=967,pad=2,shift=3", "2901x2899"},
                                       {0}};
/* Copies of 2048 bytes out of blocks of 64 KiB; ids outside of the table. */
static const check_single embedding[] = {{"f32", NULL, NULL, "fill=special,ldy=2053", "2051x37x2051"},
                                         {"f32", NULL, NULL, "fill=real,pad=1,shift=1", "127x7x33035"},
                                         {"bf16", NULL, NULL, "fill=real,pad=1,shift=3", "2903x37x2899"},
                                         {0}};
/* C is streamed where its rows are whole lines: whole micro tiles, and tails of rows and columns. */
static const check_single gemm[] = {{"f32", "nn", NULL, "fill=real", "2053x2064x3"},
                                    {"bf16", "nt", "bias+relu", "fill=real,batch=2", "1511x2912x2"},
                                    {"f16", "nn", NULL, "fill=real,out=f32,ldc=2080", "2053x2068x2"},
                                    {0}};

const check_more check_streamed[] = {{"add", add},         {"silu_mul", silu_mul},   {"rmsnorm", rmsnorm}, {"rope", rope},
                                     {"softmax", softmax}, {"embedding", embedding}, {"gemm", gemm},       {0}};
