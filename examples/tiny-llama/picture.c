#include "picture.h"

#include <string.h>

#include "bars.h"

static double number_of(const json_t *object, const char *name) { return json_number_value(json_object_get(object, name)); }
static const char *text_of(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

bool picture_can_draw(const json_t *root) {
  const json_t *first = json_array_get(json_object_get(root, "versions"), 0);
  return number_of(first, "ms") > 0;
}

bool picture_draw(FILE *out, const json_t *root, const char *device) {
  bars_panel panel[2] = {{.title = "A pass",
                          .unit = "ms",
                          .series = {"time", "bound: what products and bytes take at their best"},
                          .series_count = 2},
                         {.title = "Memory", .unit = "MiB", .series = {"activations and scores"}, .series_count = 1}};
  char title[256];
  size_t index;
  const json_t *v;
  if (!picture_can_draw(root)) return false;
  json_array_foreach(json_object_get(root, "versions"), index, v) {
    const json_t *bytes = json_object_get(v, "bytes");
    if (index == BARS_ROWS) break;
    for (int p = 0; p < 2; p++) {
      bars_row *row = &panel[p].row[panel[p].rows++];
      snprintf(row->name, sizeof row->name, "version %.0f", number_of(v, "version"));
      row->value[0] = p == 0 ? number_of(v, "ms") : (number_of(bytes, "activations") + number_of(bytes, "scores")) / 0x1p20;
      row->value[1] = p == 0 ? number_of(v, "bound_ms") : 0;
    }
  }
  if (device == NULL) device = text_of(root, "device_name");
  if (device[0] == '\0') device = text_of(root, "device");
  snprintf(title, sizeof title, "A model of %.0f M parameters, %s, %.0f x %.0f tokens, on %.100s",
           1e-6 * number_of(root, "parameters"), text_of(root, "dtype"), number_of(root, "batch"), number_of(root, "seq"),
           strcmp(device, "host") == 0 ? "the host" : device);
  bars_draw(out, title, panel, 2);
  return true;
}
