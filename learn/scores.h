/* The scoreboard of open challenges: a text file, a line a result, fields between tabs. */
#ifndef TANDEM_LEARN_SCORES_H
#define TANDEM_LEARN_SCORES_H

#include "learn.h"

extern const char learn_scores_file[]; /* where none is named: in the working folder */

/* May this be somebody's name in the file? */
bool learn_score_name(const char *name);
/* Appends a right result. false: stderr tells why. */
bool learn_score_add(const char *path, const char *name, const learn_request *r, const learn_outcome *o);
/* Prints the file, the fewest predicted clocks first. */
bool learn_scores_show(const char *path);

#endif
