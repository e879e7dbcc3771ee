/* The table printer. */
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
  LIST_WIDTH = 24, /* "pipes, % of the floor", and two spaces */
  GAP = 2,         /* spaces between columns */
  FIRST_MOST = 40, /* of the first column, unless there is room for more: a longer text gets a line of its own */
  SIGNS = 8,       /* of notes where rows are not known before: two of them */
  LEAST_WIDTH = 60,
  USUAL_WIDTH = 100
};

/* ---- Width ---- */

int table_terminal_width(FILE *out) {
  const char *columns = getenv("COLUMNS");
  struct winsize window;
  int width = columns != NULL ? atoi(columns) : 0;
  if (width <= 0) width = ioctl(fileno(out), TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : USUAL_WIDTH;
  return width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

/* One line of a text; goes on with two spaces before it. */
static void wrap_line(FILE *out, int width, const char *line, int length) {
  int column = 0;
  for (int at = 0; at < length;) {
    int spaces = (int)strspn(line + at, " "), word = (int)strcspn(line + at + spaces, " \n");
    if (at + spaces + word > length) spaces = length - at, word = 0;
    if (width > 0 && column > 0 && column + spaces + word > width) {
      fprintf(out, "\n  ");
      column = 2;
    } else {
      fprintf(out, "%*s", spaces, "");
      column += spaces;
    }
    fprintf(out, "%.*s", word, line + at + spaces);
    column += word;
    at += spaces + word;
  }
}

void table_text(FILE *out, int width, const char *text) {
  while (*text != '\0') {
    int length = (int)strcspn(text, "\n");
    wrap_line(out, width, text, length);
    if (text[length] == '\n') fputc('\n', out);
    text += length + (text[length] == '\n');
  }
}

/* ---- Which columns are shown ---- */

static bool is_note(const table *t, int i) { return t->notes && i == t->count - 1; }

/* "not modelled" is a sign in the table; a number with "and not modelled" gets a plus. */
static const char *shown_text(const char *text, char buffer[TABLE_TEXT]) {
  static const char tail[] = " and not modelled";
  size_t length = strlen(text), end = sizeof tail - 1;
  if (strcmp(text, "not modelled") == 0) return "-";
  if (strcmp(text, "unsupported") == 0) return "n/a";
  if (length <= end || length >= TABLE_TEXT || strcmp(text + length - end, tail) != 0) return text;
  snprintf(buffer, TABLE_TEXT, "%.*s+", (int)(length - end), text);
  return buffer;
}

static void explain_sign(table *t, const char *text, const char *shown) {
  if (shown == text) return;
  t->unmodelled |= strcmp(text, "not modelled") == 0;
  t->unsupported |= strcmp(text, "unsupported") == 0;
  t->partly |= shown[strlen(shown) - 1] == '+';
}

/* The signs of notes that have "; " between them: "(12, 13)". */
static int signs_width(const char *notes) {
  int count = 1;
  for (const char *at = notes; (at = strstr(at, "; ")) != NULL; at += 2) count++;
  return 4 * count;
}

void table_measure(table *t, const char *const *cells) {
  char buffer[TABLE_TEXT];
  for (int i = 0; i < t->count; i++) {
    int length = (int)strlen(shown_text(cells[i], buffer));
    if (is_note(t, i)) length = signs_width(cells[i]);
    if (length > t->need[i]) t->need[i] = length;
    if (t->rows == 0) snprintf(t->same[i], sizeof t->same[i], "%s", cells[i]);
    t->varied[i] = t->varied[i] || strcmp(t->same[i], cells[i]) != 0;
  }
  t->rows++;
}

/* If every row says the same, or nothing, the column can be left out. Numbers stay, because they are results. */
static bool says_nothing(const table *t, int i) {
  const char *text = t->same[i];
  if (t->rows == 0 || t->varied[i]) return false;
  if (text[0] == '\0' || strcmp(text, "not modelled") == 0) return true;
  return t->rows > 1 && t->columns[i].rank > 0 && strchr("0123456789", text[0]) == NULL;
}

static int total_width(const table *t) {
  int total = -GAP;
  for (int i = 0; i < t->count; i++)
    if (!t->hidden[i]) total += t->need[i] + GAP;
  return total;
}

static void choose_columns(table *t) {
  for (int i = 0; i < t->count; i++) {
    int title = (int)strlen(t->columns[i].title);
    if (t->rows == 0) t->need[i] = is_note(t, i) ? SIGNS : t->columns[i].width;
    if (t->need[i] < title) t->need[i] = title;
    t->hidden[i] = t->known[i] || says_nothing(t, i);
  }
  int longest = t->need[0];
  if (t->need[0] > FIRST_MOST) t->need[0] = FIRST_MOST;
  while (total_width(t) > t->width) {
    int worst = 0;
    for (int i = 0; i < t->count; i++)
      if (!t->hidden[i] && t->columns[i].rank > t->columns[worst].rank) worst = i;
    if (t->columns[worst].rank == 0) return;
    t->hidden[worst] = true;
  }
  int spare = t->width - total_width(t);
  if (t->need[0] < longest) t->need[0] += longest - t->need[0] < spare ? longest - t->need[0] : spare;
}

/* ---- Rows ---- */

static void cell(const table *t, int i, const char *text) {
  const table_column *column = &t->columns[i];
  bool last = i == t->count - 1, markdown = t->style == TABLE_MARKDOWN;
  const char *end = markdown ? " |" : last ? "" : "  ";
  if (markdown) fprintf(t->out, "%s %s", i == 0 ? "|" : "", text);
  if (!markdown && column->left) fprintf(t->out, "%-*s", last ? 0 : column->width, text);
  if (!markdown && !column->left) fprintf(t->out, "%*s", column->width, text);
  fprintf(t->out, "%s%s", end, last ? "\n" : "");
}

/* A line without spaces at its end. */
static void fitted_line(const table *t, const char *const *cells) {
  int blanks = 0;
  for (int i = 0; i < t->count; i++) {
    if (t->hidden[i]) continue;
    int length = (int)strlen(cells[i]), pad = t->need[i] > length ? t->need[i] - length : 0;
    bool left = t->columns[i].left;
    if (i == 0 && length > t->need[0]) { /* a line of its own */
      fprintf(t->out, "%s\n", cells[0]);
      blanks = t->need[0] + GAP;
      continue;
    }
    if (length > 0) fprintf(t->out, "%*s%s", blanks + (left ? 0 : pad), "", cells[i]);
    blanks = (length > 0 ? 0 : blanks + (left ? 0 : pad)) + (left ? pad : 0) + GAP;
  }
  fprintf(t->out, "\n");
}

/* The number of a note, which rows with the same note share; 0: there are too many. */
static int note_number(table *t, const char *text, int length) {
  int n = 0;
  if (length > TABLE_TEXT - 1) length = TABLE_TEXT - 1;
  while (n < t->noted && (strncmp(t->note[n], text, (size_t)length) != 0 || t->note[n][length] != '\0')) n++;
  if (n == TABLE_NOTES) return 0;
  if (n == t->noted) snprintf(t->note[t->noted++], TABLE_TEXT, "%.*s", length, text);
  return n + 1;
}

/* "(1, 3)": the numbers of a row's notes, which have "; " between them. */
static const char *note_signs(table *t, const char *text, char signs[TABLE_TEXT]) {
  size_t used = 0;
  if (text[0] == '\0') return "";
  for (const char *at = text; *at != '\0' && used < TABLE_TEXT;) {
    const char *end = strstr(at, "; ");
    int length = end != NULL ? (int)(end - at) : (int)strlen(at), number = note_number(t, at, length);
    const char *before = used == 0 ? "(" : ", ";
    if (number > 0)
      used += (size_t)snprintf(signs + used, TABLE_TEXT - used, "%s%d", before, number);
    else
      used += (size_t)snprintf(signs + used, TABLE_TEXT - used, "%s--wide", before);
    at += length + (end != NULL ? 2 : 0);
  }
  if (used < TABLE_TEXT) snprintf(signs + used, TABLE_TEXT - used, ")");
  return signs;
}

static void fitted_row(table *t, const char *const *cells) {
  char buffer[TABLE_COLUMNS][TABLE_TEXT];
  const char *shown[TABLE_COLUMNS];
  for (int i = 0; i < t->count; i++) {
    shown[i] = is_note(t, i) ? note_signs(t, cells[i], buffer[i]) : shown_text(cells[i], buffer[i]);
    if (!t->hidden[i] && !is_note(t, i)) explain_sign(t, cells[i], shown[i]);
  }
  fitted_line(t, shown);
}

void table_head(table *t) {
  if (t->style == TABLE_LIST) return;
  if (t->style == TABLE_FIT) {
    const char *titles[TABLE_COLUMNS];
    choose_columns(t);
    for (int i = 0; i < t->count; i++) titles[i] = t->columns[i].title;
    fitted_line(t, titles);
    return;
  }
  for (int i = 0; i < t->count; i++) cell(t, i, t->columns[i].title);
  if (t->style != TABLE_MARKDOWN) return;
  for (int i = 0; i < t->count; i++) fprintf(t->out, "%s", i == 0 ? "|---|" : t->columns[i].left ? "---|" : "---:|");
  fprintf(t->out, "\n");
}

void table_row(table *t, const char *const *cells) {
  if (t->style == TABLE_FIT) {
    fitted_row(t, cells);
    return;
  }
  for (int i = 0; i < t->count; i++)
    if (t->style != TABLE_LIST)
      cell(t, i, cells[i]);
    else if (cells[i][0] != '\0')
      fprintf(t->out, "%-*s%s\n", LIST_WIDTH, t->columns[i].title, cells[i]);
  if (t->style == TABLE_LIST) fprintf(t->out, "\n");
}

/* ---- Below the table ---- */

static void put_list(FILE *to, bool *first, const char *before, const char *text, const char *value) {
  fprintf(to, "%s%s%s%s", *first ? before : ", ", text, value[0] != '\0' ? " " : "", value);
  *first = false;
}

/* Columns that every row would have filled alike, and those that the width has no place for. */
static void put_hidden(const table *t, FILE *to) {
  bool first = true;
  for (int i = 0; i < t->count; i++)
    if (t->hidden[i] && !t->known[i] && says_nothing(t, i) && t->same[i][0] != '\0')
      put_list(to, &first, "In every row: ", t->columns[i].title, t->same[i]);
  if (!first) fprintf(to, ".\n");
  first = true;
  for (int i = 0; i < t->count; i++)
    if (t->hidden[i] && !t->known[i] && !says_nothing(t, i)) put_list(to, &first, "Not shown: ", t->columns[i].title, "");
  if (!first) fprintf(to, ". --wide shows all columns, --list a line for each.\n");
}

void table_end(table *t) {
  char *text = NULL;
  size_t size;
  if (t->style != TABLE_FIT) return;
  FILE *to = open_memstream(&text, &size);
  if (to == NULL) {
    fprintf(t->out, "(no memory for the notes to this table)\n");
    return;
  }
  for (int n = 0; n < t->noted; n++) fprintf(to, "(%d) %s\n", n + 1, t->note[n]);
  if (t->unmodelled) fprintf(to, "-: not modelled: gfxsim has no source for it.\n");
  if (t->partly) fprintf(to, "+: and more, of instructions that gfxsim has no source for.\n");
  if (t->unsupported) fprintf(to, "n/a: not supported there.\n");
  put_hidden(t, to);
  if (fclose(to) == 0) table_text(t->out, t->width, text);
  free(text);
}
