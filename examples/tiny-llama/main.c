/* tiny-llama: the command line. */
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/options.h"
#include "compare.h"
#include "decoder.h"
#include "generate.h"
#include "loss.h"
#include "output.h"
#include "result.h"

static bool write_file(const char *path, const float *logits, int64_t count, llama_error *error) {
  result_file file;
  char reason[256];
  bool ok = result_open(&file, path, reason, sizeof reason);
  if (ok) {
    fwrite(logits, sizeof *logits, (size_t)count, file.to);
    ok = result_finish(&file, reason, sizeof reason);
  }
  return ok || llama_fail(error, "--logits = '%s': %s", path, reason);
}

/* All logits, [batch, seq, vocab]. */
static bool write_logits(const session *s, const forward *f, llama_error *error) {
  int64_t rows = s->batch * s->seq, vocab = s->config.vocab;
  float *logits = malloc((size_t)(rows * vocab) * sizeof *logits);
  bool ok = logits != NULL || llama_fail(error, "no memory for the logits of %d tokens", (int)rows);
  for (int64_t i = 0; ok && i < rows; i++) ok = forward_logits(f, i / s->seq, i % s->seq, logits + i * vocab, error);
  ok = ok && write_file(s->options->logits, logits, rows * vocab, error);
  free(logits);
  return ok;
}

static bool run_once(session *s, llama_error *error) {
  forward f;
  measured time;
  if (!session_load(s, 1u << (s->version - 1), error) || !session_forward(s, s->version, NULL, &f, error)) return false;
  bool ok = measure_forward(&f, s->repeats, &time, error);
  if (ok) print_run(s, &f, &time);
  if (ok && s->options->logits != NULL) ok = write_logits(s, &f, error);
  forward_close(&f);
  return ok;
}

/* The ids through the cache: the first `prompt` at once, the others one by one. */
static bool run_cached(session *s, llama_error *error) {
  decoder d;
  char *end;
  int64_t vocab = s->config.vocab, prompt = strtoll(s->options->cached, &end, 10);
  if (*end != '\0' || prompt < 1 || prompt > s->seq || s->batch != 1)
    return llama_fail(error, "--cached = '%s': must be 1 to the length of one sequence, and the batch 1", s->options->cached);
  float *logits = malloc((size_t)(s->seq * vocab) * sizeof *logits);
  if (logits == NULL) return llama_fail(error, "no memory for the logits of %d tokens", (int)s->seq);
  bool ok = session_ids(s, error) && decoder_open(&d, s, prompt, true, s->seq, error);
  if (ok) {
    ok = decoder_prefill(&d, s->ids, prompt, true, logits, error);
    for (int64_t i = prompt; ok && i < s->seq; i++) ok = decoder_step(&d, s->ids[i], logits + i * vocab, error);
    decoder_close(&d);
  }
  if (ok && s->options->logits != NULL) ok = write_file(s->options->logits, logits, s->seq * vocab, error);
  free(logits);
  return ok;
}

static bool run_command(session *s, llama_error *error) {
  if (s->options->cached != NULL) return run_cached(s, error);
  if (s->generate > 0) return run_generate(s, error);
  if (s->options->loss != NULL) return run_loss(s, s->options->loss, error);
  if (s->options->compare) return run_compare(s, error);
  if (s->options->profile) return run_profile(s, error);
  return run_once(s, error);
}

static int run(const llama_options *options) {
  static session s;
  llama_error error = {""};
  bool usage = false;
  bool ok = session_open(&s, options, &usage, &error) && run_command(&s, &error);
  if (!ok) fprintf(stderr, "tiny-llama: %s\n", error.text);
  session_close(&s);
  return ok ? EXIT_PASSED : usage ? EXIT_USAGE : EXIT_FAILED;
}

static int read_command_line(poptContext popt, int argc, const char *const argv[]) {
  char reason[256];
  if (!case_given_once(argc, argv, reason, sizeof reason)) {
    fprintf(stderr, "tiny-llama: %s\n", reason);
    return EXIT_USAGE;
  }
  int code = poptGetNextOpt(popt);
  const char *operand = code < -1 ? NULL : poptGetArg(popt);
  if (code < -1)
    fprintf(stderr, "tiny-llama: %s: %s; --help lists the options\n", poptBadOption(popt, POPT_BADOPTION_NOALIAS),
            poptStrerror(code));
  else if (operand != NULL)
    fprintf(stderr, "tiny-llama: '%s': only options are allowed\n", operand);
  return code < -1 || operand != NULL ? EXIT_USAGE : EXIT_PASSED;
}

