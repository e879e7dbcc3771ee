#ifndef TANDEM_LEARN_TRY_H
#define TANDEM_LEARN_TRY_H

#include "learn.h"

/* Compiles and runs the user's file; what was found is in *o, which process_share made. */
void learn_try(const learn_request *r, learn_outcome *o);
/* Prints the verdict, the counters and the next hint; the tool's exit status. hints: how many to print. */
int learn_tell(const learn_request *r, const learn_outcome *o, int hints);

#endif
