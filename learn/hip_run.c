/* The shapes of a HIP exercise, one after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "machine.h"
#include "receive.h"

typedef struct run {
  const learn_machine *machine;
  learn_data *data;
  uint64_t address[LEARN_ARRAYS]; /* of the allocations: an array begins after a canary */
} run;

static const unsigned char canary_byte = 0xa5;

/* An array with its canaries. */
static bool upload(run *r, int n, learn_outcome *o) {
  size_t canary = r->machine->canary, bytes = r->data->bytes[n] + 2 * canary;
  unsigned char *image = malloc(bytes);
  if (image == NULL) {
    learn_found(o, LEARN_FAILED, "no memory for %zu bytes", bytes);
    return false;
  }
  memset(image, canary_byte, bytes);
  memcpy(image + canary, r->data->before[n], r->data->bytes[n]);
  bool good = r->machine->alloc(bytes, &r->address[n], o) && r->machine->write(r->address[n], image, bytes, o);
  free(image);
  o->array[n].address = r->address[n] + canary;
  o->array[n].bytes = r->data->bytes[n];
  return good;
}

static bool canaries_alive(const run *r, int n, const unsigned char *image, learn_outcome *o) {
  size_t canary = r->machine->canary, end = canary + r->data->bytes[n];
  char place[256];
  for (size_t at = 0; at < end + canary; at++) {
    if (at == canary) at = end;
    if (at >= end + canary || image[at] == canary_byte) continue;
    learn_place(r->data->exercise, o, r->address[n] + at, place, sizeof place);
    learn_found(o, LEARN_BOUNDS, "writes %s", place);
    return false;
  }
  return true;
}

static bool download(run *r, int n, learn_outcome *o) {
  size_t canary = r->machine->canary, bytes = r->data->bytes[n] + 2 * canary;
  unsigned char *image = malloc(bytes);
  bool good = image != NULL && r->machine->read(r->address[n], image, bytes, o);
  if (image == NULL) learn_found(o, LEARN_FAILED, "no memory for %zu bytes", bytes);
  if (good) {
    memcpy(r->data->after[n], image + canary, r->data->bytes[n]);
    good = canaries_alive(r, n, image, o);
  }
  free(image);
  return good;
}

/* Pointers, then ints: as the signatures of all exercises. */
static size_t pack(const run *r, const learn_outcome *o, unsigned char *args) {
  size_t used = 0;
  for (int n = 0; n < r->data->count; n++, used += 8) memcpy(args + used, &o->array[n].address, 8);
  for (int i = 0; i < learn_size_count(r->data->exercise); i++, used += 4) {
    int32_t size = (int32_t)r->data->shape->size[i];
    memcpy(args + used, &size, 4);
  }
  return used;
}

static bool upload_all(run *r, learn_outcome *o) {
  bool good = true;
  for (int n = 0; n < r->data->count && good; n++) good = upload(r, n, o);
  return good;
}

static bool release_all(run *r, learn_outcome *o) {
  bool good = true;
  for (int n = 0; n < r->data->count && good; n++) good = r->machine->release(r->address[n], o);
  return good;
}

static bool run_shape(run *r, const learn_launch *launch, learn_outcome *o) {
  const learn_exercise *e = r->data->exercise;
  unsigned char args[8 * LEARN_ARRAYS + 4 * LEARN_SIZES];
  uint32_t grid[3] = {1, 1, 1};
  bool good = true;
  if (!upload_all(r, o)) return false;
  e->grid(r->data->shape->size, launch, grid);
  if (!r->machine->launch(e, grid, launch->block, args, pack(r, o, args), o)) return false;
  for (int n = 0; n < r->data->count && good; n++) good = download(r, n, o);
  if (!good || !release_all(r, o)) return false;
  if (o->shape > 0 || r->machine->predict == NULL) return true;
  return upload_all(r, o) && r->machine->predict(e, grid, launch->block, args, pack(r, o, args), o) && release_all(r, o);
}

static bool send_result(const learn_data *d, int shape) {
  child_message head = {CHILD_RESULT, (uint32_t)shape, 0};
  for (int n = 0; n < d->count; n++) head.bytes += d->bytes[n];
  bool good = child_write(&head, sizeof head);
  for (int n = 0; n < d->count; n++) good = good && child_write(d->after[n], d->bytes[n]);
  return good;
}

static bool send_counters(const learn_outcome *o) {
  child_counters c;
  memset(&c, 0, sizeof c);
  memcpy(c.counter, o->counter, sizeof c.counter);
  memcpy(c.floor, o->floor, sizeof c.floor);
  return child_send(CHILD_COUNTERS, 0, &c, sizeof c);
}

static void run_shapes(const learn_request *request, const learn_code *code, const learn_machine *machine, learn_data *inputs,
                       learn_outcome *o) {
  const learn_exercise *e = request->exercise;
  learn_launch launch = {0};
  if (!machine->open(request, code, &launch, o)) return;
  for (o->shape = 0; o->shape < learn_shape_count(e); o->shape++) {
    run r = {.machine = machine, .data = &inputs[o->shape]};
    if (!run_shape(&r, &launch, o)) return;
    if (o->shape == 0 && o->counted && !send_counters(o)) return;
    if (!send_result(r.data, o->shape)) return;
  }
}

void learn_run_hip(const learn_request *request, const learn_code *code, const learn_machine *machine, learn_data *inputs,
                   learn_outcome *o) {
  run_shapes(request, code, machine, inputs, o);
  if (o->verdict != LEARN_RIGHT) child_say((uint32_t)o->verdict, o->text);
}