int main(int argc, char **argv) {
  output_begin("tiny-llama");
  llama_options o = {0};
  struct poptOption table[] = {
      {"preset", '\0', POPT_ARG_STRING, &o.preset, 0, "A model with random weights; default tiny", "benchmark|train|tiny"},
      {"model", '\0', POPT_ARG_STRING, &o.model, 0, "A Hugging Face folder: config.json and *.safetensors", "FOLDER"},
      {"input", '\0', POPT_ARG_STRING, &o.input, 0, "Shape of the input; default the preset's", "BATCHxSEQ"},
      {"ids", '\0', POPT_ARG_STRING, &o.ids, 0, "Token ids; default random ones", "ID,ID,..."},
      {"prompt", '\0', POPT_ARG_STRING, &o.prompt, 0, "Text for the model's tokenizer.json, in place of --ids", "TEXT"},
      {"seed", '\0', POPT_ARG_STRING, &o.seed, 0, "Seed of random weights and ids; default 0", "N"},
      {"dtype", '\0', POPT_ARG_STRING, &o.dtype, 0, "Type of weights and activations; default f32", "f32|f16|bf16"},
      {"version", '\0', POPT_ARG_STRING, &o.version, 0, "How the pass is divided into ops; default 4, the fastest", "1..4"},
      {"repeats", '\0', POPT_ARG_STRING, &o.repeats, 0, "Timed passes; default 5", "N"},
      {"profile", '\0', POPT_ARG_NONE, &o.profile, 0, "The steps of a pass: time, rates, error against version 1", NULL},
      {"compare", '\0', POPT_ARG_NONE, &o.compare, 0, "Time all versions, and test what is claimed of them", NULL},
      {"generate", '\0', POPT_ARG_STRING, &o.generate, 0, "Tokens to append to --ids or --prompt", "N"},
      {"temperature", '\0', POPT_ARG_STRING, &o.temperature, 0,
       "Draw tokens at this temperature; default 0: take the likeliest", "T"},
      {"top-p", '\0', POPT_ARG_STRING, &o.top_p, 0, "Draw from the likeliest tokens that have this share; default 1: from all",
       "P"},
      {"loss", '\0', POPT_ARG_STRING, &o.loss, 0, "Cross-entropy and perplexity of the token ids in a text file", "FILE"},
      {"json", '\0', POPT_ARG_STRING, &o.json, 0, "Write --profile or --compare as JSON", "FILE"},
      {"plot", '\0', POPT_ARG_STRING, &o.plot, 0, "Draw --compare", "FILE.svg"},
      {"cached", '\0', POPT_ARG_STRING, &o.cached, 0, "One sequence through the cache: N tokens at once, then one by one", "N"},
      {"logits", '\0', POPT_ARG_STRING, &o.logits, 0, "Write the logits as raw f32, [batch, seq, vocab]", "FILE"},
      {"backend", '\0', POPT_ARG_STRING, &o.backend, 0, "Kernels of one backend; default: the device's", "omp|hip"},
      {"device", '\0', POPT_ARG_STRING, &o.device, 0,
       "host; omp:N or hip:N, GPU number N; sim:gfx942 or sim:gfx950, simulated. Default: TANDEM_DEVICE, else the first GPU "
       "that "
       "answers, else host",
       "DEV"},
      {"kernel", '\0', POPT_ARG_STRING, &o.kernel, 0, "Kernels by name; default: the dispatcher chooses", "NAME|OP=NAME,..."},
      POPT_AUTOHELP POPT_TABLEEND,
  };
  poptContext popt = poptGetContext("tiny-llama", argc, (const char **)argv, table, 0);
  int code = popt == NULL ? EXIT_FAILED : read_command_line(popt, argc, (const char *const *)argv);
  if (code == EXIT_PASSED) code = run(&o);
  if (popt != NULL) poptFreeContext(popt);
  char *const texts[] = {o.prompt,  o.preset,  o.model,  o.input, o.ids,      o.dtype,       o.seed,
                         o.repeats, o.version, o.cached, o.loss,  o.generate, o.temperature, o.top_p,
                         o.backend, o.device,  o.kernel, o.json,  o.plot,     o.logits};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  return code;
}
