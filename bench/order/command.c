/* tandem-bench order: simulates how a tile order uses the caches, and compares it with row-major. See docs/order.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/command_line.h"
#include "bench/commands.h"
#include "bench/core/text.h"
#include "case/help.h"
#include "case/options.h"
#include "tile_stream.h"

enum { MOST_LENGTH = 1 << 20, MOST_TILE = 1024 };

typedef struct order_tool {
  char *tile, *window, *chunk, *xcds, *chip, *dtype, *resident, *skew, *sets;
  int exact;
  const char *shape;
  order_problem problem;
  chip chip_found;
  tdm_order order;
  uint64_t asked_window, asked_chunk, asked_xcds;
  char error[BENCH_TEXT];
} order_tool;

/* ---- Command line ---- */

/* "9216x9216x9216" */
static bool parse_triple(order_tool *t, const char *what, const char *text, uint64_t most, uint64_t value[3]) {
  const char *at = text;
  for (int i = 0; i < 3; i++) {
    char *end;
    errno = 0;
    value[i] = strtoull(at, &end, 10);
    bool digits = *at >= '0' && *at <= '9';
    if (!digits || *end != (i < 2 ? 'x' : '\0') || errno != 0 || value[i] < 1 || value[i] > most) {
      snprintf(t->error, sizeof t->error, "%s = '%s': must be MxNxK, each from 1 to %llu", what, text,
               (unsigned long long)most);
      return false;
    }
    at = end + 1;
  }
  return true;
}

static bool number(order_tool *t, const char *what, const char *text, uint64_t least, uint64_t most, uint64_t usual,
                   uint64_t *value) {
  *value = usual;
  return text == NULL || case_parse_number(what, text, least, most, value, t->error, sizeof t->error);
}

static bool read_problem(order_tool *t) {
  order_problem *p = &t->problem;
  uint64_t shape[3], tile[3], resident, skew;
  if (t->shape == NULL) {
    snprintf(t->error, sizeof t->error, "order: needs a SHAPE such as 9216x9216x9216");
    return false;
  }
  tdm_type type = TDM_BF16;
  if (!parse_triple(t, "SHAPE", t->shape, MOST_LENGTH, shape) ||
      !parse_triple(t, "--tile", t->tile != NULL ? t->tile : "256x256x64", MOST_TILE, tile) ||
      (t->dtype != NULL && !case_parse_type(&type, t->dtype, t->error, sizeof t->error)) ||
      !number(t, "--resident", t->resident, 1, 32, 1, &resident) || !number(t, "--skew", t->skew, 0, 1024, 0, &skew))
    return false;
  if (t->sets != NULL && strcmp(t->sets, "plain") != 0 && strcmp(t->sets, "folded") != 0) {
    snprintf(t->error, sizeof t->error, "--sets = '%s': must be plain or folded", t->sets);
    return false;
  }
  *p = (order_problem){.m = shape[0],
                       .n = shape[1],
                       .k = shape[2],
                       .tile_m = (unsigned)tile[0],
                       .tile_n = (unsigned)tile[1],
                       .tile_k = (unsigned)tile[2],
                       .element_bytes = (unsigned)tdm_type_size(type),
                       .resident = (unsigned)resident,
                       .skew = (unsigned)skew,
                       .plain = t->sets != NULL && strcmp(t->sets, "plain") == 0,
                       .exact = t->exact != 0};
  return true;
}

static bool read_order(order_tool *t) {
  const order_problem *p = &t->problem;
  if (chip_find(t->chip != NULL ? t->chip : "gfx950", &t->chip_found) != GFXSIM_OK) {
    snprintf(t->error, sizeof t->error, "--chip: %s", gfxsim_last_error());
    return false;
  }
  uint64_t tiles_m = (p->m - 1) / p->tile_m + 1, tiles_n = (p->n - 1) / p->tile_n + 1;
  if (tiles_m * tiles_n > INT32_MAX) {
    snprintf(t->error, sizeof t->error, "--tile: gives %llu tiles: must be at most %d", (unsigned long long)(tiles_m * tiles_n),
             INT32_MAX);
    return false;
  }
  if (!number(t, "--window", t->window, 1, INT32_MAX, 1, &t->asked_window) ||
      !number(t, "--chunk", t->chunk, 0, INT32_MAX, 1, &t->asked_chunk) ||
      !number(t, "--xcds", t->xcds, 1, 1024, t->chip_found.xcds, &t->asked_xcds))
    return false;
  t->order = tdm_order_make((unsigned)tiles_m, (unsigned)tiles_n, 1, (unsigned)t->asked_xcds, (unsigned)t->asked_window,
                            (unsigned)t->asked_chunk);
  return true;
}

/* ---- Output ---- */

