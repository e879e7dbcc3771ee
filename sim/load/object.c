/* The loader of code objects. It trusts no byte: libelf bounds its own tables, every other length is compared here. */
#include "object.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "sim/base/error.h"
#include "source.h"

enum {
  MACHINE_AMDGPU = 224,
  NOTE_METADATA = 32,   /* NT_AMDGPU_METADATA */
  RELOC_ABS64 = 3,      /* R_AMDGPU_ABS64 */
  RELOC_RELATIVE64 = 13 /* R_AMDGPU_RELATIVE64 */
};

static gfxsim_status check_header(Elf *elf, GElf_Ehdr *header) {
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, header) == NULL || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != MACHINE_AMDGPU)
    return fail(GFXSIM_INVALID, "load: must be a 64-bit little-endian ELF file for AMDGPU");
  /* ABI version 2 is code object version 4, 3 is 5, 4 is 6 (AMDGPUUsage, "ELF header"). Hidden arguments of version 4 that
   * later ones dropped are 0. */
  if (header->e_ident[EI_ABIVERSION] < 2 || header->e_ident[EI_ABIVERSION] > 4)
    return fail(GFXSIM_INVALID, "load: code object version %d: must be 4, 5 or 6", header->e_ident[EI_ABIVERSION] + 2);
  return GFXSIM_OK;
}

static gfxsim_status open_elf(const void *data, size_t bytes, Elf **elf, GElf_Ehdr *header) {
  if (elf_version(EV_CURRENT) == EV_NONE) return fail(GFXSIM_INVALID, "load: this libelf is too old");
  if (data == NULL || bytes < sizeof(Elf64_Ehdr))
    return fail(GFXSIM_INVALID, "load: %zu bytes: too short for an ELF file", bytes);
  *elf = elf_memory((char *)data, bytes);
  if (*elf == NULL) return fail(GFXSIM_INVALID, "load: %s", elf_errmsg(-1));
  return check_header(*elf, header);
}

const char *gfxsim_object_chip(const void *data, size_t bytes) {
  Elf *elf = NULL;
  GElf_Ehdr header;
  const char *name = NULL;
  if (open_elf(data, bytes, &elf, &header) == GFXSIM_OK) {
    name = chip_of_machine(header.e_flags & 0xff);
    if (name == NULL) {
      char names[128];
      tdm_chip_names(names, sizeof names, " or ");
      fail(GFXSIM_INVALID, "load: machine 0x%x: must be %s", header.e_flags & 0xff, names);
    }
  }
  elf_end(elf);
  return name;
}

static bool within(u64 offset, u64 length, u64 total) { return offset <= total && length <= total - offset; }

/* ---- Sections: symbols, relocations ---- */

typedef gfxsim_status section_function(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, gfxsim_object *o);

static gfxsim_status for_sections(Elf *elf, u32 type, section_function *call, gfxsim_object *o) {
  gfxsim_status status = GFXSIM_OK;
  for (Elf_Scn *s = elf_nextscn(elf, NULL); s != NULL && status == GFXSIM_OK; s = elf_nextscn(elf, s)) {
    GElf_Shdr header;
    if (gelf_getshdr(s, &header) == NULL) return fail(GFXSIM_INVALID, "load: sections: %s", elf_errmsg(-1));
    if (header.sh_type == type) status = call(elf, s, &header, o);
  }
  return status;
}

static gfxsim_status find_descriptor(gfxsim_kernel *k, u64 value) {
  gfxsim_object *o = k->object;
  if (!within(value, 64, o->image->size)) return fail(GFXSIM_INVALID, "kernel %s: descriptor outside of the image", k->name);
  gfxsim_status status = descriptor_read(o->image->data + value, k->name, &o->device->chip, &k->desc);
  if (status != GFXSIM_OK) return status;
  k->entry = o->image->base + value + (u64)k->desc.entry;
  if (k->entry < o->text_begin || k->entry >= o->text_end || k->entry % 256 != 0)
    return fail(GFXSIM_INVALID, "kernel %s: its entry must lie in the code, aligned to 256 bytes", k->name);
  /* The first kernel argument segment may be longer than the explicit arguments: what the descriptor preloads counts too. */
  u64 preload = 4 * ((u64)k->desc.preload_offset + k->desc.preload_dwords);
  if (k->kernarg_bytes < preload) k->kernarg_bytes = (u32)preload;
  return GFXSIM_OK;
}

