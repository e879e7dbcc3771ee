/* LDS, vL1D and the scalar cache of a CU. */
#include "model.h"

static u64 later(u64 a, u64 b) { return a > b ? a : b; }
static u32 per(u32 amount, double rate) {
  u32 clocks = (u32)(((double)amount + rate - 1) / rate);
  return clocks > 0 ? clocks : 1;
}

/* ---- LDS ----
 *
 * "1. The instruction is issued. 2. Addresses are transferred from SIMD to LDS. 3. LDS services the request. 4. Data is
 * transferred back" (ROCm/gfx950-gluon-tutorials, docs/lds_throughput.md 1). The LDS serves one request after the other, in
 * as many clocks as its banks need; each pair of SIMDs has a bus of its own, each way. An entry of the pair's queue is free
 * again when its data begins to come back. */

u64 lds_time(time_run *t, cu_time *cu, u32 simd, u64 at) {
  const asked *a = &t->asked;
  u32 pair = simd / 2, latency = (u32)t->p.lds_latency, issue = (u32)t->p.issue;
  u32 bytes = a->lds ? a->lds_bytes : LANES * 4, move = per(bytes, t->p.lds_pair_bytes);
  u32 serve = a->lds ? a->lds_clocks : per(bytes, t->chip->lds_read_clock_bytes);
  if (serve == 0) serve = 1;
  u64 there = at + issue;
  if (a->lds_store) {
    there = later(there, cu->lds_in[pair]) + move;
    cu->lds_in[pair] = there;
  }
  u64 served = calendar_take(&cu->lds, there, serve << WORK_SHIFT);
  u32 least = issue + (serve < move ? serve : move);
  u64 done = served + (latency > least ? latency - least : 0);
  if (!a->lds_store) {
    done = later(done, cu->lds_out[pair] + move);
    cu->lds_out[pair] = done;
  }
  queue_add(&cu->lds_queue[pair], a->lds_store ? served : done - move);
  return done;
}

/* ---- vL1D ----
 *
 * Requests reach the cache in order, and their data comes back in order. What is on its way takes room in it: a load enters
 * when its lines have room beside those of the loads before it (docs/tcp_bound_tile_model.md 1); until then it stands in the
 * queue, and the queue's entries are few. */

static void leave(cu_time *cu, u64 until, u32 room, u32 bytes, u64 *enter) {
  while (cu->flight_count > cu->flight_first) {
    const in_flight *f = &cu->flight[cu->flight_first % IN_FLIGHT_MOST];
    bool full = cu->flight_bytes + bytes > room || cu->flight_count - cu->flight_first == IN_FLIGHT_MOST;
    if (f->done > until && !full) return;
    *enter = later(*enter, full ? f->done : 0);
    cu->flight_bytes -= f->bytes;
    cu->flight_first++;
  }
}

static u64 enter(time_run *t, cu_time *cu, u64 at, u32 bytes, u32 clocks) {
  u64 when = later(later(at + (u64)t->p.issue, cu->address_free), cu->enter_last);
  leave(cu, when, t->chip->l1_bytes, bytes, &when);
  cu->enter_last = when;
  cu->address_free = when + clocks;
  queue_add(&cu->vmem_queue, when);
  return when;
}

static u64 written(time_run *t, cu_time *cu, u64 at) {
  const asked *a = &t->asked;
  u64 done = at;
  for (u32 n = 0; n < a->lines.count; n++)
    done = later(done, memory_write_line(t->memory, cu->xcd, a->lines.line[n], a->lines.sectors[n], a->atomic, at + n));
  return done;
}

static u64 loaded(time_run *t, cu_time *cu, u64 at) {
  const asked *a = &t->asked;
  u64 done = at;
  for (u32 n = 0; n < a->lines.count; n++)
    done = later(done, memory_read_line(t->memory, cu->xcd, cu->number, a->lines.line[n], a->past_l1, at + n));
  return done;
}

u64 vmem_time(time_run *t, cu_time *cu, u64 at) {
  const asked *a = &t->asked;
  u32 lines = a->lines.count, line_bytes = t->chip->line_bytes, lanes = per(LANES, t->p.vmem_lanes);
  u32 rate = t->chip->l1_clock_bytes > 0 ? t->chip->l1_clock_bytes : line_bytes;
  u32 clocks = per(lines * line_bytes, rate), bytes = lines * line_bytes;
  if (clocks < lanes) clocks = lanes;
  if (a->scratch) return enter(t, cu, at, 0, per(a->bytes, rate)) + (u64)t->p.l1_latency;
  if (lines == 0) return enter(t, cu, at, 0, lanes) + (u64)t->p.issue; /* no lane is on, or all are out of the buffer's range */
  bool load = !a->store && !a->atomic;
  if (bytes > t->chip->l1_bytes) bytes = t->chip->l1_bytes;
  u64 when = enter(t, cu, at, load ? bytes : 0, clocks);
  if (!load) {
    u64 done = written(t, cu, when);
    t->end = later(t->end, done);
    return done;
  }
  u64 done = later(loaded(t, cu, when), cu->return_free + per(a->bytes, rate));
  cu->return_free = done;
  if (a->lds) done = calendar_take(&cu->lds, done, (a->lds_clocks > 0 ? a->lds_clocks : 1) << WORK_SHIFT);
  cu->flight[cu->flight_count++ % IN_FLIGHT_MOST] = (in_flight){done, bytes};
  cu->flight_bytes += bytes;
  return done;
}

/* ---- Scalar loads: lines of 64 bytes in a cache of 16 KiB (ROCm documentation, "AMD GPU specifications") ---- */

u64 scalar_time(time_run *t, cu_time *cu, u64 at) {
  const asked *a = &t->asked;
  u64 hit = at + (u64)t->p.l1_latency, line = a->lines.line[0];
  if (!a->scalar) return hit;
  scalar_line *held = &cu->scalar[line % SCALAR_LINES];
  if (held->number != line + 1)
    *held = (scalar_line){line + 1, memory_read_line(t->memory, cu->xcd, cu->number, line >> 1, true, at)};
  return later(hit, held->arrives);
}
