#include "reference.h"

const learn_exercise learn_omp_attention = {
    .name = "omp-attention",
    .title = "an online softmax: no matrix of scores, finite numbers",
    .kernel = "attention",
    .c = true,
    .sizes = "heads seq",
    .shapes = {{{2, 96}}, {{1, 1}}, {{3, 33}}, {{1, 70}, 30}},
    .arrays = learn_attention_arrays,
    .reference = learn_attention_reference,
};
