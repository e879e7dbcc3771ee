/* What the processor has (CPUID), and what the system saves when it switches threads (XGETBV). An instruction needs both. */
#include "cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static const char *const names[] = {"avx512", "avx512_bf16", "avx512_fp16", "amx", "amx_fp16"};
enum { SETS = sizeof names / sizeof names[0] };

bool tdm_cpu_named(const char *name, unsigned *sets) {
  *sets = 0;
  if (strcmp(name, "avx2") == 0) return true;
  for (int i = 0; i < SETS; i++)
    if (strcmp(name, names[i]) == 0) {
      *sets = (2u << i) - 1;
      return true;
    }
  return false;
}

const char *tdm_cpu_text(unsigned sets, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < SETS && used < size; i++)
    if ((sets >> i & 1) != 0) used += (size_t)snprintf(text + used, size - used, " %s", names[i]);
  return text;
}

unsigned tdm_cpu_built(void) {
  unsigned sets = 0;
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  sets |= TDM_CPU_AVX512;
#endif
#ifdef __AVX512BF16__
  sets |= TDM_CPU_AVX512_BF16;
#endif
#ifdef __AVX512FP16__
  sets |= TDM_CPU_AVX512_FP16;
#endif
  return sets;
}

#if defined(__x86_64__)
/* Bits of XCR0: the registers that the system saves. */
enum { XMM_YMM = 3 << 1, ZMM = 7 << 5, TILES = 3 << 17 };

static unsigned saved_registers(void) {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/* Linux keeps room for tiles only for processes that ask: ARCH_REQ_XCOMP_PERM for component 18. It refuses, for one, a
 * process with a signal stack that is too small for them. */
static bool tiles_permitted(void) {
#ifdef __linux__
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
#else
  return false;
#endif
}

static bool has(unsigned word, int bit) { return (word >> bit & 1) != 0; }

static unsigned find_sets(void) {
  unsigned a, b, c, d, sets = 0, more_a = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has(c, 27)) return 0; /* 27: XGETBV may be used */
  unsigned saved = saved_registers();
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (saved & (XMM_YMM | ZMM)) != (XMM_YMM | ZMM)) return 0;
  unsigned last = a, words = b, units = d;
  if (last >= 1) __get_cpuid_count(7, 1, &more_a, &b, &c, &d);
  /* F, DQ, CD, BW, VL */
  if (!has(words, 16) || !has(words, 17) || !has(words, 28) || !has(words, 30) || !has(words, 31)) return 0;
  sets |= TDM_CPU_AVX512;
  if (has(more_a, 5)) sets |= TDM_CPU_AVX512_BF16;
  if (has(units, 23)) sets |= TDM_CPU_AVX512_FP16;
  bool tiles = has(units, 24) && has(units, 22) && (saved & TILES) == TILES && (sets & TDM_CPU_AVX512_BF16) != 0;
  if (tiles && tiles_permitted()) sets |= TDM_CPU_AMX | (has(more_a, 21) ? TDM_CPU_AMX_FP16 : 0u);
  return sets;
}
#else
static unsigned find_sets(void) { return 0; }
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned found;

static void find(void) { found = find_sets(); }

unsigned tdm_cpu_sets(void) {
  pthread_once(&once, find);
  return found;
}
