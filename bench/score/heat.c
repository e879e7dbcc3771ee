/* The heat map: for each op a panel with a block of columns for each type. A row of a panel is what cases have in common, a
 * column the size in which they differ: the tokens of a product, the length of a context. Cases of odd sizes share neither:
 * they stand in strips below, one for each type, the slowest first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/score/score.h"
#include "svg.h"

enum { CELL_WIDTH = 24, CELL_HEIGHT = 13, LEFT = 10, LABELS = 230, GAP = 12, HEAD = 64, TITLE = 34, PANEL_GAP = 22 };
enum { MOST_SIZES = 24, ROOM = 96, TYPES = 3, STRIP_CELLS = 32 };

/* ColorBrewer's RdBu, which the colour-blind can read; a ratio below `under` has the colour. */
static const struct {
  double under;
  const char *colour, *ink;
} scale[] = {{0.1, "#67001f", "#ffffff"}, {0.25, "#b2182b", "#ffffff"},    {0.5, "#ef8a62", INK},
             {0.7, "#fddbc7", INK},       {0.9, "#f7f7f7", INK},           {1.1, "#d1e5f0", INK},
             {1.5, "#67a9cf", INK},       {INFINITY, "#2166ac", "#ffffff"}};
enum { STEPS = sizeof scale / sizeof scale[0] };

typedef struct cell {
  const score_item *item;
  char row[ROOM]; /* what it has in common with others */
  int64_t size;   /* where it differs from them */
  bool strip;     /* of odd sizes */
} cell;

/* The cases of an op. */
typedef struct panel {
  cell *cell;
  int count;
  const char **row; /* different ones, sorted */
  int64_t size[MOST_SIZES];
  int rows, sizes;
} panel;

/* ---- What is where ---- */

/* The number of a shape that varies along a row; attention over prompts: the keys, and the queries where they are as many. */
static int varying(const tdm_case *c) {
  if (strcmp(c->op->name, "attention") == 0) return 4;
  return strcmp(c->op->name, "rope") == 0 ? 1 : 0;
}

/* "nt bias Mx4096x4096": the label without op and type, with a letter for the number that varies. */
static void put_row(const score_item *item, char text[ROOM]) {
  const tdm_case *c = &item->c;
  int at = varying(c);
  size_t used = 0;
  const char *words = strchr(item->label, ' '), *shape = strrchr(item->label, ' ');
  words = words != NULL ? strchr(words + 1, ' ') : NULL;
  text[0] = '\0';
  if (words != NULL && words < shape) used = (size_t)snprintf(text, ROOM, "%.*s ", (int)(shape - words - 1), words + 1);
  for (int i = 0; i < c->op->shape_rank && used < ROOM; i++) {
    bool varies = i == at || (at == 4 && i == 3 && c->shape[3] == c->shape[4]);
    const char *between = i > 0 ? "x" : "";
    used += varies ? (size_t)snprintf(text + used, ROOM - used, "%s%s", between, at == 0 ? "M" : "S")
                   : (size_t)snprintf(text + used, ROOM - used, "%s%lld", between, (long long)c->shape[i]);
  }
}

