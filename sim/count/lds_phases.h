/* Which lanes the LDS serves together if they are not neighbours: lanes 0-31 in the order of phases; 32-63 follow the same
 * order. count_lds.c has the sources. */
#ifndef GFXSIM_LDS_PHASES_H
#define GFXSIM_LDS_PHASES_H
#include <stdint.h>

static const uint8_t lds_phases_8[] = {0, 1, 2,  3,  20, 21, 22, 23, 4,  5,  6,  7,  16, 17, 18, 19,
                                       8, 9, 10, 11, 28, 29, 30, 31, 12, 13, 14, 15, 24, 25, 26, 27};
static const uint8_t lds_phases_16[] = {0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27,
                                        4, 5, 6, 7, 8,  9,  10, 11, 16, 17, 18, 19, 28, 29, 30, 31};

#endif
