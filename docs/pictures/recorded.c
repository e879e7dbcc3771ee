/* Pictures of recorded figures: rooflines of what tandem-bench --json wrote, versions of a model of tiny-llama --compare
 * --json. */
#include <stdlib.h>
#include <string.h>

#include "bench/report/roofline_read.h"
#include "examples/tiny-llama/picture.h"
#include "pictures.h"
#include "read.h"

static const char option[] = "--name=";

static const char *name_of(const char *argument) {
  return strncmp(argument, option, strlen(option)) == 0 ? argument + strlen(option) : NULL;
}

/* NULL: one line in error. who: "roofline: ... what tandem-bench --json wrote". */
static json_t *read_json(const char *path, const char *who, const char *writer, char *error, size_t size) {
  json_error_t why;
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  json_t *root = file != NULL ? json_loadf(file, 0, &why) : NULL;
  if (root == NULL)
    snprintf(error, size, "%s: '%s' must be what %s wrote: %s", who, path, writer, file == NULL ? reason : why.text);
  if (file != NULL) fclose(file);
  return root;
}

static bool add_file(roofline *r, const char *path, const char *const *names, char *error, size_t size) {
  json_t *root = read_json(path, "roofline", "tandem-bench --json", error, size);
  if (root == NULL) return false;
  bool added = bench_add_roofline(r, root, names);
  if (!added) snprintf(error, size, "roofline: '%s' must be what tandem-bench --json wrote: it has no rows", path);
  json_decref(root);
  return added;
}

bool draw_roofline(FILE *out, int count, char *const *argument, char *error, size_t size) {
  const char **names = calloc((size_t)count + 1, sizeof *names);
  roofline *r = calloc(1, sizeof *r);
  bool ok = r != NULL && names != NULL;
  if (!ok) snprintf(error, size, "roofline: no memory");
  for (int i = 0, n = 0; ok && i < count; i++)
    if (name_of(argument[i]) != NULL) names[n++] = name_of(argument[i]);
  for (int i = 0; ok && i < count; i++)
    if (name_of(argument[i]) == NULL) ok = add_file(r, argument[i], names, error, size);
  if (ok && r->point_count == 0) {
    snprintf(error, size, "roofline: no row of these files has both FLOP and bytes");
    ok = false;
  }
  if (ok) roofline_draw(out, r);
  free(names);
  free(r);
  return ok;
}

bool draw_llama(FILE *out, int count, char *const *argument, char *error, size_t size) {
  const char *named = NULL, *path = NULL;
  for (int i = 0; i < count; i++)
    if (name_of(argument[i]) != NULL)
      named = name_of(argument[i]);
    else
      path = argument[i];
  json_t *root = read_json(path != NULL ? path : "", "llama", "tiny-llama --compare --json", error, size);
  if (root == NULL) return false;
  const char *device = json_string_value(json_object_get(root, "device"));
  size_t length = named != NULL ? strcspn(named, "=") : 0; /* DEVICE=TEXT, for a file of this device */
  bool is_this = named != NULL && device != NULL && strlen(device) == length && strncmp(named, device, length) == 0;
  bool drawn = picture_draw(out, root, is_this ? named + length + 1 : NULL);
  if (!drawn) snprintf(error, size, "llama: '%s' must be what tiny-llama --compare --json wrote: it has no times", path);
  json_decref(root);
  return drawn;
}