static gfxsim_status add_variable(gfxsim_object *o, const char *name, const GElf_Sym *symbol) {
  if (!within(symbol->st_value, symbol->st_size, o->image->size))
    return fail(GFXSIM_INVALID, "load: variable %s lies outside of the image", name);
  variable *grown = realloc(o->variables, (size_t)(o->variable_count + 1) * sizeof *grown);
  if (grown != NULL) o->variables = grown;
  char *copy = grown != NULL ? strdup(name) : NULL;
  if (copy == NULL) return fail(GFXSIM_NO_MEMORY, "load: no memory");
  o->variables[o->variable_count++] = (variable){copy, o->image->base + symbol->st_value, symbol->st_size};
  return GFXSIM_OK;
}

static gfxsim_status read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, gfxsim_object *o) {
  Elf_Data *data = elf_getdata(section, NULL);
  if (data == NULL) return fail(GFXSIM_INVALID, "load: symbols: %s", elf_errmsg(-1));
  GElf_Sym symbol;
  for (int n = 0; gelf_getsym(data, n, &symbol) != NULL; n++) {
    const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
    if (name == NULL || symbol.st_shndx == SHN_UNDEF) continue;
    gfxsim_status status = GFXSIM_OK;
    bool of_kernel = false;
    for (int k = 0; k < o->kernel_count && status == GFXSIM_OK; k++) {
      if (strcmp(o->kernels[k].symbol, name) != 0) continue;
      of_kernel = true;
      if (o->kernels[k].entry == 0) status = find_descriptor(&o->kernels[k], symbol.st_value);
    }
    if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && header->sh_type == SHT_SYMTAB)
      status = functions_add(&o->functions, name, o->image->base + symbol.st_value, symbol.st_size);
    if (!of_kernel && header->sh_type == SHT_DYNSYM && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0)
      status = add_variable(o, name, &symbol);
    if (status != GFXSIM_OK) return status;
  }
  return GFXSIM_OK;
}

static gfxsim_status relocate(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, gfxsim_object *o) {
  Elf_Data *data = elf_getdata(section, NULL);
  Elf_Scn *linked = elf_getscn(elf, header->sh_link);
  Elf_Data *symbols = linked != NULL ? elf_getdata(linked, NULL) : NULL;
  GElf_Rela r;
  for (int n = 0; data != NULL && gelf_getrela(data, n, &r) != NULL; n++) {
    u64 value = o->image->base + (u64)r.r_addend;
    GElf_Sym symbol;
    if (GELF_R_TYPE(r.r_info) == RELOC_ABS64) {
      if (symbols == NULL || gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &symbol) == NULL || symbol.st_shndx == SHN_UNDEF)
        return fail(GFXSIM_INVALID, "load: relocation %d names no symbol of this file", n);
      value += symbol.st_value;
    } else if (GELF_R_TYPE(r.r_info) != RELOC_RELATIVE64) {
      return fail(GFXSIM_UNIMPLEMENTED, "load: relocation %d has type %" PRIu64 ": must be ABS64 or RELATIVE64", n,
                  (u64)GELF_R_TYPE(r.r_info));
    }
    if (!within(r.r_offset, sizeof value, o->image->size))
      return fail(GFXSIM_INVALID, "load: relocation %d outside of the image", n);
    memcpy(o->image->data + r.r_offset, &value, sizeof value);
  }
  return GFXSIM_OK;
}

