/* .npy files: what is written is read back, every form that NumPy writes is understood, everything else is refused with a line
 * that says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/npy.h"

enum { ERROR_TEXT = 256, FILE_BYTES = 1024 };

/* A file in memory: magic, version, header, elements. */
typedef struct file {
  unsigned char bytes[FILE_BYTES];
  size_t size;
} file;

static file make_file(int major, const char *header, const void *data, size_t bytes) {
  file f = {.bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0}};
  size_t length = strlen(header), start = major == 1 ? 10 : 12;
  for (size_t i = 8; i < start; i++) f.bytes[i] = (unsigned char)(length >> 8 * (i - 8));
  memcpy(f.bytes + start, header, length);
  memcpy(f.bytes + start + length, data, bytes);
  f.size = start + length + bytes;
  return f;
}

static void assert_parses(const file *f, npy_array *array) {
  char error[ERROR_TEXT] = "";
  if (!npy_parse(f->bytes, f->size, array, error, sizeof error)) fail_msg("refused: %s", error);
}

/* ---- Round trips ---- */

static void round_trip(npy_type type, int rank, const int64_t *dim) {
  char path[] = "/tmp/tandem-npy-XXXXXX", error[ERROR_TEXT] = "";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  unsigned char data[256], row[256];
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(7 * i + 1);
  assert_true(npy_write_file(path, type, rank, dim, data, error, sizeof error));
  void *bytes;
  size_t size;
  npy_array array;
  assert_true(npy_read_file(path, &bytes, &size, error, sizeof error));
  if (!npy_parse(bytes, size, &array, error, sizeof error)) fail_msg("refused: %s", error);
  assert_int_equal((array.data - (unsigned char *)bytes) % 64, 0);
  assert_int_equal(array.type, type);
  assert_int_equal(array.rank, rank);
  int64_t length = rank == 0 ? 1 : dim[rank - 1];
  for (int d = 0; d < rank; d++) assert_int_equal(array.dim[d], dim[d]);
  for (int64_t r = 0; array.count > 0 && r < array.count / length; r++) {
    size_t row_bytes = (size_t)length * npy_type_size(type);
    npy_read_row(&array, r, row);
    assert_memory_equal(row, data + (size_t)r * row_bytes, row_bytes);
  }
  free(bytes);
  unlink(path);
}

static void test_round_trips(void **state) {
  (void)state;
  for (npy_type type = NPY_F16; type < NPY_TYPES; type++) {
    round_trip(type, 0, NULL);
    round_trip(type, 1, (const int64_t[]){5});
    round_trip(type, 2, (const int64_t[]){3, 4});
    round_trip(type, 3, (const int64_t[]){2, 3, 5});
    round_trip(type, 2, (const int64_t[]){0, 4});
    round_trip(type, 2, (const int64_t[]){4, 0});
    round_trip(type, 8, (const int64_t[]){1, 2, 1, 1, 2, 1, 1, 3});
  }
}

/* ---- What other programs write ---- */

static void test_accepted_headers(void **state) {
  (void)state;
  static const char *const headers[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                  \n",
      "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n",
      "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2,3,)}",
      "  { 'descr' : '<f4' ,\t'fortran_order' : False , 'shape' : ( 2L , 3L ) , } \n",
  };
  const float data[6] = {1, 2, 3, 4, 5, 6};
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
    for (int major = 1; major <= 3; major++) {
      file f = make_file(major, headers[i], data, sizeof data);
      npy_array array;
      float row[3];
      assert_parses(&f, &array);
      assert_int_equal(array.count, 6);
      npy_read_row(&array, 1, row);
      assert_memory_equal(row, data + 3, sizeof row);
    }
}

static void test_fortran_order(void **state) {
  (void)state;
  const int32_t data[6] = {1, 4, 2, 5, 3, 6}; /* columns of {1, 2, 3}, {4, 5, 6} */
  file f = make_file(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}", data, sizeof data);
  npy_array array;
  assert_parses(&f, &array);
  for (int64_t r = 0; r < 2; r++) {
    int32_t row[3];
    npy_read_row(&array, r, row);
    for (int c = 0; c < 3; c++) assert_int_equal(row[c], 3 * r + c + 1);
  }
}

static void test_big_endian(void **state) {
  (void)state;
  const unsigned char data[8] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
  file f = make_file(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}", data, sizeof data);
  npy_array array;
  int32_t row[2];
  assert_parses(&f, &array);
  npy_read_row(&array, 0, row);
  assert_int_equal(row[0], 0x01020304);
  assert_int_equal(row[1], 0x05060708);
}

