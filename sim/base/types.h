/* Short names of the fixed-width types, and the width of a wave: instructions are written over 64-lane rows. */
#ifndef GFXSIM_TYPES_H
#define GFXSIM_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

enum { LANES = 64 };
#define EXEC_ALL UINT64_MAX

#endif
