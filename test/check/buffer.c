/* Poisoned memory for arrays, whose bounds are watched. */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "exact.h"

/* Bytes before and after, in images and on real devices. tdm_alloc aligns to 256, so element 0 stays aligned; and a guarded
 * array has less than a page of other bytes next to it. */
enum { CANARY = 4096 };
/* Poisoned bytes on both sides of each row of gfxsim's sparse arrays. Tiles are read in their whole width where a row has a
 * next one: 256 columns of 4 bytes. */
enum { ROW_END = 1024 };
static const size_t SPARSE_FROM = (size_t)64 << 20; /* bytes: smaller arrays are memory as a whole */

check_bounds check_bounds_of(const tdm_context *context, bool canaries) {
  const char *device = tdm_context_device(context);
  if (canaries) return CHECK_CANARIES;
  return strcmp(device, "host") == 0 ? CHECK_GUARDED : strncmp(device, "sim:", 4) == 0 ? CHECK_EXACT : CHECK_CANARIES;
}

static size_t row_bytes(const case_array *a) { return (size_t)a->dim[a->rank - 1] * case_element_size(a->element); }

bool check_is_sparse(const case_array *a) {
  size_t bytes = case_array_bytes(a);
  return bytes > SPARSE_FROM && (double)case_rows(a) * ((double)row_bytes(a) + 4 * CANARY) < (double)bytes / 4;
}

double check_image_memory(const case_array *a) {
  return check_is_sparse(a) ? (double)case_rows(a) * ((double)row_bytes(a) + 4 * CANARY) : (double)case_array_bytes(a);
}

/* ---- Parts ---- */

static size_t at_least(size_t a, size_t b) { return a > b ? a : b; }
static size_t at_most(size_t a, size_t b) { return a < b ? a : b; }

