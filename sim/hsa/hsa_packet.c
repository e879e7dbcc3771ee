/* One AQL packet: checked, then executed or refused. Its queue says the rest. */
#include <stdio.h>
#include <string.h>

#include "hsa_state.h"

static packet_end refuse(hsa_signal completion, const char *kernel, const char *text) {
  door_found_text("bad packet", kernel, text);
  return (packet_end){HSA_INVALID_PACKET_FORMAT, completion};
}

/* ---- Dispatches ---- */

enum { DIMENSIONS = 3, SETUP_DIMENSIONS = 3 /* the bits of `setup` with their number */, KERNARG_ALIGNMENT = 16 };

static bool bad_shape(const hsa_dispatch *p, gfxsim_launch *launch, char *text, size_t room) {
  int dimensions = p->setup & SETUP_DIMENSIONS;
  if (dimensions == 0) return snprintf(text, room, "AQL packet: setup = 0x%x: must give 1 to 3 dimensions", p->setup) > 0;
  for (int d = 0; d < DIMENSIONS; d++) {
    uint32_t block = p->workgroup[d], grid = p->grid[d];
    if (block == 0 || grid == 0)
      return snprintf(text, room, "AQL packet: grid[%d] = %u, workgroup[%d] = %u: must be positive", d, grid, d, block) > 0;
    if (d >= dimensions && (block != 1 || grid != 1))
      return snprintf(text, room, "AQL packet: grid[%d] = %u, workgroup[%d] = %u: must be 1 in a launch of %d dimensions", d,
                      grid, d, block, dimensions) > 0;
    if (grid < block) block = grid; /* one workgroup that is smaller */
    if (grid % block != 0)
      return snprintf(text, room,
                      "AQL packet: grid[%d] = %u is not a multiple of workgroup[%d] = %u: gfxsim has no partial workgroups", d,
                      grid, d, block) > 0;
    launch->grid[d] = grid / block;
    launch->block[d] = block;
  }
  return false;
}

/* What a dispatch asks for that a GPU could do and gfxsim can't, or that no GPU does. */
static bool bad_dispatch(const hsa_dispatch *p, const gfxsim_kernel_info *info, gfxsim_launch *launch, char *text,
                         size_t room) {
  if (bad_shape(p, launch, text, room)) return true;
  if (p->group_bytes < info->lds_bytes)
    return snprintf(text, room, "AQL packet: group_segment_size = %u: the kernel needs %u", p->group_bytes, info->lds_bytes) >
           0;
  if (p->private_bytes < info->scratch_bytes)
    return snprintf(text, room, "AQL packet: private_segment_size = %u: the kernel needs %u", p->private_bytes,
                    info->scratch_bytes) > 0;
  if (p->kernarg == 0 && info->kernarg_bytes > 0)
    return snprintf(text, room, "AQL packet: kernarg_address = 0: the kernel has %u bytes of arguments", info->kernarg_bytes) >
           0;
  if (p->kernarg % KERNARG_ALIGNMENT != 0)
    return snprintf(text, room, "AQL packet: kernarg_address = 0x%llx: must be a multiple of %d",
                    (unsigned long long)p->kernarg, KERNARG_ALIGNMENT) > 0;
  launch->dynamic_lds = p->group_bytes - info->lds_bytes;
  launch->scratch_bytes = info->dynamic_stack ? p->private_bytes : 0;
  launch->kernarg = p->kernarg;
  return false;
}

static bool known(hsa_signal handle) {
  pthread_mutex_lock(&world);
  bool live = hsa_signal_known(handle);
  pthread_mutex_unlock(&world);
  return live;
}

