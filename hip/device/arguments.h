/* The kernel's one argument, a structure. */
#ifndef TANDEM_HIP_DEVICE_ARGUMENTS_H
#define TANDEM_HIP_DEVICE_ARGUMENTS_H

#include "hip/args/preloaded.h"
#include "types.h"
#include "wait.h"

/* A wave begins with the first 56 bytes of its kernel's argument in scalar registers: the command processor puts them there
 * ("preloaded kernel arguments" in LLVM's AMDGPUUsage; hip/meson.build asks for it). So what a kernel needs for its first loads
 * stands there, and need not come from memory, 1,034 clocks away. clang preloads plain arguments only, of a structure none: so
 * these are 14 dwords, and the rest is a structure that nobody reads by its name. */
enum { PRELOADED_DWORDS = HIP_PRELOADED_BYTES / 4 };
template <typename args>
struct argument_rest {
  uint64_t words[sizeof(args) / 8 - PRELOADED_DWORDS / 2];
};
#define PRELOADED_PARAMETERS                                                                                           \
  uint32_t w0, uint32_t w1, uint32_t w2, uint32_t w3, uint32_t w4, uint32_t w5, uint32_t w6, uint32_t w7, uint32_t w8, \
      uint32_t w9, uint32_t w10, uint32_t w11, uint32_t w12, uint32_t w13
#define PRELOADED w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13
#define ARGUMENT(args) PRELOADED_PARAMETERS, argument_rest<args>
template <typename first>
DEVICE first first_of_dwords(PRELOADED_PARAMETERS) {
  struct {
    uint32_t of[PRELOADED_DWORDS];
  } dwords = {{PRELOADED}};
  return __builtin_bit_cast(first, dwords);
}
#define FIRST_OF_ARGUMENT(first) first_of_dwords<first>(PRELOADED)
/* A pointer among these, in global memory: clang knows this of a kernel's own pointers. Else loads are flat, and count as
 * LDS's, too. */
DEVICE const char *global_pointer(const void *pointer) { return (const char *)(GLOBAL const char *)(uintptr_t)pointer; }
/* All of it, in memory. */
template <typename args>
DEVICE const args *whole_argument(void) {
  return (const args *)__builtin_amdgcn_kernarg_segment_ptr();
}

/* Asks for all lines of 64 bytes of the kernel's argument, and waits for none: they come to the scalar cache, from which what
 * is read of them later takes 120 clocks. Else the first read of each line takes the latency of memory. */
template <typename args>
struct asked_argument {
  uint32_t of[(sizeof(args) + 63) / 64];
};
template <typename args>
DEVICE asked_argument<args> ask_argument(void) {
  typedef const volatile uint32_t __attribute__((address_space(4))) constant; /* volatile: now, not where it is needed */
  constant *segment = (constant *)__builtin_amdgcn_kernarg_segment_ptr();
  asked_argument<args> asked;
#pragma unroll
  for (int line = 0; line < (int)(sizeof asked.of / sizeof *asked.of); line++) asked.of[line] = segment[line * 16];
  return asked;
}
/* Where the end begins. */
template <typename args>
DEVICE void have_argument(const asked_argument<args> *asked) {
#pragma unroll
  for (int line = 0; line < (int)(sizeof asked->of / sizeof *asked->of); line++) asm volatile("" : : "s"(asked->of[line]));
}
/* Asks, and waits. */
template <typename args>
DEVICE void fetch_args(const args *) {
  const asked_argument<args> asked = ask_argument<args>();
  have_argument(&asked);
  __builtin_amdgcn_sched_barrier(0);
}

/* ---- A structure that begins with what the first loads need ----
 *
 * Its fields beyond the preloaded ones are not there until take_rest() loads them. A kernel calls it after its first loads, so
 * that these don't wait for it; but of each line a dword is asked for before, and so the rest is in the scalar cache by then.
 * set_pointers(args *) calls set_global() for each pointer. */
template <typename type>
DEVICE void set_global(type **pointer) {
  *pointer = (type *)global_pointer(*pointer);
}
enum { LINE_DWORDS = 16 };
template <typename args>
struct argument_dwords {
  uint32_t of[sizeof(args) / 4];
};
template <typename args>
DEVICE args first_of_argument(PRELOADED_PARAMETERS) {
  auto segment = (const volatile uint32_t __attribute__((address_space(4))) *)__builtin_amdgcn_kernarg_segment_ptr();
  argument_dwords<args> dwords = {{PRELOADED}};
#pragma unroll
  for (int i = LINE_DWORDS; i < (int)(sizeof(args) / 4); i += LINE_DWORDS) dwords.of[i] = segment[i];
  args a = __builtin_bit_cast(args, dwords);
  set_pointers(&a);
  return a;
}
#define ARGUMENT_OF(args) first_of_argument<args>(PRELOADED)
/* Here, and not where the kernel begins. In a loop again, its fields have no registers from turn to turn. */
template <typename args>
DEVICE void load_rest(args *a) {
  auto segment = (const uint32_t __attribute__((address_space(4))) *)__builtin_amdgcn_kernarg_segment_ptr();
  argument_dwords<args> dwords = __builtin_bit_cast(argument_dwords<args>, *a);
  asm volatile("" : "+s"(segment));
#pragma unroll
  for (int i = PRELOADED_DWORDS; i < (int)(sizeof(args) / 4); i++) dwords.of[i] = segment[i];
  *a = __builtin_bit_cast(args, dwords);
  set_pointers(a);
}
/* The first time: when what was asked for is there. */
template <typename args>
DEVICE void take_rest(args *a) {
  const argument_dwords<args> asked = __builtin_bit_cast(argument_dwords<args>, *a);
  keep_order();
#pragma unroll
  for (int i = LINE_DWORDS; i < (int)(sizeof(args) / 4); i += LINE_DWORDS) asm volatile("" : : "s"(asked.of[i]));
  load_rest(a);
}

/* The kernel's argument, read again with scalar loads: what only the end needs takes no registers in the loop. */
template <typename args>
DEVICE args args_again(const args *) {
  auto segment = __builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(segment));
  return *(const args *)segment;
}

#endif
