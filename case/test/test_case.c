/* Tests of the case library: conversions against those of the library (all words), rounding, acceptance, and the parsers. */
#include "case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"
#include "src/base/elem.h"

/* ---- Conversions ---- */

static const case_element formats[] = {CASE_F16, CASE_BF16};

/* The library's conversions. */
static float their_value(uint16_t word, case_element element) {
  return element == CASE_F16 ? tdm_f16_to_f32(word) : tdm_bf16_to_f32(word);
}
static uint16_t their_word(float x, case_element element) {
  return element == CASE_F16 ? tdm_f32_to_f16(x) : tdm_f32_to_bf16(x);
}

static void words_have_the_same_values(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++)
    for (uint32_t i = 0; i < 65536; i++) {
      uint16_t word = (uint16_t)i, back;
      double value = case_get(&word, 0, formats[f]);
      float theirs = their_value(word, formats[f]);
      if (isnan(value) || isnan(theirs)) {
        assert_true(isnan(value) && isnan(theirs));
        continue;
      }
      assert_true(value == (double)theirs && !signbit(value) == !signbit(theirs));
      case_put(&back, 0, formats[f], value);
      assert_int_equal(back, word);
      assert_int_equal(their_word(theirs, formats[f]), word);
    }
}

static void both_round_alike(float x) {
  for (int f = 0; f < 2; f++) {
    uint16_t ours;
    case_put(&ours, 0, formats[f], (double)x);
    assert_int_equal(ours, their_word(x, formats[f]));
  }
}

/* Every word's value, the middle to the next one, and the f32 neighbours of both. */
static void middles_round_to_even(void **state) {
  (void)state;
  for (int f = 0; f < 2; f++)
    for (uint32_t i = 0; i < 0x8000; i++) {
      uint16_t word = (uint16_t)i, next = (uint16_t)(i + 1);
      double low = case_get(&word, 0, formats[f]), high = case_get(&next, 0, formats[f]);
      if (!isfinite(low)) continue;
      float points[] = {(float)low, isfinite(high) ? (float)((low + high) / 2) : 65520.0f};
      for (int p = 0; p < 2; p++) {
        both_round_alike(points[p]);
        both_round_alike(-points[p]);
        both_round_alike(nextafterf(points[p], INFINITY));
        both_round_alike(nextafterf(points[p], 0));
      }
    }
}

static void f16_and_bf16_have_known_words(void **state) {
  (void)state;
  static const struct {
    case_element element;
    double value;
    uint16_t word;
  } known[] = {{CASE_F16, 1, 0x3c00},           {CASE_F16, -2, 0xc000},       {CASE_F16, 65504, 0x7bff},
               {CASE_F16, 65520, 0x7c00},       {CASE_F16, 65519.99, 0x7bff}, {CASE_F16, 0x1p-24, 0x0001},
               {CASE_F16, 0x1p-25, 0},          {CASE_F16, 0x1.8p-25, 1},     {CASE_BF16, 1, 0x3f80},
               {CASE_BF16, 1.00390625, 0x3f80}, {CASE_BF16, 1e39, 0x7f80},    {CASE_BF16, -0.0, 0x8000}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    uint16_t word;
    case_put(&word, 0, known[i].element, known[i].value);
    assert_int_equal(word, known[i].word);
  }
}

static void acceptance(void **state) {
  (void)state;
  double nan = (double)NAN, infinity = (double)INFINITY;
  assert_true(case_accepts(1, 1, 0, CASE_F32));
  assert_false(case_accepts(1 + 0x1p-23, 1, 0, CASE_F32));
  assert_true(case_accepts(1 + 0x1p-23, 1, 0x1p-23, CASE_F32));
  assert_false(case_accepts(nan, 1, 1, CASE_F32));
  assert_false(case_accepts(1, nan, 1, CASE_F32));
  assert_true(case_accepts(nan, nan, 0, CASE_F16));
  assert_true(case_accepts(infinity, infinity, nan, CASE_BF16));
  assert_false(case_accepts(-infinity, infinity, 0, CASE_BF16));
  assert_false(case_accepts(infinity, 65000, 1, CASE_F16));
  assert_true(case_accepts(infinity, 65519, 2, CASE_F16));
  assert_true(case_accepts(65504, 65519, 2, CASE_F16));
  assert_true(case_accepts(0, -0.0, 0, CASE_F32));
  assert_true(case_accepts(nan, infinity, CASE_OR_NAN, CASE_F32));
  assert_true(case_accepts(infinity, infinity, CASE_OR_NAN, CASE_F32));
  assert_false(case_accepts(-infinity, infinity, CASE_OR_NAN, CASE_F32));
  assert_false(case_accepts(1, infinity, CASE_OR_NAN, CASE_F32));
}

/* ---- Data ---- */

static char error[512];

