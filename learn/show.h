/* What tandem-learn prints. */
#ifndef TANDEM_LEARN_SHOW_H
#define TANDEM_LEARN_SHOW_H

#include "learn.h"

enum { LEARN_PATH = 4200 };

void learn_list(void);
/* The task, its limits, the signature, the targets and the first `hints` hints. false: a file can't be read, which stderr
 * tells. */
bool learn_show(const learn_exercise *e, const char *folder, int hints);
/* Copies the start file to a new file. */
bool learn_write_start(const learn_exercise *e, const char *folder, const char *to);
/* The counters beside their targets; false: one is missed. One that this chip's model has no source for is not. */
bool learn_show_targets(const learn_exercise *e, const learn_outcome *o);
/* The first `hints` hints, those for the verdict before others; whether there are more. */
bool learn_show_hints(const learn_exercise *e, const char *folder, learn_verdict verdict, int hints);

/* A whole text file; NULL: stderr tells why. */
char *learn_read_text(const char *path);

extern const char *const learn_counter_names[LEARN_COUNTERS];

#endif