static void print_head(const order_tool *t) {
  const order_problem *p = &t->problem;
  const chip *c = &t->chip_found;
  printf("gemm %s nt %s, tiles of %ux%ux%u: %u x %u = %u tiles, %llu K steps\n", t->dtype != NULL ? t->dtype : "bf16", t->shape,
         p->tile_m, p->tile_n, p->tile_k, t->order.tiles_m, t->order.tiles_n, t->order.count,
         (unsigned long long)((p->k - 1) / p->tile_k + 1));
  printf("%s: %u XCDs of %u CUs; L2 %u KiB an XCD, %u ways; memory-side cache %u MiB, %u ways; lines of %u bytes\n", c->name,
         c->xcds, c->cus_per_xcd, c->l2_bytes >> 10, c->l2_ways, c->mall_bytes >> 20, c->mall_ways, c->line_bytes);
  printf("assumed: workgroup i runs on XCD i mod %u; %u on a CU at a time; K steps %s", c->xcds, p->resident,
         p->skew == 0 ? "in lockstep" : "");
  if (p->skew > 0) printf("0 to %u apart", p->skew);
  printf("; sets chosen by %s address bits; the least recently used line leaves\n\n", p->plain ? "plain" : "folded");
}

static void print_row(const char *name, const order_result *r) {
  printf("%-26s %7.1f %% %9.1f %% %12.3f %12.3f %12.3f\n", name, 100 * r->l2_hit, 100 * r->mall_hit, r->fabric_read / 1e9,
         r->hbm_read / 1e9, r->written / 1e9);
}

static bool simulate(order_tool *t, const char *name, tdm_order order) {
  order_result result;
  if (!order_simulate(&t->problem, &t->chip_found, order, &result)) {
    snprintf(t->error, sizeof t->error, "no memory to simulate %u tiles", order.count);
    return false;
  }
  print_row(name, &result);
  return true;
}

static bool report(order_tool *t) {
  const order_problem *p = &t->problem;
  const tdm_order *o = &t->order;
  char name[64];
  print_head(t);
  if (o->window < t->asked_window)
    printf("(window %llu is cut to %u: all tile rows)\n", (unsigned long long)t->asked_window, o->window);
  if (o->chunk < t->asked_chunk)
    printf("(chunk %llu is cut to %u: an XCD's share)\n", (unsigned long long)t->asked_chunk, o->chunk);
  printf("%-26s %9s %11s %12s %12s %12s\n", "order", "L2 hit", "memory side", "L2 fills GB", "HBM read GB", "written GB");
  if (!simulate(t, "row-major", tdm_order_make(o->tiles_m, o->tiles_n, 1, o->xcds, 1, 1))) return false;
  snprintf(name, sizeof name, "window %u, chunk %u", o->window, o->chunk);
  if ((o->window > 1 || o->chunk > 1) && !simulate(t, name, *o)) return false;
  double read = (double)(p->m + p->n) * (double)p->k, written = (double)p->m * (double)p->n;
  printf("%-26s %9s %11s %12s %12.3f %12.3f\n", "each byte once", "", "", "", read * p->element_bytes / 1e9,
         written * p->element_bytes / 1e9);
  return true;
}

static int run(void *state) {
  order_tool *t = state;
  if (!read_problem(t) || !read_order(t)) return EXIT_USAGE;
  return report(t) ? EXIT_PASSED : EXIT_FAILED;
}

static void print_help(FILE *out, const char *op) {
  (void)op;
  fprintf(out,
          "\nSHAPE is MxNxK, of a gemm C [M,N] = A [M,K] B [K,N], as in 4096x4096x4096. CHIP is gfx942 (MI300X) or\n"
          "gfx950 (MI355X). Nothing is run: the caches are simulated (docs/order.md).\n"
          "\nExit status: 0 all is well, 1 something failed, 2 bad usage.\n");
}

int bench_order(int argc, char **argv) {
  order_tool t = {0};
  struct poptOption help[HELP_ROWS];
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"tile", '\0', POPT_ARG_STRING, &t.tile, 0, "Tile of a workgroup and its K step; default 256x256x64", "MxNxK"},
      {"window", '\0', POPT_ARG_STRING, &t.window, 0, "Tile rows of a band (GROUP_M); default 1", "N"},
      {"chunk", '\0', POPT_ARG_STRING, &t.chunk, 0, "Tiles in a row for one XCD; 0: its whole share; default 1", "N"},
      {"xcds", '\0', POPT_ARG_STRING, &t.xcds, 0, "XCDs that the order counts on, not the chip's; default: the chip's", "N"},
      {"chip", '\0', POPT_ARG_STRING, &t.chip, 0, "gfx942 or gfx950 with any fields, as in gfx950,xcds=4; default gfx950",
       "CHIP"},
      {"dtype", '\0', POPT_ARG_STRING, &t.dtype, 0, "f16, bf16 or f32; default bf16", "TYPE"},
      {"resident", '\0', POPT_ARG_STRING, &t.resident, 0, "Workgroups on a CU at a time; default 1", "N"},
      {"skew", '\0', POPT_ARG_STRING, &t.skew, 0, "Workgroups are up to N K steps apart; default 0", "N"},
      {"sets", '\0', POPT_ARG_STRING, &t.sets, 0, "How address bits choose a set: plain or folded; default folded", "RULE"},
      {"exact", '\0', POPT_ARG_NONE, &t.exact, 0, "Simulate every set, not an eighth of them", NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  return bench_run_command(&(bench_command){.name = "tandem-bench order",
                                            .form = "SHAPE [OPTION...]",
                                            .rows = rows,
                                            .operands = &t.shape,
                                            .most = 1,
                                            .run = run,
                                            .state = &t,
                                            .error = t.error,
                                            .size = sizeof t.error},
                           argc, argv);
}
