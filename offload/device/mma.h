/* Matrix units of GPUs for 16-bit elements: one interface for two vendors, because OpenMP has none.
 *
 * For the chips that are known here, meson.build defines TDM_OFFLOAD_MMA as the number of lanes of a wave: 32 for NVIDIA's
 * from sm_80 on (mma_nvidia.h), 64 for AMD's gfx942 (mma_amd.h). On every other chip the kernels that use this refuse to
 * run. The host's pass has the same constants, because it sets the number of threads. Its functions compute nothing, except
 * copies, which a test uses.
 *
 *                                     NVIDIA                        AMD
 *   an operand: 16 lines by MMA_K k   16                            32, for two instructions (MMA_PARTS)
 *   multiplied by 16 lines            8 columns: half an operand    all 16 columns
 *   panels in team memory             as in memory; ldmatrix        lines of k; transposed while they are copied
 *                                     transposes if necessary       through registers
 *   copies                            cp.async, two steps ahead     through registers, one step ahead */
#ifndef TANDEM_OFFLOAD_DEVICE_MMA_H
#define TANDEM_OFFLOAD_DEVICE_MMA_H

#include <stdbool.h>

#include "src/base/elem.h"
#include "tandem/tandem.h"
#include "target.h"

/* A lane's part of 16 lines by MMA_K k. */
typedef struct mma_operand {
  uint32_t word[4];
} mma_operand;

/* A lane's part of 16 x MMA_COLUMNS sums: in each of its MMA_HELD rows, MMA_TOGETHER columns side by side. Sum r *
 * MMA_TOGETHER + c is in row mma_row(lane) + 8 r, column mma_column(lane) + c. */
typedef float mma_sums __attribute__((vector_size(16)));

#if TDM_FOR_GFX942
enum {
  MMA_LANES = 64,
  MMA_K = 32,
  MMA_PARTS = 2, /* parts of K: instructions of a product */
  MMA_COLUMNS = 16,
  MMA_HELD = 1,
  MMA_TOGETHER = 4,
  MMA_AHEAD = 1, /* steps that are loaded ahead */
};
#else
enum { MMA_LANES = 32, MMA_K = 16, MMA_PARTS = 1, MMA_COLUMNS = 8, MMA_HELD = 2, MMA_TOGETHER = 2, MMA_AHEAD = 2 };
#endif
enum {
  MMA_THREADS = 4 * MMA_LANES,
  MMA_HALVES = 16 / MMA_COLUMNS, /* parts of an operand's lines that are the columns of one product */
  /* The numbers of the four lanes that share a row differ in the bits of 1 and 2 times this. */
  MMA_ROW_DISTANCE = TDM_FOR_GFX942 ? 16 : 1,
};

/* The launch of such a kernel, like TDM_TARGET_BARE. clang 19 does not tell AMD's code generator how many threads a bare
 * region has. It then assumes 1024, which leaves 128 registers to a thread: these kernels spilled 80 to 970 of them. A
 * parallel region that is alone in a teams region also starts with all of its threads, and their number is known. At link
 * time the optimiser removes the runtime's calls around it. */
#if TDM_FOR_GFX942
#define MMA_TARGET(launch, ...)                                                                           \
  TDM_PRAGMA(omp target teams device((launch).device) num_teams((launch).teams) thread_limit(MMA_THREADS) \
                 is_device_ptr(__VA_ARGS__))                                                              \
  TDM_PRAGMA(omp parallel)
#elif defined(TDM_OFFLOAD)
#define MMA_TARGET(launch, ...) TDM_TARGET_BARE(launch, MMA_THREADS, __VA_ARGS__)
#endif

/* An address in team memory, as the instructions expect it. */
#if defined(__NVPTX__) || defined(__AMDGCN__)
typedef uint32_t mma_address;
TDM_INLINE mma_address mma_address_of(const void *team_memory) {
  return (uint32_t)(uintptr_t)(const __attribute__((address_space(3))) void *)team_memory;
}
#else
typedef uintptr_t mma_address;
TDM_INLINE mma_address mma_address_of(const void *team_memory) { return (mma_address)team_memory; }
#endif

/* Does this pass compile for the chip that has these units? Hosts, and GPUs without such units, only compile the functions. */
#if defined(TDM_OFFLOAD_MMA) && (TDM_FOR_GFX942 ? defined(__AMDGCN__) : defined(__NVPTX__))
#define MMA_ON_CHIP 1
#else
#define MMA_ON_CHIP 0
#endif

#if TDM_FOR_GFX942
#include "mma_amd.h"
#else
#include "mma_nvidia.h"
#endif

#if !MMA_ON_CHIP && defined(MMA_STAND_IN) /* a test has its own */
#include MMA_STAND_IN
#elif !MMA_ON_CHIP
TDM_INLINE mma_sums mma_multiply(mma_sums sums, mma_operand a, mma_operand b, int half, int part, tdm_type type) {
  return (void)a, (void)b, (void)half, (void)part, (void)type, sums;
}
TDM_INLINE bool mma_any(bool value) { return value; }
TDM_INLINE float mma_exp2(float x) { return x; }
TDM_INLINE float mma_reciprocal(float x) { return x; }
#endif

#endif
