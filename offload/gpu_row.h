/* Row ops on GPUs: a team of 256 threads holds a row in registers, so that memory is read once and written once. Each thread
 * has `vectors` chunks of 4 elements, a constant; rows of more than 16384 elements are the generic kernels'. */
#ifndef TANDEM_OFFLOAD_GPU_ROW_H
#define TANDEM_OFFLOAD_GPU_ROW_H

#include <stdio.h>

#include "rows.h"

enum { GPU_ROW_THREADS = 256, GPU_ROW_LONGEST = GPU_ROW_THREADS * 16 * 4 };

/* Where chunk j of a thread begins in its row. */
TDM_INLINE int64_t gpu_chunk_start(int64_t j, tdm_here_t here) { return (j * GPU_ROW_THREADS + here.thread) * TDM_CHUNK; }

/* The same in every thread. Hosts only compile it. */
TDM_INLINE double gpu_row_reduce(double x, tdm_combine_t how, double *slots, tdm_here_t here) {
#if TDM_ON_GPU
  tdm_wave_to_slot(x, how, slots, here);
  TDM_SYNC_BLOCK(); /* every wave's value is written */
  x = tdm_slots_combined(how, slots, here);
  TDM_SYNC_BLOCK(); /* all have read them: the next reduction may write */
  return x;
#else
  (void)how, (void)slots, (void)here;
  return x;
#endif
}

/* Every vector of every row is aligned. */
TDM_INLINE bool gpu_row_aligned(const void *base, int64_t ld, int64_t cols, tdm_type type) {
  return (uintptr_t)base % (uintptr_t)(4 * tdm_size(type)) == 0 && ld % 4 == 0 && cols % 4 == 0;
}

/* A thread's chunks of the row at element `at`; those behind the row's end are 0. aligned is the same in all threads: the loads
 * of a row then stand behind each other without a branch, and memory works on all of them at a time. */
TDM_INLINE void gpu_row_read(float (*v)[TDM_CHUNK], const void *base, int64_t at, int64_t cols, bool aligned, int vectors,
                             tdm_here_t here, tdm_type type) {
#if TDM_ON_GPU
  if (aligned) {
    tdm_vec loaded[16] = {0}; /* the first `vectors` */
    TDM_UNROLL
    for (int j = 0; j < vectors; j++)
      if (gpu_chunk_start(j, here) < cols) loaded[j] = tdm_vec_load_words(base, at + gpu_chunk_start(j, here), type);
    TDM_UNROLL
    for (int j = 0; j < vectors; j++) TDM_UNROLL
    for (int e = 0; e < TDM_CHUNK; e++) v[j][e] = loaded[j][e];
    return;
  }
#endif
  (void)aligned;
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) {
    int64_t i = gpu_chunk_start(j, here);
    tdm_chunk_read(base, at + i, tdm_min(TDM_CHUNK, cols - i), type, v[j]);
  }
}

TDM_INLINE void gpu_row_write(void *base, int64_t at, int64_t cols, bool aligned, int vectors, tdm_here_t here, tdm_type type,
                              float (*v)[TDM_CHUNK]) {
  TDM_UNROLL
  for (int j = 0; j < vectors; j++) {
    int64_t i = gpu_chunk_start(j, here);
#if TDM_ON_GPU
    if (aligned) {
      tdm_vec stored;
      TDM_UNROLL
      for (int e = 0; e < TDM_CHUNK; e++) stored[e] = v[j][e];
      if (i < cols) tdm_vec_store_words(base, at + i, type, stored);
      continue;
    }
#endif
    (void)aligned;
    tdm_chunk_write(base, at + i, tdm_min(TDM_CHUNK, cols - i), type, 0, v[j]);
  }
}

/* A region for each number of vectors: registers are those of a kernel's largest part, and in one kernel for all of them the
 * rows of 16 vectors would leave room for a quarter of the threads. */
#define GPU_ROW_LAUNCH(vectors, region) \
  switch (vectors) {                    \
    case 1: region(1) break;            \
    case 2: region(2) break;            \
    case 4: region(4) break;            \
    case 8: region(8) break;            \
    case 16: region(16) break;          \
  }

/* The smallest power of two that holds a row. */
static inline int gpu_row_vectors(int64_t cols) {
  int vectors = 1;
  while ((int64_t)vectors * GPU_ROW_THREADS * 4 < cols) vectors *= 2;
  return vectors;
}

/* Can rows of `cols` be held in registers, on this plan's device? If not, writes the reason. */
static inline bool gpu_row_supports(const tdm_plan *plan, int64_t cols, char *reason, size_t size) {
  const tdm_context *context = plan->context;
  if (context->omp_device < 0) {
    snprintf(reason, size, "needs a GPU, the device is %s", context->device);
  } else if (context->threads > 0 && context->threads != GPU_ROW_THREADS) {
    snprintf(reason, size, "needs threads = %d, the caller set %d", GPU_ROW_THREADS, context->threads);
  } else if (cols > GPU_ROW_LONGEST) {
    snprintf(reason, size, "rows are longer than %d", GPU_ROW_LONGEST);
  } else {
    return true;
  }
  return false;
}

#endif
