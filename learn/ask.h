/* tandem-learn ask PAGE: a question whose answer a command computes after the reader has given one. */
#ifndef TANDEM_LEARN_ASK_H
#define TANDEM_LEARN_ASK_H

#include <stdint.h>

/* folder: of the questions. seed: of the shape. answer: NULL reads it from stdin. The exit status of the program. */
int learn_ask(const char *folder, const char *page, uint64_t seed, const char *answer);

#endif
