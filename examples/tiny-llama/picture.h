/* The picture of --compare --plot, of what --compare --json wrote. */
#ifndef LLAMA_PICTURE_H
#define LLAMA_PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Time and bound of each version, and its memory. device: what it was measured on; NULL: as the JSON names it. false: root is
 * not of --compare, or nothing was timed. */
bool picture_can_draw(const json_t *root);
bool picture_draw(FILE *out, const json_t *root, const char *device);

#endif
