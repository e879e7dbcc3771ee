/* The user's file, compiled. */
#ifndef TANDEM_LEARN_BUILD_H
#define TANDEM_LEARN_BUILD_H

#include "learn.h"
#include "sandbox.h"

enum { LEARN_FOLDER = 256, LEARN_LIBRARIES = 16 };

typedef struct learn_code {
  void *data; /* a code object of AMD's, or a shared object */
  size_t bytes;
  char compiler[512];
  sandbox_means means;
  char folder[LEARN_FOLDER]; /* a new one, which holds nothing but this try; learn_code_free removes it. "": none yet */
  char object[LEARN_FOLDER + 8];
  char *libraries[LEARN_LIBRARIES]; /* folders of libraries, in addition to the system's */
  int library_count;
} learn_code;

/* Compiles a copy of r->file, for a chip (HIP) or the host (chip NULL), in a sandbox: the compiler reads the system's and its
 * own files, the copy and the exercise's headers, and nothing else. What went wrong is in the outcome: LEARN_COMPILE with the
 * compiler's first errors, or LEARN_FAILED. learn_code_free in any case. */
bool learn_build(const learn_request *r, const char *chip, learn_code *code, learn_outcome *o);
/* Lets a process that runs the code read its libraries. */
void learn_read_libraries(const learn_code *code, sandbox *box);
/* The GPUs that OpenMP reports to a program of our own. */
bool learn_count_devices(const learn_request *r, learn_code *code, int *count, learn_outcome *o);
/* "file.c:5" of an address in the object; "": not known. */
void learn_find_line(const learn_code *code, uint64_t address, char *line, size_t size);
void learn_code_free(learn_code *code);

#endif
