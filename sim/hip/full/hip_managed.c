/* Managed memory stays where it is: advice and prefetching change nothing, but what was asked for can be asked back, page by
 * page. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

enum { PAGE = 4096, CPU = -1, NOWHERE = -2 }; /* places: or a device */
enum { READ_MOSTLY = 1, PREFERRED = 2, ACCESSED_BY = 3, PREFETCHED = 4, COHERENCY = 100, BY_PLACE = 200 }; /* kinds of advice */

/* The newest comes first and hides the older ones. ACCESSED_BY is one for each place: BY_PLACE + the place. */
typedef struct note {
  uint64_t begin, end; /* whole pages */
  int what, value;
  struct note *next;
} note;
static note *notes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static hipError_t check(const char *call, const void *pointer, size_t bytes) {
  host_range range;
  if (!hip_host_find(pointer, &range) || range.kind != HOST_MANAGED) {
    if (door_xnack() && pointer != NULL && hip_owner(pointer) == NULL) return hipSuccess; /* all of the host's is */
    return hip_fail(hipErrorInvalidValue, "%s: pointer = %p: must be managed memory", call, pointer);
  }
  size_t left = range.bytes - (size_t)(hip_number(pointer) - hip_number(range.start));
  if (bytes == 0 || (bytes > left && bytes - left >= PAGE)) /* the last page is the allocation's */
    return hip_fail(hipErrorInvalidValue, "%s: bytes = %zu: must be 1 to %zu", call, bytes, left);
  return hipSuccess;
}

static hipError_t check_place(const char *call, int place) {
  if (place == CPU || hip_device_at(place) != NULL) return hipSuccess;
  return hip_fail(hipErrorInvalidDevice, "%s: device = %d: must be -1, the host, or 0 to %d", call, place,
                  hip_device_count() - 1);
}

/* With the lock held. */
static void drop(bool (*goes)(const note *old, const note *range), const note *range) {
  for (note **at = &notes; *at != NULL;) {
    note *old = *at;
    if (goes(old, range)) {
      *at = old->next;
      free(old);
    } else {
      at = &old->next;
    }
  }
}

static bool is_hidden(const note *old, const note *by) {
  return old->what == by->what && old->begin >= by->begin && old->end <= by->end;
}

static bool overlaps(const note *old, const note *range) { return old->begin < range->end && old->end > range->begin; }

