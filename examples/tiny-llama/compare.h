/* All versions beside each other, and what the course that the model comes from claims of them. */
#ifndef LLAMA_COMPARE_H
#define LLAMA_COMPARE_H

#include <jansson.h>

#include "profile.h"
#include "session.h"

typedef struct version_result {
  int version, launches;
  measured time;
  size_t bytes[MEMORY_KINDS];
  double flops; /* the model's, the same for all */
  double bound; /* seconds; 0: not known */
  double error; /* of the logits: largest |difference| from version 1 over the largest |logit| */
  profile steps;
} version_result;

/* Activations and scores: what a version keeps beside weights, cache and logits. */
double working_bytes(const version_result *r);

bool run_compare(session *s, llama_error *error);
bool run_profile(session *s, llama_error *error);

/* ---- report.c ---- */
json_t *report_run(const session *s);
json_t *report_version(const session *s, const version_result *r);
/* Takes over root; path NULL: nothing is written. */
bool report_write(const char *path, json_t *root, llama_error *error);
/* Time and bound of each version as an SVG, of what report_write writes. */
bool report_can_plot(const char *path, llama_error *error);
bool report_plot(const char *path, const json_t *root, llama_error *error);

#endif
