/* A launch: kernel arguments, the dispatch packet, and the workgroups over host threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "room.h"
#include "sample.h"
#include "sim/base/error.h"
#include "sim/device/mapped.h"
#include "sim/include/gfxsim_time.h"
#include "watch.h"

enum {
  THREADS_MOST = 1024,
  PACKET_BYTES = 64,
  BLOCK_MOST = 1024,
  STACK_DEFAULT = 16384,
  THREAD_STACK = 1 << 20,
  TURN_DEFAULT = 16
};
#define BUDGET_DEFAULT (UINT64_C(1) << 32)

/* ---- Kernel arguments ---- */

static void put_hidden(u8 *args, const gfxsim_arg *arg, const launch *run, const gfxsim_launch *asked) {
  static const char *const axes[] = {"x", "y", "z"};
  u64 value = 0; /* what is not named below is optional, and 0 says that it is absent */
  const char *kind = arg->kind + strlen("hidden_");
  for (int d = 0; d < 3; d++) {
    size_t length = strlen(kind);
    if (length < 2 || strcmp(kind + length - 2, (char[]){'_', axes[d][0], '\0'}) != 0) continue;
    if (strncmp(kind, "block_count", 11) == 0) value = run->grid[d];
    if (strncmp(kind, "group_size", 10) == 0) value = run->block[d];
  }
  if (strcmp(kind, "grid_dims") == 0) value = run->grid[2] * run->block[2] > 1 ? 3 : run->grid[1] * run->block[1] > 1 ? 2 : 1;
  if (strcmp(kind, "dynamic_lds_size") == 0) value = run->dynamic_lds;
  if (strcmp(kind, "shared_base") == 0) value = 0x10000; /* upper halves of the apertures, as in text.c */
  if (strcmp(kind, "private_base") == 0) value = 0x20000;
  for (int h = 0; h < asked->hidden_count; h++)
    if (strcmp(arg->kind, asked->hidden[h].kind) == 0) value = asked->hidden[h].value;
  memcpy(args + arg->offset, &value, arg->size < sizeof value ? arg->size : sizeof value);
}

static gfxsim_status make_args(launch *run, const gfxsim_launch *asked) {
  const gfxsim_kernel *k = run->kernel;
  if (asked->kernarg != 0) {
    if (k->segment_bytes > 0 && memory_range(&run->device->memory, asked->kernarg, k->segment_bytes, "run: kernarg") == NULL)
      return GFXSIM_INVALID;
    run->kernarg = asked->kernarg;
    return GFXSIM_OK;
  }
  u32 bytes = k->kernarg_bytes > 0 ? k->kernarg_bytes : 4, explicit_end = 0;
  /* LLVM 22 reads three dwords at a multiple of 8 as four (WidenOrSplitVectorLoad): a segment of 36 bytes up to byte 40. */
  u32 room = (bytes + 7) / 8 * 8;
  for (int a = 0; a < k->arg_count; a++)
    if (!k->args[a].hidden && k->args[a].offset + k->args[a].size > explicit_end)
      explicit_end = k->args[a].offset + k->args[a].size;
  if (asked->arg_bytes < explicit_end || asked->arg_bytes > bytes)
    return fail(GFXSIM_INVALID, "run: kernel %s: arg_bytes = %zu: must be %u to %u", k->name, asked->arg_bytes, explicit_end,
                bytes);
  gfxsim_status status = memory_alloc(&run->device->memory, room, false, &run->kernarg_memory);
  if (status != GFXSIM_OK) return status;
  u8 *args = run->kernarg_memory->data;
  memset(args, 0, bytes);
  if (asked->arg_bytes > 0) memcpy(args, asked->args, asked->arg_bytes);
  for (int a = 0; a < k->arg_count; a++)
    if (k->args[a].hidden) put_hidden(args, &k->args[a], run, asked);
  run->kernarg = run->kernarg_memory->base;
  return GFXSIM_OK;
}

