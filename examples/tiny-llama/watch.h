/* Ends this process when another rank of its host has ended without a word, whatever it is doing: a launcher that lives does
 * the same, mostly before. */
#ifndef LLAMA_WATCH_H
#define LLAMA_WATCH_H

#include "mover.h"

/* Watches the processes until watch_end. m: whose exchanges are given up first. A system that can't watch processes, such as a
 * Linux before 5.3, leaves all to the launcher. */
bool watch_begin(const ranks *r, mover *m, llama_error *error);
void watch_end(void);

#endif
