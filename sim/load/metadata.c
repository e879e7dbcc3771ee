/* The msgpack of the AMDGPU note. Source: LLVM's AMDGPUUsage, "Code Object V5 Metadata"; version 6 has the same map. */
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "sim/base/error.h"

enum { KERNARG_MOST = 65536, KERNELS_MOST = 65536, ARGS_MOST = 4096, NAME_MOST = 65536, FORMATS_MOST = 65536 };

static bool is_key(const msgpack_object *o, const char *key) {
  return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(key) && memcmp(o->via.str.ptr, key, o->via.str.size) == 0;
}

static const msgpack_object *find(const msgpack_object *map, const char *key) {
  if (map->type != MSGPACK_OBJECT_MAP) return NULL;
  for (u32 e = 0; e < map->via.map.size; e++)
    if (is_key(&map->via.map.ptr[e].key, key)) return &map->via.map.ptr[e].val;
  return NULL;
}

/* 0 where the key is absent or no number of 32 bits. */
static u32 number(const msgpack_object *map, const char *key) {
  const msgpack_object *o = find(map, key);
  return o != NULL && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= UINT32_MAX ? (u32)o->via.u64 : 0;
}

/* A copy; "" where absent, NULL without memory. */
static char *string(const msgpack_object *map, const char *key) {
  const msgpack_object *o = find(map, key);
  bool good = o != NULL && o->type == MSGPACK_OBJECT_STR && o->via.str.size < NAME_MOST;
  return good ? strndup(o->via.str.ptr, o->via.str.size) : strdup("");
}

static gfxsim_status read_args(const msgpack_object *map, gfxsim_kernel *k) {
  const msgpack_object *list = find(map, ".args");
  if (list == NULL) return GFXSIM_OK;
  if (list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size > ARGS_MOST)
    return fail(GFXSIM_INVALID, "metadata: kernel %s: .args: must be a list of at most %d", k->name, ARGS_MOST);
  k->args = calloc(list->via.array.size + 1, sizeof *k->args);
  if (k->args == NULL) return fail(GFXSIM_NO_MEMORY, "metadata: no memory");
  for (u32 a = 0; a < list->via.array.size; a++) {
    const msgpack_object *row = &list->via.array.ptr[a];
    gfxsim_arg *arg = &k->args[k->arg_count++];
    *arg = (gfxsim_arg){.name = string(row, ".name"),
                        .kind = string(row, ".value_kind"),
                        .offset = number(row, ".offset"),
                        .size = number(row, ".size")};
    if (arg->name == NULL || arg->kind == NULL) return fail(GFXSIM_NO_MEMORY, "metadata: no memory");
    arg->hidden = strncmp(arg->kind, "hidden_", 7) == 0;
    u64 end = (u64)arg->offset + arg->size;
    if (end > KERNARG_MOST)
      return fail(GFXSIM_INVALID, "metadata: kernel %s: argument %u ends at byte %llu: must be %u or less", k->name, a,
                  (unsigned long long)end, KERNARG_MOST);
    if (end > k->kernarg_bytes)
      k->kernarg_bytes = (u32)end; /* hand-written metadata may count wrong; hardware does not read it */
  }
  return GFXSIM_OK;
}

static gfxsim_status read_kernel(const msgpack_object *map, gfxsim_kernel *k) {
  k->name = string(map, ".name");
  k->symbol = string(map, ".symbol");
  if (k->name == NULL || k->symbol == NULL) return fail(GFXSIM_NO_MEMORY, "metadata: no memory");
  if (k->name[0] == '\0' || k->symbol[0] == '\0')
    return fail(GFXSIM_INVALID, "metadata: a kernel without .name or .symbol: must have both");
  k->sgprs = number(map, ".sgpr_count");
  k->vgprs = number(map, ".vgpr_count");
  k->agprs = number(map, ".agpr_count");
  k->sgpr_spills = number(map, ".sgpr_spill_count");
  k->vgpr_spills = number(map, ".vgpr_spill_count");
  k->lds_bytes = number(map, ".group_segment_fixed_size");
  k->scratch_bytes = number(map, ".private_segment_fixed_size");
  k->kernarg_bytes = number(map, ".kernarg_segment_size");
  k->max_workgroup = number(map, ".max_flat_workgroup_size");
  k->segment_bytes = k->kernarg_bytes;
  if (k->kernarg_bytes > KERNARG_MOST)
    return fail(GFXSIM_INVALID, "metadata: kernel %s: .kernarg_segment_size = %u: must be %u or less", k->name,
                k->kernarg_bytes, KERNARG_MOST);
  const msgpack_object *dynamic = find(map, ".uses_dynamic_stack");
  k->dynamic_stack = dynamic != NULL && dynamic->type == MSGPACK_OBJECT_BOOLEAN && dynamic->via.boolean;
  return read_args(map, k);
}

static gfxsim_status read_formats(const msgpack_object *list, gfxsim_object *object) {
  if (list == NULL) return GFXSIM_OK;
  if (list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size > FORMATS_MOST)
    return fail(GFXSIM_INVALID, "metadata: amdhsa.printf: must be a list of at most %d", FORMATS_MOST);
  object->formats = calloc(list->via.array.size + 1, sizeof *object->formats);
  if (object->formats == NULL) return fail(GFXSIM_NO_MEMORY, "metadata: no memory");
  for (u32 n = 0; n < list->via.array.size; n++) {
    const msgpack_object *row = &list->via.array.ptr[n];
    bool good = row->type == MSGPACK_OBJECT_STR && row->via.str.size < NAME_MOST;
    char *text = good ? strndup(row->via.str.ptr, row->via.str.size) : strdup("");
    if (text == NULL) return fail(GFXSIM_NO_MEMORY, "metadata: no memory");
    object->formats[object->format_count++] = text;
  }
  return GFXSIM_OK;
}

static gfxsim_status read_root(const msgpack_object *root, gfxsim_object *object) {
  const msgpack_object *list = find(root, "amdhsa.kernels");
  if (list == NULL || list->type != MSGPACK_OBJECT_ARRAY || list->via.array.size > KERNELS_MOST)
    return fail(GFXSIM_INVALID, "metadata: amdhsa.kernels: must be a list of at most %d", KERNELS_MOST);
  object->kernels = calloc(list->via.array.size + 1, sizeof *object->kernels);
  if (object->kernels == NULL) return fail(GFXSIM_NO_MEMORY, "metadata: no memory");
  for (u32 n = 0; n < list->via.array.size; n++) {
    gfxsim_kernel *k = &object->kernels[object->kernel_count++];
    k->object = object;
    gfxsim_status status = read_kernel(&list->via.array.ptr[n], k);
    if (status != GFXSIM_OK) return status;
  }
  return read_formats(find(root, "amdhsa.printf"), object);
}

gfxsim_status metadata_read(const u8 *note, size_t bytes, gfxsim_object *object) {
  msgpack_unpacked unpacked;
  msgpack_unpacked_init(&unpacked);
  size_t at = 0;
  msgpack_unpack_return got = msgpack_unpack_next(&unpacked, (const char *)note, bytes, &at);
  gfxsim_status status = got == MSGPACK_UNPACK_SUCCESS ? read_root(&unpacked.data, object)
                                                       : fail(GFXSIM_INVALID, "metadata: the note is not msgpack");
  msgpack_unpacked_destroy(&unpacked);
  return status;
}
