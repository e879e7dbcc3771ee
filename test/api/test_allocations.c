/* tdm_free takes what tdm_alloc of the same context has given, once, and refuses every other pointer. */
#include "api.h"

#include <pthread.h>
#include <stdio.h>

static tdm_context *context, *other;

static int setup(void **state) {
  (void)state;
  clear_environment();
  context = open_host();
  other = open_host();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  ACCEPTED(tdm_close(other));
  ACCEPTED(tdm_close(context));
  return 0;
}

static char *allocate(size_t bytes) {
  void *pointer = NULL;
  ACCEPTED(tdm_alloc(context, bytes, &pointer));
  return pointer;
}

static void refuse(void *pointer) {
  char value[32];
  snprintf(value, sizeof value, "pointer = %p", pointer);
  REFUSED(tdm_free(context, pointer), TDM_ERROR_ARGUMENT, "free: ", value, "tdm_alloc of this context");
}

static void what_is_no_allocation(void **state) {
  (void)state;
  static char array[1024];
  char *memory = allocate(1000), *foreign = malloc(1000);
  void *of_other = NULL;
  ACCEPTED(tdm_alloc(other, 1000, &of_other));
  refuse(array);
  refuse(foreign);
  refuse(of_other);
  refuse(memory + 1); /* its lowest bit is what the table marks addresses with */
  refuse(memory + 256);
  refuse(memory - 256);
  refuse((void *)UINTPTR_MAX);
  ACCEPTED(tdm_free(context, NULL));
  ACCEPTED(tdm_free(context, memory));
  refuse(memory);
  ACCEPTED(tdm_free(other, of_other));
  free(foreign);
}

/* Any order, against a list. The table grows, wraps around and closes its holes. */
static void any_order(void **state) {
  (void)state;
  enum { MOST = 3000, STEPS = 40000 };
  static char *living[MOST];
  int count = 0;
  uint64_t random = 1;
  for (int i = 0; i < STEPS; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
    unsigned draw = (unsigned)(random >> 33);
    if (count < MOST && draw % 100 < (i < STEPS / 2 ? 60 : 40)) {
      living[count++] = allocate(1 + draw % 64);
    } else if (count > 0) {
      int which = (int)(draw / 100) % count;
      ACCEPTED(tdm_free(context, living[which]));
      if (draw % 7 == 0) refuse(living[which]);
      living[which] = living[--count];
    }
  }
  while (count > 0) ACCEPTED(tdm_free(context, living[--count]));
}

enum { THREADS = 4, ROUNDS = 2000 };
static void *shared[ROUNDS];

/* Returns how many of the shared allocations this thread has freed, and allocates others in between. */
static void *free_all(void *unused) {
  (void)unused;
  uintptr_t freed = 0;
  for (int i = 0; i < ROUNDS; i++) {
    void *own = NULL;
    freed += tdm_free(context, shared[i]) == TDM_OK;
    if (tdm_alloc(other, 100, &own) != TDM_OK || tdm_free(other, own) != TDM_OK) return NULL;
  }
  return (void *)freed;
}

static void threads_free_the_same(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  uintptr_t sum = 0;
  for (int i = 0; i < ROUNDS; i++) shared[i] = allocate(64);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, free_all, NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    void *freed = NULL;
    assert_int_equal(pthread_join(threads[i], &freed), 0);
    sum += (uintptr_t)freed;
  }
  assert_int_equal(sum, ROUNDS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_no_allocation, setup, teardown),
      cmocka_unit_test_setup_teardown(any_order, setup, teardown),
      cmocka_unit_test_setup_teardown(threads_free_the_same, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