static gfxsim_status read_notes(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, gfxsim_object *o) {
  (void)elf, (void)header;
  Elf_Data *data = elf_getdata(section, NULL);
  GElf_Nhdr note;
  size_t name, desc, next;
  for (size_t at = 0; data != NULL && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0; at = next) {
    if (note.n_type != NOTE_METADATA || note.n_namesz != 7 || memcmp((char *)data->d_buf + name, "AMDGPU", 7) != 0) continue;
    if (o->kernels != NULL) return fail(GFXSIM_INVALID, "load: two metadata notes");
    gfxsim_status status = metadata_read((u8 *)data->d_buf + desc, note.n_descsz, o);
    if (status != GFXSIM_OK) return status;
  }
  return GFXSIM_OK;
}

/* ---- The whole ---- */

static gfxsim_status load(Elf *elf, const GElf_Ehdr *header, const u8 *data, size_t bytes, gfxsim_object *o) {
  const chip *chip = &o->device->chip;
  if ((header->e_flags & 0xff) != chip->machine) {
    const char *name = chip_of_machine(header->e_flags & 0xff);
    return fail(GFXSIM_INVALID, "load: the code object is for %s: the device is %s", name != NULL ? name : "another chip",
                chip->name);
  }
  gfxsim_status status = image_load(elf, data, bytes, o);
  if (status == GFXSIM_OK) status = for_sections(elf, SHT_NOTE, read_notes, o);
  if (status == GFXSIM_OK) status = for_sections(elf, SHT_DYNSYM, read_symbols, o);
  if (status == GFXSIM_OK) status = for_sections(elf, SHT_SYMTAB, read_symbols, o);
  if (status == GFXSIM_OK) status = for_sections(elf, SHT_RELA, relocate, o);
  if (status != GFXSIM_OK) return status;
  if (o->kernels == NULL) return fail(GFXSIM_INVALID, "load: no metadata note");
  for (int k = 0; k < o->kernel_count; k++)
    if (o->kernels[k].entry == 0)
      return fail(GFXSIM_INVALID, "kernel %s: no symbol %s", o->kernels[k].name, o->kernels[k].symbol);
  return GFXSIM_OK;
}

static void release(gfxsim_object *o) {
  for (int n = 0; n < o->kernel_count; n++) {
    gfxsim_kernel *k = &o->kernels[n];
    for (int a = 0; a < k->arg_count; a++) {
      free((char *)k->args[a].name);
      free((char *)k->args[a].kind);
    }
    free(k->args);
    free(k->name);
    free(k->symbol);
    code_free(k->code);
  }
  free(o->kernels);
  for (int v = 0; v < o->variable_count; v++) free(o->variables[v].name);
  free(o->variables);
  for (int f = 0; f < o->format_count; f++) free(o->formats[f]);
  free(o->formats);
  if (o->image != NULL) memory_drop(&o->device->memory, o->image);
  source_free(o->source);
  functions_free(o->functions);
  free(o);
}

gfxsim_status gfxsim_load(gfxsim_device *device, const void *data, size_t bytes, gfxsim_object **object) {
  *object = NULL;
  gfxsim_object *o = calloc(1, sizeof *o);
  if (o == NULL) return fail(GFXSIM_NO_MEMORY, "load: no memory");
  o->device = device;
  Elf *elf = NULL;
  GElf_Ehdr header;
  gfxsim_status status = open_elf(data, bytes, &elf, &header);
  if (status == GFXSIM_OK) status = load(elf, &header, data, bytes, o);
  elf_end(elf);
  if (status == GFXSIM_OK) status = source_make(data, bytes, &o->source);
  if (status != GFXSIM_OK) {
    release(o);
    return status;
  }
  o->next = device->objects;
  device->objects = o;
  *object = o;
  return GFXSIM_OK;
}

gfxsim_status kernel_decode(gfxsim_kernel *kernel) {
  const gfxsim_object *o = kernel->object;
  if (kernel->code != NULL) return GFXSIM_OK;
  code_range range = {.kernel = kernel->name,
                      .chip = o->device->chip.name,
                      .bytes = o->image->data + (o->text_begin - o->image->base),
                      .begin = o->text_begin,
                      .end = o->text_end,
                      .vgprs = kernel->desc.vgprs,
                      .accum_offset = kernel->desc.accum_offset};
  return code_make(&range, &kernel->code);
}

