/* Tables that fit a width: no line is wider, a line lists what is left out, and --wide prints every text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/table.h"

static const table_column columns[] = {
    {"case", 40, true, 0}, {"device", 6, true, 3}, {"ms", 9, false, 0},      {"GFLOP/s", 8, false, 1},
    {"L2", 12, false, 2},  {"pipes", 70, true, 9}, {"clocks", 10, false, 4}, {"note", 4, true, 0},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], ROWS = 3 };
static const char *const rows[ROWS][COLUMNS] = {
    {"add f32 64x512", "host", "0.1234", "12.5", "not modelled", "LDS 64, SALU 42", "7 and not modelled", ""},
    {"gemm f32 nn bias+gelu+scale:0.5+residual 1024x1024x1024", "host", "12.5", "999.9", "91.2 %", "MFMA 100", "8",
     "checked: 8 rows; ALARM: above a ceiling"},
    {"softmax f32 8x8", "host", "unsupported", "", "88.0 %", "", "9", "checked: 8 rows"},
};

static char printed[16384];

/* All rows, as a table that knows them before (measured), or as they come. */
static const char *print(table_style style, int width, bool measured) {
  FILE *out = fmemopen(printed, sizeof printed, "w");
  assert_non_null(out);
  table t = {.out = out, .count = COLUMNS, .columns = columns, .style = style, .width = width, .notes = 1};
  for (int r = 0; r < ROWS && measured; r++) table_measure(&t, rows[r]);
  table_head(&t);
  for (int r = 0; r < ROWS; r++) table_row(&t, rows[r]);
  table_end(&t);
  assert_int_equal(fclose(out), 0);
  return printed;
}

static int widest_line(const char *text) {
  int most = 0;
  for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
    if ((int)strcspn(at, "\n") > most) most = (int)strcspn(at, "\n");
  return most;
}

static void assert_says(const char *text, const char *words) {
  if (strstr(text, words) == NULL) fail_msg("no '%s' in\n%s", words, text);
}

static void fits(void **state) {
  (void)state;
  for (int width = 60; width <= 160; width++)
    for (int measured = 0; measured < 2; measured++) {
      const char *text = print(TABLE_FIT, width, measured);
      if (widest_line(text) > width) fail_msg("%d wide, must be at most %d:\n%s", widest_line(text), width, text);
      assert_says(text, "gemm f32 nn bias+gelu+scale:0.5+residual 1024x1024x1024"); /* columns of rank 0 are whole */
      assert_says(text, "0.1234");
    }
}

/* The highest rank goes first, and the table says which columns are missing. */
static void says_what_is_left_out(void **state) {
  (void)state;
  const char *text = print(TABLE_FIT, 76, true);
  assert_says(text, "In every row: device host.\n");
  assert_says(text, "Not shown: pipes, clocks. --wide shows all columns");
  assert_says(text, "GFLOP/s");
  text = print(TABLE_FIT, 68, true);
  assert_says(text, "Not shown: L2, pipes, clocks.");
  text = print(TABLE_FIT, 200, true);
  assert_null(strstr(text, "Not shown"));
  assert_says(text, "LDS 64, SALU 42");
}

static void signs_and_notes(void **state) {
  (void)state;
  const char *text = print(TABLE_FIT, 200, true);
  assert_null(strstr(text, "not modelled  ")); /* in no cell */
  assert_says(text, "-: not modelled: gfxsim has no source for it.\n");
  assert_says(text, "  7+");
  assert_says(text, "+: and more, of instructions that gfxsim has no source for.\n");
  assert_says(text, "n/a: not supported there.\n");
  assert_says(text, " (1, 2)\n");
  assert_says(text, " (1)\n");
  assert_says(text, "\n(1) checked: 8 rows\n(2) ALARM: above a ceiling\n");
}

/* A column that is empty, or not modelled, in every row is left out; results that are equal by chance are not. */
static void equal_columns(void **state) {
  (void)state;
  static const table_column few[] = {{"case", 8, true, 0}, {"hits", 4, false, 1}, {"bytes", 5, false, 1}, {"by", 2, true, 1}};
  static const char *const equal[] = {"add", "not modelled", "4096", ""};
  FILE *out = fmemopen(printed, sizeof printed, "w");
  table t = {.out = out, .count = 4, .columns = few, .style = TABLE_FIT, .width = 80};
  for (int r = 0; r < 2; r++) table_measure(&t, equal);
  table_head(&t);
  for (int r = 0; r < 2; r++) table_row(&t, equal);
  table_end(&t);
  fclose(out);
  assert_string_equal(printed, "case  bytes\nadd    4096\nadd    4096\nIn every row: hits not modelled.\n");
}

/* More notes than a table has numbers for: the rest is pointed to, not lost in silence. */
static void many_notes(void **state) {
  (void)state;
  static const table_column two[] = {{"case", 8, true, 0}, {"note", 4, true, 0}};
  FILE *out = fmemopen(printed, sizeof printed, "w");
  table t = {.out = out, .count = 2, .columns = two, .style = TABLE_FIT, .width = 80, .notes = 1};
  table_head(&t);
  for (int r = 0; r < TABLE_NOTES + 1; r++) {
    char note[32];
    snprintf(note, sizeof note, "reason %d", r);
    table_row(&t, (const char *const[]){"add", note});
  }
  table_end(&t);
  fclose(out);
  assert_says(printed, "(16) reason 15\n");
  assert_says(printed, "(--wide)\n");
}

static void other_styles_have_everything(void **state) {
  (void)state;
  for (table_style style = TABLE_WIDE; style <= TABLE_MARKDOWN; style++) {
    const char *text = print(style, 60, false);
    for (int r = 0; r < ROWS; r++)
      for (int i = 0; i < COLUMNS; i++) assert_says(text, rows[r][i]);
  }
}

static void breaks_lines(void **state) {
  (void)state;
  FILE *out = fmemopen(printed, sizeof printed, "w");
  table_text(out, 20, "one two three four five six\nnext\n\naWordThatIsLongerThanTheWidth end\n");
  table_text(out, 0, "one two three four five six seven\n");
  fclose(out);
  assert_string_equal(printed,
                      "one two three four\n  five six\nnext\n\naWordThatIsLongerThanTheWidth\n  end\n"
                      "one two three four five six seven\n");
}

static void terminal_width(void **state) {
  (void)state;
  FILE *out = fopen("/dev/null", "w");
  assert_non_null(out);
  unsetenv("COLUMNS");
  assert_int_equal(table_terminal_width(out), 100);
  setenv("COLUMNS", "83", 1);
  assert_int_equal(table_terminal_width(out), 83);
  setenv("COLUMNS", "20", 1);
  assert_int_equal(table_terminal_width(out), 60);
  setenv("COLUMNS", "no number", 1);
  assert_int_equal(table_terminal_width(out), 100);
  fclose(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fits),
      cmocka_unit_test(says_what_is_left_out),
      cmocka_unit_test(signs_and_notes),
      cmocka_unit_test(equal_columns),
      cmocka_unit_test(many_notes),
      cmocka_unit_test(other_styles_have_everything),
      cmocka_unit_test(breaks_lines),
      cmocka_unit_test(terminal_width),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