static int compare_sizes(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Numbers in a text by their value: 768 comes before 4096. */
static int compare_texts(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  while (*x != '\0' && *y != '\0') {
    if (*x >= '0' && *x <= '9' && *y >= '0' && *y <= '9') {
      char *end_x, *end_y;
      long long left = strtoll(x, &end_x, 10), right = strtoll(y, &end_y, 10);
      if (left != right) return left < right ? -1 : 1;
      x = end_x, y = end_y;
    } else if (*x != *y) {
      return *x < *y ? -1 : 1;
    } else {
      x++, y++;
    }
  }
  return (*x != '\0') - (*y != '\0');
}

static int compare_cells(const void *a, const void *b) {
  const score_item *x = ((const cell *)a)->item, *y = ((const cell *)b)->item;
  return x->ratio != y->ratio ? (x->ratio > y->ratio) - (x->ratio < y->ratio) : strcmp(x->label, y->label);
}

static bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

/* Where a size is in the panel; -1: it is not, and there is no room for it. */
static int size_index(panel *p, int64_t size, bool add) {
  for (int i = 0; i < p->sizes; i++)
    if (p->size[i] == size) return i;
  if (!add || p->sizes == MOST_SIZES) return -1;
  p->size[p->sizes] = size;
  return p->sizes++;
}

static void add_row(panel *p, const char *row) {
  for (int i = 0; i < p->rows; i++)
    if (strcmp(p->row[i], row) == 0) return;
  p->row[p->rows++] = row;
}

static bool open_panel(panel *p, const score *s, const char *op, bool decode) {
  *p = (panel){.cell = malloc((size_t)s->count * sizeof *p->cell), .row = malloc((size_t)s->count * sizeof *p->row)};
  if (p->cell == NULL || p->row == NULL) return false;
  for (int i = 0; i < s->count; i++) {
    const score_item *item = &s->item[i];
    if (strcmp(item->c.op->name, op) != 0 || score_is_decode(&item->c) != decode) continue;
    cell *c = &p->cell[p->count++];
    *c = (cell){.item = item, .size = item->c.shape[varying(&item->c)]};
    c->strip = score_is_odd(&item->c) || !is_power_of_two(c->size) || size_index(p, c->size, true) < 0;
    put_row(item, c->row);
  }
  qsort(p->cell, (size_t)p->count, sizeof *p->cell, compare_cells);
  for (int i = 0; i < p->count; i++)
    if (!p->cell[i].strip) add_row(p, p->cell[i].row);
  qsort(p->row, (size_t)p->rows, sizeof *p->row, compare_texts);
  qsort(p->size, (size_t)p->sizes, sizeof *p->size, compare_sizes);
  return true;
}

static void close_panel(panel *p) {
  free(p->cell);
  free(p->row);
}

static int type_index(const cell *c) { return c->item->c.type == TDM_F32 ? 0 : c->item->c.type == TDM_BF16 ? 1 : 2; }

static int strip_count(const panel *p, int type) {
  int count = 0;
  for (int i = 0; i < p->count; i++) count += p->cell[i].strip && type_index(&p->cell[i]) == type;
  return count;
}

static int strip_lines(const panel *p) {
  int lines = 0;
  for (int type = 0; type < TYPES; type++) lines += (strip_count(p, type) + STRIP_CELLS - 1) / STRIP_CELLS;
  return lines;
}

/* ---- Drawing ---- */

static double block_x(const panel *p, int type) { return LEFT + LABELS + type * (p->sizes * CELL_WIDTH + GAP); }

static double panel_height(const panel *p) { return TITLE + (p->rows + strip_lines(p)) * CELL_HEIGHT + PANEL_GAP; }

static double panel_width(const panel *p) { return fmax(block_x(p, TYPES), LEFT + LABELS + STRIP_CELLS * CELL_WIDTH) + LEFT; }

static void put_ratio(char text[16], double ratio) {
  if (ratio < 0.995)
    snprintf(text, 16, ratio < 0.0995 ? "%.3f" : "%.2f", ratio);
  else
    snprintf(text, 16, ratio < 9.95 ? "%.1f" : "%.0f", ratio);
}

static int step_of(double ratio) {
  int i = 0;
  while (i < STEPS - 1 && !(ratio < scale[i].under)) i++;
  return i;
}

/* Cases that are not scored have an empty cell; failed ones a cross. */
static void put_cell(FILE *out, const cell *c, double x, double y) {
  char text[16];
  score_state state = c->item->state;
  int step = step_of(c->item->ratio);
  svg_rect(out, x, y, CELL_WIDTH - 1, CELL_HEIGHT - 1, state == SCORE_COUNTS ? scale[step].colour : "none", FAINT);
  if (state == SCORE_FAILED) {
    svg_line(out, x, y, x + CELL_WIDTH - 1, y + CELL_HEIGHT - 1, 1.5, ALARM);
    svg_line(out, x, y + CELL_HEIGHT - 1, x + CELL_WIDTH - 1, y, 1.5, ALARM);
  }
  if (state != SCORE_COUNTS) return;
  put_ratio(text, c->item->ratio);
  svg_text(out, x + (CELL_WIDTH - 1) / 2.0, y + CELL_HEIGHT - 4, 8, SVG_MIDDLE, scale[step].ink, "%s", text);
}

/* Powers of two: 512, 8k, 1M. */
static void put_size(FILE *out, double x, double y, int64_t size) {
  static const char *const units[] = {"", "k", "M", "G"};
  int unit = 0;
  for (; size >= 1024 && unit < 3; unit++) size /= 1024;
  svg_text(out, x, y, 8, SVG_MIDDLE, INK, "%lld%s", (long long)size, units[unit]);
}

static const char *const type_names[TYPES] = {"f32", "bf16", "f16"};

static void put_grid(FILE *out, panel *p, double y) {
  for (int type = 0; type < TYPES && p->rows > 0; type++) {
    svg_text(out, block_x(p, type), y - 14, 9, SVG_START, INK, "%s", type_names[type]);
    for (int i = 0; i < p->sizes; i++) put_size(out, block_x(p, type) + (i + 0.5) * CELL_WIDTH, y - 3, p->size[i]);
  }
  for (int row = 0; row < p->rows; row++) {
    svg_text(out, LEFT + LABELS - 6, y + (row + 1) * CELL_HEIGHT - 4, 8, SVG_END, INK, "%s", p->row[row]);
    for (int i = 0; i < p->count; i++) {
      const cell *c = &p->cell[i];
      if (c->strip || strcmp(c->row, p->row[row]) != 0) continue;
      put_cell(out, c, block_x(p, type_index(c)) + size_index(p, c->size, false) * CELL_WIDTH, y + row * CELL_HEIGHT);
    }
  }
}

static void put_strips(FILE *out, const panel *p, double y) {
  for (int type = 0; type < TYPES; type++) {
    int at = 0, count = strip_count(p, type);
    if (count == 0) continue;
    svg_text(out, LEFT + LABELS - 6, y + CELL_HEIGHT - 4, 8, SVG_END, INK, "odd sizes, %s", type_names[type]);
    for (int i = 0; i < p->count; i++) {
      if (!p->cell[i].strip || type_index(&p->cell[i]) != type) continue;
      put_cell(out, &p->cell[i], LEFT + LABELS + at % STRIP_CELLS * CELL_WIDTH, y + at / STRIP_CELLS * CELL_HEIGHT);
      at++;
    }
    y += (count + STRIP_CELLS - 1) / STRIP_CELLS * CELL_HEIGHT;
  }
}

static void put_scale(FILE *out) {
  for (int i = 0; i < STEPS; i++) {
    double x = LEFT + i * 70;
    svg_rect(out, x, 30, 68, 14, scale[i].colour, FAINT);
    if (i < STEPS - 1)
      svg_text(out, x + 34, 40, 9, SVG_MIDDLE, scale[i].ink, "below %g", scale[i].under);
    else
      svg_text(out, x + 34, 40, 9, SVG_MIDDLE, scale[i].ink, "%g and more", scale[i - 1].under);
  }
  svg_text(out, LEFT + STEPS * 70 + 8, 40, 9, SVG_START, INK, "empty: below 20 us or not supported; cross: failed");
}

/* A panel for each op, and one more for the decodes among attention's cases. */
static int open_panels(const score *s, panel *panels, const char **titles) {
  int count = 0;
  for (int i = 0; case_ops[i] != NULL; i++)
    for (int decode = 0; decode < 2; decode++) {
      bool open = open_panel(&panels[count], s, case_ops[i]->name, decode == 1);
      titles[count] = decode == 1 ? "decode" : case_ops[i]->name;
      if (open && panels[count].count > 0)
        count++;
      else
        close_panel(&panels[count]);
      if (!open) return -1;
    }
  return count;
}

/* The peer's text names the GPU that both ran on: "PyTorch 2.11.0+cu130 on NVIDIA H200". */
static void put_title(FILE *out, const score *s) {
  const char *on = strstr(s->peer, " on ");
  if (on != NULL)
    svg_text(out, LEFT, 20, 13, SVG_START, INK, "Speed on %.100s (%s) over that of %.*s", on + 4, s->device,
             (int)(on - s->peer), s->peer);
  else if (s->predicted)
    svg_text(out, LEFT, 20, 13, SVG_START, INK, "Ideal clocks over predicted ones on %s", s->device);
  else
    svg_text(out, LEFT, 20, 13, SVG_START, INK, "Speed on %s over that of %.200s", s->device, s->peer);
}

bool score_draw(FILE *out, const score *s) {
  enum { MOST_PANELS = 64 };
  panel panels[MOST_PANELS];
  const char *titles[MOST_PANELS];
  int count = open_panels(s, panels, titles);
  double width = 0, height = HEAD, y = HEAD;
  for (int i = 0; i < count; i++) {
    width = fmax(width, panel_width(&panels[i]));
    height += panel_height(&panels[i]);
  }
  if (count > 0) {
    svg_begin(out, width, height,
              s->predicted ? "Ideal over predicted clocks, case by case" : "Speed over the peer's, case by case");
    put_title(out, s);
    put_scale(out);
  }
  for (int i = 0; i < count; i++) {
    svg_text(out, LEFT, y + 12, 12, SVG_START, INK, "%s", titles[i]);
    put_grid(out, &panels[i], y + TITLE);
    put_strips(out, &panels[i], y + TITLE + panels[i].rows * CELL_HEIGHT);
    y += panel_height(&panels[i]);
    close_panel(&panels[i]);
  }
  if (count > 0) svg_end(out);
  return count > 0;
}
