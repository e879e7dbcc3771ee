/* What a report says of a wrong access: its error, memory, direction and bytes. Each test is one instruction in one lane.
 * Usage: access-errors CLANG CHIP */
#include <stdio.h>
#include <stdlib.h>

#include "sim/include/gfxsim.h"
#include "sim/test/assemble.h"

/* Memory of the device: an allocation, a freed one, a protected one, an array of 8 KiB with two rows of 64 bytes (the
 * second one protected), one of a second device, host memory that is mapped and host memory that is not. */
enum { BYTES = 256, ROW = 64, PITCH = 4096, ARRAY = 2 * PITCH, LDS = 64, SCRATCH = 16 };
typedef enum place { NOWHERE, KEPT, FREED, PROTECTED, ROWS, OTHER, HOST, PLACES } place;

typedef struct access_test {
  const char *name;
  const char *body; /* the address is in v[10:11] and in s[4:5] */
  place at;
  int64_t offset;
  gfxsim_kind kind;
  gfxsim_access_error error;
  gfxsim_space space;
  bool writes;
  uint32_t bytes;
} access_test;

#define LOAD " global_load_dword v2, v[10:11], off\n"
#define LOAD_2 " global_load_dwordx2 v[2:3], v[10:11], off\n"
#define STORE " global_store_dword v[10:11], v0, off\n"
#define ATOMIC_2 " global_atomic_add_x2 v[10:11], v[0:1], off\n"
#define SCALAR " s_load_dword s20, s[4:5], 0x0\n"
#define TO_CODE " s_getpc_b64 s[4:5]\n v_mov_b32 v10, s4\n v_mov_b32 v11, s5\n" STORE
#define TO_ARGUMENTS " v_mov_b32 v10, s0\n v_mov_b32 v11, s1\n" STORE
#define OUT GFXSIM_OUT_OF_BOUNDS
#define BEYOND GFXSIM_ACCESS_BEYOND
#define MISALIGNED GFXSIM_MISALIGNED, GFXSIM_ACCESS_MISALIGNED

