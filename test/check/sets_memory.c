/* Cases about memory: offsets that 32 bits don't hold, over sparse arrays; and loops over k at the limits of their pipelines.
 */
#include "sets.h"

/* FAR is 2^31 + 8: row 1 begins beyond 2^31 elements, row 2 beyond 2^32, and rows are aligned to 16 bytes. MIDDLE is 2^29 + 8:
 * bytes cross 2^31 and 2^32 on the way, while the elements stay below. With `pad` arrays after the first are off by 1, 2 and 3
 * elements a row, so that rows are not aligned; with leading dimensions that are named they are. */
#define FAR "2147483656"
#define MIDDLE "536870920"
/* The most that the HIP pipelines take as a leading dimension, 2^31 bytes over 256 lines, in f16 and bf16: 513 rows reach 2^31
 * elements, and 2^32 bytes. */
#define WIDE "4194296"
/* For attention's fast kernels, 2^23 elements from row to row: 2^31 elements after 256 rows, 2^32 bytes too. */
#define PAD_64 "8388536"
/* Rows that bring the next head of head_dim 64, or 128, beyond 2^31 elements. */
#define ROWS_64 "33554432"
#define ROWS_128 "16777216"

#define WIDE_STRIDES "batch=3,stride_a=" FAR ",stride_b=" FAR ",ldc=" FAR ",ldr=" FAR ",beta=0.5"

/* Every HIP kernel of gemm: matrices far apart, rows of C and of the residual too; and the lines of A and of B that only the
 * last tiles have. */
#define GEMM_MATRICES(kernel) {"gemm", kernel, {"bf16", "nt", "residual", WIDE_STRIDES, "3x6x64"}}
#define GEMM_LINES(kernel)                                            \
  {"gemm", kernel, {"bf16", "nt", NULL, "lda=" WIDE, "528x16x64"}}, { \
    "gemm", kernel, {"f16", "nt", NULL, "ldb=" WIDE, "16x528x64"}     \
  }

