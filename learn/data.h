/* The arrays of one shape on the host: inputs, a poisoned output, and the f64 reference. */
#ifndef TANDEM_LEARN_DATA_H
#define TANDEM_LEARN_DATA_H

#include "learn.h"

typedef struct learn_data {
  const learn_exercise *exercise;
  const learn_shape *shape;
  int count, output; /* arrays; which of them is the output */
  case_array array[LEARN_ARRAYS];
  size_t bytes[LEARN_ARRAYS];
  unsigned char *before[LEARN_ARRAYS]; /* as the kernel finds them */
  unsigned char *after[LEARN_ARRAYS];  /* as it left them: the caller's to fill */
  double *value, *bound;               /* of the output's elements; NULL before they are judged */
} learn_data;

/* Inputs of a seed. false: no memory, which the outcome tells. learn_data_free in any case. */
bool learn_data_make(learn_data *d, const learn_exercise *e, int shape, uint64_t seed, learn_outcome *o);
void learn_data_free(learn_data *d);

/* Computes what is expected and compares what the kernel left. false: the outcome has a verdict. */
bool learn_data_judge(learn_data *d, learn_outcome *o);

/* "c[3][17]", or in words what lies near an address: "4 bytes after the end of c (1000 f32)". */
void learn_element(const case_array *array, int64_t index, char *text, size_t size);
void learn_place(const learn_exercise *e, const learn_outcome *o, uint64_t address, char *text, size_t size);

#endif
