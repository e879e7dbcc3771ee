/* The instruction sets of the host's processor, beyond those that the whole library is compiled for. Rows that need more name
 * them (kernel.h), and the dispatcher leaves out the rows whose sets are not there. */
#ifndef TANDEM_CORE_CPU_H
#define TANDEM_CORE_CPU_H

#include <stdbool.h>
#include <stddef.h>

/* In the order in which processors got them. TANDEM_CPU=NAME allows those up to NAME, and avx2 none. */
typedef enum tdm_cpu_set {
  TDM_CPU_AVX512 = 1 << 0,      /* F, BW, CD, DQ and VL, as in x86-64-v4 */
  TDM_CPU_AVX512_BF16 = 1 << 1, /* Cooper Lake, Zen 4 */
  TDM_CPU_AVX512_FP16 = 1 << 2, /* Sapphire Rapids */
  TDM_CPU_AMX = 1 << 3,         /* AMX-TILE and AMX-BF16: Sapphire Rapids */
  TDM_CPU_AMX_FP16 = 1 << 4,    /* Granite Rapids */
} tdm_cpu_set;

/* The sets of this machine that the system lets a process use. The first call asks Linux for AMX; if it refuses, there is no
 * AMX. */
unsigned tdm_cpu_sets(void);
/* The sets that every file of this build uses (-Dhost_cpu): the library can't run without them. */
unsigned tdm_cpu_built(void);
/* The sets up to that of a name, "avx2" to "amx_fp16". false: there is no such name. */
bool tdm_cpu_named(const char *name, unsigned *sets);
/* The names: "avx2, avx512, ..."; those of `sets` alone, each after a space. */
#define TDM_CPU_NAMES "avx2, avx512, avx512_bf16, avx512_fp16, amx or amx_fp16"
const char *tdm_cpu_text(unsigned sets, char *text, size_t size);

#endif
