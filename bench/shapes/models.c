/* The one table of models. Sources are the config.json of the repository of that name at Hugging Face. */
#include "bench/shapes/models.h"

#include <stddef.h>
#include <string.h>

const bench_model bench_models[] = {
    /* name, source, hidden, heads, kv_heads, head_dim, ffn, vocab, context */
    {"Llama 3 8B", "meta-llama/Llama-3.1-8B", 4096, 32, 8, 128, 14336, 128256, 131072, false},
    {"Llama 3 70B", "meta-llama/Llama-3.1-70B", 8192, 64, 8, 128, 28672, 128256, 131072, false},
    {"Llama 3 405B", "meta-llama/Llama-3.1-405B", 16384, 128, 8, 128, 53248, 128256, 131072, false},
    {"Qwen 3 8B", "Qwen/Qwen3-8B", 4096, 32, 8, 128, 12288, 151936, 40960, false},
    {"Qwen 3 32B", "Qwen/Qwen3-32B", 5120, 64, 8, 128, 25600, 151936, 40960, false},
    /* Its attention is latent: the products are below, and its scores have 192 columns, which attention does not take. */
    {"DeepSeek V3", "deepseek-ai/DeepSeek-V3", 7168, 0, 0, 0, 18432, 129280, 163840, false},
    {"GPT-2", "openai-community/gpt2", 768, 12, 12, 64, 3072, 50257, 1024, true},
    {"GPT-2 XL", "openai-community/gpt2-xl", 1600, 25, 25, 64, 6400, 50257, 1024, true},
    /* For head_dim 80, 96 and 256: attention alone. */
    {"Phi-2", "microsoft/phi-2", 0, 32, 32, 80, 0, 0, 2048, false},
    {"Phi-3 mini", "microsoft/Phi-3-mini-128k-instruct", 0, 32, 32, 96, 0, 0, 131072, false},
    {"GPT-J 6B", "EleutherAI/gpt-j-6b", 0, 16, 16, 256, 0, 0, 2048, false},
};
const int bench_model_count = sizeof bench_models / sizeof bench_models[0];

/* DeepSeek V3's own, of the same config.json: q_lora_rank 1536, kv_lora_rank 512, qk_nope_head_dim 128, qk_rope_head_dim 64,
 * v_head_dim 128, 128 heads. */
static const bench_weight deepseek[] = {
    {0, "q_a_proj", 1536, 7168, "nt", NULL, false},
    {0, "q_b_proj", 24576, 1536, "nt", NULL, false},
    {0, "kv_a_proj_with_mqa", 576, 7168, "nt", NULL, false},
    {0, "kv_b_proj", 32768, 512, "nt", NULL, false},
    {0, "o_proj", 7168, 16384, "nt", "residual", false},
    {0, "shared expert's gate and up", 2048, 7168, "nt", NULL, true},
    {0, "shared expert's down", 7168, 2048, "nt", NULL, false},
};

static void add(bench_weight weights[], int *count, int model, const char *layer, int64_t n, int64_t k, const char *epilogue) {
  const bench_model *m = &bench_models[model];
  bool last = strcmp(layer, "lm_head") == 0; /* stored [vocab, hidden] everywhere */
  weights[(*count)++] = (bench_weight){.model = model,
                                       .layer = layer,
                                       .n = n,
                                       .k = k,
                                       .layout = m->gpt2 && !last ? "nn" : "nt",
                                       .epilogue = epilogue,
                                       .swiglu = strcmp(layer, "gate_proj and up_proj") == 0};
}

int bench_weights(bench_weight weights[BENCH_MOST_WEIGHTS]) {
  int count = 0;
  for (int i = 0; i < bench_model_count; i++) {
    const bench_model *m = &bench_models[i];
    int64_t q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    if (m->hidden == 0) continue;
    if (m->gpt2) {
      add(weights, &count, i, "c_attn", q + 2 * kv, m->hidden, "bias");
      add(weights, &count, i, "attn.c_proj", m->hidden, q, "bias+residual");
      add(weights, &count, i, "c_fc", m->ffn, m->hidden, "bias+gelu_tanh");
      add(weights, &count, i, "mlp.c_proj", m->hidden, m->ffn, "bias+residual");
    } else {
      if (q > 0) {
        add(weights, &count, i, "q_proj", q, m->hidden, NULL);
        add(weights, &count, i, "k_proj", kv, m->hidden, NULL);
        add(weights, &count, i, "o_proj", m->hidden, q, "residual");
      }
      add(weights, &count, i, "gate_proj and up_proj", m->ffn, m->hidden, NULL);
      add(weights, &count, i, "down_proj", m->hidden, m->ffn, "residual");
    }
    add(weights, &count, i, "lm_head", m->vocab, m->hidden, NULL);
    for (size_t d = 0; strcmp(m->name, "DeepSeek V3") == 0 && d < sizeof deepseek / sizeof deepseek[0]; d++) {
      weights[count] = deepseek[d];
      weights[count++].model = i;
    }
  }
  return count;
}
