/* Each level has a latency without load (parameters.def), from the request of the CU to its data, and each channel a rate
 * (src/base/chip.h); what waits for a channel comes on top. A 0 among the rates has no source: that level then delays nothing.
 * No TLB is modelled. */
#include "memory.h"

#include <stdlib.h>

#include "calendar.h"
#include "sim/base/pages.h"

/* Lines on their way: a second request for one waits for the first one's data. */
enum { PENDING = 1 << 14, HBM_CHANNELS = 128, SECTORS = 4 };

typedef struct pending {
  u64 line, ready;
} pending;

struct memory_time {
  hierarchy *caches;
  u32 xcds, cus, channels;
  u64 l1, l2, mall, hbm;                                        /* latencies */
  u64 hbm_lines;                                                /* read from it */
  u32 l2_work, l2_write_work, fabric_work, mall_work, hbm_work; /* of a line in its channel, in parts of a clock; 0: no limit */
  calendar *l2_channel, *fabric_in, *fabric_out, *mall_channel, *hbm_channel;
  pending *l2_pending, *l1_pending; /* PENDING for each XCD; PENDING_L1 for each CU */
  u8 *room;                         /* all of these: 18 MB for a whole chip, of which a small launch touches little */
  u64 room_bytes;
};

enum { PENDING_L1 = 1 << 9 };

static u32 work_of(double clocks) { return (u32)(clocks * (1 << WORK_SHIFT) + 0.5); }

memory_time *memory_time_make(const chip *chip, const time_parameters *p, hierarchy *caches) {
  memory_time *m = calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  *m = (memory_time){.caches = caches,
                     .xcds = chip->xcds,
                     .cus = chip->cus_per_xcd,
                     .channels = chip->l2_channels,
                     .l1 = (u64)p->l1_latency,
                     .l2 = (u64)p->l2_latency,
                     .mall = (u64)p->mall_latency,
                     .hbm = (u64)p->hbm_latency};
  double line = chip->line_bytes;
  m->l2_work = work_of(1);
  m->l2_write_work = work_of(0.5); /* of a sector: half a line a clock has two of them */
  if (chip->fabric_clock_bytes > 0) m->fabric_work = work_of(line / chip->fabric_clock_bytes);
  if (chip->mall_clock_bytes > 0) m->mall_work = work_of(line * HBM_CHANNELS / chip->mall_clock_bytes);
  if (chip->hbm_gbs > 0) m->hbm_work = work_of(line * HBM_CHANNELS * chip->clock_mhz / (1000.0 * chip->hbm_gbs * p->hbm_share));
  u64 l2_channels = (u64)m->xcds * m->channels, calendars = l2_channels + 2 * (u64)m->xcds + 2 * HBM_CHANNELS;
  u64 l2_pending = (u64)m->xcds * PENDING, l1_pending = (u64)m->xcds * m->cus * PENDING_L1;
  m->room_bytes = calendars * sizeof(calendar) + (l2_pending + l1_pending) * sizeof(pending);
  m->room = pages_make(m->room_bytes, 0);
  if (m->room == NULL) {
    free(m);
    return NULL;
  }
  m->l2_channel = (calendar *)(void *)m->room;
  m->fabric_in = m->l2_channel + l2_channels;
  m->fabric_out = m->fabric_in + m->xcds;
  m->mall_channel = m->fabric_out + m->xcds;
  m->hbm_channel = m->mall_channel + HBM_CHANNELS;
  m->l2_pending = (pending *)(void *)(m->hbm_channel + HBM_CHANNELS);
  m->l1_pending = m->l2_pending + l2_pending;
  return m;
}

void memory_time_free(memory_time *m) {
  if (m == NULL) return;
  pages_free(m->room, m->room_bytes);
  free(m);
}

/* What waiting for a channel adds to a request that reaches it at `at`. */
static u64 delay(calendar *c, u64 at, u32 work) {
  if (work == 0) return 0;
  u64 alone = at + ((work + (1 << WORK_SHIFT) - 1) >> WORK_SHIFT), done = calendar_take(c, at, work);
  return done - alone;
}