/* hsa_kernel_dispatch_packet_t. Source: HSA Platform System Architecture Specification 1.2, 2.9.6. */
static gfxsim_status make_packet(launch *run) {
  gfxsim_status status = memory_alloc(&run->device->memory, PACKET_BYTES, false, &run->packet_memory);
  if (status != GFXSIM_OK) return status;
  u8 *packet = run->packet_memory->data;
  u16 head[6] = {2, 3, (u16)run->block[0], (u16)run->block[1], (u16)run->block[2], 0};
  u32 rest[5] = {run->grid[0] * run->block[0], run->grid[1] * run->block[1], run->grid[2] * run->block[2], run->scratch_bytes,
                 run->lds_bytes};
  memset(packet, 0, PACKET_BYTES);
  memcpy(packet, head, sizeof head);
  memcpy(packet + 12, rest, sizeof rest);
  memcpy(packet + 40, &run->kernarg, sizeof run->kernarg);
  run->packet = run->packet_memory->base;
  return GFXSIM_OK;
}

/* ---- Threads ---- */

typedef struct worker {
  launch *run;
  pthread_t thread;
  room room; /* of the workgroup that it is at */
} worker;

static void *work(void *argument) {
  worker *w = argument;
  launch *run = w->run;
  u64 position;
  while (!atomic_load(&run->stop) && (position = atomic_fetch_add(&run->next_group, 1)) < run->groups_run) {
    room_take(&w->room, position);
    group_run(&w->room.group);
  }
  return NULL;
}

static gfxsim_status run_groups(launch *run, u32 threads) {
  worker *workers = calloc(threads, sizeof *workers);
  if (workers == NULL) return fail(GFXSIM_NO_MEMORY, "run: no memory");
  gfxsim_status status = GFXSIM_OK;
  u32 started = 1; /* the first is this thread */
  for (u32 t = 0; t < threads && status == GFXSIM_OK; t++) {
    workers[t].run = run;
    status = room_make(&workers[t].room, run);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, THREAD_STACK);
  while (status == GFXSIM_OK && started < threads &&
         pthread_create(&workers[started].thread, &attributes, work, &workers[started]) == 0)
    started++;
  pthread_attr_destroy(&attributes);
  /* A thread that can't start only leaves more work to the others, unless these wait for its workgroup. */
  if (run->cooperative && started < threads) atomic_store(&run->stop, true);
  if (status == GFXSIM_OK) work(&workers[0]);
  for (u32 t = 1; t < started && status == GFXSIM_OK; t++) pthread_join(workers[t].thread, NULL);
  for (u32 t = 0; t < threads; t++) room_free(&workers[t].room);
  free(workers);
  if (status == GFXSIM_OK && run->cooperative && started < threads)
    return fail(GFXSIM_NO_MEMORY, "run: %u workgroups at once: the host could start %u threads", threads, started);
  return status;
}

/* ---- Checks of the request ---- */

static gfxsim_status check(const gfxsim_kernel *k, const gfxsim_launch *asked) {
  const chip *chip = &k->object->device->chip;
  u64 items = 1;
  for (int d = 0; d < 3; d++) {
    if (asked->grid[d] == 0 || asked->block[d] == 0)
      return fail(GFXSIM_INVALID, "run: grid = %u,%u,%u, block = %u,%u,%u: must be 1 or more", asked->grid[0], asked->grid[1],
                  asked->grid[2], asked->block[0], asked->block[1], asked->block[2]);
    if (asked->block[d] > BLOCK_MOST || (u64)asked->grid[d] * asked->block[d] > UINT32_MAX)
      return fail(GFXSIM_INVALID, "run: grid[%d] = %u, block[%d] = %u: block must be 1024 or less, and the product below 2^32",
                  d, asked->grid[d], d, asked->block[d]);
    items *= asked->block[d];
  }
  u32 most = k->max_workgroup != 0 && k->max_workgroup < chip->max_workgroup ? k->max_workgroup : chip->max_workgroup;
  if (items > most)
    return fail(GFXSIM_INVALID, "run: block of %llu work items: kernel %s takes %u", (unsigned long long)items, k->name, most);
  if (asked->grid[1] > 65535 || asked->grid[2] > 65535)
    return fail(GFXSIM_INVALID, "run: grid = %u,%u,%u: the second and third must be 65535 or less", asked->grid[0],
                asked->grid[1], asked->grid[2]);
  u64 lds = (u64)k->desc.lds_bytes + asked->dynamic_lds;
  if (lds > chip->lds_bytes)
    return fail(GFXSIM_INVALID, "run: dynamic_lds = %u: with the kernel's %u bytes above the %u of %s", asked->dynamic_lds,
                k->desc.lds_bytes, chip->lds_bytes, chip->name);
  if (asked->scratch_bytes > chip->scratch_bytes)
    return fail(GFXSIM_INVALID, "run: scratch_bytes = %u: must be %u or less", asked->scratch_bytes, chip->scratch_bytes);
  if (asked->cooperative && (u64)asked->grid[0] * asked->grid[1] * asked->grid[2] > GFXSIM_COOPERATIVE_MOST)
    return fail(GFXSIM_INVALID, "run: grid = %u,%u,%u of a cooperative launch: must be %d workgroups or less", asked->grid[0],
                asked->grid[1], asked->grid[2], GFXSIM_COOPERATIVE_MOST);
  if (k->desc.workgroup_info) return fail(GFXSIM_UNIMPLEMENTED, "run: kernel %s: enable_sgpr_workgroup_info", k->name);
  return GFXSIM_OK;
}

