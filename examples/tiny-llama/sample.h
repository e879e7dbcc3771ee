/* The next token from logits: the likeliest, or one drawn by temperature and top-p (Holtzman et al., arXiv 1904.09751). */
#ifndef LLAMA_SAMPLE_H
#define LLAMA_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

typedef struct sample_candidate {
  double weight;
  int32_t id;
} sample_candidate;

typedef struct sampler {
  int64_t vocab;
  double temperature; /* 0: the likeliest token */
  double top_p;       /* the smallest set of likeliest tokens with at least this share: above 0, at most 1 */
  uint64_t seed, drawn;
  sample_candidate *candidate; /* [vocab] */
} sampler;

bool sampler_open(sampler *s, int64_t vocab, double temperature, double top_p, uint64_t seed, llama_error *error);
void sampler_close(sampler *s);
/* -1: a logit is not finite. Among equal logits the smaller id comes first. */
int32_t sampler_next(sampler *s, const float *logits);

#endif
