/* Watches the other ranks' processes by their pidfd. */
#define _GNU_SOURCE
#include "watch.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct peer {
  char host[64];
  int process;
} peer;

static atomic_bool ending;
static mover *moves;
static int watched, rank_of[RANKS_MOST];
static struct pollfd process[RANKS_MOST];

/* A launcher that ends all gets three seconds, because its line says more. */
static void *watch(void *unused) {
  (void)unused;
  while (poll(process, (nfds_t)watched, -1) < 0) continue;
  sleep(3);
  if (atomic_load(&ending)) return NULL;
  for (int i = 0; i < watched; i++)
    if (process[i].revents != 0) {
      fprintf(stderr, "tiny-llama: rank %d has ended: all ranks end\n", rank_of[i]);
      break;
    }
  alarm(4); /* ends the process even where the library waits */
  if (moves->row != NULL && moves->row->abort != NULL) moves->row->abort(moves);
  _exit(EXIT_FAILURE);
}

bool watch_begin(const ranks *r, mover *m, llama_error *error) {
  static peer all[RANKS_MOST];
  peer mine = {.process = (int)getpid()};
  pthread_t thread;
  gethostname(mine.host, sizeof mine.host - 1);
  moves = m;
  if (!ranks_gather(r, &mine, sizeof mine, all, error)) return false;
  for (int i = 0; i < r->size; i++) {
    if (i == r->rank || strcmp(all[i].host, mine.host) != 0) continue;
    int descriptor = (int)syscall(SYS_pidfd_open, all[i].process, 0);
    if (descriptor < 0) continue;
    rank_of[watched] = i;
    process[watched++] = (struct pollfd){.fd = descriptor, .events = POLLIN};
  }
  if (watched > 0 && pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
  return true;
}

void watch_end(void) { atomic_store(&ending, true); }