/* Calls that the compiler can't follow leave the stack's size to the runtime. */
static u32 scratch_bytes(const gfxsim_kernel *k, const gfxsim_launch *asked) {
  u32 stack = k->object->device->options.stack_bytes;
  if (k->dynamic_stack && asked->scratch_bytes > k->desc.scratch_bytes) return (asked->scratch_bytes + 3) / 4 * 4;
  if (!k->dynamic_stack)
    stack = 0;
  else if (stack == 0)
    stack = STACK_DEFAULT;
  return (k->desc.scratch_bytes + stack + 3) / 4 * 4;
}

static u32 thread_count(const launch *run) {
  if (run->cooperative) return (u32)run->groups_run;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  u64 threads = run->device->options.threads > 0 ? (u64)run->device->options.threads : processors > 0 ? (u64)processors : 1;
  if (threads > THREADS_MOST) threads = THREADS_MOST;
  return (u32)(threads < run->groups_run ? threads : run->groups_run);
}

gfxsim_status launch_run(gfxsim_kernel *kernel, const gfxsim_launch *asked) {
  gfxsim_status status = check(kernel, asked);
  if (status == GFXSIM_OK) status = kernel_decode(kernel);
  if (status != GFXSIM_OK) return status;
  gfxsim_device *device = kernel->object->device;
  u32 items = asked->block[0] * asked->block[1] * asked->block[2];
  launch run = {.device = device,
                .kernel = kernel,
                .grid = {asked->grid[0], asked->grid[1], asked->grid[2]},
                .block = {asked->block[0], asked->block[1], asked->block[2]},
                .waves = (items + LANES - 1) / LANES,
                .vgprs = kernel->desc.vgprs > kernel->desc.accum_offset ? kernel->desc.vgprs : kernel->desc.accum_offset,
                .dynamic_lds = asked->dynamic_lds,
                .lds_bytes = kernel->desc.lds_bytes + asked->dynamic_lds,
                .scratch_bytes = scratch_bytes(kernel, asked),
                .budget = device->options.budget > 0 ? device->options.budget : BUDGET_DEFAULT,
                .turn = device->options.turn > 0 ? device->options.turn : TURN_DEFAULT,
                .seed = device->options.seed,
                .groups = (u64)asked->grid[0] * asked->grid[1] * asked->grid[2],
                .cooperative = asked->cooperative,
                .grid_sync = asked->grid_sync,
                .counters = asked->counters,
                .timing = asked->timing,
                .skip_matrix = asked->timing != NULL && asked->timing->skip_matrix,
                .reports = reports_make(kernel)};
  if (run.reports == NULL) return fail(GFXSIM_NO_MEMORY, "run: no memory");
  status = sample_make(asked->workgroups, run.groups, device->chip.xcds, &run.sample);
  run.groups_run = sample_count(run.sample, run.groups);
  if (status == GFXSIM_OK) status = make_args(&run, asked);
  if (status == GFXSIM_OK) status = make_packet(&run);
  mapped_renew(device->memory.mapped);
  watch_choose(&run);
  if (status == GFXSIM_OK) status = watch_begin(&run);
  if (status == GFXSIM_OK) status = run.timing != NULL ? built_in_time_run(&run) : run_groups(&run, thread_count(&run));
  if (status == GFXSIM_OK) status = watch_result(&run);
  WATCH_EACH(&run, end, &run);
  sample_free(run.sample);
  if (run.packet_memory != NULL) memory_pop(&device->memory);
  if (run.kernarg_memory != NULL) memory_pop(&device->memory);
  gfxsim_status found = reports_end(run.reports);
  return status != GFXSIM_OK ? status : found;
}
