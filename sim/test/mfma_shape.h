/* The matrix instructions as their documents describe them: shapes, types, and which lane holds what. */
#ifndef SIM_TEST_MFMA_SHAPE_H
#define SIM_TEST_MFMA_SHAPE_H
#include <stdbool.h>
#include <stdint.h>

enum { LANES = 64, SIDE_DWORDS = 8, RESULT_DWORDS = 32, ELEMENTS_MOST = 2048 };

typedef enum type { F16, BF16, F32, XF32, F64, I8, I32, FP8_FNUZ, BF8_FNUZ, FP8, BF8, FP6, BF6, FP4, TYPES } type;

typedef struct shape {
  const char *name; /* after v_ */
  int m, k, blocks; /* n is m */
  type a, b, result;
  const char *chip; /* NULL: both */
  bool permutes;    /* takes cbsz, abid, blgp */
} shape;

extern const shape shapes[];
extern const int shape_count;

int type_bits(type t);
/* The type's code of a value that it has. */
uint64_t code_of(type t, double value);
/* And the value of any code. */
double value_of(type t, uint64_t code);

typedef struct place {
  int lane, element;
} place;

/* Only two of four neighbours of A along k are stored, and their places in a word of the lane. */
bool is_sparse(const shape *s);

bool is_f8f6f4(const shape *s);
/* The lane that has the scale of A[i][k], or B[k][j] with j for i. */
int scale_lane(const shape *s, int i, int k);

/* Where A[i][k] of a block is, if A is not sparse and has the type t; B[k][j] with j for i. Elements of a lane are packed from
 * bit 0 of its first register on. A sparse A's two of elements 4n to 4n + 3 are stored as elements 2n and 2n + 1. */
place input_place(const shape *s, type t, int block, int i, int k);
/* Where D[i][j] is: the element counts registers, or pairs of them in f64. */
place result_place(const shape *s, int block, int i, int j);

#endif
