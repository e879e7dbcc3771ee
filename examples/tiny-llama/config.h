/* A model's description: the presets, and config.json of Hugging Face. */
#ifndef LLAMA_CONFIG_H
#define LLAMA_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <tandem/rope.h>

#include "error.h"

typedef struct llama_config {
  char name[64]; /* "benchmark", or the folder */
  int64_t vocab, d, layers, heads, kv_heads, head_dim, ffn;
  int64_t context; /* the longest sequence */
  double theta;
  float eps;
  bool tied; /* the head is the table of embeddings */
  tdm_rope_style rope;
  tdm_rope_scaling scaling;
  int32_t end[8]; /* tokens that end a text */
  int ends;
  int64_t batch, seq; /* the shape of a run that names none */
} llama_config;

/* Finds a preset by its name; false: there is none. */
bool llama_preset(const char *name, llama_config *config);
/* "benchmark|train|...": for messages and --help. */
const char *llama_preset_names(void);
/* Reads FOLDER/config.json as Hugging Face writes it. Refuses what this program does not compute: other architectures, ways
 * of RoPE scaling, biases, quantized weights. */
bool llama_config_read(const char *folder, llama_config *config, llama_error *error);
/* Parameters of the model; a tied head counts once. */
double llama_parameters(const llama_config *config);

#endif
