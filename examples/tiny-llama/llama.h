/* tiny-llama: a Llama forward pass on the library's ops. What its files share: the model's description, and errors. */
#ifndef LLAMA_H
#define LLAMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tandem/rope.h>
#include <tandem/tandem.h>

enum { LLAMA_ERROR_TEXT = 768 };

/* The one line that a failing function leaves: the file, the tensor or the option, and what is wrong. */
typedef struct llama_error {
  char text[LLAMA_ERROR_TEXT];
} llama_error;

/* Writes the line and returns false. */
bool llama_fail(llama_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* After a failing call of the library: its own line, with what was being done in front. */
bool llama_fail_tandem(llama_error *error, const char *doing);

/* ---- config.c ---- */

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

/* A preset by its name, false: there is none. */
bool llama_preset(const char *name, llama_config *config);
/* "benchmark|train|...": for messages and --help. */
const char *llama_preset_names(void);
/* Reads FOLDER/config.json as Hugging Face writes it. Refuses what this program does not compute: other architectures, ways
 * of RoPE scaling, biases, quantized weights. */
bool llama_config_read(const char *folder, llama_config *config, llama_error *error);
/* Parameters of the model; a tied head counts once. */
double llama_parameters(const llama_config *config);

#endif