/* What the new one hides is dropped, so that a loop which prefetches does not make the list longer. */
static hipError_t tell(const char *call, const void *pointer, size_t bytes, int what, int value) {
  note *made = malloc(sizeof *made);
  if (made == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", call);
  uint64_t begin = hip_number(pointer) / PAGE * PAGE, end = (hip_number(pointer) + bytes + PAGE - 1) / PAGE * PAGE;
  pthread_mutex_lock(&lock);
  *made = (note){begin, end, what, value, NULL};
  drop(is_hidden, made);
  made->next = notes;
  notes = made;
  pthread_mutex_unlock(&lock);
  return hipSuccess;
}

void hip_managed_forget(const void *start, size_t bytes) {
  pthread_mutex_lock(&lock);
  drop(overlaps, &(note){.begin = hip_number(start), .end = hip_number(start) + bytes});
  pthread_mutex_unlock(&lock);
}

/* The value that all pages have; `mixed` where they differ. */
static int told(const void *pointer, size_t bytes, int what, int otherwise, int mixed) {
  int result = otherwise;
  uint64_t begin = hip_number(pointer) / PAGE * PAGE, end = hip_number(pointer) + bytes;
  pthread_mutex_lock(&lock);
  for (uint64_t page = begin, next; page < end; page = next) {
    int value = otherwise;
    bool known = false;
    next = end;
    for (const note *n = notes; n != NULL; n = n->next) {
      if (n->what != what) continue;
      if (n->begin > page && n->begin < next) next = n->begin;
      if (n->end > page && n->end < next) next = n->end;
      if (known || page < n->begin || page >= n->end) continue;
      value = n->value;
      known = true;
    }
    if (page != begin && value != result) {
      result = mixed;
      break;
    }
    result = value;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static hipError_t advise(const void *pointer, size_t bytes, int advice, int place) {
  hipError_t error = check("hipMemAdvise", pointer, bytes);
  if (error != hipSuccess) return error;
  if (advice >= 3 && advice <= 6 && (error = check_place("hipMemAdvise", place)) != hipSuccess) return error;
  switch (advice) {
    case 1: /* hipMemAdviseSetReadMostly, and its reverse; the other pairs follow */
    case 2: return tell("hipMemAdvise", pointer, bytes, READ_MOSTLY, advice == 1);
    case 3:
    case 4: return tell("hipMemAdvise", pointer, bytes, PREFERRED, advice == 3 ? place : NOWHERE);
    case 5:
    case 6: return tell("hipMemAdvise", pointer, bytes, BY_PLACE + place, advice == 5);
    case 100:
    case 101: return tell("hipMemAdvise", pointer, bytes, COHERENCY, advice == 100);
    default: return hip_fail(hipErrorInvalidValue, "hipMemAdvise: advice = %d: must be 1 to 6, 100 or 101", advice);
  }
}

HIP_API hipError_t hipMemAdvise(const void *pointer, size_t bytes, int advice, int place) {
  HIP_CALL(advise(pointer, bytes, advice, place));
}

static hipError_t prefetch(const void *pointer, size_t bytes, int place, hipStream_t handle) {
  stream *s;
  hipError_t error = hip_stream("hipMemPrefetchAsync", handle, &s);
  if (error == hipSuccess) error = check("hipMemPrefetchAsync", pointer, bytes);
  if (error == hipSuccess) error = check_place("hipMemPrefetchAsync", place);
  return error == hipSuccess ? tell("hipMemPrefetchAsync", pointer, bytes, PREFETCHED, place) : error;
}

HIP_API hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int place, hipStream_t handle) {
  HIP_CALL(prefetch(pointer, bytes, place, handle));
}

HIP_API hipError_t hipStreamAttachMemAsync(hipStream_t handle, void *pointer, size_t bytes, unsigned flags) {
  (void)handle, (void)flags;
  HIP_CALL(check("hipStreamAttachMemAsync", pointer, bytes == 0 ? 1 : bytes)); /* 0: all of it */
}

static hipError_t ask(void *data, size_t size, int attribute, const void *pointer, size_t bytes) {
  hipError_t error = check("hipMemRangeGetAttribute", pointer, bytes);
  if (error != hipSuccess) return error;
  int value = 0;
  if (data == NULL || size == 0 || size % sizeof value != 0 || (size != sizeof value && attribute != ACCESSED_BY))
    return hip_fail(hipErrorInvalidValue, "hipMemRangeGetAttribute: data = %p, bytes of data = %zu: must be an int", data,
                    size);
  switch (attribute) {
    case READ_MOSTLY: value = told(pointer, bytes, READ_MOSTLY, 0, 0); break;
    case PREFERRED:
    case PREFETCHED: value = told(pointer, bytes, attribute, NOWHERE, NOWHERE); break;
    case COHERENCY: value = told(pointer, bytes, COHERENCY, 0, 2); break;
    case ACCESSED_BY: { /* as many as have room; the rest is filled up */
      size_t count = 0, room = size / sizeof value;
      int *places = data;
      for (int place = CPU; place < hip_device_count() && count < room; place++)
        if (told(pointer, bytes, BY_PLACE + place, 0, 0) != 0) places[count++] = place;
      while (count < room) places[count++] = NOWHERE;
      return hipSuccess;
    }
    default: return hip_fail(hipErrorInvalidValue, "hipMemRangeGetAttribute: attribute = %d: must be 1 to 4 or 100", attribute);
  }
  memcpy(data, &value, sizeof value);
  return hipSuccess;
}

HIP_API hipError_t hipMemRangeGetAttribute(void *data, size_t size, int attribute, const void *pointer, size_t bytes) {
  HIP_CALL(ask(data, size, attribute, pointer, bytes));
}

static hipError_t ask_all(void **data, const size_t *sizes, const int *attributes, size_t count, const void *pointer,
                          size_t bytes) {
  if (data == NULL || sizes == NULL || attributes == NULL || count == 0)
    return hip_fail(hipErrorInvalidValue, "hipMemRangeGetAttributes: must be addresses, and a count above 0");
  hipError_t error = hipSuccess;
  for (size_t n = 0; n < count && error == hipSuccess; n++) error = ask(data[n], sizes[n], attributes[n], pointer, bytes);
  return error;
}

HIP_API hipError_t hipMemRangeGetAttributes(void **data, size_t *sizes, int *attributes, size_t count, const void *pointer,
                                            size_t bytes) {
  HIP_CALL(ask_all(data, sizes, attributes, count, pointer, bytes));
}
