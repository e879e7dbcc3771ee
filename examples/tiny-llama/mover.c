/* The choice of what moves activations. */
#include "mover.h"

#include <string.h>

static const mover_row *find(const char *name, size_t length) {
  static const mover_row *const rows[] = {
#ifdef LLAMA_MPI
      &mover_mpi,
#endif
      &mover_nccl, &mover_rccl};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (strlen(rows[i]->name) == length && strncmp(rows[i]->name, name, length) == 0) return rows[i];
  return NULL;
}

static const char *usual(const char *device) {
  return strncmp(device, "omp:", 4) == 0 ? "nccl" : strncmp(device, "hip:", 4) == 0 ? "rccl" : "mpi";
}

bool mover_open(mover *m, const char *name, const ranks *r, tdm_context *context, llama_error *error) {
  if (name == NULL) name = usual(tdm_context_device(context));
  const char *file = strchr(name, '=');
  *m = (mover){.ranks = r, .context = context};
  const mover_row *row = find(name, file == NULL ? strlen(name) : (size_t)(file - name));
  if (row == NULL || (file != NULL && (!row->loads || file[1] == '\0')))
    return llama_fail(error, "--move = '%.200s': must be mpi, nccl, rccl, nccl=FILE or rccl=FILE", name);
  m->row = row;
  if (row->open(m, file == NULL ? NULL : file + 1, error)) return true;
  m->row = NULL;
  return false;
}

void mover_close(mover *m) {
  if (m->row != NULL) m->row->close(m);
  *m = (mover){0};
}
