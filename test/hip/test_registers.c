/* What the compiler made of the kernels, against what the rows say: the waves that a SIMD holds, scratch and spills
 * (hip_functions in hip/host/code.h). A compiler that needs more registers than a kernel was laid out for costs speed, and
 * nothing else reports it. Each function of each code object must belong to one row, and each row must have its functions.
 *
 * Use: hip-registers [--all] [--planted] CODE_OBJECT...: all code objects of the build. --all also prints what fits. --planted
 * makes a mistake of each kind in the rows, and passes if each of them is found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfxsim.h"
#include "hip/host/hip.h"
#include "src/dispatch/op.h"

enum { SIMDS = 4, LANES = 64, MOST_CLAIMS = 512 };

/* What a row says of a kernel. */
typedef struct claim {
  const tdm_kernel *row;
  const hip_functions *functions;
} claim;

/* The kinds of mistakes. */
typedef enum mistake {
  UNREADABLE,
  NO_FUNCTIONS,
  NOT_LISTED,
  LISTED_TWICE,
  NO_CODE,
  NO_EXCEPTION,
  TOO_FEW_WAVES,
  OTHER_LDS,
  MISTAKES
} mistake;

static claim claims[MOST_CLAIMS];
static int claim_count, failures[MISTAKES], kernels;
static bool print_all;

static void fail(mistake what, const char *name, const char *chip) {
  printf("%s on %s: ", name, chip);
  failures[what]++;
}

/* ---- The rows ---- */

static void add_claim(const tdm_kernel *row, const hip_functions *f) {
  for (int i = 0; i < claim_count; i++) /* rows may share a list */
    if (claims[i].functions == f) return;
  if (claim_count < MOST_CLAIMS) {
    claims[claim_count++] = (claim){row, f};
  } else {
    fail(UNREADABLE, row->name, "every chip");
    printf("more than %d kernels: MOST_CLAIMS in test_registers.c is too small\n", MOST_CLAIMS);
  }
}

static void add_rows(const tdm_kernel *const *rows) {
  for (; rows != NULL && *rows != NULL; rows++) {
    if ((*rows)->backend != &tdm_backend_hip) continue;
    if ((*rows)->functions == NULL || (*rows)->functions->stem == NULL) {
      fail(NO_FUNCTIONS, (*rows)->name, "every chip");
      printf("the row of %s lists no functions\n", tdm_op_names[(*rows)->op]);
      continue;
    }
    for (const hip_functions *f = (*rows)->functions; f->stem != NULL; f++) add_claim(*rows, f);
  }
}

/* ---- Chips ---- */

/* The chips of the build, in the order of each table of code objects. */
static const tdm_chip *built[TDM_CHIPS];
static int built_count;

static void find_built(void) {
  char list[] = TDM_HIP;
  for (char *name = strtok(list, " "); name != NULL; name = strtok(NULL, " "))
    built[built_count++] = tdm_chip_find(name, strlen(name));
}

static bool on_chip(const hip_functions *f, const tdm_chip *chip) { return chip->lds_bytes >= f->least_lds; }

static bool fewer_on_chip(const hip_functions *f, const tdm_chip *chip) {
  return f->fewer.waves > 0 && (f->fewer.lds_below == 0 || chip->lds_bytes < f->fewer.lds_below);
}

/* ---- Names of functions ---- */

static bool is_named(const char *kernel, const hip_functions *f, const char *layout, const char *type) {
  char name[64];
  return tdm_hip_function_name(name, sizeof name, f, layout, type) < (int)sizeof name && strcmp(name, kernel) == 0;
}

/* Is this one of the functions? types: a bit for its type; for all types if the name has none. */
static bool is_function(const char *kernel, const hip_functions *f, unsigned *of_types) {
  *of_types = ~0u;
  if (is_named(kernel, f, NULL, NULL)) return true;
  for (int t = 0; t < TDM_TYPES; t++) {
    const char *type = tdm_type_name((tdm_type)t);
    *of_types = 1u << t;
    if (is_named(kernel, f, NULL, type)) return true;
    for (int layout = TDM_NN; layout <= TDM_TT; layout++)
      if (is_named(kernel, f, tdm_layout_names[layout], type)) return true;
  }
  return false;
}

