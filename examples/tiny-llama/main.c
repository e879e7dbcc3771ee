/* tiny-llama: the command line. */
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/options.h"
#include "cases.h"
#include "compare.h"
#include "curve.h"
#include "decoder.h"
#include "generate.h"
#include "loss.h"
#include "once.h"
#include "output.h"
#include "own.h"
#include "watch.h"

/* The ids through the cache: the first `prompt` at once, the others one by one. */
static bool run_cached(session *s, llama_error *error) {
  decoder d;
  int64_t vocab = s->config.vocab, prompt = s->cached, batch = s->batch, rest = s->seq - prompt;
  float *logits = malloc((size_t)(batch * s->seq * vocab) * sizeof *logits);
  float *some = malloc((size_t)(batch * s->seq * vocab) * sizeof *some);
  int32_t *ids = malloc((size_t)(batch * s->seq) * sizeof *ids);
  bool ok = logits != NULL && some != NULL && ids != NULL;
  if (!ok) llama_fail(error, "no memory for the logits of %d tokens", (int)(batch * s->seq));
  ok = ok && session_ids(s, error) && decoder_open(&d, s, prompt, true, s->seq, error);
  if (ok) {
    for (int64_t b = 0; b < batch; b++) memcpy(ids + b * prompt, s->ids + b * s->seq, (size_t)prompt * sizeof *ids);
    ok = decoder_prefill(&d, ids, prompt, true, some, NULL, error);
    for (int64_t b = 0; ok && b < batch; b++)
      memcpy(logits + b * s->seq * vocab, some + b * prompt * vocab, (size_t)(prompt * vocab) * sizeof *some);
    for (int64_t i = prompt; ok && i < s->seq; i++) {
      for (int64_t b = 0; b < batch; b++) ids[b] = s->ids[b * s->seq + i];
      ok = decoder_step(&d, ids, some, NULL, error);
      for (int64_t b = 0; ok && b < batch; b++)
        memcpy(logits + (b * s->seq + i) * vocab, some + b * vocab, (size_t)vocab * sizeof *some);
    }
    ok = ok && (rest == 0 || session_report(s, &d.one, error));
    decoder_close(&d);
  }
  if (ok && s->options->logits != NULL) ok = logits_write(s, logits, batch * s->seq * vocab, error);
  free(ids);
  free(some);
  free(logits);
  return ok;
}

static bool run_command(session *s, llama_error *error) {
  if (s->options->cases != NULL) return run_cases(s, error);
  if (s->options->curve) return run_curve(s, error);
  if (s->options->cached != NULL) return run_cached(s, error);
  if (s->generate > 0) return run_generate(s, error);
  if (s->options->loss != NULL) return run_loss(s, s->options->loss, error);
  if (s->options->compare) return run_compare(s, error);
  if (s->options->profile) return run_profile(s, error);
  return run_once(s, s->options->logits != NULL, error);
}

static int run(const llama_options *options) {
  static session s;
  llama_error error = {""};
  bool usage = false;
  bool ok = session_open(&s, options, &usage, &error) && run_command(&s, &error) && own_report(s.own, &error);
  if (!ok) ranks_fail(&s.ranks, &error);
  char none = 0, all[RANKS_MOST];
  if (ok && !ranks_gather(&s.ranks, &none, 1, all, &error))
    ranks_fail(&s.ranks, &error); /* nobody ends before all have done all */
  watch_end();
  session_close(&s);
  ranks_close(&s.ranks);
  return ok ? EXIT_PASSED : usage ? EXIT_USAGE : EXIT_FAILED;
}

static int read_command_line(poptContext popt, int argc, const char *const argv[]) {
  char reason[256];
  bool first = ranks_first_started(); /* one line, however many processes MPI starts */
  if (!case_given_once(argc, argv, reason, sizeof reason)) {
    if (first) fprintf(stderr, "tiny-llama: %s\n", reason);
    return EXIT_USAGE;
  }
  int code = poptGetNextOpt(popt);
  const char *operand = code < -1 ? NULL : poptGetArg(popt);
  if (first && code < -1)
    fprintf(stderr, "tiny-llama: %s: %s; --help lists the options\n", poptBadOption(popt, POPT_BADOPTION_NOALIAS),
            poptStrerror(code));
  else if (first && operand != NULL)
    fprintf(stderr, "tiny-llama: '%s': only options are allowed\n", operand);
  return code < -1 || operand != NULL ? EXIT_USAGE : EXIT_PASSED;
}

int main(int argc, char **argv) {
  output_begin("tiny-llama");
  llama_options o = {0};
  struct poptOption table[] = {
      {"preset", '\0', POPT_ARG_STRING, &o.preset, 0, "A model with random weights; default tiny", "benchmark|train|tiny|8b"},
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
      {"ranks", '\0', POPT_ARG_STRING, &o.ranks, 0,
       "tp=N: tensor parallel over the N processes of mpirun -n N tiny-llama ...; alone=N: the work of the first of N ranks, "
       "without the others, for its time",
       "tp=N|alone=N"},
      {"move", '\0', POPT_ARG_STRING, &o.move, 0,
       "What moves data between ranks; default: nccl for omp:N, rccl for hip:N, else mpi. FILE: the library",
       "mpi|nccl|rccl|nccl=FILE|rccl=FILE"},
      {"chunks", '\0', POPT_ARG_STRING, &o.chunks, 0,
       "Ranks: 2, exchanges of one half of the tokens beside the products of the other; default 1", "1|2"},
      {"leave", '\0', POPT_ARG_STRING, &o.leave, 0,
       "Ranks: multiprocessors that products leave to the exchanges beside them; default 0", "N"},
      {"cases", '\0', POPT_ARG_STRING, &o.cases, 0,
       "Shapes one after another, with the weights loaded once: BATCHxSEQ, a timed pass; +N: then N tokens, as --generate; /2: "
       "--chunks 2",
       "BATCHxSEQ[+N][/CHUNKS],..."},
      {"curve", '\0', POPT_ARG_NONE, &o.curve, 0, "How long exchanges between the ranks take, by size", NULL},
      {"by-tokens", '\0', POPT_ARG_STRING, &o.by_tokens, 0,
       "Ranks divide the residual stream of passes of at least N tokens; default 1024", "N"},
      {"own", '\0', POPT_ARG_STRING, &o.own, 0,
       "Your kernels in place of the library's, by the signatures of the exercises llama-gemm and llama-attention: code "
       "objects, "
       "with their TILE and __launch_bounds__",
       "gemm=FILE.hsaco:tile=RxC:block=N,attention=..."},
      {"predict", '\0', POPT_ARG_NONE, &o.predict, 0, "--generate on a simulated chip: tokens/s by gfxsim's model of time",
       NULL},
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
  char *const texts[] = {o.prompt, o.preset, o.model,    o.input,       o.ids,       o.dtype,   o.seed,   o.repeats, o.version,
                         o.cached, o.loss,   o.generate, o.temperature, o.top_p,     o.backend, o.device, o.kernel,  o.json,
                         o.plot,   o.logits, o.ranks,    o.move,        o.by_tokens, o.chunks,  o.leave,  o.cases,   o.own};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  return code;
}
