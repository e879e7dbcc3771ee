/* Many threads share one plan: each gets the results that one thread alone gets, bit by bit; and each has its own last error.
 */
#include "api.h"

#include <pthread.h>
#include <stdio.h>

#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/gemm.h"
#include "tandem/rmsnorm.h"

enum { THREADS = 8, RUNS = 20, M = 37, N = 53, K = 41, HEADS = 4, ROWS = 29, HEAD_DIM = 16 };

static float a[M * K], b[K * N], bias[N], gemm_alone[M * N], norm_alone[M * K], attention_alone[HEADS * ROWS * HEAD_DIM];
static tdm_plan *gemm, *rmsnorm, *attention;

static void run_all(float *product, float *norm, float *o) {
  ACCEPTED(tdm_gemm_run(gemm, a, b, product, bias, NULL, NULL));
  ACCEPTED(tdm_rmsnorm_run(rmsnorm, a, b, NULL, NULL, norm, NULL));
  ACCEPTED(tdm_attention_run(attention, b, b, b, o, NULL, NULL));
}

/* Returns NULL when every run gave what one thread gives. cmocka's assertions belong to the main thread. */
static void *run_many(void *unused) {
  (void)unused;
  float product[M * N], norm[M * K], o[HEADS * ROWS * HEAD_DIM];
  for (int i = 0; i < RUNS; i++) {
    memset(product, 0xff, sizeof product);
    memset(norm, 0xff, sizeof norm);
    memset(o, 0xff, sizeof o);
    if (tdm_gemm_run(gemm, a, b, product, bias, NULL, NULL) != TDM_OK) return "gemm failed";
    if (tdm_rmsnorm_run(rmsnorm, a, b, NULL, NULL, norm, NULL) != TDM_OK) return "rmsnorm failed";
    if (tdm_attention_run(attention, b, b, b, o, NULL, NULL) != TDM_OK) return "attention failed";
    if (memcmp(product, gemm_alone, sizeof product) != 0) return "gemm differs";
    if (memcmp(norm, norm_alone, sizeof norm) != 0) return "rmsnorm differs";
    if (memcmp(o, attention_alone, sizeof o) != 0) return "attention differs";
  }
  return NULL;
}

static void run_on_threads(void *(*function)(void *), void *arguments[THREADS]) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, function, arguments[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    void *complaint = NULL;
    assert_int_equal(pthread_join(threads[i], &complaint), 0);
    if (complaint != NULL) fail_msg("thread %d: %s", i, (const char *)complaint);
  }
}

static void threads_share_plans(void **state) {
  (void)state;
  for (int i = 0; i < M * K; i++) a[i] = (float)(i % 23) / 8 - 1;
  for (int i = 0; i < K * N; i++) b[i] = (float)(i % 19) / 16 - 0.5f;
  for (int i = 0; i < N; i++) bias[i] = (float)i;
  tdm_context *context = open_host();
  tdm_epilogue_step steps[] = {{TDM_BIAS, 0}, {TDM_GELU, 0}};
  tdm_gemm_desc gemm_desc = tdm_gemm_default(M, N, K, TDM_F32);
  gemm_desc.epilogue = steps;
  gemm_desc.epilogue_steps = 2;
  tdm_rmsnorm_desc norm_desc = tdm_rmsnorm_default(M, K, TDM_F32);
  tdm_attention_desc attention_desc = tdm_attention_default(1, HEADS, HEADS, ROWS, ROWS, HEAD_DIM, TDM_F32);
  ACCEPTED(tdm_gemm_plan(context, &gemm_desc, &gemm));
  ACCEPTED(tdm_rmsnorm_plan(context, &norm_desc, &rmsnorm));
  ACCEPTED(tdm_attention_plan(context, &attention_desc, &attention));
  run_all(gemm_alone, norm_alone, attention_alone);
  run_on_threads(run_many, (void *[THREADS]){NULL});
  tdm_plan_free(attention);
  tdm_plan_free(rmsnorm);
  tdm_plan_free(gemm);
  tdm_close(context);
}

/* Plans, memory, streams and events of one context, which each thread makes for itself. */
static void *use_context(void *shared) {
  tdm_context *context = shared;
  for (int i = 0; i < 100; i++) {
    const float ones[6] = {1, 1, 1, 1, 1, 1};
    tdm_add_desc desc = tdm_add_default(2, 3, TDM_F32);
    tdm_plan *plan = NULL;
    tdm_stream *stream = NULL;
    tdm_event *event = NULL;
    void *y = NULL;
    if (tdm_add_plan(context, &desc, &plan) != TDM_OK || tdm_stream_open(context, &stream) != TDM_OK ||
        tdm_event_open(context, &event) != TDM_OK || tdm_alloc(context, sizeof ones, &y) != TDM_OK)
      return "something can't be made";
    if (tdm_add_run(plan, ones, ones, y, stream) != TDM_OK || tdm_event_record(event, stream) != TDM_OK ||
        tdm_event_sync(event) != TDM_OK || ((float *)y)[5] != 2)
      return "a run beside other threads";
    if (tdm_event_close(event) != TDM_OK || tdm_stream_close(stream) != TDM_OK || tdm_free(context, y) != TDM_OK ||
        tdm_plan_free(plan) != TDM_OK)
      return "something can't be freed";
  }
  return NULL;
}

static void threads_share_a_context(void **state) {
  (void)state;
  tdm_context *context = open_host();
  void *arguments[THREADS];
  for (int i = 0; i < THREADS; i++) arguments[i] = context;
  run_on_threads(use_context, arguments);
  tdm_close(context);
}

/* Fails with its own number, many times, and finds it in its own last error. */
static void *fail_many(void *number) {
  if (tdm_last_error()[0] != '\0') return "a new thread starts with an error";
  char words[32];
  snprintf(words, sizeof words, "strict = %d:", *(int *)number);
  for (int i = 0; i < 1000; i++) {
    tdm_context *context;
    if (tdm_open(&(tdm_options){.strict = *(int *)number}, &context) != TDM_ERROR_ARGUMENT) return "tdm_open took it";
    if (strstr(tdm_last_error(), words) == NULL) return "another thread's error";
  }
  return NULL;
}

static void last_error_is_of_the_thread(void **state) {
  (void)state;
  int numbers[THREADS];
  void *arguments[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = 100 + i;
    arguments[i] = &numbers[i];
  }
  run_on_threads(fail_many, arguments);
}

int main(void) {
  clear_environment();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_share_plans),
      cmocka_unit_test(threads_share_a_context),
      cmocka_unit_test(last_error_is_of_the_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
