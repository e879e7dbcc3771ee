/* Addresses of the parts of a code object, hidden from the compiler: it would leave out a store to constants. */
#ifndef SIM_TEST_CODE_H
#define SIM_TEST_CODE_H
#include "../fault.h"

enum { TABLE = 256 };
__device__ int data_table[TABLE];
extern "C" __device__ const int constant_table[TABLE] = {1, 2, 3};

static inline __device__ int *hidden(const int *address) {
  unsigned long bits = (unsigned long)address;
  asm volatile("" : "+v"(bits));
  return (int *)bits;
}

/* The address of the next instruction. */
static inline __device__ int *code_address() {
  unsigned long bits;
  asm volatile("s_getpc_b64 %0" : "=s"(bits));
  return (int *)bits;
}
#endif