/* Fills array `index` of a case; the caller frees it. */
static void *filled(const char *op, const char *set, const char *shape, tdm_type type, int index, tdm_case *c,
                    case_array *array) {
  case_array arrays[CASE_MAX_ARRAYS];
  *c = case_default(case_find_op(op));
  c->type = c->out = type;
  assert_true(case_parse_shape(c, shape, error, sizeof error) && case_parse_settings(c, set, error, sizeof error));
  c->op->arrays(c, arrays);
  *array = arrays[index];
  void *base = calloc(1, case_array_bytes(array));
  assert_non_null(base);
  case_fill_array(c, index, array, base);
  return base;
}

/* Sums of a row's squares in f32 overflow, or vanish. */
static void extreme_rows_leave_f32(void **state) {
  (void)state;
  static const tdm_type types[] = {TDM_F32, TDM_BF16};
  tdm_case c;
  case_array a;
  for (int t = 0; t < 4; t++) {
    void *x = filled("rmsnorm", t % 2 == 0 ? "fill=huge" : "fill=tiny", "40x65", types[t / 2], 0, &c, &a);
    for (int64_t row = 0; row < 40; row++) {
      float sum = 0;
      for (int64_t i = 0; i < 65; i++) {
        float v = (float)case_get(x, row * 65 + i, a.element);
        assert_true(isfinite(v));
        sum += v * v;
      }
      assert_true(t % 2 == 0 ? isinf(sum) : sum < 0x1p-126f);
    }
    free(x);
  }
}

/* Where many elements make one result, there are some NaN, infinities and zeros, but few. */
static void special_elements_leave_results(void **state) {
  (void)state;
  tdm_case c;
  case_array a;
  void *x = filled("softmax", "fill=special", "40x5000", TDM_F32, 0, &c, &a);
  int clean = 0;
  for (int64_t row = 0; row < 40; row++) {
    bool finite = true;
    for (int64_t i = 0; i < 5000; i++) finite &= isfinite(case_get(x, row * 5000 + i, a.element));
    clean += finite;
  }
  assert_true(clean >= 10 && clean <= 38);
  free(x);
}

/* attention: in f16, just below the next power of 2, between two keys of neighbouring tiles. */
static void maxima_jump(void **state) {
  (void)state;
  tdm_case c;
  case_array q, k;
  void *queries = filled("attention", "fill=rising,scale=0.34657", "1x1x1x64x130x64", TDM_F16, 0, &c, &q);
  void *keys = filled("attention", "fill=rising,scale=0.34657", "1x1x1x64x130x64", TDM_F16, 1, &c, &k);
  for (int64_t i = 0; i < 32; i++) {
    double most[3] = {-(double)INFINITY, -(double)INFINITY, -(double)INFINITY}; /* of tiles of 64 keys */
    for (int64_t j = 0; j < 130; j++) {
      double score = 0;
      for (int64_t d = 0; d < 64; d++)
        score += case_get(queries, i * 64 + d, q.element) * case_get(keys, j * 64 + d, k.element);
      most[j / 64] = fmax(most[j / 64], score);
    }
    double largest = exp((most[1] - most[0]) * 0.34657);
    assert_true(largest > 65520 && largest < 65536 && most[2] < most[1]);
  }
  free(queries);
  free(keys);
}

/* ---- Texts ---- */

static void shapes(void **state) {
  (void)state;
  tdm_case c = case_default(case_find_op("gemm"));
  assert_true(case_parse_shape(&c, "257x129x65", error, sizeof error));
  assert_int_equal(c.shape[0], 257);
  assert_int_equal(c.shape[2], 65);
  assert_true(case_parse_shape(&c, "0x0x9223372036854775807", error, sizeof error));
  static const char *const bad[] = {"",       "1",      "1x2",   "1x2x3x4", "1x2x",    "x1x2",
                                    "1x2x-3", "1x2x3 ", "1X2X3", "axbxc",   "1.5x2x3", "0x1x9223372036854775808",
                                    "1xx3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(case_parse_shape(&c, bad[i], error, sizeof error));
    assert_non_null(strstr(error, "MxNxK"));
    assert_int_equal(c.shape[2], INT64_MAX); /* unchanged */
  }
}

