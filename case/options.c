/* The shared command line of the tools. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

/* "a=1" and "b=2" are "a=1,b=2": repeated --set options are one list. false: no memory, and *list is as before. */
static bool add_to_list(char **list, const char *text) {
  size_t length = strlen(*list), more = strlen(text);
  char *longer = realloc(*list, length + more + 2);
  if (longer == NULL) return false;
  longer[length] = ',';
  memcpy(longer + length + 1, text, more + 1);
  *list = longer;
  return true;
}

/* Stores an option's text. Only --set comes more than once: case_given_once. */
static void store(poptContext popt, enum poptCallbackReason reason, const struct poptOption *row, const char *text,
                  void *data) {
  case_options *o = data;
  char **to = (char **)((char *)o + row->val);
  (void)popt, (void)reason;
  if (text == NULL) return;
  if (*to == NULL)
    o->no_memory |= (*to = strdup(text)) == NULL;
  else if (to == &o->settings)
    o->no_memory |= !add_to_list(to, text);
}

/* val: where the text goes. */
void case_options_table(case_options *o, struct poptOption rows[CASE_OPTION_ROWS]) {
#define ROW(name, member, what, form) {name, '\0', POPT_ARG_STRING, NULL, (int)offsetof(case_options, member), what, form}
  const struct poptOption table[CASE_OPTION_ROWS] = {
      {NULL, '\0', POPT_ARG_CALLBACK, NULL, 0, (const char *)o, NULL},
      ROW("dtype", dtype, "Type of the inputs; default f32, in tandem-run that of the files", "f16|bf16|f32"),
      ROW("layout", layout, "gemm, swiglu: how A and B are stored, n normal, t transposed; default nn", "nn|nt|tn|tt"),
      ROW("epilogue", epilogue,
          "gemm: steps after the product: bias, residual, relu, gelu, gelu_tanh, quick_gelu, leaky_relu:A, silu, scale:S, "
          "divide:D; default none",
          "STEP+STEP+..."),
      ROW("set", settings, "Further settings of the op, see below; may be given several times", "KEY=VALUE,..."),
      ROW("seed", seed, "Seed of the random data; default 0", "N"),
      ROW("backend", backend, "Its default device; default: the device's backend", "omp|hip"),
      ROW("device", device, "Where to run, see below; a list is run one after the other", "DEV,..."),
      ROW("kernel", kernel, "The kernel by its name; default: the dispatcher chooses", "NAME|OP=NAME,..."),
      POPT_TABLEEND,
  };
#undef ROW
  void (*const callback)(poptContext, enum poptCallbackReason, const struct poptOption *, const char *, void *) = store;
  memcpy(rows, table, sizeof table);
  memcpy(&rows[0].arg, &callback, sizeof callback); /* C does not convert between them */
}

void case_options_free(case_options *o) {
  char *const texts[] = {o->dtype, o->layout, o->epilogue, o->settings, o->seed, o->backend, o->device, o->kernel};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free(texts[i]);
  *o = (case_options){0};
}

bool case_read_command_line(poptContext popt, const char *operands[], int most, int *count, char *error, size_t size) {
  int code = poptGetNextOpt(popt);
  if (code < -1) {
    snprintf(error, size, "%s: %s; --help lists the options", poptBadOption(popt, POPT_BADOPTION_NOALIAS), poptStrerror(code));
    return false;
  }
  *count = 0;
  for (const char *operand; (operand = poptGetArg(popt)) != NULL;) {
    if (*count == most) {
      snprintf(error, size, "'%s': at most %d argument%s allowed, apart from options", operand, most,
               most == 1 ? " is" : "s are");
      return false;
    }
    operands[(*count)++] = operand;
  }
  return true;
}

const char *case_op_list(void) {
  static char text[256];
  size_t used = 0;
  for (int i = 0; case_ops[i] != NULL && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "|" : "", case_ops[i]->name);
  return text;
}

static bool refuse(const char *op, const char *option, const char *text, char *error, size_t size) {
  snprintf(error, size, "%s = '%s': %s has no such selector", option, text, op);
  return false;
}

bool case_options_apply(const case_options *o, tdm_case *c, char *error, size_t size) {
  const case_op *op = c->op;
  if (o->layout != NULL && !op->has_layout) return refuse(op->name, "--layout", o->layout, error, size);
  if (o->epilogue != NULL && !op->has_epilogue) return refuse(op->name, "--epilogue", o->epilogue, error, size);
  if (o->dtype != NULL) {
    if (!case_parse_type(&c->type, o->dtype, error, size)) return false;
    c->out = c->type;
  }
  if (o->layout != NULL && !case_parse_layout(&c->layout, o->layout, error, size)) return false;
  if (o->epilogue != NULL && !case_parse_epilogue(c, o->epilogue, error, size)) return false;
  if (o->settings != NULL && !case_parse_settings(c, o->settings, error, size)) return false;
  return o->seed == NULL || case_parse_number("--seed", o->seed, 0, UINT64_MAX, &c->seed, error, size);
}

bool case_options_for_all(const case_options *o, char *error, size_t size) {
  const char *option = o->layout != NULL ? "--layout" : o->epilogue != NULL ? "--epilogue" : "--set";
  const char *text = o->layout != NULL ? o->layout : o->epilogue != NULL ? o->epilogue : o->settings;
  if (text == NULL) return true;
  snprintf(error, size, "%s = '%s': not every op takes it: name an op: %s", option, text, case_op_list());
  return false;
}

/* The length of a device's name in a list: "sim:gfx950,xcds=1" has a comma of its own, before a setting of the chip. */
static size_t device_length(const char *list) {
  size_t length = strcspn(list, ",");
  while (list[length] == ',') {
    size_t next = strcspn(list + length + 1, ",");
    if (memchr(list + length + 1, '=', next) == NULL) break;
    length += 1 + next;
  }
  return length;
}

bool case_options_devices(const case_options *o, case_devices *devices, char *error, size_t size) {
  const char *named = getenv("TANDEM_DEVICE"), *list = o->device;
  if (list == NULL) list = named != NULL && named[0] != '\0' ? named : "auto";
  devices->count = 0;
  if (o->no_memory) {
    snprintf(error, size, "no memory for the command line");
    return false;
  }
  for (const char *at = list;; at++) {
    size_t length = device_length(at);
    bool fits = length > 0 && length < CASE_DEVICE_NAME;
    if (!fits || devices->count == CASE_MAX_DEVICES) {
      snprintf(error, size, "%s = '%s': must be 1 to %d names with commas between; offered here: %s",
               o->device == NULL ? "TANDEM_DEVICE" : "--device", list, CASE_MAX_DEVICES, tdm_devices());
      return false;
    }
    snprintf(devices->name[devices->count++], CASE_DEVICE_NAME, "%.*s", (int)length, at);
    at += length;
    if (*at == '\0') return true;
  }
}

tdm_status case_open(const case_options *o, const char *device, tdm_context **context) {
  tdm_options open = {.backend = o->backend, .device = device, .kernel = o->kernel};
  return tdm_open(&open, context);
}
