/* The names of devices, by a driver that was loaded before. Usage: bench-device-name-test libcuda.so.1 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/core/device_name.h"

static const char *driver;

static const char *name_of(const char *device) {
  static char text[64];
  bench_device_name(device, text, sizeof text);
  return text;
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(name_of("omp:0"), ""); /* no driver is loaded yet, and none is opened for its name */
  void *library = dlopen(driver, RTLD_NOW);
  assert_non_null(library);
  assert_string_equal(name_of("omp:0"), "Fake GPU A");
  assert_string_equal(name_of("omp:1"), "Fake GPU B");
  assert_string_equal(name_of("omp:2"), "");
  assert_string_equal(name_of("host"), "");
  assert_string_equal(name_of("hip:0"), "");
  dlclose(library);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
  driver = argc > 1 ? argv[1] : "";
  return cmocka_run_group_tests(tests, NULL, NULL);
}
