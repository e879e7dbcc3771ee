// try omp-axpy --seconds 5: not right: n 16384
// also without: namespaces landlock
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *rest(void *argument) {
  pause();
  return argument;
}

/* The memory of their stacks, or the number of tasks, ends it. */
static int attack(void) {
  pthread_t thread;
  int count = 0;
  while (count < 5000 && pthread_create(&thread, NULL, rest, NULL) == 0) count++;
  return count == 5000;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
