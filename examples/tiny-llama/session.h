/* What every command of tiny-llama works with: the options, the model, the device. */
#ifndef LLAMA_SESSION_H
#define LLAMA_SESSION_H

#include "forward.h"
#include "tokenizer.h"

/* What the command line says. */
typedef struct llama_options {
  char *preset, *model, *input, *dtype, *seed, *repeats, *version; /* texts, NULL where one was not given */
  char *backend, *device, *kernel;
  char *ids, *prompt, *json, *plot, *logits, *cached, *loss;
  char *generate, *temperature, *top_p;
  char *ranks, *move, *by_tokens, *chunks, *leave, *cases, *own;
  int profile, compare, curve, predict;
} llama_options;

/* One of --cases. */
typedef struct llama_case {
  int64_t batch, seq;
  int64_t generate; /* tokens after the input, 0: a pass over it is timed */
  int chunks;
} llama_case;

typedef struct session {
  const llama_options *options;
  llama_config config;
  ranks ranks;
  llama_share share; /* what this rank has of config */
  mover mover;
  int chunks;        /* of passes over more than one token, 1 or 2 */
  int leave;         /* multiprocessors for exchanges beside products */
  int64_t by_tokens; /* passes of at least so many tokens divide them between products */
  tdm_type type;
  uint64_t seed;
  int version, repeats;
  int64_t generate; /* tokens to make, 0: none */
  int64_t cached;   /* tokens at once of --cached, 0: not given */
  double temperature, top_p;
  int64_t batch, seq;
  llama_case *cases;
  int case_count;
  struct own_kernels *own; /* of --own, else NULL */
  tokenizer *tokenizer;    /* of --prompt, else NULL */
  int32_t *ids;            /* [batch, seq]; random ones are made by session_ids */
  memory m;
  weights w;
} session;

/* Reads the options, the model's description and the ids, and opens the device. *usage: the command line is at fault. */
bool session_open(session *s, const llama_options *options, bool *usage, llama_error *error);
void session_close(session *s);
/* Loads weights in the forms that the versions need: bit v - 1 of `versions` for version v. Says before if memory is short:
 * the weights, and the largest of the versions' other memory. */
bool session_load(session *s, unsigned versions, llama_error *error);
/* Loads weights in these forms, unless they are there; says before if memory is short for them and what else is `wanted`. */
bool session_weights(session *s, int forms, size_t wanted[MEMORY_KINDS], llama_error *error);
bool session_ids(session *s, llama_error *error);
/* What ranks do with the tokens of a pass over `seq` of them. */
bool session_by_tokens(const session *s, int64_t seq);
int session_chunks(const session *s, int64_t seq);
/* The ranks' bits after a pass, compared, and what each has read and used: a table on rank 0. */
bool session_report(const session *s, const forward *f, llama_error *error);
/* Bytes of a room for any version's pass (forward.h). */
size_t session_room(session *s);
/* A pass of a version over the session's ids. room: NULL, or session_room bytes. */
bool session_forward(session *s, int version, void *room, forward *f, llama_error *error);

#endif