static int compare_parts(const void *a, const void *b) {
  const check_part *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void free_parts(check_parts *p) {
  free(p->part);
  *p = (check_parts){0};
}

/* All but the array of an output that shares an input's memory. */
static void share(check_buffers *all, check_buffer *b) {
  case_array array = b->array;
  *b = all->buffer[array.same_as];
  b->array = array;
  b->shared = true;
}

/* The array from its first byte to its last, or its rows, each with `margin` bytes more on both sides and then
 * rounded out to multiples of `grain` from `origin` on; as far as they lie in [low, high). */
static bool make_parts(const check_buffer *b, bool by_rows, size_t margin, size_t origin, size_t grain, size_t low, size_t high,
                       check_parts *p) {
  const case_array *a = &b->array;
  int64_t rows = case_array_bytes(a) == 0 ? 0 : by_rows ? case_rows(a) : 1;
  free_parts(p);
  p->part = malloc((size_t)(rows + 1) * sizeof *p->part);
  if (p->part == NULL) return false;
  for (int64_t row = 0; row < rows; row++) {
    size_t begin = b->begin + (by_rows ? (size_t)case_row_offset(a, row) * case_element_size(a->element) : 0);
    size_t end = begin + (by_rows ? row_bytes(a) : case_array_bytes(a));
    begin = begin > margin ? begin - margin : 0;
    end += margin;
    /* origin is added first, so that no difference is negative */
    begin = at_least(begin + origin - (begin + origin) % grain, origin + low) - origin;
    end = at_most((end + origin + grain - 1) / grain * grain - origin, high);
    p->part[row] = (check_part){begin, end};
  }
  qsort(p->part, (size_t)rows, sizeof *p->part, compare_parts);
  for (int64_t row = 0; row < rows; row++) {
    check_part *last = &p->part[p->count - 1], *next = &p->part[row];
    if (p->count > 0 && next->begin <= last->end)
      last->end = at_least(last->end, next->end);
    else
      p->part[p->count++] = *next;
  }
  return true;
}

/* ---- Images ---- */

static unsigned char *open_image(check_buffer *b, int which) {
  check_region *r = &b->images[which];
  if (!b->sparse) return malloc(b->bytes);
  if (!check_region_open(r, b->bytes, true)) return NULL;
  for (int i = 0; i < b->image.count; i++)
    if (!check_region_fill(r, b->image.part[i].begin, b->image.part[i].end)) return NULL;
  return r->begin;
}

/* Their memory, whose pages come only when fill_images writes them. */
static bool open_images(check_buffer *b, const tdm_case *c) {
  size_t size = case_element_size(b->array.element);
  b->begin = CANARY + (size_t)c->shift * size;
  b->bytes = (b->begin + case_array_bytes(&b->array) + CANARY + 3) / 4 * 4;
  b->sparse = check_is_sparse(&b->array);
  /* A sparse array's rows, with everything next to them that may be memory at either place. */
  if (!make_parts(b, b->sparse, b->sparse ? 2 * CANARY : b->begin, 0, 1, 0, b->bytes, &b->image)) return false;
  b->before = open_image(b, 0);
  b->after = open_image(b, 1);
  return b->before != NULL && b->after != NULL;
}

static bool fill_images(check_buffer *b, const tdm_case *c, int index) {
  if (!b->sparse) case_poison(b->before, b->bytes, b->array.element);
  for (int i = 0; i < b->image.count && b->sparse; i++) {
    check_part p = b->image.part[i];
    case_poison(b->before + p.begin, p.end - p.begin, b->array.element);
  }
  /* Where a run's copy does not reach, both images must be alike. */
  for (int i = 0; i < b->image.count && b->sparse; i++) {
    check_part p = b->image.part[i];
    memcpy(b->after + p.begin, b->before + p.begin, p.end - p.begin);
  }
  size_t end = b->begin + case_array_bytes(&b->array);
  if (!b->sparse) memcpy(b->after, b->before, b->begin), memcpy(b->after + end, b->before + end, b->bytes - end);
  if (b->array.input) case_fill_array(c, index, &b->array, b->before + b->begin);
  return make_parts(b, true, 0, 0, 1, 0, b->bytes, &b->rows);
}

/* ---- On a device ---- */

static bool open_canaries(check_buffer *b, tdm_context *context) {
  if (tdm_alloc(context, b->bytes, &b->allocated) != TDM_OK) return false;
  b->device = b->allocated;
  if (!make_parts(b, b->sparse, b->begin, 0, 4, 0, b->bytes, &b->there)) return false;
  if (!b->sparse) b->there = (check_parts){1, memcpy(b->there.part, &(check_part){0, b->bytes}, sizeof(check_part))};
  return true;
}

static bool open_exact(check_buffer *b, int64_t shift, char *text, size_t size) {
  size_t bytes = case_array_bytes(&b->array), offset = (size_t)shift * case_element_size(b->array.element);
  if (!check_exact_open(b->array.name, offset, bytes, &b->reserved, text, size)) return false;
  b->device = (unsigned char *)(uintptr_t)(b->reserved - b->begin);
  if (!make_parts(b, b->sparse, ROW_END, 0, 4, b->begin, b->begin + bytes, &b->there)) return false;
  for (int i = 0; i < b->there.count; i++) {
    check_part p = b->there.part[i];
    if (!check_exact_map(b->reserved - b->begin + p.begin, p.end - p.begin, text, size)) return false;
  }
  return true;
}

static bool place_guarded(check_buffer *b, int64_t shift, check_place place) {
  size_t bytes = case_array_bytes(&b->array), page = check_page();
  size_t front = (size_t)shift * case_element_size(b->array.element),
         at = place == CHECK_FRONT ? front : b->region.size - bytes;
  b->device = b->region.begin + at - b->begin;
  /* Image byte x is region byte x - begin + at: these are whole pages. */
  size_t origin = (at % page + page - b->begin % page) % page, low = b->begin > at ? b->begin - at : 0;
  return make_parts(b, b->sparse, 0, origin, page, low, at_most(b->bytes, b->begin + (b->region.size - at)), &b->there);
}

static bool open_guarded(check_buffer *b, int64_t shift) {
  size_t front = (size_t)shift * case_element_size(b->array.element);
  if (!check_region_open(&b->region, front + case_array_bytes(&b->array), b->sparse)) return false;
  if (!b->sparse && !check_region_fill(&b->region, 0, b->region.size)) return false;
  for (check_place place = CHECK_BACK;; place = CHECK_FRONT) { /* memory at both places, and left at the front */
    if (!place_guarded(b, shift, place)) return false;
    size_t zero = (size_t)(b->device - b->region.begin); /* modulo 2^64 */
    for (int i = 0; i < b->there.count; i++)
      if (!check_region_fill(&b->region, zero + b->there.part[i].begin, zero + b->there.part[i].end)) return false;
    if (place == CHECK_FRONT) return true;
  }
}

static bool open_device(check_buffers *all, check_buffer *b, char *text, size_t size) {
  switch (all->bounds) {
    case CHECK_CANARIES:
      if (open_canaries(b, all->context)) return true;
      snprintf(text, size, "%s: %s", b->array.name, tdm_last_error());
      return false;
    case CHECK_GUARDED: return open_guarded(b, all->shift);
    case CHECK_EXACT: return open_exact(b, all->shift, text, size);
  }
  return false;
}

bool check_buffers_place(check_buffers *b, check_place place) {
  for (int i = 0; i < b->count && b->bounds == CHECK_GUARDED; i++) {
    check_buffer *buffer = &b->buffer[i];
    if (buffer->array.used && !buffer->shared && !place_guarded(buffer, b->shift, place)) return false;
  }
  for (int i = 0; i < b->count; i++)
    if (b->buffer[i].shared) share(b, &b->buffer[i]);
  return true;
}

/* ---- All arrays of a case ---- */

static void say_no_memory(const check_buffer *b, char *text, size_t size) {
  snprintf(text, size, "%s: no host memory for %zu bytes", b->array.name, case_array_bytes(&b->array));
}

check_opened check_buffers_open(check_buffers *b, tdm_context *context, check_bounds bounds, const tdm_case *c, char *text,
                                size_t size) {
  case_array arrays[CASE_MAX_ARRAYS];
  *b = (check_buffers){.context = context, .bounds = bounds, .shift = c->shift, .count = c->op->arrays(c, arrays)};
  for (int i = 0; i < b->count; i++) b->buffer[i].array = arrays[i];
  for (int i = 0; i < b->count; i++) { /* all of them before the first is filled, which takes long */
    check_buffer *buffer = &b->buffer[i];
    buffer->shared = buffer->array.used && buffer->array.same_as >= 0;
    if (!buffer->array.used || buffer->shared) continue;
    say_no_memory(buffer, text, size);
    if (!open_images(buffer, c)) return CHECK_NOT_OPENED;
    if (!open_device(b, buffer, text, size))
      return buffer->sparse && bounds == CHECK_CANARIES ? CHECK_NO_MEMORY : CHECK_NOT_OPENED;
  }
  for (int i = 0; i < b->count; i++) {
    check_buffer *buffer = &b->buffer[i];
    if (!buffer->array.used || buffer->shared) continue;
    say_no_memory(buffer, text, size);
    if (!fill_images(buffer, c, i)) return CHECK_NOT_OPENED;
  }
  for (int i = 0; i < b->count; i++) {
    check_buffer *buffer = &b->buffer[i];
    if (buffer->shared) share(b, buffer);
  }
  return CHECK_OPENED;
}

bool check_buffers_close(check_buffers *b) {
  bool freed = true;
  for (int i = b->count; i-- > 0;) { /* the last first: gfxsim's addresses can come again */
    check_buffer *buffer = &b->buffer[i];
    if (buffer->shared) continue;
    if (!buffer->sparse) free(buffer->before), free(buffer->after);
    for (int k = 0; k < 2; k++) check_region_close(&buffer->images[k]);
    check_region_close(&buffer->region);
    if (buffer->reserved != 0) check_exact_close(buffer->reserved);
    freed &= tdm_free(b->context, buffer->allocated) == TDM_OK;
    free_parts(&buffer->image);
    free_parts(&buffer->there);
    free_parts(&buffer->rows);
  }
  return freed;
}

/* ---- Copies ---- */

bool check_buffers_upload(const check_buffers *b) {
  for (int i = 0; i < b->count; i++) {
    const check_buffer *buffer = &b->buffer[i];
    for (int p = 0; p < buffer->there.count && buffer->array.used && !buffer->shared; p++) {
      check_part part = buffer->there.part[p];
      if (tdm_copy(b->context, buffer->device + part.begin, buffer->before + part.begin, part.end - part.begin, TDM_TO_DEVICE,
                   NULL) != TDM_OK)
        return false;
    }
  }
  return true;
}

bool check_buffer_download(const check_buffers *b, const check_buffer *buffer, unsigned char *image) {
  for (int p = 0; p < buffer->there.count; p++) {
    check_part part = buffer->there.part[p];
    if (tdm_copy(b->context, image + part.begin, buffer->device + part.begin, part.end - part.begin, TDM_TO_HOST, NULL) !=
        TDM_OK)
      return false;
  }
  return true;
}

/* ---- Around a run ---- */

static void watch(const check_buffer *b, check_watched *w) {
  *w = (check_watched){.low = b->region.low,
                       .high = b->region.low + b->region.kept,
                       .begin = b->device + b->begin,
                       .end = b->device + b->begin + case_array_bytes(&b->array)};
  snprintf(w->name, sizeof w->name, "%s", b->array.name);
}

/* The memory next to an array: before its first element, and after its last. */
static void forbid(const check_buffer *b, void (*set)(const unsigned char *, const unsigned char *)) {
  const unsigned char *begin = b->device + b->begin, *end = begin + case_array_bytes(&b->array);
  if (b->there.count == 0) return;
  set(b->device + b->there.part[0].begin, begin);
  set(end, b->device + b->there.part[b->there.count - 1].end);
}

void check_buffers_enter(const check_buffers *b) {
  check_watched watched[CASE_MAX_ARRAYS];
  int count = 0;
  for (int i = 0; i < b->count && b->bounds == CHECK_GUARDED; i++) {
    const check_buffer *buffer = &b->buffer[i];
    if (!buffer->array.used || buffer->shared) continue;
    watch(buffer, &watched[count++]);
    forbid(buffer, check_forbid);
  }
  check_watch(watched, count);
}

void check_buffers_leave(const check_buffers *b) {
  check_watch(NULL, 0);
  for (int i = 0; i < b->count && b->bounds == CHECK_GUARDED; i++)
    if (b->buffer[i].array.used && !b->buffer[i].shared) forbid(&b->buffer[i], check_allow);
}

void check_device_pointers(const check_buffers *b, void *pointers[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < b->count; i++) {
    const check_buffer *buffer = &b->buffer[i];
    pointers[i] = buffer->array.used ? buffer->device + buffer->begin : NULL;
  }
}

void check_host_inputs(const check_buffers *b, const void *inputs[CASE_MAX_ARRAYS]) {
  for (int i = 0; i < b->count; i++) {
    const check_buffer *buffer = &b->buffer[i];
    inputs[i] = buffer->array.used ? buffer->before + buffer->begin : NULL;
  }
}

/* ---- Comparison ---- */

bool check_is_poison(const check_buffer *buffer, const unsigned char *image, int64_t offset) {
  unsigned char pattern[8];
  size_t size = case_element_size(buffer->array.element);
  case_poison(pattern, sizeof pattern, buffer->array.element);
  return memcmp(image + buffer->begin + (size_t)offset * size, pattern, size) == 0;
}

/* In [begin, end) of two images. */
static bool differ(const check_buffer *buffer, const unsigned char *a, const unsigned char *b, size_t begin, size_t end,
                   int64_t *offset) {
  int64_t size = (int64_t)case_element_size(buffer->array.element);
  size_t at = begin;
  if (begin >= end || memcmp(a + begin, b + begin, end - begin) == 0) return false;
  while (a[at] == b[at]) at++;
  int64_t distance = (int64_t)at - (int64_t)buffer->begin;
  *offset = distance >= 0 ? distance / size : -((size - 1 - distance) / size);
  return true;
}

bool check_find_difference(const check_buffer *buffer, const unsigned char *a, const unsigned char *b, int64_t *offset) {
  for (int p = 0; p < buffer->there.count; p++)
    if (differ(buffer, a, b, buffer->there.part[p].begin, buffer->there.part[p].end, offset)) return true;
  return false;
}

bool check_find_outside(const check_buffer *buffer, int64_t *offset) {
  const unsigned char *a = buffer->before, *b = buffer->after;
  int row = 0;
  for (int p = 0; p < buffer->there.count; p++) {
    size_t at = buffer->there.part[p].begin, end = buffer->there.part[p].end;
    for (; row < buffer->rows.count && buffer->rows.part[row].begin < end; row++) { /* rows lie in one part as a whole */
      if (differ(buffer, a, b, at, buffer->rows.part[row].begin, offset)) return true;
      at = buffer->rows.part[row].end;
    }
    if (differ(buffer, a, b, at, end, offset)) return true;
  }
  return false;
}
