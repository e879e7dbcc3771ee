/* Sampling against the shares that its definition gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "../sample.h"

enum { VOCAB = 6, DRAWS = 60000 };
static const double share[VOCAB] = {0.05, 0.4, 0.1, 0.25, 0.15, 0.05};
static float logits[VOCAB];

/* share ^ (1 / temperature), of the tokens in `kept`, with sum 1; drawn shares may be 5 standard deviations off. */
static void assert_shares(double temperature, double top_p, const int *kept) {
  sampler s;
  llama_error error;
  int count[VOCAB] = {0};
  double total = 0;
  for (int i = 0; i < VOCAB; i++) logits[i] = (float)log(share[i]) + 3;
  assert_true(sampler_open(&s, VOCAB, temperature, top_p, 7, &error));
  for (int i = 0; i < DRAWS; i++) {
    int32_t id = sampler_next(&s, logits);
    assert_in_range(id, 0, VOCAB - 1);
    count[id]++;
  }
  sampler_close(&s);
  for (int i = 0; i < VOCAB; i++) total += kept[i] ? pow(share[i], 1 / temperature) : 0;
  for (int i = 0; i < VOCAB; i++) {
    double p = kept[i] ? pow(share[i], 1 / temperature) / total : 0, deviation = sqrt(DRAWS * p * (1 - p));
    if (!(fabs(count[i] - DRAWS * p) <= 5 * deviation)) fail_msg("token %d: %d draws, wanted %g", i, count[i], DRAWS * p);
  }
}

static void shares(void **state) {
  (void)state;
  const int all[VOCAB] = {1, 1, 1, 1, 1, 1}, two[VOCAB] = {0, 1, 0, 1, 0, 0}, three[VOCAB] = {0, 1, 0, 1, 1, 0};
  const int one[VOCAB] = {0, 1, 0, 0, 0, 0}, five[VOCAB] = {1, 1, 1, 1, 1, 0};
  assert_shares(1, 1, all);
  assert_shares(0.5, 1, all);
  assert_shares(3, 1, all);
  assert_shares(1, 0.64, two);
  assert_shares(1, 0.66, three);
  assert_shares(1, 0.3, one);
  assert_shares(1, 0.94, five); /* of two equal ones the smaller id */
  assert_shares(2, 1e-6, one);
}

static void likeliest(void **state) {
  (void)state;
  sampler s;
  llama_error error;
  float values[VOCAB] = {-1, 2, 5, 5, 0, -7};
  assert_true(sampler_open(&s, VOCAB, 0, 1, 0, &error));
  assert_int_equal(sampler_next(&s, values), 2);
  values[4] = NAN;
  assert_int_equal(sampler_next(&s, values), -1);
  values[4] = INFINITY;
  assert_int_equal(sampler_next(&s, values), -1);
  sampler_close(&s);
}

static void far_apart(void **state) { /* weights that are 0 in f64 */
  (void)state;
  sampler s;
  llama_error error;
  const float values[VOCAB] = {-3e38f, 3e38f, 0, 1, 2, 3};
  assert_true(sampler_open(&s, VOCAB, 1, 0.9, 5, &error));
  for (int i = 0; i < 100; i++) assert_int_equal(sampler_next(&s, values), 1);
  sampler_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shares), cmocka_unit_test(likeliest), cmocka_unit_test(far_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
