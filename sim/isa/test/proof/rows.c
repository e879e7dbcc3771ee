/* Rules that every row of the families' tables must keep: a name once, a matrix instruction with clocks and FLOPs, and `@` at
 * every operand that is an address, since definedness tells addresses from data by it. */
#include <stdio.h>
#include <string.h>

#include "sim/base/chip.h"
#include "sim/count/rate.h"
#include "sim/isa/op/ops.h"

static int failures;

static void fail(const char *name, const char *rule) {
  fprintf(stderr, "rows: %s: %s\n", name, rule);
  failures++;
}

/* The operands of an address in LLVM's syntax: buffers have a vector address, a resource and an offset; global and scratch
 * memory a vector and a scalar address; scalar memory a base and an offset. */
static const struct {
  const char *prefix;
  int operands;
} addresses[] = {
    {"buffer_", 3}, {"global_", 2},  {"scratch_", 2},  {"flat_", 1},     {"ds_", 1},
    {"s_load_", 2}, {"s_store_", 2}, {"s_buffer_", 2}, {"s_atomic_", 2},
};

/* No operand is the address: caches, the lane pattern in the instruction itself, or M0. */
static bool without_address(const op *o) {
  return strcmp(o->shape, "*") == 0 || strcmp(o->name, "ds_swizzle_b32") == 0 ||
         ((o->implied & IMPLIED_M0) != 0 && !o->to_lds && strncmp(o->name, "ds_", 3) == 0);
}

static void check_address(const op *o) {
  int marked = 0;
  for (const char *at = o->shape; *at != '\0'; at++) {
    marked += *at == '@';
    if (*at == 's' && (at == o->shape || at[-1] != '@')) fail(o->name, "s is an address or offset and needs an @");
  }
  for (size_t a = 0; a < sizeof addresses / sizeof addresses[0]; a++) {
    if (strncmp(o->name, addresses[a].prefix, strlen(addresses[a].prefix)) != 0) continue;
    if (marked != (without_address(o) ? 0 : addresses[a].operands)) fail(o->name, "every operand of its address needs an @");
  }
}

static void check_matrix(const chip *c, const op *o, const family *f) {
  inst i = {.op = o, .class = (u8)f->class};
  if (f->class == CLASS_MFMA && (rate_clocks(c, &i) == 0 || rate_flops(&i) == 0))
    fail(o->name, "rate.c finds no clocks or no FLOPs");
}

int main(void) {
  chip c;
  if (chip_find("gfx950", &c) != GFXSIM_OK) return 1;
  for (int f = 0; families[f] != NULL; f++)
    for (size_t n = 0; n < families[f]->count; n++) {
      const op *o = &families[f]->ops[n];
      const family *of;
      if (op_find(o->name, &of) != o) fail(o->name, "the name stands in two rows");
      check_address(o);
      check_matrix(&c, o, families[f]);
    }
  return failures > 0;
}
