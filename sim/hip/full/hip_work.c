/* Streams: lists of work, which a device's thread does, or one that waits for it. Work of one stream runs in order. Work of
 * different streams runs in any order that events and the null stream allow; the thread goes round, so that a program which
 * forgot an event is found out.
 */
#include <stdlib.h>

#include "hip_state.h"

static uint64_t next_order;        /* under `world` */
static _Thread_local bool working; /* this thread does a piece of work: a function of the program, perhaps */

/* ---- Which work may run; the caller has `world` ---- */

static bool is_null(const stream *s) { return s == s->device->streams; }
static bool blocks(const stream *s) { return (s->flags & hipStreamNonBlocking) == 0; }

/* The null stream waits for what was issued before to the blocking streams, and these wait for it. */
static bool null_stream_allows(const stream *s, const work *w) {
  const stream *null = s->device->streams;
  if (!blocks(s)) return true;
  if (!is_null(s)) return null->first == NULL || null->first->order > w->order;
  for (const stream *other = null->next; other != NULL; other = other->next)
    if (blocks(other) && other->first != NULL && other->first->order < w->order) return false;
  return true;
}

static bool may_run(const stream *s) {
  const work *w = s->first;
  return w != NULL && null_stream_allows(s, w) && (w->ready == NULL || w->ready(w));
}

/* The stream after the one that ran last comes first. */
static stream *choose(const device *d) {
  stream *found = NULL;
  bool after = d->last == NULL;
  for (stream *s = d->streams; s != NULL; s = s->next) {
    if (may_run(s) && (found == NULL || after)) {
      found = s;
      if (after) break;
    }
    if (s == d->last) after = true;
  }
  return found;
}

/* ---- Doing it ---- */

static void run_first(device *d, stream *s) {
  work *w = s->first; /* stays there meanwhile: others must wait for it */
  hipError_t error = hipSuccess;
  if (w->run != NULL && d->failed == hipSuccess) {
    pthread_mutex_unlock(&world);
    working = true;
    error = w->run(w, d);
    working = false;
    pthread_mutex_lock(&world);
    if (error == hipErrorIllegalAddress || error == hipErrorLaunchFailure) d->failed = error;
  }
  s->first = w->next;
  if (s->first == NULL) s->last = NULL;
  s->ended++;
  if (w->done != NULL) w->done(w, error);
  if (w->result != NULL) *w->result = error;
  free(w);
}

/* The caller has `world`. Does a piece of the device's work, or waits until something has changed. */
static void run_or_wait(device *d) {
  stream *s = d->busy ? NULL : choose(d);
  if (s == NULL) {
    pthread_cond_wait(&changed, &world);
    return;
  }
  d->busy = true;
  run_first(d, s);
  d->busy = false;
  d->last = s;
  pthread_cond_broadcast(&changed);
}

static void *serve(void *argument) {
  pthread_mutex_lock(&world);
  for (;;) run_or_wait(argument);
  return NULL;
}

/* ---- Work comes in ---- */

static bool start(device *d) {
  if (d->works) return true;
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, d) != 0) return false;
  pthread_detach(thread); /* it ends with the process */
  return d->works = true;
}

hipError_t hip_submit(stream *s, work *w) {
  device *d = s->device;
  if (w == NULL) return hip_fail(hipErrorOutOfMemory, "no memory for work of a stream");
  w->next = NULL;
  pthread_mutex_lock(&world);
  hipError_t error = d->failed;
  if (error == hipSuccess && !start(d)) error = hipErrorOutOfMemory;
  if (error == hipSuccess) {
    w->order = next_order++;
    if (s->last != NULL)
      s->last->next = w;
    else
      s->first = w;
    s->last = w;
    s->issued++;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&world);
  if (error != hipSuccess) free(w);
  return error;
}

/* It would wait for itself. */
static hipError_t refuse_to_wait(void) {
  return hip_fail(hipErrorNotSupported, "a function that runs in a stream (hipLaunchHostFunc) can't wait for a device");
}

hipError_t hip_wait(stream *s) {
  if (working) return refuse_to_wait();
  pthread_mutex_lock(&world);
  uint64_t until = s->issued;
  while (s->ended < until) run_or_wait(s->device);
  hipError_t error = s->device->failed;
  pthread_mutex_unlock(&world);
  return error;
}

/* A stream that another thread makes meanwhile need not be waited for. */
hipError_t hip_wait_device(device *d) {
  if (working) return refuse_to_wait();
  pthread_mutex_lock(&world);
  uint64_t until = next_order;
  for (stream *s = d->streams; s != NULL;) {
    if (s->first != NULL && s->first->order < until) {
      run_or_wait(d);
      s = d->streams;
    } else {
      s = s->next;
    }
  }
  hipError_t error = d->failed;
  pthread_mutex_unlock(&world);
  return error;
}

hipError_t hip_submit_wait(stream *s, work *w) {
  hipError_t own = hipSuccess;
  if (w != NULL) w->result = &own;
  hipError_t error = hip_submit(s, w);
  if (error == hipSuccess) error = hip_wait(s);
  return own != hipSuccess ? own : error;
}

bool hip_stream_idle(const stream *s) { return s->first == NULL; }