/* ml_dtypes saves bfloat16 as two bytes without a meaning. */
static void test_ml_dtypes(void **state) {
  (void)state;
  const uint16_t data[2] = {0x3f80, 0x4000};
  file f = make_file(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (2,)}", data, sizeof data);
  npy_array array;
  assert_parses(&f, &array);
  assert_int_equal(array.type, NPY_U16);
  const uint8_t bytes[3] = {0x38, 0x40, 0xff}; /* float8_e4m3fn, float4_e2m1fn */
  f = make_file(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (3,)}", bytes, sizeof bytes);
  assert_parses(&f, &array);
  assert_int_equal(array.type, NPY_U8);
}

/* NumPy marks types of one byte with |, other programs with < or >. */
static void test_one_byte(void **state) {
  (void)state;
  static const struct {
    const char *header;
    npy_type type;
  } rows[] = {{"{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", NPY_I8},
              {"{'descr': '<i1', 'fortran_order': False, 'shape': (2,)}", NPY_I8},
              {"{'descr': '>u1', 'fortran_order': False, 'shape': (2,)}", NPY_U8},
              {"{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", NPY_BOOL}};
  const uint8_t data[2] = {1, 0};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    file f = make_file(1, rows[i].header, data, sizeof data);
    npy_array array;
    uint8_t row[2];
    assert_parses(&f, &array);
    assert_int_equal(array.type, rows[i].type);
    npy_read_row(&array, 0, row);
    assert_memory_equal(row, data, sizeof row);
  }
}

/* ---- What is refused ---- */

static void assert_refused(const void *bytes, size_t size, const char *why) {
  char error[ERROR_TEXT] = "";
  npy_array array;
  assert_false(npy_parse(bytes, size, &array, error, sizeof error));
  if (strstr(error, why) == NULL) fail_msg("said '%s', not '%s'", error, why);
}

static void test_refused_headers(void **state) {
  (void)state;
  static const struct {
    const char *header, *why;
  } refused[] = {
      {"", "must be a dict"},
      {"[]", "must be a dict"},
      {"{", "must be a dict with"},
      {"{}", "has no descr"},
      {"{'descr': '<f4', 'shape': (1,)}", "has no fortran_order"},
      {"{'descr': '<f4', 'fortran_order': False}", "has no shape"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "'descr' twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}", "none of descr"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "no ',' or '}'"},
      {"{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}", "no ':'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "after its '}'"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "descr = '<c8': must be f2"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "descr = '|O'"},
      {"{'descr': '=f4', 'fortran_order': False, 'shape': (1,)}", "descr = '=f4'"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "list of fields"},
      {"{'descr': 4, 'fortran_order': False, 'shape': (1,)}", "not a short string"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "descr = '<f4, '"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "round brackets"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", "followed by a comma"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", "commas between"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, x)}", "whole numbers"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "negative"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "whole numbers"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", "above 2^63"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "more than 2^63 - 1 elements"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 1073741824)}", "do not fit in 63 bits"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "more than 8 dimensions"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "needs 8 bytes of elements, 4 are there"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", "4 bytes after"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': ()}", "2 bytes after"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    file f = make_file(1, refused[i].header, &(float){1}, sizeof(float));
    assert_refused(f.bytes, f.size, refused[i].why);
  }
}

/* Every file that ends early is refused, wherever it ends. */
static void test_truncated(void **state) {
  (void)state;
  const float data[4] = {1, 2, 3, 4};
  for (int major = 1; major <= 3; major++) {
    file f = make_file(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}\n", data, sizeof data);
    for (size_t size = 0; size < f.size; size++) assert_refused(f.bytes, size, size < 6 ? "not a .npy file" : "truncated");
  }
}

static void test_refused_starts(void **state) {
  (void)state;
  static const unsigned char huge[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff};
  static const unsigned char version[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0, 0, 0};
  assert_refused("PK\x03\x04 an .npz file", 15, "not a .npy file");
  assert_refused(huge, sizeof huge, "header of 4294967295 bytes: at most 65536");
  assert_refused(version, sizeof version, "version 4.0: must be 1.0, 2.0 or 3.0");
}

static void test_files(void **state) {
  (void)state;
  char error[ERROR_TEXT] = "";
  void *bytes;
  size_t size;
  const int64_t dim[1] = {1};
  assert_false(npy_read_file("/nowhere/x.npy", &bytes, &size, error, sizeof error));
  assert_non_null(strstr(error, "can't be opened"));
  assert_false(npy_read_file("/dev/null", &bytes, &size, error, sizeof error));
  assert_non_null(strstr(error, "must be a regular file"));
  assert_false(npy_write_file("/nowhere/x.npy", NPY_F32, 1, dim, &(float){1}, error, sizeof error));
  assert_non_null(strstr(error, "can't be written"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trips),     cmocka_unit_test(test_accepted_headers), cmocka_unit_test(test_fortran_order),
      cmocka_unit_test(test_big_endian),      cmocka_unit_test(test_ml_dtypes),        cmocka_unit_test(test_one_byte),
      cmocka_unit_test(test_refused_headers), cmocka_unit_test(test_truncated),        cmocka_unit_test(test_refused_starts),
      cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
