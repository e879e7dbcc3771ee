/* Runs kernels that the user wrote in place of the library's: --own gemm=FILE.hsaco:tile=64x64:block=256,attention=...
 * They take the arguments of the exercises llama-gemm and llama-attention (learn/exercises). The library still runs the steps
 * that need more than these arguments can say. */
#ifndef LLAMA_OWN_H
#define LLAMA_OWN_H

#include "graph.h"

typedef struct own_kernels own_kernels;

/* Loads the code objects that `text`, the value of --own, names on the context's device. */
bool own_open(const char *text, tdm_context *context, own_kernels **own, llama_error *error);
void own_close(own_kernels *own);

/* Call one of these after a step was appended. The step then runs the user's kernel, if that can do what the description
 * asks for. If own is NULL nothing changes. */
void own_take_gemm(own_kernels *own, graph_step *s, const tdm_gemm_desc *d);
void own_take_attention(own_kernels *own, graph_step *s, const tdm_attention_desc *d);

/* Is `kernel` the name of one of the user's kernels? */
bool own_has(const own_kernels *own, const char *kernel);

/* Prints how often each kernel was launched, and which steps the library ran. Returns false if one of the kernels was never
 * used. */
bool own_report(const own_kernels *own, llama_error *error);

#endif
