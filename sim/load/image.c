/* The segments of a code object in the device's memory. It trusts no byte of the file. */
#include "image.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

enum { IMAGE_MOST = 1 << 28 /* ours: keeps a corrupt file from asking for gigabytes */ };

static bool within(u64 offset, u64 length, u64 total) { return offset <= total && length <= total - offset; }

/* ---- Which bytes kernels may write: those of segments whose flags say so. A byte that a segment of code or of constants holds
 * too is not one of them, nor is what the loader closes after relocation (PT_GNU_RELRO). Gaps between segments are neither.
 * ---- */

/* Where a segment begins or ends: how many writable and how many closed ones hold the bytes from here on. */
typedef struct edge {
  u64 at;
  int writable, closed;
} edge;

static int by_place(const void *a, const void *b) {
  const edge *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static size_t find_edges(Elf *elf, size_t segments, u64 span, edge *edges) {
  size_t count = 0;
  for (size_t p = 0; p < segments; p++) {
    GElf_Phdr segment;
    gelf_getphdr(elf, (int)p, &segment);
    if (segment.p_type != PT_LOAD && segment.p_type != PT_GNU_RELRO) continue;
    if (segment.p_memsz == 0 || !within(segment.p_vaddr, segment.p_memsz, span)) continue; /* the latter only for RELRO */
    bool writable = segment.p_type == PT_LOAD && (segment.p_flags & (PF_W | PF_X)) == PF_W;
    edges[count++] = (edge){segment.p_vaddr, writable, !writable};
    edges[count++] = (edge){segment.p_vaddr + segment.p_memsz, -writable, -!writable};
  }
  qsort(edges, count, sizeof *edges, by_place);
  return count;
}

static gfxsim_status find_writable(Elf *elf, size_t segments, allocation *image) {
  edge *edges = malloc(2 * segments * sizeof *edges);
  image->parts = malloc(2 * segments * sizeof *image->parts);
  size_t count = edges != NULL && image->parts != NULL ? find_edges(elf, segments, image->size, edges) : 0;
  int writable = 0, closed = 0;
  for (size_t e = 0; e < count; e++) {
    writable += edges[e].writable;
    closed += edges[e].closed;
    if (writable <= 0 || closed > 0 || edges[e + 1].at == edges[e].at) continue; /* the last edge leaves nothing open */
    memory_part *last = image->part_count > 0 ? &image->parts[image->part_count - 1] : NULL;
    if (last != NULL && last->end == edges[e].at)
      last->end = edges[e + 1].at;
    else
      image->parts[image->part_count++] = (memory_part){edges[e].at, edges[e + 1].at};
  }
  bool good = edges != NULL && image->parts != NULL;
  free(edges);
  return good ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "load: no memory");
}

/* ---- Segments ---- */

static gfxsim_status measure(Elf *elf, size_t bytes, u64 *span) {
  size_t count;
  *span = 0;
  if (elf_getphdrnum(elf, &count) != 0) return fail(GFXSIM_INVALID, "load: program headers: %s", elf_errmsg(-1));
  for (size_t p = 0; p < count; p++) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, (int)p, &segment) == NULL) return fail(GFXSIM_INVALID, "load: program headers: %s", elf_errmsg(-1));
    if (segment.p_type != PT_LOAD) continue;
    if (!within(segment.p_offset, segment.p_filesz, bytes) || segment.p_filesz > segment.p_memsz ||
        !within(segment.p_vaddr, segment.p_memsz, IMAGE_MOST))
      return fail(GFXSIM_INVALID, "load: segment %zu lies outside of the file or of 256 MiB of addresses", p);
    if (segment.p_vaddr + segment.p_memsz > *span) *span = segment.p_vaddr + segment.p_memsz;
  }
  return *span > 0 ? GFXSIM_OK : fail(GFXSIM_INVALID, "load: no segment to load");
}

gfxsim_status image_load(Elf *elf, const u8 *data, size_t bytes, gfxsim_object *o) {
  u64 span;
  size_t count;
  gfxsim_status status = measure(elf, bytes, &span);
  if (status == GFXSIM_OK) status = memory_alloc(&o->device->memory, span, false, &o->image);
  if (status != GFXSIM_OK) return status;
  memset(o->image->data, 0, span);
  elf_getphdrnum(elf, &count);
  for (size_t p = 0; p < count; p++) {
    GElf_Phdr segment;
    gelf_getphdr(elf, (int)p, &segment);
    if (segment.p_type != PT_LOAD) continue;
    memcpy(o->image->data + segment.p_vaddr, data + segment.p_offset, segment.p_filesz);
    if ((segment.p_flags & PF_X) == 0) continue;
    if (o->text_end != 0) return fail(GFXSIM_INVALID, "load: more than one segment of code");
    o->text_begin = o->image->base + segment.p_vaddr;
    o->text_end = o->text_begin + segment.p_memsz / 4 * 4;
  }
  if (o->text_begin % 4 != 0 || o->text_end == o->text_begin)
    return fail(GFXSIM_INVALID, "load: the segment of code is missing, empty or misaligned");
  return find_writable(elf, count, o->image);
}
