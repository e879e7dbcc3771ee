#include "kernel.h"
#include "reference.h"

static void call(void (*kernel)(void), void *const *a, const int64_t *size) {
  ((__typeof__(attention) *)kernel)(a[0], a[1], a[2], a[3], (int)size[0], (int)size[1]);
}

const learn_exercise learn_omp_attention = {
    .name = "omp-attention",
    .title = "an online softmax: no matrix of scores, finite numbers",
    .kernel = "attention",
    .c = true,
    .sizes = "heads seq",
    .shapes = {{{2, 96}}, {{1, 1}}, {{3, 33}}, {{1, 70}, 30}},
    .arrays = learn_attention_arrays,
    .reference = learn_attention_reference,
    .call = call,
};
