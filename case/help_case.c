/* What --help says of cases and devices. */
#include <string.h>

#include "case.h"
#include "help.h"

enum { WIDTH = 80 };

/* Words on lines of at most WIDTH columns, after a name. */
static void print_words(FILE *out, const char *name, const char *words) {
  int column = fprintf(out, "  %-13s", name);
  for (const char *at = words; *at != '\0';) {
    int length = (int)strcspn(at, " ");
    if (column + 1 + length > WIDTH) column = fprintf(out, "\n%15s", "") - 1;
    column += fprintf(out, " %.*s", length, at);
    at += length;
    at += *at == ' ';
  }
  fprintf(out, "\n");
}

static void print_shape(FILE *out, const case_op *op) {
  fprintf(out, "  %-13s %-18s %s\n", op->name, op->shape_form, op->what);
}

void help_shapes(FILE *out, const char *name) {
  const case_op *op = name != NULL ? case_find_op(name) : NULL;
  fprintf(out, "\nOP and its SHAPE, whole numbers with x between them, as in gemm 512x512x64:\n");
  for (int i = 0; case_ops[i] != NULL; i++)
    if (op == NULL || op == case_ops[i]) print_shape(out, case_ops[i]);
}

void help_settings(FILE *out, const char *name, bool files) {
  const case_op *op = name != NULL ? case_find_op(name) : NULL;
  fprintf(out, "\n--set KEY=VALUE,KEY=VALUE; several --set are one list, which may have each KEY once.\n");
  if (op != NULL) {
    fprintf(out, "The keys of %s:\n", op->name);
    case_describe_settings(out, op, !files);
    return;
  }
  fprintf(out, "The keys of each op; with an OP before it, --help says what they mean:\n");
  for (int i = 0; case_ops[i] != NULL; i++) {
    char keys[256];
    case_list_settings(case_ops[i], !files, keys, sizeof keys);
    print_words(out, case_ops[i]->name, keys);
  }
}

void help_devices(FILE *out) {
  fprintf(out,
          "\nDEV, the device; the ones that answer here: %s\n"
          "  host          the processors of this machine\n"
          "  omp:N         GPU number N of OpenMP's runtime, from 0 on\n"
          "  hip:N         GPU number N of HIP's runtime, from 0 on\n"
          "  sim:CHIP      gfx942 (MI300) or gfx950 (MI350), simulated: it counts, and has no\n"
          "                times; parts of the chip may follow, as in sim:gfx950,xcds=1\n"
          "Default: the environment's TANDEM_DEVICE, else the first GPU that answers, else the\n"
          "host. The device implies the backend, omp or hip.\n",
          tdm_devices());
}

void help_exit_status(FILE *out) {
  fprintf(out, "\nExit status: 0 all is well, 1 something failed, 2 bad usage, 77 nothing was run.\n");
}
