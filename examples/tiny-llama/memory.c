/* Device memory by kind. */
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const memory_kind_names[MEMORY_KINDS] = {"weights", "activations", "scores", "logits", "cache"};

bool memory_on_host(const memory *m) { return strcmp(tdm_context_device(m->context), "host") == 0; }

/* What Linux says it can still give, 0: not known. */
static size_t available(void) {
  char line[256];
  unsigned long long kib = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  if (file == NULL) return 0;
  while (fgets(line, sizeof line, file) != NULL && sscanf(line, "MemAvailable: %llu kB", &kib) != 1) continue;
  fclose(file);
  return (size_t)kib << 10;
}

size_t memory_bytes(double bytes) { return bytes > 0x1p60 ? (size_t)1 << 60 : (size_t)bytes; }

/* false: what the device has left, in words. */
static bool has_left(const memory *m, size_t bytes, char *words, size_t size) {
  const char *device = tdm_context_device(m->context);
  if (memory_on_host(m) || strncmp(device, "sim:", 4) == 0) {
    size_t room = available();
    snprintf(words, size, "this machine has %.2f GiB left", (double)room / 0x1p30);
    return room == 0 || bytes <= room / (size_t)(m->sharers > 1 ? m->sharers : 1);
  }
  void *probe = NULL;
  bool has = tdm_alloc(m->context, bytes, &probe) == TDM_OK;
  tdm_free(m->context, probe);
  snprintf(words, size, "%s does not have that left", device);
  return has;
}

bool memory_check(const memory *m, const char *what, const size_t wanted[MEMORY_KINDS], llama_error *error) {
  size_t total = 0;
  char parts[256] = "";
  for (int k = 0; k < MEMORY_KINDS; k++) {
    total += wanted[k];
    if (wanted[k] > 0)
      snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "%s%s %.2f", parts[0] == '\0' ? "" : ", ",
               memory_kind_names[k], (double)wanted[k] / 0x1p30);
  }
  char left[96];
  if (has_left(m, total, left, sizeof left)) return true;
  char shared[32] = "";
  if (m->sharers > 1) snprintf(shared, sizeof shared, " for each of %d ranks", m->sharers);
  return llama_fail(error, "%s needs %.2f GiB%s (%s), %s: a smaller --input or --dtype needs less", what,
                    (double)total / 0x1p30, shared, parts, left);
}

bool memory_take(memory *m, memory_kind kind, size_t bytes, void **pointer, llama_error *error) {
  *pointer = NULL;
  if (bytes == 0) return true;
  memory_block *block = malloc(sizeof *block);
  if (block == NULL) return llama_fail(error, "no memory for the list of blocks");
  if (tdm_alloc(m->context, bytes, pointer) != TDM_OK) {
    free(block);
    char what[80];
    snprintf(what, sizeof what, "%s of %.3f GiB", memory_kind_names[kind], (double)bytes / 0x1p30);
    return llama_fail_tandem(error, what);
  }
  *block = (memory_block){*pointer, bytes, kind, m->blocks};
  m->blocks = block;
  m->now[kind] += bytes;
  if (m->now[kind] > m->peak[kind]) m->peak[kind] = m->now[kind];
  return true;
}

void memory_give(memory *m, void *pointer) {
  for (memory_block **at = &m->blocks; pointer != NULL && *at != NULL; at = &(*at)->next) {
    memory_block *block = *at;
    if (block->pointer != pointer) continue;
    *at = block->next;
    m->now[block->kind] -= block->bytes;
    tdm_free(m->context, block->pointer);
    free(block);
    return;
  }
}

void memory_end(memory *m) {
  while (m->blocks != NULL) memory_give(m, m->blocks->pointer);
}
