// Three ways to read the same number of floats. n is a power of two.
#include "../../../learn/exercises/hip.h"

static inline __device__ int item() { return (int)(blockIdx.x * blockDim.x + threadIdx.x); }

// Neighbouring lanes read neighbouring words.
extern "C" __global__ void coalesced(float *to, const float *from, int n) { to[item()] = from[item() & (n - 1)]; }

// Neighbouring lanes read words that are `stride` apart.
extern "C" __global__ void strided(float *to, const float *from, int n, int stride) {
  to[item()] = from[item() * stride & (n - 1)];
}

// Each lane reads some word: a table of words, or the rows that a sparse matrix names, look like this.
extern "C" __global__ void scattered(float *to, const float *from, int n) {
  unsigned word = (unsigned)item() * 0x9e3779b1u;
  word = (word ^ word >> 15) * 0x85ebca6bu;
  to[item()] = from[(word ^ word >> 13) & (unsigned)(n - 1)];
}
