/* tandem-cuts, see cuts.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuts.h"
#include "files/output.h"

static const char help[] =
    "tandem-cuts time [--device omp:N] [--seed NUMBER] [--seconds NUMBER] [--flop NUMBER] --out FILE\n"
    "  times drawn cuts of drawn products of at most so many FLOP on a GPU with Hopper's matrix units\n"
    "  (defaults: omp:0, 1, 30, 1.2e12)\n"
    "tandem-cuts fit FILE\n"
    "  fits the constants of the estimate in offload/engine/wgmma_choice.c to these times\n"
    "tandem-cuts check FILE\n"
    "  prints how well today's constants describe them\n";

static int fail(const char *text) {
  fprintf(stderr, "tandem-cuts: %s\n", text);
  return 2;
}

static bool number(const char *text, double least, double most, double *value) {
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  return errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most;
}

static int time_cuts(int argc, char **argv) {
  cuts_request r = {.device = "omp:0", .seconds = 30, .most_flop = 1.2e12};
  double seed = 1;
  char error[512];
  for (int i = 0; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    bool ok = value != NULL;
    if (ok && strcmp(argv[i], "--device") == 0)
      r.device = value;
    else if (ok && strcmp(argv[i], "--out") == 0)
      r.path = value;
    else if (ok && strcmp(argv[i], "--seed") == 0)
      ok = number(value, 0, 1e15, &seed);
    else if (ok && strcmp(argv[i], "--seconds") == 0)
      ok = number(value, 0.001, 1e5, &r.seconds);
    else if (ok && strcmp(argv[i], "--flop") == 0)
      ok = number(value, 1e6, 1e15, &r.most_flop);
    else
      ok = false;
    if (ok) continue;
    snprintf(error, sizeof error, "'%s': must be --device, --seed, --seconds, --flop or --out, and a value; see --help",
             argv[i]);
    return fail(error);
  }
  if (r.path == NULL) return fail("time: needs --out FILE");
  r.seed = (uint64_t)seed;
  if (cuts_measure(&r, error, sizeof error)) return 0;
  fprintf(stderr, "tandem-cuts: %s\n", error);
  return 1;
}

static int fit_cuts(const char *path, int rounds) {
  cuts_set set;
  char error[512];
  if (!cuts_read(&set, path, error, sizeof error)) {
    fprintf(stderr, "tandem-cuts: %s\n", error);
    return 1;
  }
  cuts_fit(&set, rounds);
  cuts_free(&set);
  return 0;
}

int main(int argc, char **argv) {
  enum { ROUNDS = 60 };
  output_begin("tandem-cuts");
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return fputs(help, stdout), 0;
  if (argc >= 2 && strcmp(argv[1], "time") == 0) return time_cuts(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "fit") == 0) return fit_cuts(argv[2], ROUNDS);
  if (argc == 3 && strcmp(argv[1], "check") == 0) return fit_cuts(argv[2], 0);
  return fail("needs time, fit FILE or check FILE; see --help");
}
