/* Kernels of the user's in place of the library's: --own gemm=FILE.hsaco:tile=64x64:block=256,attention=...
 * Their signatures are those of the exercises llama-gemm and llama-attention (learn/exercises). A step that a signature can't
 * describe stays the library's. */
#ifndef LLAMA_OWN_H
#define LLAMA_OWN_H

#include "graph.h"

typedef struct own_kernels own_kernels;

/* The code objects, loaded on the context's device. */
bool own_open(const char *text, tdm_context *context, own_kernels **own, llama_error *error);
void own_close(own_kernels *own);

/* After a step was appended: it runs the user's kernel from now on, if that can do what the description says. own: NULL, or the
 * kernels. */
void own_take_gemm(own_kernels *own, graph_step *s, const tdm_gemm_desc *d);
void own_take_attention(own_kernels *own, graph_step *s, const tdm_attention_desc *d);

/* Whether a launch of this kernel's name is one of them. */
bool own_has(const own_kernels *own, const char *kernel);

/* Prints the launches of each kernel, and which steps were the library's. false: a kernel ran in no step. */
bool own_report(const own_kernels *own, llama_error *error);

#endif