const check_named check_far[] = {
    /* Rows of every array, chosen by the dispatcher: hosts and the general HIP kernels. */
    {"gemm", NULL, {"f32", "nn", "bias+residual", "beta=0.5,batch=2,pad=" FAR, "5x7x9"}},
    {"gemm", NULL, {"bf16", "nt", "residual+bias", "beta=1,batch=2,pad=" FAR, "5x7x9"}},
    {"gemm", NULL, {"f16", "tn", "residual", "beta=2,batch=2,pad=" MIDDLE, "9x7x5"}},
    {"gemm", NULL, {"f32", "tt", "residual", "out=bf16,batch=2,pad=" MIDDLE, "7x9x5"}},
    {"gemm", NULL, {"f32", "nt", NULL, "pad=" MIDDLE, "40x37x33"}},
    {"gemm", NULL, {"bf16", "nn", NULL, "lda=" FAR ",ldb=" FAR ",ldc=" FAR, "40x48x32"}},
    {"gemm", NULL, {"f32", "tt", NULL, "lda=" MIDDLE ",ldb=" MIDDLE ",ldc=" MIDDLE, "36x48x40"}},
    {"gemm", "omp", {"f32", "nn", "bias+residual", "beta=0.5,batch=2,pad=" FAR, "5x7x9"}},
    {"gemm", "omp", {"f16", "tt", "residual", "beta=0.5,batch=2,pad=" MIDDLE, "9x7x5"}},
    {"gemm", "omp", {"bf16", "nt", "residual", "pad=" FAR, "37x41x33"}},
    {"gemm", "omp", {"f32", "tn", NULL, "lda=" FAR ",ldb=" FAR ",ldc=" FAR, "48x32x40"}},
    {"gemm", "omp", {"f16", "nn", "residual", WIDE_STRIDES ",stride_c=9000000000,stride_r=9000000016", "3x6x64"}},
    {"gemm", "omp_skinny", {"f16", "nn", "residual", WIDE_STRIDES ",stride_c=9000000000,stride_r=9000000016", "3x6x64"}},
    {"gemm", "omp_skinny", {"bf16", "nt", "residual", WIDE_STRIDES, "9x70x130"}},
    {"gemm", "omp_skinny", {"f32", "tn", NULL, "pad=" FAR, "9x70x70"}},
    {"gemm", "omp_skinny", {"f32", "tt", NULL, "pad=" FAR, "9x70x70"}},
    {"gemm",
     "hip_128x128",
     {"f32", "tn", "residual", "beta=0.5,batch=2,lda=" FAR ",ldb=" FAR ",ldc=" FAR ",ldr=" FAR, "12x8x5"}},
    {"gemm", "hip_128x128", {"bf16", "tt", NULL, "batch=2,pad=" FAR, "9x7x5"}},
    {"gemm", "hip_128x128:split=2", {"f32", "nn", "residual", "beta=0.5,batch=2,pad=" FAR, "5x7x70"}},
    {"gemm", "hip_small_k", {"f16", "nn", "residual", "beta=0.5,batch=2,pad=" FAR, "9x7x5"}},
    {"gemm", "hip_small_k", {"f32", "tt", NULL, "lda=" FAR ",ldb=" FAR ",ldc=" FAR, "8x9x12"}},
    /* The longest k of hip_small_k, and the longest without a second step. */
    {"gemm", "hip_small_k", {"f16", "nt", NULL, NULL, "128x128x128"}},
    {"gemm", "hip_small_k", {"bf16", "tn", NULL, NULL, "128x128x64"}},
    {"gemm", "hip_small_k", {"f32", "nn", NULL, NULL, "128x128x64"}},
    GEMM_MATRICES("hip_128x128"),
    GEMM_MATRICES("hip_small_k"),
    GEMM_MATRICES("hip_rows"),
    {"gemm", "hip_elements", {"bf16", "nn", "residual", WIDE_STRIDES, "3x6x64"}},
    GEMM_MATRICES("hip_shifted_32x32"),
    {"gemm", "hip_shifted_64x64", {"bf16", "nn", "residual", WIDE_STRIDES, "9x16x67"}},
    GEMM_MATRICES("hip_256x256"),
    GEMM_MATRICES("hip_256x256_mfma32"),
    GEMM_MATRICES("hip_tile_16x64"),
    GEMM_MATRICES("hip_tile_64x16"),
    GEMM_MATRICES("hip_tile_64x128"),
    GEMM_MATRICES("hip_tile_256x128"),
    GEMM_LINES("hip_256x256"),
    GEMM_LINES("hip_tile_16x64"),
    GEMM_LINES("hip_tile_64x16"),
    GEMM_LINES("hip_shifted_64x64"),
    GEMM_LINES("hip_tile_256x128"),
    /* Steps along k are whole rows here; the tail begins after 2^32 bytes. */
    {"gemm", "hip_256x256", {"f16", "tn", NULL, "lda=" WIDE ",ldb=" WIDE, "16x24x584"}},
    {"gemm", "hip_tile_64x128", {"bf16", "tn", NULL, "lda=" WIDE ",ldb=" WIDE, "16x24x584"}},
    {"gemm", "hip_shifted_64x64", {"bf16", "tn", NULL, "lda=" WIDE ",ldb=" WIDE, "16x24x584"}},
    {"gemm", "hip_tile_64x128:split=2", {"f16", "tn", NULL, "lda=" WIDE ",ldb=" WIDE, "16x24x1160"}},

    {"swiglu", NULL, {"f32", "nn", NULL, "pad=" FAR, "5x7x9"}},
    {"swiglu", NULL, {"bf16", "nt", NULL, "pad=" MIDDLE, "9x7x5"}},
    {"swiglu", NULL, {"f16", "nt", NULL, "ldx=" FAR ",ldg=" FAR ",ldu=" FAR ",ldy=" FAR, "40x48x32"}},
    {"swiglu", "omp", {"f32", "nt", NULL, "pad=" FAR, "5x7x9"}},
    {"swiglu", "omp", {"bf16", "nn", NULL, "pad=" FAR, "37x41x9"}},
    {"swiglu", "omp_skinny", {"f16", "nt", NULL, "pad=" FAR, "9x37x70"}},
    {"swiglu", "omp_skinny", {"f32", "nn", NULL, "pad=" FAR, "9x37x70"}},
    {"swiglu", "hip_128x64", {"f16", "nn", NULL, "pad=" FAR, "9x7x5"}},
    {"swiglu", "hip_256x128", {"bf16", "nt", NULL, "ldy=" FAR ",ldx=" WIDE, "528x16x64"}},
    {"swiglu", "hip_256x128", {"f16", "nt", NULL, "ldg=" WIDE ",ldu=" WIDE, "16x528x64"}},
    {"swiglu", "hip_256x128", {"f16", "nn", NULL, "ldg=" WIDE ",ldu=" WIDE, "16x24x584"}},
    {"swiglu", "hip_tile_16x32", {"bf16", "nt", NULL, "ldy=" FAR ",ldx=" WIDE ",ldg=" WIDE ",ldu=" WIDE, "528x16x64"}},
    {"swiglu", "hip_tile_32x64", {"f16", "nt", NULL, "ldg=" WIDE ",ldu=" WIDE, "16x528x64"}},
    {"swiglu", "hip_tile_32x64", {"bf16", "nn", NULL, "ldx=" WIDE ",ldg=" WIDE ",ldu=" WIDE, "16x24x584"}},
    {"swiglu", "hip_tile_64x64", {"bf16", "nt", NULL, "ldy=" FAR ",ldx=" WIDE, "528x16x64"}},
    {"swiglu", "hip_tile_64x64", {"f16", "nn", NULL, "ldx=" WIDE ",ldg=" WIDE ",ldu=" WIDE, "16x24x584"}},
    {"swiglu", "hip_tile_128x64", {"f16", "nt", NULL, "ldg=" WIDE ",ldu=" WIDE, "16x528x64"}},
    {"swiglu", "hip_tile_128x64", {"bf16", "nn", NULL, "ldx=" WIDE ",ldg=" WIDE ",ldu=" WIDE, "16x24x584"}},

    {"rmsnorm", NULL, {"f32", NULL, NULL, "residual=1,pad=" FAR, "5x70"}},
    {"rmsnorm", NULL, {"bf16", NULL, NULL, "residual=1,ldx=" FAR ",ldr=" FAR ",lds=" FAR ",ldy=" FAR, "5x72"}},
    {"rmsnorm", NULL, {"f16", NULL, NULL, "pad=" MIDDLE, "7x1030"}},
    {"rmsnorm", "hip_loop", {"bf16", NULL, NULL, "residual=1,pad=" FAR, "5x70"}},
    {"rmsnorm",
     "hip_loop",
     {"f32", NULL, NULL, "residual=1,ldx=" MIDDLE ",ldr=" MIDDLE ",lds=" MIDDLE ",ldy=" MIDDLE, "7x5000"}},
    {"rmsnorm", "hip_registers", {"f32", NULL, NULL, "residual=1,pad=" FAR, "5x70"}},
    {"rmsnorm", "hip_registers", {"f16", NULL, NULL, "residual=1,ldx=" FAR ",ldr=" FAR ",lds=" FAR ",ldy=" FAR, "5x2048"}},
    {"rmsnorm", "hip_parts", {"bf16", NULL, NULL, "residual=1,pad=" FAR, "3x4200"}},
    {"rmsnorm", "hip_parts", {"f16", NULL, NULL, "pad=2,shift=3", "2x8192"}},
    {"rmsnorm", "hip_parts", {"f32", NULL, NULL, "residual=1,inplace=x+residual,pad=1,shift=1", "3x2100"}},

    {"softmax", NULL, {"f32", NULL, NULL, "pad=" FAR, "5x70"}},
    {"softmax", NULL, {"bf16", NULL, NULL, "ldx=" FAR ",ldy=" FAR, "5x72"}},
    {"softmax", NULL, {"f16", NULL, NULL, "causal_rows=5,pad=" MIDDLE, "10x1030"}},
    {"softmax", "hip_loop", {"bf16", NULL, NULL, "causal_rows=3,pad=" FAR, "6x70"}},
    {"softmax", "hip_loop", {"f32", NULL, NULL, "ldx=" MIDDLE ",ldy=" MIDDLE, "7x5000"}},
    {"softmax", "hip_registers", {"f32", NULL, NULL, "causal_rows=3,pad=" FAR, "6x70"}},
    {"softmax", "hip_registers", {"f16", NULL, NULL, "ldx=" FAR ",ldy=" FAR, "5x2048"}},
    {"softmax", "hip_parts", {"bf16", NULL, NULL, "causal_rows=2,pad=" FAR, "3x4200"}},
    {"softmax", "hip_parts", {"f16", NULL, NULL, "fill=masked,pad=2,shift=3", "2x16384"}},
    {"softmax", "hip_parts", {"f32", NULL, NULL, "inplace=x,pad=1,shift=1", "3x2100"}},

    {"silu_mul", NULL, {"f32", NULL, NULL, "pad=" FAR, "5x70"}},
    {"silu_mul", NULL, {"bf16", NULL, NULL, "ldg=" FAR ",ldu=" FAR ",ldy=" FAR, "5x72"}},
    {"silu_mul", NULL, {"f16", NULL, NULL, "pad=" MIDDLE, "7x1030"}},
    {"add", NULL, {"f32", NULL, NULL, "pad=" FAR, "5x70"}},
    {"add", NULL, {"bf16", NULL, NULL, "lda=" FAR ",ldb=" FAR ",ldc=" FAR, "5x72"}},
    {"add", NULL, {"f16", NULL, NULL, "pad=" MIDDLE, "7x1030"}},
    {"cross_entropy", NULL, {"f32", NULL, NULL, "pad=" FAR, "5x70"}},
    {"cross_entropy", NULL, {"bf16", NULL, NULL, "ldl=" FAR, "5x72"}},
    {"cross_entropy", NULL, {"f16", NULL, NULL, "pad=" MIDDLE, "7x1030"}},
    {"cross_entropy", "hip_parts", {"bf16", NULL, NULL, "ignore=3,pad=" FAR, "3x4200"}},
    {"cross_entropy", "hip_parts", {"f16", NULL, NULL, "first=5000,total=20000,wide=1,pad=1,shift=1", "3x8193"}},
    {"cross_entropy", "hip_parts", {"f32", NULL, NULL, "fill=guard", "3x4096"}},
    {"embedding", NULL, {"f32", NULL, NULL, "pad=" FAR, "9x5x70"}},
    {"embedding", NULL, {"bf16", NULL, NULL, "ldt=" FAR ",ldy=" FAR, "9x5x72"}},
    {"embedding", NULL, {"f16", NULL, NULL, "pad=" MIDDLE, "9x7x1030"}},
    /* A small row, and ids of up to a million: their product crosses 2^31. */
    {"embedding", NULL, {"f16", NULL, NULL, "ldt=2147483,fill=exact", "5x1500x8"}},

    {"rope", NULL, {"f32", NULL, NULL, "pad=" FAR, "2x3x2x70"}},
    {"rope", NULL, {"bf16", NULL, NULL, "rope=half,swap=1,pad=" FAR, "2x3x2x64"}},
    {"rope", NULL, {"f16", NULL, NULL, "longer=3,pad=" MIDDLE, "2x5x3x66"}},

    {"attention", NULL, {"f32", NULL, NULL, "lse=1,pad=" FAR, "2x4x2x3x70x66"}},
    {"attention", NULL, {"bf16", NULL, NULL, "causal=1,swap=1,pad=" FAR, "2x4x2x20x70x72"}},
    {"attention", NULL, {"f16", NULL, NULL, "causal=1,longer=9,pad=" MIDDLE, "2x4x2x3x70x80"}},
    {"attention", "omp", {"f32", NULL, NULL, "lse=1,pad=" FAR, "2x4x2x3x70x66"}},
    {"attention", "omp", {"f16", NULL, NULL, "causal=1,swap=1,pad=" FAR, "2x2x1x20x70x72"}},
    {"attention", "omp_decode", {"bf16", NULL, NULL, "lse=1,swap=1,pad=" FAR, "2x4x2x2x300x72"}},
    {"attention", "hip_flash", {"f32", NULL, NULL, "lse=1,pad=" FAR, "2x4x2x20x70x66"}},
    {"attention", "hip_flash", {"bf16", NULL, NULL, "causal=1,swap=1,pad=" FAR, "2x2x1x20x70x72"}},
    {"attention", "hip_decode", {"f16", NULL, NULL, "lse=1,swap=1,pad=" FAR, "2x4x2x2x300x72"}},
    {"attention", "hip_flash64", {"bf16", NULL, NULL, "lse=1,spare=" ROWS_64 ",apart=" ROWS_64, "3x4x2x20x70x64"}},
    {"attention", "hip_flash64", {"f16", NULL, NULL, "pad=" PAD_64, "1x1x1x530x530x64"}},
    {"attention", "hip_flash128", {"f16", NULL, NULL, "causal=1,lse=1,spare=" ROWS_128 ",apart=" ROWS_128, "3x4x2x20x70x128"}},
    {"attention", "hip_flash96", {"bf16", NULL, NULL, "causal=1,lse=1,swap=1", "2x4x2x300x280x80"}},
    {"attention", "hip_flash128", {"f16", NULL, NULL, "causal=1,lse=1,spare=" ROWS_128 ",apart=" ROWS_128, "3x4x2x35x900x128"}},
    {"attention", "hip_flash64", {"bf16", NULL, NULL, "lse=1,pad=" PAD_64, "1x2x1x40x530x64"}},
    {"attention", "hip_flash256", {"bf16", NULL, NULL, "causal=1,lse=1,longer=700", "1x4x2x70x640x184"}},
    /* Of 132 and 110 parts 16 waves add those of a row; and 55 of a plan for 141. */
    {"attention", "hip_decode64", {"bf16", NULL, NULL, "lse=1", "1x4x1x8x8400x16"}},
    {"attention", "hip_decode64", {"f16", NULL, NULL, "causal=1,lse=1,longer=5500", "1x4x1x8x3500x16"}},
    {"attention", "hip_decode", {"f32", NULL, NULL, "lse=1,longer=2000", "1x1x1x2x7000x17"}},
    {"attention", "hip_decode96", {"f16", NULL, NULL, "lse=1,swap=1", "2x4x2x2x700x72"}},
    {"attention", "hip_decode64", {"bf16", NULL, NULL, "lse=1,spare=" ROWS_64 ",apart=" ROWS_64, "3x4x2x2x700x64"}},
    {"attention", "hip_decode64", {"f16", NULL, NULL, "pad=" PAD_64, "1x2x1x2x530x64"}},
    {"attention", "hip_decode128", {"f16", NULL, NULL, "spare=" ROWS_128 ",apart=" ROWS_128, "3x4x2x2x700x128"}},
    {"attention", "hip_flash256", {"bf16", NULL, NULL, "causal=1,lse=1,swap=1", "2x4x2x150x140x200"}},
    {"attention", "hip_flash256", {"f16", NULL, NULL, "lse=1,swap=1", "1x2x1x40x100x152"}},
    {"attention", "hip_flash256", {"bf16", NULL, NULL, "causal=1,lse=1", "1x2x2x130x333x184"}},
    {"attention", "hip_decode256", {"f16", NULL, NULL, "lse=1,swap=1", "2x4x2x2x700x256"}},
    {"attention", "hip_decode_f32", {"f32", NULL, NULL, "lse=1,swap=1,pad=" FAR, "2x4x2x2x300x100"}},
    {"attention", "hip_decode_f32", {"f32", NULL, NULL, "causal=1,lse=1,longer=9", "2x4x2x40x170x68"}},
    {"attention", "hip_decode_f32", {"f32", NULL, NULL, "causal=1,lse=1,swap=1", "1x6x2x9x333x60"}},
    {0}};

