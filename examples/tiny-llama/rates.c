/* What a path can do on its device: the yardsticks of a pass. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile.h"

enum { SAMPLES = 7, HOST_SIZE = 2048, GPU_SIZE = 8192 };
static const int64_t ADD_ROWS = 8192, ADD_COLS = 8192; /* three arrays of 256 MiB in f32 */

/* The shortest of a few runs of one step: a yardstick must not be too short because of a disturbance. */
static bool time_step(graph *g, double *seconds, llama_error *error) {
  if (g->failed) return false;
  for (int i = 0; i < SAMPLES; i++) {
    double start = llama_seconds();
    if (!graph_run(g, 0, g->steps, error)) return false;
    if (tdm_stream_sync(g->context, NULL) != TDM_OK) return llama_fail_tandem(error, "yardstick");
    double time = llama_seconds() - start;
    if (i == 0 || time < *seconds) *seconds = time;
  }
  return true;
}

/* Zeros would let a processor save power, and denormals cost time: all elements are 1. */
static bool fill(memory *m, void *to, int64_t count, tdm_type type, llama_error *error) {
  static uint32_t block[1 << 16];
  size_t size = tdm_type_size(type), bytes = (size_t)count * size;
  uint32_t word = type == TDM_F32 ? 0x3f800000 : type == TDM_F16 ? 0x3c003c00 : 0x3f803f80;
  for (size_t i = 0; i < sizeof block / sizeof block[0]; i++) block[i] = word;
  for (size_t done = 0, part; done < bytes; done += part) {
    part = bytes - done < sizeof block ? bytes - done : sizeof block;
    if (tdm_copy(m->context, (char *)to + done, block, part, TDM_TO_DEVICE, NULL) != TDM_OK)
      return llama_fail_tandem(error, "yardstick");
  }
  return true;
}

/* Three arrays of `count` elements. */
static bool take_arrays(memory *m, void *array[3], int64_t count, tdm_type type, llama_error *error) {
  for (int i = 0; i < 3; i++)
    if (!memory_take(m, MEMORY_ACTIVATIONS, (size_t)count * tdm_type_size(type), &array[i], error) ||
        !fill(m, array[i], count, type, error))
      return false;
  return true;
}

static bool time_gemm(memory *m, int64_t n, tdm_type type, double *seconds, llama_error *error) {
  void *array[3];
  graph g;
  tdm_gemm_desc d = tdm_gemm_default(n, n, n, type);
  d.layout = TDM_NT;
  if (!take_arrays(m, array, n * n, type, error)) return false;
  graph_begin(&g, m->context, NULL, error);
  graph_gemm(&g, "yardstick", false, &d, array[0], array[1], array[2], NULL);
  bool ok = time_step(&g, seconds, error);
  graph_end(&g);
  return ok;
}

static bool time_add(memory *m, int64_t rows, int64_t cols, tdm_type type, double *seconds, llama_error *error) {
  void *array[3];
  graph g;
  tdm_add_desc d = tdm_add_default(rows, cols, type);
  if (!take_arrays(m, array, rows * cols, type, error)) return false;
  graph_begin(&g, m->context, NULL, error);
  graph_sum(&g, "yardstick", &d, array[0], array[1], array[2]);
  bool ok = time_step(&g, seconds, error);
  graph_end(&g);
  return ok;
}

bool measure_rates(tdm_context *context, tdm_type type, path_rates *rates, llama_error *error) {
  memory m = {.context = context};
  double gemm = 1, add = 1;
  int64_t n = strcmp(tdm_context_device(context), "host") == 0 ? HOST_SIZE : GPU_SIZE;
  bool ok = time_gemm(&m, n, type, &gemm, error);
  memory_end(&m);
  ok = ok && time_add(&m, ADD_ROWS, ADD_COLS, type, &add, error);
  memory_end(&m);
  *rates = (path_rates){2.0 * (double)n * (double)n * (double)n / gemm,
                        3.0 * (double)(ADD_ROWS * ADD_COLS) * (double)tdm_type_size(type) / add, n};
  return ok;
}

bool measure_decode_rates(tdm_context *context, tdm_type type, double bytes, decode_rates *rates, llama_error *error) {
  memory m = {.context = context};
  double add = 1, run = 1, size = (double)tdm_type_size(type), most = (double)(ADD_ROWS * ADD_COLS);
  int64_t count = (int64_t)fmax(1, fmin(most, bytes / size / 3));
  bool ok = time_add(&m, 1, count, type, &add, error);
  memory_end(&m);
  ok = ok && time_add(&m, 1, 1, type, &run, error);
  memory_end(&m);
  *rates = (decode_rates){3 * (double)count * size / add, run};
  return ok;
}
