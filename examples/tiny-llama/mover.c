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

/* Of a rank without the others. */
static bool open_none(mover *m, const char *library, llama_error *error) { return (void)m, (void)library, (void)error, true; }
static void close_none(mover *m) { (void)m; }
static bool no_sum(mover *m, void *data, int64_t count, tdm_type type, llama_error *error) {
  (void)data, (void)count, (void)type, (void)error;
  m->begun++;
  return true;
}
static bool no_part(mover *m, const void *all, void *part, int64_t count, tdm_type type, llama_error *error) {
  (void)all;
  return no_sum(m, part, count, type, error);
}
static bool no_wait(mover *m, int64_t number, llama_error *error) { return (void)m, (void)number, (void)error, true; }
static const mover_row mover_none = {.name = "none",
                                     .open = open_none,
                                     .close = close_none,
                                     .sum = no_sum,
                                     .sum_part = no_part,
                                     .join = no_part,
                                     .wait = no_wait};

bool mover_open(mover *m, const char *name, const ranks *r, tdm_context *context, llama_error *error) {
  if (name == NULL) name = usual(tdm_context_device(context));
  const char *file = strchr(name, '=');
  *m = (mover){.ranks = r, .context = context};
  if (r->alone) return m->row = &mover_none, true;
  const mover_row *row = find(name, file == NULL ? strlen(name) : (size_t)(file - name));
  if (row == NULL || (file != NULL && (!row->loads || file[1] == '\0')))
    return llama_fail(error, "--move = '%.200s': must be mpi, nccl, rccl, nccl=FILE or rccl=FILE", name);
  m->row = row;
  if (row->open(m, file == NULL ? NULL : file + 1, error)) return true;
  m->row = NULL;
  return false;
}

/* A product's blocks, one on each multiprocessor, have their parts of it from the beginning. Where an exchange has some of the
 * multiprocessors, the blocks that are left over begin when it ends, and the product takes as long as if it had waited. So it
 * gets no more blocks than there is room for. */
bool mover_leave(mover *m, tdm_options options, int count, llama_error *error) {
  int processors = 0;
  if (count == 0 || m->ranks->alone) return true;
  if (m->row->processors == NULL) return llama_fail(error, "--leave %d: is of nccl, data goes through %s", count, m->row->name);
  if (!m->row->processors(m, &processors, error)) return false;
  if (count >= processors) return llama_fail(error, "--leave %d: the device has %d multiprocessors", count, processors);
  options.device = tdm_context_device(m->context);
  options.teams = processors - count;
  return tdm_open(&options, &m->beside) == TDM_OK || llama_fail(error, "--leave %d: %s", count, tdm_last_error());
}

void mover_restart(mover *m) { m->passes = 0, m->seconds = 0; }

void mover_close(mover *m) {
  if (m->beside != NULL) tdm_close(m->beside);
  if (m->row != NULL) m->row->close(m);
  *m = (mover){0};
}
