/* Two races that ThreadSanitizer must find, so that the test of threads can fail: one of POSIX threads, one inside an OpenMP
 * region, where it needs the help of LLVM's Archer to know the region's barriers. "clean" runs the same work with the races
 * mended. Use: planted-race threads|openmp|clean */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int shared, guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add_without_lock(void *unused) {
  for (int i = 0; i < 1000; i++) shared++;
  return unused;
}

static void *add_with_lock(void *unused) {
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static int on_two_threads(void *(*work)(void *)) {
  pthread_t other;
  if (pthread_create(&other, NULL, work, NULL) != 0) return 1;
  work(NULL);
  return pthread_join(other, NULL);
}

/* Each thread writes its own element, then reads those of the others: right with a barrier between, a race without. */
static int in_a_region(int with_barrier) {
  volatile int element[4] = {0};
  int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
  {
    element[omp_get_thread_num()] = 1;
    if (with_barrier) {
#pragma omp barrier
    }
    for (int i = 0; i < omp_get_num_threads(); i++) sum += element[i];
  }
  return sum < 0;
}

int main(int argc, char **argv) {
  const char *mode = argc == 2 ? argv[1] : "";
  if (strcmp(mode, "threads") == 0) return on_two_threads(add_without_lock);
  if (strcmp(mode, "openmp") == 0) return in_a_region(0);
  if (strcmp(mode, "clean") == 0) return on_two_threads(add_with_lock) || in_a_region(1);
  fprintf(stderr, "planted-race: must be given threads, openmp or clean\n");
  return 2;
}