static void epilogues(void **state) {
  (void)state;
  tdm_case c = case_default(case_find_op("gemm"));
  assert_true(case_parse_epilogue(&c, "bias+quick_gelu+scale:0.5+leaky_relu:-1e-2", error, sizeof error));
  assert_int_equal(c.epilogue_steps, 4);
  assert_int_equal(c.epilogue[1].op, TDM_QUICK_GELU);
  assert_true(c.epilogue[2].value == 0.5f && c.epilogue[3].value == -1e-2f);
  static const char *const bad[] = {"",        "bias+", "+bias",     "bia",        "bias:1",     "scale",     "scale:",
                                    "scale:x", "relu ", "scale:nan", "scale:1e99", "scale:0x1y", "scale:1:2", "divide:inf"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(case_parse_epilogue(&c, bad[i], error, sizeof error));
  char many[8 * CASE_MAX_EPILOGUE] = "bias";
  for (int i = 0; i < CASE_MAX_EPILOGUE; i++) strcat(many, "+bias");
  assert_false(case_parse_epilogue(&c, many, error, sizeof error));
  assert_non_null(strstr(error, "32 steps"));
}

static void settings(void **state) {
  (void)state;
  tdm_case c = case_default(case_find_op("gemm"));
  assert_true(case_parse_settings(&c, "out=bf16,alpha=2,beta=-0.5,ldb=70,batch=3,fill=exact", error, sizeof error));
  assert_int_equal(c.out, TDM_BF16);
  assert_true(c.alpha == 2 && c.beta == -0.5 && c.ld[1] == 70 && c.batch == 3 && c.fill == CASE_EXACT && c.fill_given);
  static const char *const bad[] = {"",         "alpha",         "alpha=",  "alpha=x", "ldb=-1",
                                    "causal=1", "out=f64",       "beta=1,", "fill=no", "inplace=a",
                                    "ld=3",     "broadcast_a=2", "=1",      "ldx=4",   "batch=99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(case_parse_settings(&c, bad[i], error, sizeof error));
    assert_non_null(strstr(error, "must be"));
  }
  c = case_default(case_find_op("rmsnorm"));
  assert_true(case_parse_settings(&c, "residual=1,inplace=sum=x,ldy=9,eps=1e-6", error, sizeof error));
  assert_int_equal(c.in_place, 3);
  c = case_default(case_find_op("cross_entropy"));
  assert_true(case_parse_settings(&c, "ignore=-7", error, sizeof error));
  assert_int_equal(c.ignore, -7);
}

/* A setting of a chip has a comma of its own. */
static void devices(void **state) {
  (void)state;
  case_devices found;
  char error[256];
  char list[] = "host,sim:gfx950,xcds=1,cus_per_xcd=2,omp:0", nothing[] = "host,,omp:0", first[] = "xcds=1,host";
  assert_true(case_options_devices(&(case_options){.device = list}, &found, error, sizeof error));
  assert_int_equal(found.count, 3);
  assert_string_equal(found.name[0], "host");
  assert_string_equal(found.name[1], "sim:gfx950,xcds=1,cus_per_xcd=2");
  assert_string_equal(found.name[2], "omp:0");
  assert_false(case_options_devices(&(case_options){.device = nothing}, &found, error, sizeof error));
  assert_true(case_options_devices(&(case_options){.device = first}, &found, error, sizeof error));
  assert_string_equal(found.name[0], "xcds=1"); /* tdm_open refuses it by this name */
  assert_string_equal(found.name[1], "host");
}

/* What a failing check prints is the case itself. */
static void printed_cases_read_back(void **state) {
  (void)state;
  char text[1024], want[1024];
  tdm_case c = case_default(case_find_op("gemm"));
  assert_true(case_parse_epilogue(&c, "bias+scale:0.1", error, sizeof error));
  assert_true(case_parse_settings(&c, "lda=80,alpha=0.1,batch=3,stride_a=99,broadcast_b=1,pad=2,shift=1,fill=big", error,
                                  sizeof error));
  assert_true(case_parse_shape(&c, "257x129x65", error, sizeof error));
  c.seed = 7;
  case_print(&c, text, sizeof text);
  assert_string_equal(text,
                      "gemm --dtype f32 --layout nn --epilogue bias+scale:0.100000001 --set lda=80,"
                      "alpha=0.10000000000000001,batch=3,stride_a=99,broadcast_b=1,pad=2,shift=1,fill=big --seed 7 257x129x65");
  tdm_case again = case_default(c.op);
  snprintf(want, sizeof want, "%s", strstr(text, "--set ") + 6);
  *strchr(want, ' ') = '\0';
  assert_true(case_parse_settings(&again, want, error, sizeof error));
  assert_true(case_parse_epilogue(&again, "bias+scale:0.100000001", error, sizeof error));
  assert_true(again.alpha == c.alpha && again.stride[0] == 99 && again.pad == 2 && again.shift == 1 && again.broadcast_b &&
              again.epilogue[1].value == c.epilogue[1].value);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_have_the_same_values),
                                     cmocka_unit_test(middles_round_to_even),
                                     cmocka_unit_test(f16_and_bf16_have_known_words),
                                     cmocka_unit_test(acceptance),
                                     cmocka_unit_test(extreme_rows_leave_f32),
                                     cmocka_unit_test(special_elements_leave_results),
                                     cmocka_unit_test(maxima_jump),
                                     cmocka_unit_test(shapes),
                                     cmocka_unit_test(epilogues),
                                     cmocka_unit_test(settings),
                                     cmocka_unit_test(devices),
                                     cmocka_unit_test(printed_cases_read_back)};
  return cmocka_run_group_tests_name("case", tests, NULL, NULL);
}
