/* How a thread waits for an NVIDIA GPU: what opens of one process ask of the driver, one after the other. */
#include "api.h"
#include "fake_cuda.h"
#include "offload/device/device.h"

enum { MAP_HOST = 8, AUTO = 0, SPIN = 1, BLOCKING = 4 }; /* the first is a flag beside those of waiting, which must survive */

static char reason[128];

/* On the host, where memory is had without a GPU. */
static tdm_status wait_on(const char *wait) {
  tdm_context context = {.backend = &tdm_backend_omp, .omp_device = -1};
  return tdm_omp_wait(&context, wait, reason, sizeof reason);
}

/* The linker's --wrap: a driver that is older than the library wants. */
static const char *lacks;
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
  return lacks != NULL && strcmp(name, lacks) == 0 ? NULL : __real_dlsym(library, name);
}

static int setup(void **state) {
  (void)state;
  fake_cuda = (fake_cuda_state){.flags = MAP_HOST | BLOCKING};
  return 0;
}

static void names_a_function_that_the_driver_lacks(void **state) {
  (void)state;
  lacks = "cuTensorMapEncodeTiled";
  assert_int_equal(wait_on("spin"), TDM_ERROR_UNSUPPORTED);
  assert_string_equal(reason, "the driver has no cuTensorMapEncodeTiled: CUDA 12.1 and later have it");
  assert_int_equal(fake_cuda.flags, MAP_HOST | BLOCKING);
  lacks = NULL;
  assert_int_equal(wait_on(NULL), TDM_OK); /* what was not found is asked for again */
  assert_int_equal(fake_cuda.flags, MAP_HOST | AUTO);
}

static void takes_the_plugins_setting_back(void **state) {
  (void)state;
  assert_int_equal(wait_on(NULL), TDM_OK);
  assert_int_equal(fake_cuda.flags, MAP_HOST | AUTO);
  assert_int_equal(fake_cuda.pushed, 0);
}

static void leaves_what_others_have_set(void **state) {
  (void)state;
  fake_cuda.flags = MAP_HOST | SPIN;
  assert_int_equal(wait_on(NULL), TDM_OK);
  assert_int_equal(fake_cuda.flags, MAP_HOST | SPIN);
}

static void says_what_the_driver_keeps(void **state) {
  (void)state;
  fake_cuda.keeps = true;
  assert_int_equal(wait_on("spin"), TDM_ERROR_DEVICE);
  assert_non_null(strstr(reason, "the driver keeps the flags 0xc"));
  fake_cuda.keeps = false;
  assert_int_equal(wait_on(NULL), TDM_OK); /* what failed was not named */
  assert_int_equal(fake_cuda.flags, MAP_HOST | AUTO);
}

/* The CUDA driver may be loaded where the device is of another vendor. */
static void leaves_other_vendors_alone(void **state) {
  (void)state;
  fake_cuda.stranger = true;
  assert_int_equal(wait_on("spin"), TDM_ERROR_UNSUPPORTED);
  assert_non_null(strstr(reason, "is not a device of the CUDA driver"));
  assert_int_equal(fake_cuda.flags, MAP_HOST | BLOCKING);
  fake_cuda.stranger = false;
  assert_int_equal(wait_on(NULL), TDM_OK);
  assert_int_equal(fake_cuda.flags, MAP_HOST | AUTO);
}

/* The last open that names a way decides; auto leaves it. */
static void auto_leaves_what_was_named(void **state) {
  (void)state;
  assert_int_equal(wait_on("block"), TDM_OK);
  assert_int_equal(wait_on(NULL), TDM_OK);
  assert_int_equal(fake_cuda.flags, MAP_HOST | BLOCKING);
  assert_int_equal(wait_on("spin"), TDM_OK);
  assert_int_equal(wait_on(NULL), TDM_OK);
  assert_int_equal(fake_cuda.flags, MAP_HOST | SPIN);
  assert_int_equal(fake_cuda.pushed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(names_a_function_that_the_driver_lacks, setup), /* the first: what was found is kept */
      cmocka_unit_test_setup(takes_the_plugins_setting_back, setup),
      cmocka_unit_test_setup(leaves_what_others_have_set, setup),
      cmocka_unit_test_setup(says_what_the_driver_keeps, setup),
      cmocka_unit_test_setup(leaves_other_vendors_alone, setup),
      cmocka_unit_test_setup(auto_leaves_what_was_named, setup), /* the last: what was named stays */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
