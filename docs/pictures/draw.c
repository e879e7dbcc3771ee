/* tandem-draw: the pictures of the guide, on stdout. */
#include <string.h>

#include "output.h"
#include "pictures.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const struct {
  const char *name, *what;
  void (*draw)(FILE *out);
} pictures[] = {
    {"chip", "XCDs, CUs, SIMDs, and the memories of an MI355X", draw_chip},
    {"access", "lines that 64 lanes touch: coalesced, strided, random", draw_access},
    {"banks", "the phases of a ds_read_b128, with and without swizzle", draw_banks},
    {"lanes-16", "which lane holds what of v_mfma_f32_16x16x32", draw_lanes_16},
    {"lanes-32", "the same of v_mfma_f32_32x32x16", draw_lanes_32},
    {"ping-pong", "two groups of waves that alternate", draw_ping_pong},
    {"order", "tiles coloured by XCD, in three orders", draw_order},
    {"softmax", "the online pass over a row of scores", draw_softmax},
};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

static void help(void) {
  printf(
      "Usage: tandem-draw NAME >FILE.svg\n"
      "       tandem-draw roofline [--name=DEVICE=TEXT] FILE.json... >FILE.svg   of what tandem-bench --json wrote\n"
      "       tandem-draw llama [--name=DEVICE=TEXT] FILE.json >FILE.svg   of what tiny-llama --compare --json wrote\n"
      "       tandem-draw data NAME >FILE.js     banks, lanes, order, roofline: the numbers for every setting\n"
      "       tandem-draw clocks                 what a read of LDS costs, by where its chunks are stored\n\n");
  for (int i = 0; i < PICTURES; i++) printf("  %-10s %s\n", pictures[i].name, pictures[i].what);
}

int main(int argc, char **argv) {
  output_begin("tandem-draw");
  char error[512] = "";
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    help();
  } else if (argc > 2 && (strcmp(argv[1], "roofline") == 0 || strcmp(argv[1], "llama") == 0)) {
    bool (*draw)(FILE *, int, char *const *, char *, size_t) = argv[1][0] == 'r' ? draw_roofline : draw_llama;
    if (!draw(stdout, argc - 2, argv + 2, error, sizeof error)) {
      fprintf(stderr, "tandem-draw: %s\n", error);
      return EXIT_FAILED;
    }
  } else if (argc == 2 && strcmp(argv[1], "clocks") == 0) {
    draw_clocks(stdout);
  } else if (argc == 3 && strcmp(argv[1], "data") == 0) {
    if (!draw_data(stdout, argv[2])) {
      fprintf(stderr, "tandem-draw: data %s: must be banks, lanes, order or roofline\n", argv[2]);
      return EXIT_USAGE;
    }
  } else {
    int found = -1;
    for (int i = 0; argc == 2 && i < PICTURES; i++)
      if (strcmp(argv[1], pictures[i].name) == 0) found = i;
    if (found < 0) {
      fprintf(stderr, "tandem-draw: %s: must be one NAME of tandem-draw --help, or roofline or llama and files\n",
              argc > 1 ? argv[1] : "NAME");
      return EXIT_USAGE;
    }
    pictures[found].draw(stdout);
  }
  return 0;
}
