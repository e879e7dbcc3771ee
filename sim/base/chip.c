/* Finding a chip, and the overrides after its name. */
#include "chip.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

static const struct {
  const char *name;
  size_t offset;
  u32 most; /* above it, other parts of the simulator have no room */
} fields[] = {
    {"xcds", offsetof(chip, xcds), 1024},
    {"cus_per_xcd", offsetof(chip, cus_per_xcd), 1024},
    {"simds_per_cu", offsetof(chip, simds_per_cu), 64},
    {"waves_per_simd", offsetof(chip, waves_per_simd), 64},
    {"lds_bytes", offsetof(chip, lds_bytes), 1 << 20},
    {"lds_granule", offsetof(chip, lds_granule), 1 << 16},
    {"vgprs", offsetof(chip, vgprs), 512},
    {"vgpr_granule", offsetof(chip, vgpr_granule), 64},
    {"sgprs", offsetof(chip, sgprs), 102},
    {"scratch_bytes", offsetof(chip, scratch_bytes), 1 << 24},
    {"max_workgroup", offsetof(chip, max_workgroup), 1024},
    {"clock_mhz", offsetof(chip, clock_mhz), 100000},
    {"hbm_gbs", offsetof(chip, hbm_gbs), 1000000},
    {"l1_bytes", offsetof(chip, l1_bytes), 1 << 20},
    {"l1_clock_bytes", offsetof(chip, l1_clock_bytes), 1 << 16},
    {"l2_bytes", offsetof(chip, l2_bytes), 1 << 30},
    {"l2_ways", offsetof(chip, l2_ways), 256},
    {"l2_channels", offsetof(chip, l2_channels), 1024},
    {"fabric_clock_bytes", offsetof(chip, fabric_clock_bytes), 1 << 20},
    {"mall_bytes", offsetof(chip, mall_bytes), 1 << 30},
    {"mall_ways", offsetof(chip, mall_ways), 256},
    {"mall_clock_bytes", offsetof(chip, mall_clock_bytes), 1 << 20},
    {"memory_gib", offsetof(chip, memory_gib), 4096},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };
_Static_assert(FIELDS <= 32, "override has a bit for each");

/* given: a bit for each field that was set before. */
static gfxsim_status override(chip *c, const char *text, size_t length, u32 *given) {
  for (int f = 0; f < FIELDS; f++) {
    size_t name = strlen(fields[f].name);
    if (length <= name + 1 || strncmp(text, fields[f].name, name) != 0 || text[name] != '=') continue;
    char *end;
    unsigned long long value = strtoull(text + name + 1, &end, 0);
    if (text[name + 1] == '-' || end != text + length || value < 1 || value > fields[f].most)
      return fail(GFXSIM_INVALID, "chip: %.*s: must be 1 to %u", (int)length, text, fields[f].most);
    if ((*given >> f & 1) != 0)
      return fail(GFXSIM_INVALID, "chip: %.*s: %s must be given once", (int)length, text, fields[f].name);
    *given |= (u32)1 << f;
    *(u32 *)((char *)c + fields[f].offset) = (u32)value;
    return GFXSIM_OK;
  }
  return fail(GFXSIM_INVALID, "chip: '%.*s': must be FIELD=VALUE with a field such as xcds or lds_bytes", (int)length, text);
}

gfxsim_status chip_find(const char *text, chip *found) {
  size_t length = strcspn(text, ",");
  const chip *row = tdm_chip_find(text, length);
  if (row == NULL) {
    char names[128];
    tdm_chip_names(names, sizeof names, " or ");
    return fail(GFXSIM_INVALID, "chip = '%.*s': must be %s", (int)length, text, names);
  }
  u32 given = 0;
  *found = *row;
  for (text += length; *text == ',';) {
    text++;
    length = strcspn(text, ",");
    gfxsim_status status = override(found, text, length, &given);
    if (status != GFXSIM_OK) return status;
    text += length;
  }
  return GFXSIM_OK;
}

const char *chip_of_machine(u32 machine) {
  for (int c = 0; c < TDM_CHIPS; c++)
    if (tdm_chips[c].machine == machine) return tdm_chips[c].name;
  return NULL;
}