/* Steps are 128 bytes along k on gfx950 and 64 on gfx942: both chips run the lengths of both. Tiles are whole, so the memory
 * after their last row and before their first belongs to nobody. */
#define PIPE(kernel, depth, types, layouts, shape)                          \
  {"gemm", kernel, true, true, 128, 0, depth, types, layouts, "", shape}, { \
    "gemm", kernel, true, true, 64, 0, depth, types, layouts, "", shape     \
  }

const check_loop check_loops[] = {
    {"gemm", "omp", false, false, 0, 192, 2, "f32 f16 bf16", "nn nt tn tt", "", "34x37x%d"},
    {"gemm", "omp_skinny", false, false, 0, 64, 4, "f32 bf16 f16", "nn nt tn tt", "", "9x37x%d"},
    {"gemm", "omp_skinny", false, false, 0, 16, 8, "f32 f16 bf16", "nt tt", "", "3x17x%d"},
    PIPE("hip_256x256", 2, "f32 f16 bf16", "nn nt tn tt", "256x256x%d"),
    PIPE("hip_256x256_mfma32", 2, "bf16 f16", "nt tn", "256x256x%d"),
    PIPE("hip_tile_16x64", 3, "f16 f32 bf16", "nn nt", "16x64x%d"),
    PIPE("hip_tile_32x128", 3, "f32 bf16", "tn nt", "32x128x%d"),
    PIPE("hip_tile_64x16", 3, "bf16 f32 f16", "nt tt", "64x16x%d"),
    PIPE("hip_tile_128x32", 3, "f16 f32", "nn tt", "128x32x%d"),
    PIPE("hip_tile_64x128:depth=2", 2, "bf16 f32", "nn tn", "64x128x%d"),
    PIPE("hip_tile_64x128:depth=3", 3, "f16 f32", "nt tt", "64x128x%d"),
    PIPE("hip_tile_128x128:depth=2", 2, "f32 f16", "tn nt", "128x128x%d"),
    PIPE("hip_tile_128x128:depth=3", 3, "bf16 f32", "tt nn", "128x128x%d"),
    PIPE("hip_tile_256x128:depth=2", 2, "f16 f32", "nt nn", "256x128x%d"),
    PIPE("hip_tile_256x128:depth=3", 3, "bf16 f32", "tt tn", "256x128x%d"),
    /* By cache lines: rows of 41 (f32: 82) chunks begin at each place of a line. Others share their first and last line. */
    {"gemm", "hip_tile_32x128:depth=4", true, true, 128, 0, 4, "bf16 f32 f16", "nt nn", "lda=328,ldb=328", "32x128x%d"},
    {"gemm", "hip_tile_64x128:depth=4", true, true, 64, 0, 4, "f32 bf16", "tt nt", "lda=328,ldb=328", "64x128x%d"},
    /* Whole rows, and rows between dwords. Two steps are in registers, two in LDS, up to five empty ones before them. */
    PIPE("hip_shifted_64x64", 6, "bf16 f16", "nn nt tn tt", "64x64x%d"),
    PIPE("hip_shifted_32x32", 6, "f16 bf16", "tt nt nn tn", "32x32x%d"),
    PIPE("hip_shifted_64x128", 6, "f16 bf16", "tn nt", "64x128x%d"),
    {"gemm", "hip_shifted_64x64", true, true, 128, 0, 6, "bf16 f16", "nt tn nn tt", "pad=1", "63x61x%d"},
    {"gemm", "hip_shifted_32x32", true, true, 64, 0, 6, "f16 bf16", "tn nt tt nn", "pad=1", "31x29x%d"},
    {"gemm", "hip_shifted_64x128", true, true, 128, 0, 6, "bf16 f16", "nn tt", "pad=1", "63x125x%d"},
    /* Rows of whole dwords in arrays between dwords: the same rows, by the kernel that shifts. */
    {"gemm", "hip_shifted_64x64", true, true, 128, 0, 2, "bf16 f16", "nt tn", "shift=1", "62x60x%d"},
    {"gemm", "hip_shifted_32x32:split=2", true, true, 128, 0, 2, "f16 bf16", "nn tt", "shift=1", "62x60x%d"},
    {"gemm", "hip_shifted_64x128", true, true, 128, 0, 2, "bf16 f16", "tn nn", "shift=1", "62x124x%d"},
    {"gemm", "hip_256x256:split=2", true, true, 384, 0, 2, "bf16 f16", "nt tn", "", "256x256x%d"},
    {"gemm", "hip_tile_64x128:split=2:depth=3", true, true, 384, 0, 3, "f32 f16", "nn nt", "", "64x128x%d"},
    {"gemm", "hip_128x128", true, false, 128, 0, 2, "f32 bf16 f16", "nn nt tn tt", "", "128x128x%d"},
    {"gemm", "hip_small_k", true, false, 64, 0, 2, "f16 f32 bf16", "nn nt tn tt", "", "128x128x%d"},
    /* A step of each of the 8 waves; four are under way. */
    {"gemm", "hip_rows", true, false, 1024, 0, 4, "f16 f32 bf16", "nt", "", "13x16x%d"},
    {"gemm", "hip_rows", true, false, 1024, 0, 2, "bf16 f32", "nt", "", "64x32x%d"},
    {"gemm", "hip_elements", true, false, 1024, 0, 4, "f16 f32 bf16", "nn tn tt", "", "13x16x%d"},
    {"gemm", "hip_elements", true, false, 1024, 0, 2, "bf16 f32", "tn tt nn", "", "64x32x%d"},
    {"swiglu", "omp", false, false, 0, 192, 2, "f32 f16 bf16", "nn nt", "", "34x37x%d"},
    {"swiglu", "omp_skinny", false, false, 0, 64, 4, "f32 bf16 f16", "nt nn", "", "9x37x%d"},
    {"swiglu", "hip_256x128", true, true, 128, 0, 2, "f32 f16 bf16", "nn nt", "", "256x128x%d"},
    {"swiglu", "hip_256x128", true, true, 64, 0, 2, "bf16 f32 f16", "nt nn", "", "256x128x%d"},
    {"swiglu", "hip_tile_16x32", true, true, 128, 0, 3, "bf16 f32 f16", "nt", "", "16x32x%d"},
    {"swiglu", "hip_tile_16x32", true, true, 64, 0, 3, "f16 bf16 f32", "nt", "", "16x32x%d"},
    {"swiglu", "hip_tile_32x64", true, true, 128, 0, 3, "f32 f16 bf16", "nn nt", "", "32x64x%d"},
    {"swiglu", "hip_tile_32x64", true, true, 64, 0, 3, "bf16 f32 f16", "nt nn", "", "32x64x%d"},
    {"swiglu", "hip_tile_64x64:depth=2", true, true, 128, 0, 2, "bf16 f32", "nt nn", "", "64x64x%d"},
    {"swiglu", "hip_tile_64x64:depth=3", true, true, 64, 0, 3, "f32 f16", "nn nt", "", "64x64x%d"},
    {"swiglu", "hip_tile_128x64:depth=2", true, true, 64, 0, 2, "f16 f32", "nn nt", "", "128x64x%d"},
    {"swiglu", "hip_tile_128x64:depth=3", true, true, 128, 0, 3, "f32 bf16", "nt nn", "", "128x64x%d"},
    {"swiglu", "hip_128x64", true, false, 128, 0, 2, "f16 f32 bf16", "nt nn", "", "128x64x%d"},
    {"attention", "omp", false, false, 0, 384, 2, "f32 f16 bf16", "", "", "1x1x1x18x%dx24"},
    {"attention", "omp_decode", false, false, 0, 64, 4, "f32 bf16 f16", "", "", "1x2x1x2x%dx40"},
    {"attention", "hip_flash", true, false, 0, 32, 2, "f32 f16 bf16", "", "", "1x1x1x128x%dx64"},
    {"attention", "hip_flash64", true, false, 0, 64, 2, "f16 bf16", "", "", "1x1x1x256x%dx64"},
    {"attention", "hip_flash64", true, false, 0, 64, 2, "bf16 f16", "", "causal=1", "1x1x1x256x%dx64"},
    {"attention", "hip_flash96", true, false, 0, 64, 2, "bf16 f16", "", "causal=1", "1x1x1x256x%dx80"},
    {"attention", "hip_flash128", true, false, 0, 64, 2, "bf16 f16", "", "causal=1", "1x1x1x256x%dx128"},
    {"attention", "hip_decode", true, false, 0, 32, 2, "f16 f32 bf16", "", "lse=1", "1x2x1x2x%dx64"},
    {"attention", "hip_decode64", true, false, 0, 64, 2, "bf16 f16", "", "", "1x2x1x2x%dx64"},
    {"attention", "hip_decode96", true, false, 0, 64, 2, "f16 bf16", "", "", "1x2x1x2x%dx96"},
    {"attention", "hip_decode128", true, false, 0, 64, 4, "f16 bf16", "", "", "1x2x1x2x%dx128"},
    {"attention", "hip_flash256", true, false, 0, 64, 2, "bf16 f16", "", "causal=1", "1x1x1x128x%dx256"},
    {"attention", "hip_flash256", true, false, 0, 64, 2, "f16", "", "", "1x1x1x32x%dx192"},
    {"attention", "hip_flash256", true, false, 0, 64, 2, "bf16", "", "", "1x1x1x32x%dx160"},
    {"attention", "hip_decode256", true, false, 0, 64, 2, "f16 bf16", "", "", "1x2x1x2x%dx136"},
    {"attention", "hip_decode_f32", true, false, 0, 64, 2, "f32", "", "", "1x2x1x2x%dx128"},
    {"attention", "hip_decode_f32", true, false, 0, 64, 2, "f32", "", "causal=1", "1x20x1x2x%dx64"},
    {0}};
