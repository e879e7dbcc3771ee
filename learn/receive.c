#include "receive.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn_config.h"
#include "seccomp.h"

static const unsigned char canary_byte = 0xa5;

/* ---- Inputs ---- */

static size_t result_bytes(const receiver *r, int shape) {
  size_t bytes = 0;
  for (int n = 0; n < r->data[shape].count; n++)
    bytes += r->guarded ? child_span(r->data[shape].bytes[n]) : r->data[shape].bytes[n];
  return bytes;
}

bool receiver_make(receiver *r, const learn_request *request, int run, learn_outcome *o) {
  bool good = true;
  r->request = request;
  r->outcome = o;
  r->room = sizeof(uint32_t) + LEARN_TEXT;
  for (r->shapes = 0; good && r->shapes < learn_shape_count(request->exercise); r->shapes++) {
    good = learn_data_make(&r->data[r->shapes], request->exercise, r->shapes, learn_seed(request, run, r->shapes), o);
    if (good && result_bytes(r, r->shapes) > r->room) r->room = result_bytes(r, r->shapes);
  }
  if (good && (r->payload = malloc(r->room)) == NULL) {
    learn_found(o, LEARN_FAILED, "no memory for the results");
    good = false;
  }
  return good;
}

void receiver_free(receiver *r) {
  for (int s = 0; s < r->shapes; s++) learn_data_free(&r->data[s]);
  free(r->payload);
}

/* ---- Messages ---- */

static bool canaries_alive(const receiver *r, int n, const unsigned char *span, learn_outcome *o) {
  const learn_data *d = &r->data[o->shape];
  size_t size = child_span(d->bytes[n]), begin = r->at_end ? size - d->bytes[n] : 0;
  char place[256];
  for (size_t at = 0; at < size; at++) {
    if (at == begin) at += d->bytes[n];
    if (at == size || span[at] == canary_byte) continue;
    learn_place(d->exercise, o, o->array[n].address + at - begin, place, sizeof place);
    learn_found(o, LEARN_BOUNDS, "write, %s", place);
    return false;
  }
  return true;
}

/* The result of a shape. */
static bool judge(receiver *r) {
  learn_outcome *o = r->outcome;
  learn_data *d = &r->data[r->done];
  const unsigned char *at = r->payload;
  o->shape = r->done;
  for (int n = 0; n < d->count; n++) {
    size_t span = r->guarded ? child_span(d->bytes[n]) : d->bytes[n];
    memcpy(d->after[n], at + (r->at_end ? span - d->bytes[n] : 0), d->bytes[n]);
    if (r->guarded && !canaries_alive(r, n, at, o)) return false;
    at += span;
  }
  if (!learn_data_judge(d, o)) return false;
  r->done++;
  if (o->shapes_done < r->done) o->shapes_done = r->done;
  return true;
}

static void tell_fault(const receiver *r, const child_fault *f) {
  learn_outcome *o = r->outcome;
  const char *call = f->signal == SIGSYS ? seccomp_name(f->call) : NULL;
  char place[256];
  if (f->signal == SIGSYS) {
    learn_found(o, LEARN_FORBIDDEN, "it made the system call %s (%d)", call != NULL ? call : "", f->call);
  } else if (LEARN_TRAPS && (f->signal == SIGILL || f->signal == SIGTRAP)) {
    learn_found(o, LEARN_BOUNDS, "an index outside of a local array");
  } else if (f->signal != SIGSEGV && f->signal != SIGBUS) {
    learn_found(o, LEARN_CRASH, "%s", f->signal > 0 && f->signal < NSIG ? strsignal(f->signal) : "a signal");
  } else {
    learn_place(r->request->exercise, o, f->address, place, sizeof place);
    learn_found(o, LEARN_BOUNDS, "%s, %s", f->write == 1 ? "write" : f->write == 0 ? "read" : "access", place);
  }
}

/* LEARN_FAILED is for our own code: from a process that may be running the user's code it is a forgery. */
static void tell_found(const receiver *r) {
  uint32_t verdict;
  size_t length = r->head.bytes - sizeof verdict;
  memcpy(&verdict, r->payload, sizeof verdict);
  bool known = verdict > LEARN_RIGHT && verdict < LEARN_VERDICTS;
  if (!known || (verdict == LEARN_FAILED && r->native && r->ready)) verdict = LEARN_FORBIDDEN;
  learn_found(r->outcome, (learn_verdict)verdict, "%.*s", (int)strnlen((char *)r->payload + sizeof verdict, length),
              (char *)r->payload + sizeof verdict);
}