/* A line's channel. "A hashing mechanism that attempts to evenly distribute requests" (ROCm Compute Profiler, "L2 cache
 * (TCC)"): this one folds all bits. */
static u32 channel_of(u64 line, u32 channels) {
  u64 mixed = line * UINT64_C(0x9e3779b97f4a7c15);
  return (u32)((mixed >> 32) % channels);
}

static u64 keep_pending(pending *table, u64 size, u64 line, u64 ready) {
  table[line % size] = (pending){line, ready};
  return ready;
}

/* A hit may be on a line that is still on its way. */
static u64 with_pending(const pending *table, u64 size, u64 line, u64 ready) {
  const pending *p = &table[line % size];
  return p->line == line && p->ready > ready ? p->ready : ready;
}

/* What the L2 writes back to make room, from clock `at` on: it takes its time of the fabric and of HBM, but whoever needed the
 * room does not wait for it unless it comes later than a read would. Lines that are left in the L2 at the end stay there. */
static u64 write_back(memory_time *m, u32 xcd, u32 channel, u64 bytes, u64 at) {
  if (bytes == 0) return 0;
  u32 share = (u32)(bytes >> SECTOR_SHIFT);
  u64 waited = delay(&m->fabric_out[xcd], at, m->fabric_work * share / SECTORS);
  waited += delay(&m->hbm_channel[channel], at + waited, m->hbm_work * share / SECTORS);
  return waited > m->hbm ? waited - m->hbm : 0;
}

u64 memory_read_line(memory_time *m, u32 xcd, u32 cu, u64 line, bool past_l1, u64 at) {
  pending *l1 = m->l1_pending + ((size_t)xcd * m->cus + cu) * PENDING_L1, *l2 = m->l2_pending + (size_t)xcd * PENDING;
  u64 written = hierarchy_written(m->caches);
  cache_level level = hierarchy_read(m->caches, xcd, cu, line, past_l1);
  if (level == LEVEL_L1) return with_pending(l1, PENDING_L1, line, at + m->l1);
  u64 there = at + m->l2 / 2;
  u64 waited = delay(&m->l2_channel[xcd * m->channels + channel_of(line, m->channels)], there, m->l2_work);
  u64 ready = with_pending(l2, PENDING, line, at + m->l2 + waited);
  if (level == LEVEL_MALL || level == LEVEL_HBM) {
    u32 channel = channel_of(line, HBM_CHANNELS);
    there += waited;
    waited += delay(&m->fabric_in[xcd], there, m->fabric_work);
    waited += delay(&m->mall_channel[channel], there, m->mall_work);
    if (level == LEVEL_HBM) m->hbm_lines++;
    if (level == LEVEL_HBM) waited += delay(&m->hbm_channel[channel], at + m->mall / 2, m->hbm_work);
    waited += write_back(m, xcd, channel, hierarchy_written(m->caches) - written, there);
    ready = keep_pending(l2, PENDING, line, at + (level == LEVEL_MALL ? m->mall : m->hbm) + waited);
  }
  return past_l1 ? ready : keep_pending(l1, PENDING_L1, line, ready);
}

u64 memory_write_line(memory_time *m, u32 xcd, u64 line, u32 sectors, bool atomic, u64 at) {
  u32 count = (u32)__builtin_popcount(sectors);
  u64 written = hierarchy_written(m->caches), there = at + m->l2 / 2;
  hierarchy_write(m->caches, xcd, line, sectors, atomic);
  u64 waited = delay(&m->l2_channel[xcd * m->channels + channel_of(line, m->channels)], there, count * m->l2_write_work);
  waited += write_back(m, xcd, channel_of(line, HBM_CHANNELS), hierarchy_written(m->caches) - written, there + waited);
  return at + m->l2 + waited;
}

u64 memory_hbm_clocks(const memory_time *m) {
  u64 sectors = (hierarchy_written(m->caches) + hierarchy_dirty(m->caches)) >> SECTOR_SHIFT;
  u64 work = (m->hbm_lines * SECTORS + sectors) * m->hbm_work / SECTORS;
  return (work / HBM_CHANNELS) >> WORK_SHIFT;
}