void gfxsim_unload(gfxsim_object *object) {
  if (object == NULL) return;
  gfxsim_object **at = &object->device->objects;
  while (*at != object) at = &(*at)->next;
  *at = object->next;
  release(object);
}

void gfxsim_close(gfxsim_device *device) {
  if (device == NULL) return;
  while (device->objects != NULL) gfxsim_unload(device->objects);
  device_free(device);
}

int gfxsim_kernel_count(const gfxsim_object *object) { return object->kernel_count; }

gfxsim_kernel *gfxsim_kernel_at(gfxsim_object *object, int index) {
  return index >= 0 && index < object->kernel_count ? &object->kernels[index] : NULL;
}

enum { NAMES_ROOM = 1536 };

/* " a b c", and how many there was no room for. */
static void kernel_names(const gfxsim_object *object, char text[NAMES_ROOM]) {
  enum { MORE = 32 };
  size_t used = 0;
  int k = 0;
  for (; k < object->kernel_count; k++) {
    const char *name = object->kernels[k].name;
    if (strlen(name) + 1 + MORE >= NAMES_ROOM - used) break;
    used += (size_t)snprintf(text + used, NAMES_ROOM - used, " %s", name);
  }
  text[used] = '\0';
  if (k < object->kernel_count) snprintf(text + used, NAMES_ROOM - used, " and %d more", object->kernel_count - k);
}

gfxsim_status gfxsim_kernel_find(gfxsim_object *object, const char *name, gfxsim_kernel **kernel) {
  for (int k = 0; k < object->kernel_count; k++)
    if (strcmp(object->kernels[k].name, name) == 0) {
      *kernel = &object->kernels[k];
      return GFXSIM_OK;
    }
  if (object->kernel_count == 0) return fail(GFXSIM_INVALID, "kernel = %s: the code object has no kernels", name);
  char names[NAMES_ROOM];
  kernel_names(object, names);
  return fail(GFXSIM_INVALID, "kernel = %s: the code object has %d kernels, but not this one:%s", name, object->kernel_count,
              names);
}

gfxsim_status gfxsim_variable_find(const gfxsim_object *object, const char *name, uint64_t *address, size_t *bytes) {
  for (int v = 0; v < object->variable_count; v++)
    if (strcmp(object->variables[v].name, name) == 0) {
      *address = object->variables[v].address;
      *bytes = object->variables[v].bytes;
      return GFXSIM_OK;
    }
  return fail(GFXSIM_INVALID, "variable = %s: the code object has %d, but not this one", name, object->variable_count);
}

const char *gfxsim_variable_at(const gfxsim_object *object, int index, uint64_t *address, size_t *bytes) {
  if (index < 0 || index >= object->variable_count) return NULL;
  *address = object->variables[index].address;
  *bytes = object->variables[index].bytes;
  return object->variables[index].name;
}

const char *gfxsim_kernel_format(const gfxsim_kernel *kernel, int index) {
  const gfxsim_object *o = kernel->object;
  return index >= 0 && index < o->format_count ? o->formats[index] : NULL;
}

void gfxsim_kernel_describe(const gfxsim_kernel *k, gfxsim_kernel_info *info) {
  *info = (gfxsim_kernel_info){.name = k->name,
                               .sgprs = k->sgprs,
                               .vgprs = k->vgprs,
                               .agprs = k->agprs,
                               .sgpr_spills = k->sgpr_spills,
                               .vgpr_spills = k->vgpr_spills,
                               .lds_bytes = k->lds_bytes,
                               .scratch_bytes = k->scratch_bytes,
                               .kernarg_bytes = k->kernarg_bytes,
                               .max_workgroup = k->max_workgroup,
                               .preload_dwords = k->desc.preload_dwords,
                               .dynamic_stack = k->dynamic_stack,
                               .arg_count = k->arg_count,
                               .args = k->args};
}