static unsigned least_waves(const hip_functions *f, const tdm_chip *chip, unsigned of_types) {
  bool fewer = fewer_on_chip(f, chip) && (f->fewer.types == 0 || (f->fewer.types & of_types) != 0);
  return (unsigned)(fewer ? f->fewer.waves : f->waves);
}

/* ---- Code objects ---- */

/* Rows of a chosen depth count theirs themselves. */
static bool lds_is_stated(const claim *c, unsigned bytes) {
  const hip_functions *f = c->functions;
  return bytes <= 64 << 10 || c->row->takes & 1 << TDM_TUNE_DEPTH || (f->lds > 0 ? f->lds : f->least_lds) == bytes;
}

static void check_function(const gfxsim_kernel *kernel, const claim *c, const tdm_chip *chip, unsigned of_types) {
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  unsigned waves = gfxsim_kernel_occupancy(kernel, info.max_workgroup, 0) * (info.max_workgroup / LANES) / SIMDS;
  unsigned least = least_waves(c->functions, chip, of_types), scratch = (unsigned)c->functions->scratch;
  if (!lds_is_stated(c, info.lds_bytes)) {
    fail(OTHER_LDS, info.name, chip->name);
    printf("%u B of LDS: %s states %zu (hip_functions.lds)\n", info.lds_bytes, c->row->name, c->functions->lds);
  }
  bool fits = waves >= least && info.scratch_bytes <= scratch && (info.vgpr_spills == 0 || scratch > 0);
  if (fits && !print_all) return;
  if (!fits) failures[TOO_FEW_WAVES]++;
  printf(
      "%s on %s, of %s: %u waves a SIMD (%u VGPRs, %u B of LDS, %u work-items), %u B of scratch, %u VGPRs spilled: ", info.name,
      chip->name, c->row->name, waves, info.vgprs, info.lds_bytes, info.max_workgroup, info.scratch_bytes, info.vgpr_spills);
  printf("%s %u waves, %u B\n", fits ? "at least" : "must be", least, scratch);
}

/* place: of the object's chip in the build. The object is found again by its bytes. */
static void check_kernel(const gfxsim_kernel *kernel, int place, const void *data, size_t bytes) {
  const tdm_chip *chip = built[place];
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  const claim *found = NULL;
  kernels++;
  for (const claim *c = claims; c < claims + claim_count; c++) {
    const hip_code *code = &c->functions->code[place];
    unsigned of_types;
    bool here = on_chip(c->functions, chip) && code->bytes == bytes && memcmp(code->data, data, bytes) == 0;
    if (!here || !is_function(info.name, c->functions, &of_types)) continue;
    if (found != NULL) {
      fail(LISTED_TWICE, info.name, chip->name);
      printf("two rows have it: %s as %s, %s as %s\n", found->row->name, found->functions->stem, c->row->name,
             c->functions->stem);
      return;
    }
    found = c;
    check_function(kernel, c, chip, of_types);
  }
  if (found != NULL) return;
  fail(NOT_LISTED, info.name, chip->name);
  printf("no row has it: tdm_kernel.functions of a HIP row must list it\n");
}

static void *read_file(const char *name, size_t *bytes) {
  enum { MOST = 1 << 24 };
  FILE *file = fopen(name, "rb");
  void *data = malloc(MOST);
  *bytes = file != NULL && data != NULL ? fread(data, 1, MOST, file) : 0;
  if (file != NULL) fclose(file);
  return data;
}

static void check_file(const char *name) {
  size_t bytes;
  void *data = read_file(name, &bytes);
  const char *chip = gfxsim_object_chip(data, bytes);
  gfxsim_device *device = NULL;
  gfxsim_object *object = NULL;
  int place = 0;
  while (chip != NULL && place < built_count && strcmp(built[place]->name, chip) != 0) place++;
  if (chip == NULL || gfxsim_open(chip, NULL, &device) != GFXSIM_OK || gfxsim_load(device, data, bytes, &object) != GFXSIM_OK) {
    fail(UNREADABLE, name, "its chip");
    printf("%s\n", gfxsim_last_error());
  } else if (place == built_count) {
    fail(UNREADABLE, name, chip);
    printf("the build is for %s\n", TDM_HIP);
  } else {
    for (int k = 0; k < gfxsim_kernel_count(object); k++) check_kernel(gfxsim_kernel_at(object, k), place, data, bytes);
  }
  gfxsim_close(device);
  free(data);
}

