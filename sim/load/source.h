/* Source lines of machine code, from the DWARF of a code object that was compiled with -g. */
#ifndef GFXSIM_SOURCE_H
#define GFXSIM_SOURCE_H
#include "object.h"

typedef struct source source;

/* Keeps a copy of the file where it has debug information, and leaves *made NULL where it has none. */
gfxsim_status source_make(const void *data, size_t bytes, source **made);
void source_free(source *s);
/* "file:line" of a byte offset in the image, with the lines that inlined it; "" where nothing is known. */
void source_line(gfxsim_object *object, u64 pc, char *text, size_t bytes);
/* The same without the lines that inlined it. */
void source_innermost(gfxsim_object *object, u64 pc, char *text, size_t bytes);

#endif
