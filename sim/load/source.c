#include "source.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

struct source {
  u8 *file; /* libdw reads it when asked */
  Elf *elf;
  Dwarf *dwarf;
};

gfxsim_status source_make(const void *data, size_t bytes, source **made) {
  *made = NULL;
  source *s = calloc(1, sizeof *s);
  u8 *file = malloc(bytes);
  if (s == NULL || file == NULL) {
    free(s);
    free(file);
    return fail(GFXSIM_NO_MEMORY, "load: no memory");
  }
  memcpy(file, data, bytes);
  s->file = file;
  s->elf = elf_memory((char *)file, bytes);
  s->dwarf = s->elf != NULL ? dwarf_begin_elf(s->elf, DWARF_C_READ, NULL) : NULL;
  if (s->dwarf != NULL)
    *made = s;
  else
    source_free(s);
  return GFXSIM_OK;
}

void source_free(source *s) {
  if (s == NULL) return;
  dwarf_end(s->dwarf);
  elf_end(s->elf);
  free(s->file);
  free(s);
}

/* The unit that holds the pc: by its ranges, because clang writes no .debug_aranges. */
static bool find_unit(Dwarf *dwarf, u64 pc, Dwarf_Die *unit) {
  Dwarf_CU *cu = NULL;
  while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, unit, NULL) == 0)
    if (dwarf_haspc(unit, pc) == 1) return true;
  return false;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static size_t append(char *text, size_t bytes, size_t at, const char *file, int line) {
  if (file == NULL || at >= bytes) return at;
  int wrote = snprintf(text + at, bytes - at, "%s%s:%d", at > 0 ? " in " : "", base_name(file), line);
  return wrote > 0 ? at + (size_t)wrote : at;
}

/* A function that was inlined says where it was called: from the innermost outward. */
static void append_callers(Dwarf_Die *unit, u64 pc, char *text, size_t bytes, size_t at) {
  Dwarf_Die *scopes = NULL;
  Dwarf_Files *files;
  int count = dwarf_getscopes(unit, pc, &scopes);
  bool named = dwarf_getsrcfiles(unit, &files, NULL) == 0;
  for (int n = 0; n < count && named; n++) {
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    if (dwarf_tag(&scopes[n]) != DW_TAG_inlined_subroutine ||
        dwarf_formudata(dwarf_attr(&scopes[n], DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(&scopes[n], DW_AT_call_line, &attribute), &line) != 0)
      continue;
    at = append(text, bytes, at, dwarf_filesrc(files, file, NULL, NULL), (int)line);
  }
  free(scopes);
}

/* The length of the text; 0 where nothing is known. */
static size_t innermost_line(gfxsim_object *object, u64 pc, char *text, size_t bytes, Dwarf_Die *unit) {
  text[0] = '\0';
  if (object->source == NULL || !find_unit(object->source->dwarf, pc, unit)) return 0;
  Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
  int number;
  if (line == NULL || dwarf_lineno(line, &number) != 0) return 0;
  return append(text, bytes, 0, dwarf_linesrc(line, NULL, NULL), number);
}

void source_line(gfxsim_object *object, u64 pc, char *text, size_t bytes) {
  Dwarf_Die unit;
  size_t at = innermost_line(object, pc, text, bytes, &unit);
  if (at > 0) append_callers(&unit, pc, text, bytes, at);
}

void source_innermost(gfxsim_object *object, u64 pc, char *text, size_t bytes) {
  Dwarf_Die unit;
  innermost_line(object, pc, text, bytes, &unit);
}
