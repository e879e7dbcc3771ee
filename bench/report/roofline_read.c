/* A device that was timed has the ceilings that were measured in the same run, and a point for each case. A simulated chip has
 * no times: its roofs are the peak rates of its data sheet, and a point is the rate that its counters allow at most. */
#include "bench/report/roofline_read.h"

#include <string.h>

#include "sim/base/chip.h"

static double number_of(const json_t *object, const char *name) { return json_number_value(json_object_get(object, name)); }
static const char *text_of(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

/* Without each occurrence of the word. */
static void cut(char *text, const char *word) {
  for (char *at; (at = strstr(text, word)) != NULL;) memmove(at, at + strlen(word), strlen(at + strlen(word)) + 1);
}

/* "gemm --dtype bf16 --layout nt --set causal=1,fill=real --seed 0 64x64x64": without option names, fill and seed. */
static void shorten(const char *title, char label[ROOFLINE_TEXT]) {
  char copy[512], *rest = copy;
  size_t used = 0;
  bool skip = false;
  snprintf(copy, sizeof copy, "%s", title);
  cut(copy, ",fill=real");
  label[0] = '\0';
  for (char *word; (word = strsep(&rest, " ")) != NULL;) {
    bool option = strncmp(word, "--", 2) == 0, shown = !option && !skip && strcmp(word, "fill=real") != 0;
    skip = strcmp(word, "--seed") == 0;
    if (shown && used < ROOFLINE_TEXT)
      used += (size_t)snprintf(label + used, ROOFLINE_TEXT - used, "%s%s", used > 0 ? " " : "", word);
  }
}

/* What was measured: the processor, the GPU by its name, the chip that was simulated. */
static void put_device(char *text, size_t size, const json_t *root, const char *device, const char *const *names) {
  size_t length = strlen(device), index;
  const json_t *value;
  for (const char *const *n = names; n != NULL && *n != NULL; n++)
    if (strncmp(*n, device, length) == 0 && (*n)[length] == '=') {
      snprintf(text, size, "%s", *n + length + 1);
      return;
    }
  snprintf(text, size, "%s", device);
  if (strncmp(device, "sim:", 4) == 0) snprintf(text, size, "%s, simulated", device + 4);
  if (strcmp(device, "host") == 0) {
    const json_t *machine = json_object_get(root, "machine");
    snprintf(text, size, "%s, %.0f threads", text_of(machine, "cpu"), number_of(machine, "threads"));
    cut(text, "(R)");
    cut(text, "(TM)");
    cut(text, " Processor");
  }
  json_array_foreach(json_object_get(root, "ceilings"), index,
                     value) if (strcmp(text_of(value, "device"), device) == 0 && text_of(value, "name")[0] != '\0')
      snprintf(text, size, "%s", text_of(value, "name"));
}

/* The chip of a simulated row. sim:CHIP may have settings after the name; other devices tell the chip in the row. */
static bool chip_of(const json_t *row, chip *found) {
  const char *device = text_of(row, "device"), *name = strncmp(device, "sim:", 4) == 0 ? device + 4 : text_of(row, "chip");
  return name[0] != '\0' && chip_find(name, found) == GFXSIM_OK && found->clock_mhz > 0;
}

static void add_peaks(roofline *r, const chip *c, const char *device) {
  char name[2 * ROOFLINE_TEXT];
  double clocks = 1e6 * c->clock_mhz * c->xcds * c->cus_per_xcd; /* of all CUs, a second */
  snprintf(name, sizeof name, "%s, data sheet, f16 and bf16", device);
  roofline_add_roof(r, name, false, clocks * tdm_chip_mfma_flops(c, 2), 1e9 * c->hbm_gbs);
  snprintf(name, sizeof name, "%s, data sheet, f32", device);
  roofline_add_roof(r, name, false, clocks * tdm_chip_mfma_flops(c, 4), 1e9 * c->hbm_gbs);
}

static void add_row(roofline *r, const json_t *root, const json_t *row, const char *const *names) {
  char label[ROOFLINE_TEXT], device[ROOFLINE_TEXT], series[2 * ROOFLINE_TEXT];
  bool bound = json_object_get(row, "clocks_at_least") != NULL, own = strcmp(text_of(row, "by"), "tandem") == 0;
  double flop = number_of(row, "flop"), bytes = number_of(row, "bytes"), rate = number_of(row, "flop_per_s");
  chip c;
  if (strcmp(text_of(row, "outcome"), "ok") != 0) return;
  shorten(text_of(row, "case"), label);
  put_device(device, sizeof device, root, text_of(row, "device"), names);
  if (bound) {
    double clocks = number_of(row, "clocks_at_least"), moved = number_of(row, "hbm_bytes");
    if (!(clocks > 0) || !chip_of(row, &c)) return;
    if (flop > 0) add_peaks(r, &c, device);
    rate = flop / clocks * 1e6 * c.clock_mhz;
    if (moved > 0) bytes = moved;
  }
  if (own)
    snprintf(series, sizeof series, "%s: %s", device, bound ? "bounds by counts, not times" : "timed");
  else
    snprintf(series, sizeof series, "%s on %s: timed", text_of(row, "by"), device);
  if (bytes > 0) roofline_add_point(r, label, series, bound, flop / bytes, rate);
}

/* "Roofline: NVIDIA H200; gfx950, simulated" */
static void add_title(roofline *r, const char *device) {
  size_t used = strlen(r->title);
  if (strstr(r->title, device) != NULL) return;
  snprintf(r->title + used, sizeof r->title - used, "%s%s", used == 0 ? "Roofline: " : "; ", device);
}

bool bench_add_roofline(roofline *r, const json_t *root, const char *const *names) {
  const json_t *rows = json_object_get(root, "rows"), *value;
  size_t index;
  if (!json_is_array(rows)) return false;
  json_array_foreach(json_object_get(root, "ceilings"), index, value) {
    char device[ROOFLINE_TEXT], name[2 * ROOFLINE_TEXT];
    double bytes = number_of(value, "copy_bytes_per_s");
    put_device(device, sizeof device, root, text_of(value, "device"), names);
    snprintf(name, sizeof name, "%s, measured", device);
    roofline_add_roof(r, name, true, number_of(value, "flop_per_s"), bytes);
    snprintf(name, sizeof name, "%s, matrix units, f16, measured", device);
    roofline_add_roof(r, name, true, number_of(value, "matrix_f16_flop_per_s"), bytes);
  }
  json_array_foreach(rows, index, value) {
    char device[ROOFLINE_TEXT];
    add_row(r, root, value, names);
    put_device(device, sizeof device, root, text_of(value, "device"), names);
    add_title(r, device);
  }
  return true;
}
