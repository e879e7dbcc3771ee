/* Host kernels are compiled several times: once for what the whole library needs (-Dhost_cpu), and once for each higher level
 * of instruction sets that the compiler has (offload/meson.build). A level's objects have names of their own, and its rows
 * name the sets that they need, so that the dispatcher runs them only where these are. Compiled for a level:
 *
 *   TDM_LEVEL        its name, as avx512
 *   TDM_LEVEL_SETS   the sets that its rows need (src/core/cpu.h)
 *   TDM_LEVEL_TYPES  the types of its rows, 0: all
 *   TDM_LEVEL_PAIRS  its products take pairs of 16-bit elements (engine/tile.h)
 *   TDM_LEVEL_AMX    its products are those of AMX's tiles
 *   TDM_LEVEL_AMX_F16  ... of f16 */
#ifndef TANDEM_OFFLOAD_DEVICE_LEVEL_H
#define TANDEM_OFFLOAD_DEVICE_LEVEL_H

#ifdef TDM_LEVEL
#include "src/core/cpu.h"

#define TDM_LEVEL_JOIN(name, level) name##_##level
#define TDM_LEVEL_JOINED(name, level) TDM_LEVEL_JOIN(name, level)
#define TDM_LEVEL_QUOTE(level) #level
#define TDM_LEVEL_QUOTED(level) TDM_LEVEL_QUOTE(level)
#ifdef TDM_LEVEL_PAIRS
#define TDM_LEVEL_MATRIX true
#else
#define TDM_LEVEL_MATRIX false
#endif
#ifdef TDM_LEVEL_AMX_F16
#define TDM_LEVEL_BY_NAME true /* no processor has run it yet, only the emulation of the tests */
#else
#define TDM_LEVEL_BY_NAME false
#endif
/* A name that other files see: NAME, or NAME_avx512. */
#define TDM_OF_LEVEL(name) TDM_LEVEL_JOINED(name, TDM_LEVEL)
/* How a row begins. */
#define TDM_LEVEL_ROW(text)                                                                                                    \
  .name = text "_" TDM_LEVEL_QUOTED(TDM_LEVEL), .cpu = TDM_LEVEL_SETS, .types = TDM_LEVEL_TYPES, .by_name = TDM_LEVEL_BY_NAME, \
  .matrix_units = TDM_LEVEL_MATRIX
#else
#define TDM_LEVEL_MATRIX false
#define TDM_OF_LEVEL(name) name
#define TDM_LEVEL_ROW(text) .name = text
#endif

#endif