static packet_end run_dispatch(device *here, const hsa_dispatch *p) {
  device *d;
  gfxsim_kernel *kernel = hsa_kernel(p->kernel_object, &d);
  char text[256];
  if (kernel == NULL || d != here) {
    snprintf(text, sizeof text, "AQL packet: kernel_object = 0x%llx: must be a kernel loaded for this device",
             (unsigned long long)p->kernel_object);
    return refuse(p->completion, "(none)", text);
  }
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  if (!known(p->completion)) {
    snprintf(text, sizeof text, "AQL packet: completion_signal = 0x%llx: must be 0 or a signal that exists",
             (unsigned long long)p->completion.handle);
    return refuse((hsa_signal){0}, info.name, text);
  }
  gfxsim_launch launch = {0};
  door_measure measure;
  door_measure_begin(&measure, hsa_profile(), &launch);
  if (bad_dispatch(p, &info, &launch, text, sizeof text)) return refuse(p->completion, info.name, text);
  atomic_fetch_add(&door_tally()->launches, 1);
  pthread_mutex_lock(&d->lock);
  hsa_run_begin(d);
  gfxsim_status status = gfxsim_run(kernel, &launch);
  fatal_report fatal = hsa_run_end(d);
  pthread_mutex_unlock(&d->lock);
  atomic_fetch_add(&door_tally()->ended, 1);
  door_measure_end(&measure, info.name, &launch, status);
  if (status != GFXSIM_OK && !fatal.found && !fatal.other) {
    door_found_text("refused launch", info.name, gfxsim_last_error());
    return (packet_end){HSA_INVALID_PACKET_FORMAT, p->completion};
  }
  if (fatal.found) {
    /* A GPU tells the system of memory faults, and the queue of everything else. */
    bool memory = fatal.kind == GFXSIM_OUT_OF_BOUNDS || fatal.kind == GFXSIM_AFTER_FREE;
    bool told = memory && hsa_memory_fault(d, fatal.address);
    return (packet_end){told ? HSA_ERROR : HSA_EXCEPTION, p->completion};
  }
  pthread_mutex_lock(&world);
  hsa_signal_add(p->completion, -1);
  pthread_mutex_unlock(&world);
  return (packet_end){0};
}

/* ---- Barriers ---- */

/* Whether its signals let it go: all of them at 0, or for BARRIER_OR one of those that it names. The caller has `world`. */
static bool barrier_opens(const hsa_barrier *p, bool any) {
  int named = 0, done = 0;
  for (int n = 0; n < HSA_BARRIER_SIGNALS; n++) {
    if (p->dependency[n].handle == 0) continue;
    named++;
    done += hsa_signal_value(p->dependency[n]) == 0;
  }
  return any ? done > 0 || named == 0 : done == named;
}

static packet_end run_barrier(const hsa_barrier *p, bool any, const bool *ends) {
  pthread_mutex_lock(&world);
  bool good = hsa_signal_known(p->completion);
  for (int n = 0; n < HSA_BARRIER_SIGNALS; n++) good = good && hsa_signal_known(p->dependency[n]);
  while (good && !*ends && !barrier_opens(p, any)) pthread_cond_wait(&changed, &world);
  if (good && barrier_opens(p, any)) hsa_signal_add(p->completion, -1);
  pthread_mutex_unlock(&world);
  return good ? (packet_end){0} : refuse((hsa_signal){0}, "(none)", "AQL barrier packet: a signal that does not exist");
}

packet_end hsa_packet_run(device *d, const uint8_t bytes[HSA_PACKET_BYTES], const bool *ends) {
  hsa_dispatch dispatch;
  hsa_barrier barrier;
  char text[96];
  memcpy(&dispatch, bytes, sizeof dispatch);
  memcpy(&barrier, bytes, sizeof barrier);
  int type = dispatch.header & HSA_PACKET_TYPE;
  switch (type) {
    case HSA_PACKET_DISPATCH: return run_dispatch(d, &dispatch);
    case HSA_PACKET_BARRIER_AND:
    case HSA_PACKET_BARRIER_OR: return run_barrier(&barrier, type == HSA_PACKET_BARRIER_OR, ends);
    default:
      snprintf(text, sizeof text, "AQL packet: type %d: must be a kernel dispatch (2) or a barrier (3, 5)", type);
      return refuse((hsa_signal){0}, "(none)", text);
  }
}
