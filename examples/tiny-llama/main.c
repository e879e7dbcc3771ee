/* tiny-llama: the command line. */
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "session.h"

enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Writes all logits, [batch, seq, vocab] as f32, for tests. */
static bool write_logits(const session *s, const forward *f, llama_error *error) {
  const char *path = s->options->logits;
  float *row = malloc((size_t)s->config.vocab * sizeof *row);
  FILE *file = row == NULL ? NULL : fopen(path, "wb");
  bool ok = file != NULL || llama_fail(error, "--logits = '%s': can't be written", path);
  for (int64_t i = 0; ok && i < s->batch * s->seq; i++) {
    ok = forward_logits(f, i / s->seq, i % s->seq, row, error);
    if (ok && fwrite(row, sizeof *row, (size_t)s->config.vocab, file) != (size_t)s->config.vocab)
      ok = llama_fail(error, "--logits = '%s': can't be written", path);
  }
  if (file != NULL && fclose(file) != 0 && ok) ok = llama_fail(error, "--logits = '%s': can't be written", path);
  free(row);
  return ok;
}

static bool run_once(session *s, llama_error *error) {
  forward f;
  measured time;
  if (!session_load(s, 1u << (s->version - 1), error) || !session_forward(s, s->version, &f, error)) return false;
  bool ok = measure_forward(&f, s->repeats, &time, error);
  if (ok) print_run(&f, &time);
  if (ok && s->options->logits != NULL) ok = write_logits(s, &f, error);
  forward_close(&f);
  return ok;
}

static int run(const llama_options *options) {
  static session s;
  llama_error error = {""};
  bool usage = false;
  bool ok = session_open(&s, options, &usage, &error) && run_once(&s, &error);
  if (!ok) fprintf(stderr, "tiny-llama: %s\n", error.text);
  session_close(&s);
  return ok ? EXIT_PASSED : usage ? EXIT_USAGE : EXIT_FAILED;
}

static int read_command_line(poptContext popt) {
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
  llama_options o = {0};
  struct poptOption table[] = {
      {"preset", '\0', POPT_ARG_STRING, &o.preset, 0, "A model with random weights; default tiny", "benchmark|train|tiny"},
      {"model", '\0', POPT_ARG_STRING, &o.model, 0, "A Hugging Face folder: config.json and *.safetensors", "FOLDER"},
      {"input", '\0', POPT_ARG_STRING, &o.input, 0, "Shape of the input; default the preset's", "BATCHxSEQ"},
      {"ids", '\0', POPT_ARG_STRING, &o.ids, 0, "Token ids; default random ones", "ID,ID,..."},
      {"seed", '\0', POPT_ARG_STRING, &o.seed, 0, "Seed of random weights and ids; default 0", "N"},
      {"dtype", '\0', POPT_ARG_STRING, &o.dtype, 0, "Type of weights and activations; default f32", "f32|f16|bf16"},
      {"version", '\0', POPT_ARG_STRING, &o.version, 0, "How the pass is cut into ops; default 4", "1..4"},
      {"repeats", '\0', POPT_ARG_STRING, &o.repeats, 0, "Timed passes; default 5", "N"},
      {"logits", '\0', POPT_ARG_STRING, &o.logits, 0, "Write the logits as raw f32, [batch, seq, vocab]", "FILE"},
      {"backend", '\0', POPT_ARG_STRING, &o.backend, 0, "Backend", "omp|hip"},
      {"device", '\0', POPT_ARG_STRING, &o.device, 0, "Device", "host|omp:N|hip:N|sim:CHIP"},
      {"kernel", '\0', POPT_ARG_STRING, &o.kernel, 0, "Kernel", "NAME|OP=NAME,..."},
      POPT_AUTOHELP POPT_TABLEEND,
  };
  poptContext popt = poptGetContext("tiny-llama", argc, (const char **)argv, table, 0);
  int code = popt == NULL ? EXIT_FAILED : read_command_line(popt);
  if (code == EXIT_PASSED) code = run(&o);
  if (popt != NULL) poptFreeContext(popt);
  char *const texts[] = {o.preset,  o.model,  o.input,  o.dtype, o.seed, o.repeats, o.version,
                         o.backend, o.device, o.kernel, o.ids,   o.json, o.plot,    o.logits};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  return code;
}
