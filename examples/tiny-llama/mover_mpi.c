/* Activations through MPI, on host memory: for laptops and tests. Arrays on a GPU are copied to the host and back.
 * An element is added up by each rank, or by one, but always in f32 and in the order of the ranks: so all have the same bits,
 * whatever MPI does. */
#include "mover.h"
#include "ranks_mpi.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/elem.h"

/* Of one exchange. Sums of at most SMALL elements are made by every rank, which saves the second exchange; larger ones in
 * parts. */
enum { SMALL = 1 << 13, LARGE = 1 << 20 };

typedef struct own {
  bool on_host;
  size_t room;
  char *stage[2];
} own;

static bool open_mpi(mover *m, const char *library, llama_error *error) {
  (void)library;
  own *o = m->own = calloc(1, sizeof *o);
  if (o == NULL) return llama_fail(error, "no memory for MPI's buffers");
  o->on_host = strcmp(tdm_context_device(m->context), "host") == 0;
  return true;
}

static void close_mpi(mover *m) {
  own *o = m->own;
  for (int i = 0; i < 2; i++) free(o->stage[i]);
  free(o);
}

static bool take_room(own *o, size_t bytes, llama_error *error) {
  if (bytes <= o->room) return true;
  for (int i = 0; i < 2; i++) {
    char *more = realloc(o->stage[i], bytes);
    if (more == NULL) return llama_fail(error, "no memory for %zu bytes of MPI's buffers", bytes);
    o->stage[i] = more;
  }
  o->room = bytes;
  return true;
}

static bool copy(const mover *m, void *to, const void *from, size_t bytes, tdm_direction direction, llama_error *error) {
  const own *o = m->own;
  if (o->on_host) return memcpy(to, from, bytes), true;
  return tdm_copy(m->context, to, from, bytes, direction, NULL) == TDM_OK || llama_fail_tandem(error, "between ranks");
}

/* From one stage to the other: what each rank has to all; or, with `parts`, each part to its rank. */
static bool exchange(const mover *m, int bytes, bool parts, int from, const char *doing, llama_error *error) {
  const own *o = m->own;
  char *send = o->stage[from], *receive = o->stage[1 - from];
  MPI_Request request;
  int code = parts ? MPI_Ialltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, ranks_job(), &request)
                   : MPI_Iallgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, ranks_job(), &request);
  return ranks_mpi(code, doing, error) && ranks_wait(&request, doing, error);
}

/* to[i] = the sum of x[rank][i], x being [size, count]; to may be x. */
static void add_up(void *to, const void *x, int size, int64_t count, tdm_type type) {
  enum { BLOCK = 1024 };
  float sum[BLOCK];
  for (int64_t at = 0; at < count; at += BLOCK) {
    int64_t some = count - at < BLOCK ? count - at : BLOCK;
    for (int64_t i = 0; i < some; i++) sum[i] = tdm_load(x, at + i, type);
    for (int rank = 1; rank < size; rank++) {
      int64_t from = rank * count + at;
      if (type == TDM_F32) /* a loop that compilers make vector code of */
        for (int64_t i = 0; i < some; i++) sum[i] += ((const float *)x)[from + i];
      else
        for (int64_t i = 0; i < some; i++) sum[i] += tdm_load(x, from + i, type);
    }
    for (int64_t i = 0; i < some; i++) tdm_store(to, at + i, type, sum[i]);
  }
}

/* Both stages: [size, count] here. The sum of part `rank` is made by that rank. */
static bool exchange_and_add(const mover *m, int64_t count, tdm_type type, void *part, llama_error *error) {
  const own *o = m->own;
  int bytes = (int)(count * (int64_t)tdm_type_size(type));
  if (!exchange(m, bytes, true, 0, "sum", error)) return false;
  add_up(part, o->stage[1], m->ranks->size, count, type);
  return true;
}

static bool sum_some(mover *m, char *data, int64_t count, tdm_type type, llama_error *error) {
  own *o = m->own;
  int size = m->ranks->size;
  size_t element = tdm_type_size(type), bytes = (size_t)count * element;
  int64_t each = count <= SMALL ? count : (count + size - 1) / size;
  if (!take_room(o, (size_t)(each * size) * element, error) || !copy(m, o->stage[0], data, bytes, TDM_TO_HOST, error))
    return false;
  int sent = (int)((size_t)each * element);
  if (each == count) {
    if (!exchange(m, sent, false, 0, "sum", error)) return false;
    add_up(o->stage[0], o->stage[1], size, count, type);
  } else {
    memset(o->stage[0] + bytes, 0, (size_t)(each * size) * element - bytes);
    if (!exchange_and_add(m, each, type, o->stage[1], error)) return false;
    if (!exchange(m, sent, false, 1, "sum", error)) return false;
  }
  return copy(m, data, o->stage[0], bytes, TDM_TO_DEVICE, error);
}

static bool sum(mover *m, void *data, int64_t count, tdm_type type, llama_error *error) {
  int64_t element = (int64_t)tdm_type_size(type);
  m->begun++;
  for (int64_t at = 0, some; at < count; at += some) {
    some = count - at < LARGE ? count - at : LARGE;
    if (!sum_some(m, (char *)data + at * element, some, type, error)) return false;
  }
  return true;
}

static bool sum_part(mover *m, const void *all, void *part, int64_t count, tdm_type type, llama_error *error) {
  own *o = m->own;
  int size = m->ranks->size;
  size_t element = tdm_type_size(type);
  const char *from = all;
  char *to = part;
  m->begun++;
  for (int64_t at = 0, some; at < count; at += some) {
    some = count - at < LARGE ? count - at : LARGE;
    size_t bytes = (size_t)some * element;
    if (!take_room(o, bytes * (size_t)size, error)) return false;
    for (int rank = 0; rank < size; rank++)
      if (!copy(m, o->stage[0] + (size_t)rank * bytes, from + (size_t)(rank * count + at) * element, bytes, TDM_TO_HOST, error))
        return false;
    if (!exchange_and_add(m, some, type, o->stage[0], error) ||
        !copy(m, to + (size_t)at * element, o->stage[0], bytes, TDM_TO_DEVICE, error))
      return false;
  }
  return true;
}

static bool join(mover *m, const void *part, void *all, int64_t count, tdm_type type, llama_error *error) {
  own *o = m->own;
  int size = m->ranks->size;
  size_t element = tdm_type_size(type);
  const char *from = part;
  char *to = all;
  m->begun++;
  for (int64_t at = 0, some; at < count; at += some) {
    some = count - at < LARGE ? count - at : LARGE;
    size_t bytes = (size_t)some * element;
    int sent = (int)bytes;
    if (!take_room(o, bytes * (size_t)size, error) ||
        !copy(m, o->stage[0], from + (size_t)at * element, bytes, TDM_TO_HOST, error) ||
        !exchange(m, sent, false, 0, "join", error))
      return false;
    for (int rank = 0; rank < size; rank++)
      if (!copy(m, to + (size_t)(rank * count + at) * element, o->stage[1] + (size_t)rank * bytes, bytes, TDM_TO_DEVICE, error))
        return false;
  }
  return true;
}

/* Every operation has ended when it returns. */
static bool wait_mpi(mover *m, int64_t number, llama_error *error) {
  (void)m, (void)number, (void)error;
  return true;
}

const mover_row mover_mpi = {
    .name = "mpi", .open = open_mpi, .close = close_mpi, .sum = sum, .sum_part = sum_part, .join = join, .wait = wait_mpi};
