/* What the library asks of HIP's runtime, on stand-ins for devices (fake.c): the number of XCDs, and how many calls a run
 * takes. Use: hip-device CHIP, with the stand-in's folder in LD_LIBRARY_PATH. */
#include <dlfcn.h>
#include <stdio.h>

#include "../api/api.h"
#include "fake.h"
#include "hip/host/hip.h"
#include "tandem/add.h"

static fake_hip *fake;
static const char *chip;

static int setup(void **state) {
  (void)state;
  clear_environment();
  setenv("FAKE_HIP", chip, 1);
  *fake = (fake_hip){.fail_at = -1, .error = hipErrorUnknown, .release = 1};
  return 0;
}

/* The number of XCDs that a context works with. */
static int xcds_of(int compute_units, int reported) {
  tdm_context *context = NULL;
  fake->compute_units = compute_units;
  fake->xcds = reported;
  ACCEPTED(tdm_open(&(tdm_options){.device = "hip:0"}, &context));
  int xcds = context->hip->xcds;
  ACCEPTED(tdm_close(context));
  return xcds;
}

/* ROCm 7 reports the number. Where it is not reported it follows from the compute units of a whole XCD: AMD's data sheets have
 * 304 in the 8 XCDs of an MI300X, 228 in the 6 of an MI300A, 256 in the 8 of an MI350X. Partitions hold whole XCDs; a number
 * that is below that of an XCD is one. */
static void xcds(void **state) {
  (void)state;
  assert_int_equal(xcds_of(64, 5), 5);
  if (strcmp(chip, "gfx942") == 0) {
    assert_int_equal(xcds_of(304, 0), 8);
    assert_int_equal(xcds_of(304, -1), 8);
    assert_int_equal(xcds_of(228, 0), 6);
    assert_int_equal(xcds_of(152, 0), 4);
    assert_int_equal(xcds_of(38, 0), 1);
    assert_int_equal(xcds_of(20, 0), 1);
  } else {
    assert_int_equal(xcds_of(256, 0), 8);
    assert_int_equal(xcds_of(256, -1), 8);
    assert_int_equal(xcds_of(64, 0), 2);
    assert_int_equal(xcds_of(32, 0), 1);
    assert_int_equal(xcds_of(31, 0), 1);
  }
}

/* The calls that were made since the last question. */
static int calls(void) {
  int made = fake->calls;
  fake->calls = 0;
  return made;
}

/* With one device nobody has to ask which one is current. A run asks where each array is, and the run of a plan without a
 * workspace is then its launch. What waits for a stream first asks whether it captures. */
static void calls_of_one_device(void **state) {
  (void)state;
  tdm_context *context = NULL;
  tdm_stream *stream = NULL;
  tdm_plan *plan = NULL;
  float *a = NULL, x[4] = {0};
  tdm_add_desc desc = tdm_add_default(1, 4, TDM_F32);
  ACCEPTED(tdm_open(&(tdm_options){.device = "hip:0"}, &context));
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  calls();
  ACCEPTED(tdm_alloc(context, sizeof x, (void **)&a));
  assert_int_equal(calls(), 1);
  ACCEPTED(tdm_stream_open(context, &stream));
  assert_int_equal(calls(), 1);
  ACCEPTED(tdm_copy(context, a, x, sizeof x, TDM_TO_DEVICE, stream));
  assert_int_equal(calls(), 3);
  ACCEPTED(tdm_add_run(plan, a, a, a, stream));
  assert_int_equal(calls(), 4);
  ACCEPTED(tdm_stream_sync(context, stream));
  assert_int_equal(calls(), 2);
  ACCEPTED(tdm_free(context, a));
  assert_int_equal(calls(), 1);
  ACCEPTED(tdm_stream_close(stream));
  ACCEPTED(tdm_plan_free(plan));
  ACCEPTED(tdm_close(context));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(xcds, setup), cmocka_unit_test_setup(calls_of_one_device, setup)};
  if (argc != 2) {
    fprintf(stderr, "hip-device: use: hip-device CHIP\n");
    return 2;
  }
  chip = argv[1];
  void *library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_LOCAL);
  fake = library != NULL ? dlsym(library, "fake_hip") : NULL;
  if (fake == NULL) {
    fprintf(stderr, "hip-device: no stand-in: %s\n", dlerror());
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