/* ---- Kernels that a row lists, and that its code object does not have ---- */

static bool has_function(gfxsim_object *object, const hip_functions *f, bool *fewer) {
  bool any = false;
  for (int k = 0; k < gfxsim_kernel_count(object); k++) {
    gfxsim_kernel_info info;
    unsigned of_types;
    gfxsim_kernel_describe(gfxsim_kernel_at(object, k), &info);
    if (!is_function(info.name, f, &of_types)) continue;
    any = true;
    if (f->fewer.types == 0 || (f->fewer.types & of_types) != 0) *fewer = true;
  }
  return any;
}

static void check_claim_on(int place, const claim *c) {
  const hip_functions *f = c->functions;
  const hip_code *code = &f->code[place];
  const char *chip = built[place]->name;
  gfxsim_device *device = NULL;
  gfxsim_object *object = NULL;
  bool fewer = false;
  if (gfxsim_open(chip, NULL, &device) != GFXSIM_OK || gfxsim_load(device, code->data, code->bytes, &object) != GFXSIM_OK) {
    fail(UNREADABLE, f->stem, chip);
    printf("%s\n", gfxsim_last_error());
  } else if (!has_function(object, f, &fewer)) {
    fail(NO_CODE, f->stem, chip);
    printf("%s of %s lists it, and its code object has no such function\n", c->row->name, tdm_op_names[c->row->op]);
  } else if (fewer_on_chip(f, built[place]) && !fewer) {
    fail(NO_EXCEPTION, f->stem, chip);
    printf("%s of %s has an exception for it that fits no function\n", c->row->name, tdm_op_names[c->row->op]);
  }
  gfxsim_close(device);
}

static void check_claim(const claim *c) {
  for (int place = 0; place < built_count; place++)
    if (on_chip(c->functions, built[place])) check_claim_on(place, c);
}

/* One kernel is not listed, one is listed twice, and the lists have entries that are wrong. */
static void plant(void) {
  static const tdm_kernel row = {.name = "planted", .op = TDM_OP_ADD, .backend = &tdm_backend_hip};
  static const tdm_kernel *const rows[] = {&row, NULL};
  static hip_functions wrong[4], other_lds;
  for (int i = 0; i < 4; i++) wrong[i] = *claims[i + 1].functions;
  wrong[0].fewer = (hip_fewer_waves){.types = 1u << 31, .waves = 1};
  wrong[1].waves = 99;
  wrong[1].fewer.waves = 0;
  wrong[2].stem = "no_such_function";
  for (int i = 0; i < 2; i++) claims[i + 1] = (claim){&row, &wrong[i]};
  add_rows(rows);
  add_claim(&row, &wrong[2]);
  add_claim(&row, &wrong[3]); /* again */
  for (int i = 0; i < claim_count; i++)
    if (claims[i].functions->lds > 0) {
      other_lds = *claims[i].functions;
      other_lds.lds++;
      claims[i].functions = &other_lds;
      break;
    }
  claims[0] = claims[--claim_count];
}

static int all_failures(void) {
  int sum = 0;
  for (int m = 0; m < MISTAKES; m++) sum += failures[m];
  return sum;
}

int main(int argc, char **argv) {
  bool planted = false;
  find_built();
  for (int op = 0; op < TDM_OP_COUNT; op++) add_rows(tdm_built_in_ops[op].hip);
  add_rows(tdm_built_in_steps);
  for (int i = 1; i < argc; i++) {
    print_all |= strcmp(argv[i], "--all") == 0;
    planted |= strcmp(argv[i], "--planted") == 0;
  }
  if (planted) plant();
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "--", 2) != 0) check_file(argv[i]);
  for (int i = 0; i < claim_count; i++) check_claim(&claims[i]);
  printf("%d functions, %d kernels of rows, %d failures\n", kernels, claim_count, all_failures());
  if (!planted) return all_failures() > 0 || kernels == 0 || claim_count == 0;
  int missed = 0;
  for (int m = NO_FUNCTIONS; m < MISTAKES; m++) missed += failures[m] == 0;
  printf("%d of %d planted mistakes were not found\n", missed, MISTAKES - NO_FUNCTIONS);
  return missed > 0 || failures[UNREADABLE] > 0;
}