static const access_test tests[] = {
    {"nowhere", LOAD, NOWHERE, 64, OUT, GFXSIM_ACCESS_NOWHERE, GFXSIM_SPACE_GLOBAL, false, 4},
    {"host", LOAD, HOST, 0, OUT, GFXSIM_ACCESS_NOWHERE, GFXSIM_SPACE_GLOBAL, false, 4},
    {"across_end", LOAD_2, KEPT, BYTES - 4, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, false, 8},
    {"scalar", SCALAR, KEPT, BYTES, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, false, 4},
    {"after_end", STORE, KEPT, BYTES, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, true, 4},
    {"atomic", ATOMIC_2, KEPT, BYTES, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, true, 8},
    {"before_array", LOAD, ROWS, -4, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, false, 4},
    {"after_array", STORE, ROWS, ARRAY, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, true, 4},
    {"across_array", LOAD_2, ROWS, ARRAY - 4, OUT, BEYOND, GFXSIM_SPACE_GLOBAL, false, 8},
    {"gap", STORE, ROWS, ROW, OUT, GFXSIM_ACCESS_GAP, GFXSIM_SPACE_GLOBAL, true, 4},
    {"no_peer", STORE, OTHER, 0, OUT, GFXSIM_ACCESS_NO_PEER, GFXSIM_SPACE_GLOBAL, true, 4},
    {"freed", LOAD, FREED, 8, GFXSIM_AFTER_FREE, GFXSIM_ACCESS_FREED, GFXSIM_SPACE_GLOBAL, false, 4},
    {"code", TO_CODE, KEPT, 0, OUT, GFXSIM_ACCESS_READ_ONLY, GFXSIM_SPACE_GLOBAL, true, 4},
    {"arguments", TO_ARGUMENTS, KEPT, 0, OUT, GFXSIM_ACCESS_READ_ONLY, GFXSIM_SPACE_GLOBAL, true, 4},
    {"protected", STORE, PROTECTED, 0, OUT, GFXSIM_ACCESS_READ_ONLY, GFXSIM_SPACE_GLOBAL, true, 4},
    {"protected_row", ATOMIC_2, ROWS, PITCH, OUT, GFXSIM_ACCESS_READ_ONLY, GFXSIM_SPACE_GLOBAL, true, 8},
    {"misaligned", LOAD_2, KEPT, 2, MISALIGNED, GFXSIM_SPACE_GLOBAL, false, 8},
    {"misaligned_atomic", ATOMIC_2, KEPT, 4, MISALIGNED, GFXSIM_SPACE_GLOBAL, true, 8},
    {"lds", " v_mov_b32 v10, 64\n ds_write_b32 v10, v0\n", KEPT, 0, OUT, BEYOND, GFXSIM_SPACE_LDS, true, 4},
    {"lds_misaligned", " v_mov_b32 v10, 2\n ds_read_b32 v2, v10\n", KEPT, 0, MISALIGNED, GFXSIM_SPACE_LDS, false, 4},
    {"lds_atomic_misaligned", " v_mov_b32 v10, 4\n ds_add_u64 v10, v[0:1]\n", KEPT, 0, MISALIGNED, GFXSIM_SPACE_LDS, true, 8},
    {"scratch", " v_mov_b32 v10, 16\n scratch_store_dword v10, v0, off\n", KEPT, 0, OUT, BEYOND, GFXSIM_SPACE_SCRATCH, true, 4},
    {"trap", " s_trap 2\n", KEPT, 0, GFXSIM_TRAP, GFXSIM_ACCESS_NONE, GFXSIM_SPACE_NONE, false, 0},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* ---- Assembling ---- */

static void write_kernel(FILE *file, const access_test *t) {
  fprintf(file,
          ".globl %s\n.p2align 8\n.type %s,@function\n%s:\n s_load_dwordx2 s[4:5], s[0:1], 0x0\n s_mov_b64 exec, 1\n"
          " v_mov_b32 v1, 0\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v10, s4\n v_mov_b32 v11, s5\n%s s_waitcnt vmcnt(0) lgkmcnt(0)\n"
          " s_endpgm\n"
          ".rodata\n.p2align 6\n.amdhsa_kernel %s\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr 16\n"
          " .amdhsa_next_free_sgpr 32\n .amdhsa_accum_offset 16\n .amdhsa_kernarg_size 8\n"
          " .amdhsa_group_segment_fixed_size %d\n .amdhsa_private_segment_fixed_size %d\n .amdhsa_enable_private_segment 1\n"
          ".end_amdhsa_kernel\n.text\n",
          t->name, t->name, t->name, t->body, t->name, LDS, SCRATCH);
}

static void write_metadata(FILE *file, const char *name) {
  fprintf(file,
          "  - .name: %s\n    .symbol: %s.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n"
          "    .group_segment_fixed_size: %d\n    .private_segment_fixed_size: %d\n    .wavefront_size: 64\n"
          "    .sgpr_count: 32\n    .vgpr_count: 16\n    .agpr_count: 0\n    .max_flat_workgroup_size: 64\n    .args:\n"
          "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n",
          name, name, LDS, SCRATCH);
}

static void write_all(FILE *file, const void *chip) {
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", (const char *)chip);
  for (int n = 0; n < TESTS; n++) write_kernel(file, &tests[n]);
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          (const char *)chip);
  for (int n = 0; n < TESTS; n++) write_metadata(file, tests[n].name);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

/* ---- Running ---- */

static const char *chip;
static uint8_t object_data[1 << 18];
static size_t object_bytes;

typedef struct finding {
  const access_test *test;
  int count, wrong;
} finding;

static void compare(const gfxsim_report *r, void *user) {
  finding *f = user;
  const access_test *t = f->test;
  bool same = r->kind == t->kind && r->access_error == t->error && r->space == t->space && r->writes == t->writes &&
              r->bytes == t->bytes && r->fatal;
  f->count++;
  if (same) return;
  f->wrong++;
  fprintf(stderr, "access-errors: %s %s: kind %d, error %d, space %d, writes %d, %u bytes: must be %d, %d, %d, %d, %u: %s\n",
          chip, t->name, r->kind, r->access_error, r->space, r->writes, r->bytes, t->kind, t->error, t->space, t->writes,
          t->bytes, r->message);
}

static bool make_memory(gfxsim_device *device, gfxsim_device *other, uint64_t address[PLACES]) {
  static uint32_t mapped[1024], unmapped[1024];
  uint64_t neighbour; /* so that the freed allocation is not the last one */
  address[NOWHERE] = 0;
  address[HOST] = (uint64_t)(uintptr_t)&unmapped[512];
  return gfxsim_alloc(device, BYTES, &address[KEPT]) == GFXSIM_OK &&
         gfxsim_alloc(device, BYTES, &address[FREED]) == GFXSIM_OK && gfxsim_alloc(device, BYTES, &neighbour) == GFXSIM_OK &&
         gfxsim_free(device, address[FREED]) == GFXSIM_OK &&
         gfxsim_reserve(device, "rows", 0, ARRAY, &address[ROWS]) == GFXSIM_OK &&
         gfxsim_map(device, address[ROWS], ROW) == GFXSIM_OK && gfxsim_map(device, address[ROWS] + PITCH, ROW) == GFXSIM_OK &&
         gfxsim_protect(device, address[ROWS] + PITCH, true) == GFXSIM_OK &&
         gfxsim_alloc(device, BYTES, &address[PROTECTED]) == GFXSIM_OK &&
         gfxsim_protect(device, address[PROTECTED], true) == GFXSIM_OK &&
         gfxsim_protect(device, address[KEPT], true) == GFXSIM_OK &&
         gfxsim_protect(device, address[KEPT], false) == GFXSIM_OK &&
         gfxsim_protect(device, address[KEPT] + 4, true) == GFXSIM_INVALID &&
         gfxsim_alloc(other, BYTES, &address[OTHER]) == GFXSIM_OK && gfxsim_map_host(device, mapped, 64) == GFXSIM_OK;
}

static bool test_one(const access_test *t) {
  finding f = {.test = t};
  gfxsim_options options = {.threads = 1, .report = compare, .user = &f, .unchecked = GFXSIM_CHECK_UNINITIALISED},
                 second = {.number = 1};
  gfxsim_device *device = NULL, *other = NULL;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  uint64_t address[PLACES];
  bool good = gfxsim_open(chip, &options, &device) == GFXSIM_OK && gfxsim_open(chip, &second, &other) == GFXSIM_OK &&
              gfxsim_load(device, object_data, object_bytes, &object) == GFXSIM_OK &&
              gfxsim_kernel_find(object, t->name, &kernel) == GFXSIM_OK && make_memory(device, other, address);
  uint64_t argument = good ? address[t->at] + (uint64_t)t->offset : 0;
  gfxsim_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .args = &argument, .arg_bytes = sizeof argument};
  gfxsim_status status = good ? gfxsim_run(kernel, &launch) : GFXSIM_INVALID;
  if (status != GFXSIM_FAULT || f.count != 1)
    fprintf(stderr, "access-errors: %s %s: status %d, %d findings: must be %d, 1: %s\n", chip, t->name, status, f.count,
            GFXSIM_FAULT, gfxsim_last_error());
  gfxsim_close(device);
  gfxsim_close(other);
  return status == GFXSIM_FAULT && f.count == 1 && f.wrong == 0;
}

int main(int argc, char **argv) {
  int failures = 0;
  if (argc != 3) return fprintf(stderr, "usage: access-errors CLANG CHIP\n"), 2;
  chip = argv[2];
  object_bytes = assemble(argv[1], chip, write_all, chip, object_data, sizeof object_data);
  if (object_bytes == 0) return 1;
  for (int n = 0; n < TESTS; n++) failures += !test_one(&tests[n]);
  printf("access-errors %s: %d tests, %d failures\n", chip, TESTS, failures);
  return failures > 0;
}
