/* The 64 bytes of a kernel descriptor. Source: LLVM's AMDGPUUsage, "Kernel Descriptor for GFX6-GFX12",
 * "compute_pgm_rsrc1", "compute_pgm_rsrc2", "compute_pgm_rsrc3 for GFX90A, GFX942". */
#include <inttypes.h>
#include <string.h>

#include "object.h"
#include "sim/base/error.h"

static u32 field(const u8 *bytes, size_t offset, int low, int width) {
  u32 word;
  memcpy(&word, bytes + offset, sizeof word);
  return word >> low & ((UINT32_C(1) << width) - 1);
}
static u32 word_at(const u8 *bytes, size_t offset) {
  u32 word;
  memcpy(&word, bytes + offset, sizeof word);
  return word;
}

enum { RSRC3 = 44, RSRC1 = 48, RSRC2 = 52, PROPERTIES = 56 };

static u32 user_sgprs_asked(const descriptor *d) {
  return 4u * d->private_segment_buffer + 2u * d->dispatch_ptr + 2u * d->queue_ptr + 2u * d->kernarg_ptr + 2u * d->dispatch_id +
         2u * d->flat_scratch_init + d->private_segment_size + d->preload_dwords;
}

static gfxsim_status check(const char *kernel, const chip *chip, const descriptor *d) {
  if (d->vgprs > chip->vgprs)
    return fail(GFXSIM_INVALID, "kernel %s: vgprs = %u: must be %u or less", kernel, d->vgprs, chip->vgprs);
  if (d->accum_offset > d->vgprs + 3)
    return fail(GFXSIM_INVALID, "kernel %s: accum_offset = %u: must be at most its %u registers", kernel, d->accum_offset,
                d->vgprs);
  if (d->scratch_bytes > chip->scratch_bytes)
    return fail(GFXSIM_INVALID, "kernel %s: scratch of %u bytes a lane: must be %u or less", kernel, d->scratch_bytes,
                chip->scratch_bytes);
  /* Hardware holds 16 user SGPRs. Source: as above, "the number of user SGPRs". */
  if (d->user_sgprs > 16 || user_sgprs_asked(d) > d->user_sgprs)
    return fail(GFXSIM_INVALID, "kernel %s: user_sgprs = %u: must be 16 or less and hold the %u that its fields ask for",
                kernel, d->user_sgprs, user_sgprs_asked(d));
  return GFXSIM_OK;
}

gfxsim_status descriptor_read(const u8 bytes[64], const char *kernel, const chip *chip, descriptor *d) {
  if (field(bytes, PROPERTIES, 10, 1) != 0)
    return fail(GFXSIM_INVALID, "kernel %s: is for waves of 32: must be wave64", kernel);
  if (field(bytes, RSRC1, 26, 1) != 0)
    return fail(GFXSIM_UNIMPLEMENTED, "kernel %s: asks for FP16_OVFL, saturation on overflow: not implemented", kernel);
  memcpy(&d->entry, bytes + 16, sizeof d->entry);
  *d = (descriptor){
      .lds_bytes = word_at(bytes, 0),
      .scratch_bytes = word_at(bytes, 4),
      .kernarg_bytes = word_at(bytes, 8),
      .entry = d->entry,
      .vgprs = (field(bytes, RSRC1, 0, 6) + 1) * 8,
      .accum_offset = (field(bytes, RSRC3, 0, 6) + 1) * 4,
      .mode = field(bytes, RSRC1, 12, 8) | field(bytes, RSRC1, 21, 1) << 8 | field(bytes, RSRC1, 23, 1) << 9,
      .user_sgprs = field(bytes, RSRC2, 1, 5),
      .private_segment_buffer = field(bytes, PROPERTIES, 0, 1) != 0,
      .dispatch_ptr = field(bytes, PROPERTIES, 1, 1) != 0,
      .queue_ptr = field(bytes, PROPERTIES, 2, 1) != 0,
      .kernarg_ptr = field(bytes, PROPERTIES, 3, 1) != 0,
      .dispatch_id = field(bytes, PROPERTIES, 4, 1) != 0,
      .flat_scratch_init = field(bytes, PROPERTIES, 5, 1) != 0,
      .private_segment_size = field(bytes, PROPERTIES, 6, 1) != 0,
      .workgroup_id = {field(bytes, RSRC2, 7, 1) != 0, field(bytes, RSRC2, 8, 1) != 0, field(bytes, RSRC2, 9, 1) != 0},
      .workgroup_info = field(bytes, RSRC2, 10, 1) != 0,
      .workitem_dims = field(bytes, RSRC2, 11, 2) + 1,
      .preload_dwords = field(bytes, PROPERTIES, 16, 7),
      .preload_offset = field(bytes, PROPERTIES, 23, 9),
  };
  return check(kernel, chip, d);
}
