/* Files of the safetensors format (huggingface/safetensors, README): 8 bytes with the length of a JSON header, the header, and
 * the tensors' bytes. A file is mapped; tensors point into the mapping. */
#ifndef LLAMA_SAFETENSORS_H
#define LLAMA_SAFETENSORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <tandem/tandem.h>

#include "error.h"

enum { ST_MAX_RANK = 8 };

typedef struct st_tensor {
  const char *name;
  const char *dtype; /* "BF16", as the file says it */
  bool readable;     /* dtype is one of the library's: type */
  tdm_type type;
  int rank;
  int64_t dim[ST_MAX_RANK];
  const unsigned char *data;
  size_t bytes;
  int descriptor; /* of the file, whose byte `offset` is the first of the data; -1: the file lies in memory alone */
  int64_t offset;
} st_tensor;

typedef struct st_file {
  char *path;
  const unsigned char *bytes;
  size_t size;
  bool mapped;
  int descriptor; /* -1: none */
  json_t *header; /* owns the names */
  int count;
  st_tensor *tensor; /* in the order of their data */
} st_file;

/* Reads the header of a file that lies in memory, which must stay there. path is for messages. Checks every dtype, shape and
 * offset: tensors must fill the data without gap or overlap, as the format demands. st_close frees. */
bool st_parse(const char *path, const void *bytes, size_t size, st_file *file, llama_error *error);
/* The same for a file on disk. */
bool st_open(const char *path, st_file *file, llama_error *error);
void st_close(st_file *file);
/* NULL: the file has no such tensor. */
const st_tensor *st_find(const st_file *file, const char *name);

/* ---- checkpoint.c: a folder with model.safetensors, or with shards and model.safetensors.index.json ---- */

typedef struct checkpoint {
  char folder[2048];
  json_t *index; /* NULL: one file */
  int count;
  st_file *file;
} checkpoint;

bool checkpoint_open(const char *folder, checkpoint *c, llama_error *error);
void checkpoint_close(checkpoint *c);
/* Finds a tensor of the given shape, whose type must be one of the library's; *path becomes its file's. */
bool checkpoint_find(const checkpoint *c, const char *name, int rank, const int64_t *dim, const st_tensor **tensor,
                     llama_error *error);
bool checkpoint_has(const checkpoint *c, const char *name);
/* 64 bits that differ between files with other tensors, or, nearly always, other weights: of each tensor only the ends are
 * read. */
uint64_t checkpoint_hash(const checkpoint *c);

#endif