static void keep_counters(const receiver *r) {
  child_counters c;
  memcpy(&c, r->payload, sizeof c);
  memcpy(r->outcome->counter, c.counter, sizeof c.counter);
  snprintf(r->outcome->floor, sizeof r->outcome->floor, "%.15s", c.floor);
  r->outcome->counted = true;
}

/* The length that a message of this kind must have, as the next one; false: it can't be the next one. */
static bool expects(const receiver *r) {
  uint64_t bytes = r->head.bytes;
  switch ((child_kind)r->head.kind) {
    case CHILD_READY: return bytes == 0 && r->native && !r->ready;
    case CHILD_BEGIN:
      return r->native && r->done < r->shapes && r->head.shape == (uint32_t)r->done &&
             bytes == 8 * (uint64_t)r->data[r->done].count;
    case CHILD_RESULT:
      return r->done < r->shapes && r->head.shape == (uint32_t)r->done && bytes == result_bytes(r, r->done) &&
             (!r->native || r->ready);
    case CHILD_FAULT: return bytes == sizeof(child_fault);
    case CHILD_FOUND: return bytes >= sizeof(uint32_t) && bytes <= sizeof(uint32_t) + LEARN_TEXT;
    case CHILD_COUNTERS: return bytes == sizeof(child_counters) && !r->native;
  }
  return false;
}

/* A whole message. false: it ends the run. */
static bool deliver(receiver *r) {
  learn_outcome *o = r->outcome;
  child_fault fault;
  uint64_t addresses[LEARN_ARRAYS];
  switch ((child_kind)r->head.kind) {
    case CHILD_READY: r->ready = true; return true;
    case CHILD_BEGIN:
      o->shape = r->done;
      memcpy(addresses, r->payload, r->head.bytes);
      for (int n = 0; n < r->data[r->done].count; n++) {
        o->array[n].address = addresses[n];
        o->array[n].bytes = r->data[r->done].bytes[n];
      }
      return true;
    case CHILD_RESULT: return judge(r);
    case CHILD_FAULT:
      memcpy(&fault, r->payload, sizeof fault);
      o->shape = r->done < r->shapes ? r->done : r->shapes - 1;
      tell_fault(r, &fault);
      return false;
    case CHILD_FOUND:
      o->shape = r->done < r->shapes ? r->done : r->shapes - 1;
      tell_found(r);
      return false;
    case CHILD_COUNTERS: keep_counters(r); return true;
  }
  return false;
}

static bool refuse(receiver *r) {
  r->outcome->shape = r->done < r->shapes ? r->done : r->shapes - 1;
  learn_found(r->outcome, LEARN_FORBIDDEN, "it wrote something into the pipe of its results that is not a result%s",
              r->done == r->shapes ? ": all of them had come" : "");
  return false;
}

bool receiver_take(void *user, const unsigned char *bytes, size_t count) {
  receiver *r = user;
  while (count > 0) {
    bool heading = r->have < sizeof r->head;
    unsigned char *to = heading ? (unsigned char *)&r->head + r->have : r->payload + (r->have - sizeof r->head);
    size_t wanted = heading ? sizeof r->head - r->have : r->head.bytes - (r->have - sizeof r->head);
    size_t got = count < wanted ? count : wanted;
    memcpy(to, bytes, got);
    r->have += got;
    bytes += got;
    count -= got;
    if (r->have == sizeof r->head && heading && !expects(r)) return refuse(r);
    if (r->have < sizeof r->head || r->have - sizeof r->head < r->head.bytes) continue;
    r->have = 0;
    if (!deliver(r)) return false;
  }
  return true;
}

/* ---- The end ---- */

void receiver_end(const receiver *r, const process *p, double seconds) {
  learn_outcome *o = r->outcome;
  bool all = r->done == r->shapes && r->have == 0;
  if (o->verdict != LEARN_RIGHT) return;
  if (!all) o->shape = r->done < r->shapes ? r->done : r->shapes - 1;
  process_verdict(p, seconds, all, o);
  if (o->verdict == LEARN_RIGHT && !all) learn_found(o, LEARN_CRASH, "it ended before all of its results had come");
}
