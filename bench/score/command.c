/* tandem-bench score: what a map says, by kind of case. */
#include <stdlib.h>
#include <string.h>

#include "bench/commands.h"
#include "bench/report/file.h"
#include "bench/score/score.h"
#include "case/help.h"

typedef struct score_tool {
  char *worst, *markdown, *svg;
  int wide, list;
  const char *operand[1];
  score score;
  char error[2048];
} score_tool;

static bool write_markdown(score_tool *t, int worst, const char *command) {
  result_file file;
  if (!bench_open_file(&file, t->markdown, t->error, sizeof t->error)) return false;
  fprintf(file.to, "```\n%s\n```\n\n", command);
  score_print(file.to, &t->score, worst, TABLE_MARKDOWN, 0);
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

static int run(score_tool *t, const char *command) {
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
  if (!score_read(&t->score, t->operand[0], t->error, sizeof t->error)) return EXIT_USAGE;
  score_print(stdout, &t->score, (int)worst,
              t->list   ? TABLE_LIST
              : t->wide ? TABLE_WIDE
                        : TABLE_FIT,
              table_terminal_width(stdout));
  bool written = (t->markdown == NULL || write_markdown(t, (int)worst, command)) && (t->svg == NULL || write_svg(t));
  score_figures all = score_of(&t->score, -1);
  score_free(&t->score);
  return !written || all.failed > 0 ? EXIT_FAILED : all.scored + all.shorts == 0 ? EXIT_NOTHING_RUN : EXIT_PASSED;
}

static void print_help(FILE *out, const char *op) {
  (void)op;
  fprintf(
      out,
      "\nFILE is what tandem-bench --shapes --json wrote while a peer answered (bench/peer/peer_torch.py). For each kind of\n"
      "case: the geometric mean and the worst of our speed over the peer's, and the shares of the cases at 0.7 or better\n"
      "and below 0.5. Cases where both sides take less than 20 us are listed and not scored.\n");
  help_exit_status(out);
}

int bench_score(int argc, char **argv, const char *command) {
  static score_tool t;
  struct poptOption help[HELP_ROWS];
  int operands, code = EXIT_USAGE;
  help_table(help, print_help);
  struct poptOption rows[] = {
      {"worst", '\0', POPT_ARG_STRING, &t.worst, 0, "How many of the worst cases to list; default 20", "N"},
      {"wide", '\0', POPT_ARG_NONE, &t.wide, 0, "All columns of the tables; default: those that fit the terminal", NULL},
      {"list", '\0', POPT_ARG_NONE, &t.list, 0, "All columns, as a list for each row", NULL},
      {"markdown", '\0', POPT_ARG_STRING, &t.markdown, 0, "Write the tables as Markdown", "FILE"},
      {"svg", '\0', POPT_ARG_STRING, &t.svg, 0, "Draw a heat map", "FILE.svg"},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND,
  };
  argv[0] = (char[]){"tandem-bench score"}; /* as --help names it */
  poptContext popt = poptGetContext("tandem-bench score", argc, (const char **)argv, rows, 0);
  if (popt != NULL) poptSetOtherOptionHelp(popt, "FILE.json [OPTION...]");
  if (popt == NULL) snprintf(t.error, sizeof t.error, "no memory for the command line");
  if (popt != NULL && case_given_once(argc, (const char *const *)argv, t.error, sizeof t.error) &&
      case_read_command_line(popt, t.operand, 1, &operands, t.error, sizeof t.error))
    code = run(&t, command);
  if (t.error[0] != '\0') fprintf(stderr, "tandem-bench: %s\n", t.error);
  if (popt != NULL) poptFreeContext(popt);
  free(t.worst);
  free(t.markdown);
  free(t.svg);
  return code;
}
