/* tandem-bench score: prints tables of what tandem-bench --shapes wrote, with a line for each kind of case. */
#include "bench/command_line.h"
#include "bench/commands.h"
#include "bench/report/file.h"
#include "bench/score/score.h"
#include "case/help.h"

typedef struct score_tool {
  const char *command; /* what the user typed */
  char *worst, *markdown, *svg, *before;
  int wide, list;
  const char *operand[1];
  score score, earlier; /* earlier: of --before */
  char error[2048];
} score_tool;

static const score *earlier(const score_tool *t) { return t->before != NULL ? &t->earlier : NULL; }

/* Both are of the same kind of run. */
static bool read_both(score_tool *t) {
  if (!score_read(&t->score, t->operand[0], t->error, sizeof t->error)) return false;
  if (t->before == NULL) return true;
  char reason[1024];
  bool read = score_read(&t->earlier, t->before, reason, sizeof reason);
  bool same_kernels = read && t->earlier.of_kernels == t->score.of_kernels;
  if (same_kernels && t->earlier.predicted == t->score.predicted) return true;
  if (same_kernels) {
    snprintf(reason, sizeof reason, "'%s' is%s of a simulated device, and '%s' is%s", t->before,
             t->earlier.predicted ? "" : " not", t->operand[0], t->score.predicted ? "" : " not");
    score_free(&t->earlier);
    read = false;
  }
  if (read) {
    snprintf(reason, sizeof reason, "'%s' is%s of --all-kernels, and '%s' is%s", t->before, t->earlier.of_kernels ? "" : " not",
             t->operand[0], t->score.of_kernels ? "" : " not");
    score_free(&t->earlier);
  }
  snprintf(t->error, sizeof t->error, "--before = %s", reason);
  score_free(&t->score);
  return false;
}

static void free_both(score_tool *t) {
  score_free(&t->score);
  if (t->before != NULL) score_free(&t->earlier);
}

static bool write_markdown(score_tool *t, int worst) {
  result_file file;
  if (!bench_open_file(&file, t->markdown, t->error, sizeof t->error)) return false;
  fprintf(file.to, "```\n%s\n```\n\n", t->command);
  score_print(file.to, &t->score, earlier(t), worst, TABLE_MARKDOWN, 0);
  return bench_close_file(&file, t->markdown, t->error, sizeof t->error);
}

static bool write_svg(score_tool *t) {
  result_file file;
  if (!bench_open_file(&file, t->svg, t->error, sizeof t->error)) return false;
  if (score_draw(file.to, &t->score)) return bench_close_file(&file, t->svg, t->error, sizeof t->error);
  result_drop(&file);
  snprintf(t->error, sizeof t->error, "--svg = '%s': no memory for the picture", t->svg);
  return false;
}

static int run(void *state) {
  score_tool *t = state;
  uint64_t worst = 20;
  if ((t->worst != NULL && !case_parse_number("--worst", t->worst, 0, 100000, &worst, t->error, sizeof t->error)) ||
      !bench_can_write("--markdown", t->markdown, t->error, sizeof t->error) ||
      !bench_can_write("--svg", t->svg, t->error, sizeof t->error))
    return EXIT_USAGE;
  if (t->list && t->wide) {
    snprintf(t->error, sizeof t->error, "--list with --wide: must be one of them");
    return EXIT_USAGE;
  }
  if (t->operand[0] == NULL) {
    snprintf(t->error, sizeof t->error, "FILE: must be given: what tandem-bench --shapes --json wrote");
    return EXIT_USAGE;
  }
  if (!read_both(t)) return EXIT_USAGE;
  if (t->score.of_kernels && t->svg != NULL) {
    snprintf(t->error, sizeof t->error, "--svg = '%s': draws speeds over a peer's, and '%s' is of --all-kernels", t->svg,
             t->operand[0]);
    free_both(t);
    return EXIT_USAGE;
  }
  score_print(stdout, &t->score, earlier(t), (int)worst,
              t->list   ? TABLE_LIST
              : t->wide ? TABLE_WIDE
                        : TABLE_FIT,
              table_terminal_width(stdout));
  bool written = (t->markdown == NULL || write_markdown(t, (int)worst)) && (t->svg == NULL || write_svg(t));
  score_figures all = score_of(&t->score, -1);
  bool failed = !written || all.failed > 0 || score_misses_goal(&t->score);
  free_both(t);
  return failed ? EXIT_FAILED : all.scored + all.shorts + all.alone == 0 ? EXIT_NOTHING_RUN : EXIT_PASSED;
}

static void print_help(FILE *out, const char *op) {
  (void)op;
  fprintf(
      out,
      "\nFILE is what tandem-bench --shapes --json wrote while a peer answered (bench/peer/peer_torch.py). For each kind of\n"
      "case: the geometric mean and the worst of our speed over the peer's, and the shares of the cases at 0.7 or better\n"
      "and below 0.5. Cases where both sides take less than 20 us are listed and not scored.\n"
      "\nOr FILE is of --shapes --all-kernels: then it is the best kernel's time over the chosen one's. Exit status 1 also\n"
      "means that the chosen kernel was within 10 %% of the best one in less than 95 %% of the cases.\n"
      "\nOr FILE is of a simulated device: then it is ideal clocks (FLOP at the matrix rate or bytes at HBM's peak) over\n"
      "predicted ones; with --all-kernels the best kernel's predicted clocks over the chosen one's, and near enough is the\n"
      "median error of the model.\n");
  help_exit_status(out);
}

int bench_score(int argc, char **argv, const char *command) {
  static score_tool t;
  t.command = command;
  struct poptOption help[HELP_ROWS];
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"worst", '\0', POPT_ARG_STRING, &t.worst, 0, "How many of the worst cases to list; default 20", "N"},
      {"wide", '\0', POPT_ARG_NONE, &t.wide, 0, "All columns of the tables; default: those that fit the terminal", NULL},
      {"list", '\0', POPT_ARG_NONE, &t.list, 0, "All columns, as a list for each row", NULL},
      {"before", '\0', POPT_ARG_STRING, &t.before, 0, "Show the figures of an earlier run beside those of each kind",
       "FILE.json"},
      {"markdown", '\0', POPT_ARG_STRING, &t.markdown, 0, "Write the tables as Markdown", "FILE"},
      {"svg", '\0', POPT_ARG_STRING, &t.svg, 0, "Draw a heat map", "FILE.svg"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  return bench_run_command(&(bench_command){.name = "tandem-bench score",
                                            .form = "FILE.json [OPTION...]",
                                            .rows = rows,
                                            .operands = t.operand,
                                            .most = 1,
                                            .run = run,
                                            .state = &t,
                                            .error = t.error,
                                            .size = sizeof t.error},
                           argc, argv);
}
