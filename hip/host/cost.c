/* Estimates of the tile kernels. */
#include "cost.h"

#include <math.h>

hip_cost_numbers tdm_hip_cost_numbers = {.latency = 1050, .overlap = 3, .hbm = 0.79};

static double at_least_one(int x) { return x < 1 ? 1 : x; }

/* The table of chips (src/base/chip.h) names its sources. */
hip_rates tdm_hip_rates(const tdm_hip_device *device, tdm_type type) {
  const tdm_chip *c = device->chip;
  return (hip_rates){.mfma = tdm_chip_mfma_flops(c, tdm_bytes(type)),
                     .lds_read = c->lds_read_clock_bytes,
                     .lds_write = c->lds_write_clock_bytes,
                     .l2 = (double)c->l2_channels * c->line_bytes / c->cus_per_xcd,
                     .in_flight = c->l1_bytes / tdm_hip_cost_numbers.latency,
                     .hbm = (double)c->hbm_gbs * 1e3 / c->clock_mhz * device->compute_units / (c->xcds * c->cus_per_xcd)};
}

/* Clocks of a tile: of each pipe for its steps, and of its parts. */
typedef struct tile_clocks {
  tdm_cost pipe[4];
  double start, loop, end, chain; /* one after the other */
  double on_way;                  /* of the loads, with as many bytes on their way as the vL1D has room for; 0: in the pipe */
  double hit_loads, hit_loop;     /* of such loads and of the loop, in steps that find their lines in the L2 */
} tile_clocks;
enum { MFMA, LDS_PIPE, LOADS, VALU, PIPES };

static tdm_cost longest(const tdm_cost *of, int count) {
  tdm_cost found = of[0];
  for (int i = 1; i < count; i++)
    if (of[i].clocks > found.clocks) found = of[i];
  return found;
}

/* Of kernels that the same pipe bounds, the one that leaves the others free is faster: where memory bounds all of them, the
 * longest bound alone would be a tie. */
tdm_cost tdm_hip_joined(const tdm_cost *bounds, int count, double degree) {
  tdm_cost most = longest(bounds, count);
  double sum = 0;
  for (int i = 0; i < count && most.clocks > 0; i++) sum += pow(bounds[i].clocks / most.clocks, degree);
  return (tdm_cost){most.clocks > 0 ? most.clocks * pow(sum, 1 / degree) : 0, most.floor};
}

/* What a workgroup takes in addition to its steps, by gfxsim's predictions of 256x256x512 and 256x256x2048 by each kernel, on
 * both chips: the arguments, the first step's loads and the last stores are three trips to memory after one another, and about
 * 750 clocks of instructions. Then the elements go through LDS, for 0.108 to 0.133 clocks of a CU each on gfx950, and 0.26 to
 * 0.34 on gfx942, which reads half as many bytes a clock. */
enum { TRIPS = 3, INSTRUCTIONS = 750, ELEMENT_BYTES = 31, FRAGMENT = 16 };
/* A step has a barrier, LDS's latency and the issue of its instructions: 160 to 217 clocks. */
enum { BETWEEN_STEPS = 180 };

/* A wave asks for more only when what it waited for is there and the reads of its fragments are issued: 65 clocks each, by
 * gfxsim's predictions of 16x768 and 256x768 by tiles of engine/tile.h, K = 256 and 1024, bf16, both chips (3 fragments 1214,
 * 4 1250, 6 1397 and 1512 clocks for HIP_STEP_BYTES on gfx942). A fragment that k runs across takes 65 more where no
 * read of LDS transposes 16-bit elements (gfx942: 40 to 75), 25 elsewhere and in f32. */
enum { READ_FRAGMENT = 65, TURN_16_BIT = 65, TURN = 25 };

/* What a wave's reads of a step delay the loads of the next one. */
typedef struct read_clocks {
  double all, turned;
} read_clocks;

static read_clocks read_clocks_of(const hip_tile_shape *tile, const hip_tile_work *work, const tdm_chip *chip) {
  double a = (double)tile->m / tile->waves_m / FRAGMENT, b = at_least_one(tile->products) * tile->n / tile->waves_n / FRAGMENT;
  /* gfx942, whose LDS has room for half as many bytes, has no reads that transpose elements. */
  bool by_hand = tdm_hip_half_lines(chip) && tdm_type_size(work->type) == 2;
  double turned = (by_hand ? TURN_16_BIT : TURN) * ((work->across_a ? a : 0) + (work->across_b ? b : 0));
  return (read_clocks){.all = READ_FRAGMENT * (a + b) + turned, .turned = turned};
}

/* The share of a CU's four SIMDs that a workgroup's waves use. */
static double simds_of(const hip_tile_shape *tile) { return fmin(1, tile->waves_m * tile->waves_n / 4.0); }

/* Parts of HIP_STEP_BYTES that are steps of their own, and bring a line to the vL1D again. Masked loads have none. */
static double parts_of_step(const hip_tile_shape *tile, const tdm_chip *chip) {
  return tile->valu > 0 ? 1 : (double)HIP_STEP_BYTES / HIP_PIPE_ROW(chip->lds_bytes);
}

enum { L2_LATENCY = 300 /* gfxsim's l2_latency */ };
/* Workgroups that divide K begin their steps at the same time, and a channel of the L2 reads L2_CHANNEL bytes a clock
 * (src/base/chip.h). Where no tile shares what they load, each step waits for what all workgroups of the XCD load: 1x1024x4096
 * bf16 nt by 16x64 takes 31,732, 22,164 and 18,055 clocks in 4, 8 and 16 parts on gfx942, 16x2048x3000 22,433 in 6; without
 * this 31,022, 21,268, 16,938 and 20,514 were estimated. Other tiles' estimates fit without it. */
enum { L2_CHANNEL = 128 };
/* Reads of a part before the first products, and of one after the last step, for nothing: for each step of HIP_STEP_BYTES that
 * a chip has in parts. In 128x1024 bf16 nt, K of 512 and 1024, what does not depend on K takes 372 to 470 clocks more than
 * without it by 32x128 and 64x128 on gfx950, and 740 to 1000 by 64x128 and 128x128 on gfx942. */
enum { BETWEEN_START = 400 };

/* How often a line of an operand across k is loaded: of rows of less than a line each load needs a part. If the XCD's next tile
 * needs another part, and the two take turns, one of the loads waits for HBM, and the others find the line in the L2, whose
 * latency is that of gfxsim's model (l2_latency). bf16 1024x1024x2048 by 32x128 takes 28,303 clocks in nt and 29,528 in nn, and
 * 29,276 in tt and 30,593 in tn, where a row of A's tile is half a line. Tiles of neighbouring columns come a whole column of
 * tiles later: by 128x32 it takes 31,913 in nt and 32,677 in tt, and 35,379 in nn and 36,063 in tn, where B has half lines. */
static double touches_across(double lines, tdm_type type, bool beside) {
  double touches = fmax(1, HIP_STEP_BYTES / (lines * (double)tdm_type_size(type)));
  return beside ? 1 + (touches - 1) * L2_LATENCY / tdm_hip_cost_numbers.latency : touches;
}

/* Clocks of HIP_STEP_BYTES along k, of which the loads bring `bytes`, if what a workgroup does comes one after the other. */
static double serial_step(const hip_tile_shape *tile, const hip_rates *rates, double latency, read_clocks reads, double parts,
                          double mfma, double read, double write, double bytes, double again, double queue) {
  const double products = mfma / simds_of(tile), turned = tile->valu > 0 ? 0 : parts * reads.turned;
  /* Where the vL1D has no room for all loads of a step, the last ones wait for the first. */
  const double turns = fmax(1, bytes / parts / (rates->in_flight * tdm_hip_cost_numbers.latency));
  /* One wave of a SIMD hides its reads. With two a step of 256x128 in f32 takes 9,360 clocks on gfx942, of which 8,192 are its
   * products; one of 128x128 4,563 and 4,096. */
  const bool hides = tile->between && tile->waves_m * tile->waves_n <= 4;
  /* Between products half of what turns fragments is hidden: a step of 64x128 tn bf16 takes 1190 and 1295 clocks on gfx942 in
   * 700x1300x900 and 1450x1024x700. */
  double multiply = (hides ? fmax(products, read) : products + read) + parts * BETWEEN_STEPS + (hides ? turned / 2 : turned),
         loads = 0;
  if (tile->between) {
    /* They start when all waves have read the step, some with each product of a part. bf16 nt takes 1453 and 1666 clocks for
     * HIP_STEP_BYTES by 64x128 and 128x128 with depth 2 on gfx950, and 1993, 2560 and by 256x128 3716 on gfx942; with depth 3
     * by 64x128 827 and 1456. */
    loads = (parts * latency * turns + turned + mfma / parts) / tile->ahead + again;
  } else if (tile->waits) {
    /* The last waves' loads start after about half of the products. */
    loads = mfma / 2 + parts * latency * turns + turned + bytes / rates->l2 + again;
  } else if (tile->ahead > 0) {
    loads = parts * (latency + reads.all) / tile->ahead + again + queue;
  }
  /* Instructions of masked loads depend on each other: a SIMD issues one in 8 clocks if it has one wave. What they load goes to
   * LDS after that. */
  return fmax(multiply, loads) + (tile->valu > 0 ? write + fmin(tile->valu, HIP_MASKED_VALU) + tile->valu : 0);
}

/* What the masked loop's writes of an operand across k take more, for each line and HIP_STEP_BYTES, because their LDS banks
 * conflict: counted by gfxsim for 512x512x512 by hip_128x128 in nn, 114,688 clocks of the launch in bf16 and 98,304 in f32 on
 * gfx950, 491,520 in both on gfx942. */
static double conflicts_of(const hip_tile_work *work, double lines_m, double lines_b, const tdm_chip *chip) {
  const bool is_16_bit = tdm_type_size(work->type) == 2, wide = !tdm_hip_half_lines(chip);
  const double of_line = wide ? (is_16_bit ? 7 : 3) : is_16_bit ? 30 : 15;
  return of_line * ((work->across_a ? lines_m : 0) + (work->across_b ? lines_b : 0));
}

/* What bounds `on_way` is the latency, and HBM works meanwhile. So it is a wait: 128x4096x12288 nt bf16 by 64x128 takes 50,900
 * clocks on gfx950 without the launch, 39,400 of them HBM's. It is estimated at 53,200, and with both as pipes, 37,800 and
 * 39,400, at 59,600. But hip_shifted and others that load from any address were fitted as a whole. In f32, where the matrix
 * units are the bound, loads delay them: swiglu 64x2048x7168 nt takes 76,771 by 64x64, and would take 83,615 by 32x64. And few
 * rows would be given to other tiles: 32x8192x3000 nt takes 31,316 by 32x128 on gfx950, and would take 40,042 by 16x64;
 * 32x3072x3072 nt 23,359 by 32x128 on gfx942, and 24,808 by 16x64. */
static bool on_way_is_pipe(const hip_tile_shape *tile, const hip_tile_work *work) {
  enum { FEW = 64 };
  return tile->any_address || tdm_type_size(work->type) == 4 || work->m <= FEW || work->n <= FEW;
}

static tile_clocks clocks_of_tile(const hip_tile_shape *tile, const hip_tile_work *work, const hip_rates *rates,
                                  const tdm_chip *chip, double late, bool many_rounds, double of_xcd) {
  double values = HIP_STEP_BYTES / (double)tdm_type_size(work->type), lines_b = tile->n * at_least_one(tile->products);
  const double of_k = (double)work->k / values, parts_of_k = at_least_one(tile->split);
  const double steps = tile->halves ? floor(2 * of_k) / 2 / parts_of_k : ceil(ceil(of_k) / parts_of_k);
  double read = (tile->waves_n * tile->m + tile->waves_m * lines_b) * HIP_STEP_BYTES / rates->lds_read;
  double write = (tile->m + lines_b) * HIP_STEP_BYTES / rates->lds_write;
  if (tile->valu > 0) write += conflicts_of(work, tile->m, lines_b, chip);
  double mfma = 2 * tile->m * lines_b * values / rates->mfma;
  /* Lines outside of a matrix are its last one, which is in the vL1D. */
  double lines_m = fmin(tile->m, (double)work->m), columns = fmin(tile->n, (double)work->n),
         lines_n = columns * at_least_one(tile->products);
  double bytes_again = (lines_m * work->again_a + lines_n * work->again_b) * HIP_STEP_BYTES;
  double parts = parts_of_step(tile, chip), touches = tile->touches > 0 ? tile->touches : parts;
  double bytes =
      HIP_STEP_BYTES * (lines_m * fmax(touches, work->across_a ? touches_across(lines_m, work->type, work->beside_a) : 1) +
                        lines_n * fmax(touches, work->across_b ? touches_across(columns, work->type, false) : 1));
  /* Where all lines of a step, also those that come again, take two thirds of the vL1D's room, nothing waits for them:
   * 2x335x2816 and 2x335x2824 bf16 nt by 16x64 take 16,234 and 16,295 clocks on gfx950. 64x64 on gfx942, three quarters: 2 %
   * more than by cache lines for 1000x1000x1000. */
  if (!tile->any_address && !work->again_in_room && 3 * (bytes + bytes_again) / parts <= 2.0 * chip->l1_bytes) bytes_again = 0;
  tile_clocks t = {.pipe = {[MFMA] = {steps * mfma, "mfma"},
                            [LDS_PIPE] = {steps * (read + write), "lds"},
                            [LOADS] = {0, "loads"},
                            [VALU] = {steps * tile->valu, "valu"}}};
  /* Of all tiles of the CU; and of those that begin with the first ones, which wait as long as on other CUs. */
  const double hits = work->shared ? 1 - (1 - work->hits) * late : work->hits, of_round = many_rounds ? hits : work->hits;
  const read_clocks reads = read_clocks_of(tile, work, chip);
  const bool alone = work->m <= tile->m || work->n <= tile->n;
  const double queue =
      tile->split > 1 && alone && !tile->any_address ? of_xcd * bytes / (L2_CHANNEL * (double)chip->l2_channels) : 0;
  const bool is_pipe = on_way_is_pipe(tile, work);
  for (int in_l2 = 0; in_l2 <= 1; in_l2++) {
    const double latency = in_l2 ? L2_LATENCY : tdm_hip_cost_numbers.latency * (work->latency > 0 ? work->latency : 1);
    const double rate = fmin(rates->l2, chip->l1_bytes / latency), again = bytes_again / rate, loads = bytes / rate + again;
    double step = fmax(fmax(mfma, read + write), fmax(loads, tile->valu));
    if (!tile->overlapped)
      step = fmax(step, serial_step(tile, rates, latency, reads, parts, mfma, read, write, bytes,
                                    work->again_in_room ? 0 : again, queue));
    const double of_steps = steps * (in_l2 ? hits : 1 - hits);
    t.pipe[LOADS].clocks += of_steps * (is_pipe ? loads : (bytes + bytes_again) / rates->l2);
    if (!is_pipe) t.on_way += of_steps * loads;
    if (in_l2) t.hit_loads = steps * work->hits * loads, t.hit_loop = steps * work->hits * step;
    t.loop += steps * (in_l2 ? of_round : 1 - of_round) * step;
  }
  t.start = TRIPS * tdm_hip_cost_numbers.latency + INSTRUCTIONS + tile->start + work->once +
            (tile->between ? parts * BETWEEN_START : 0);
  /* Fragments without rows go through LDS as the others do, and are not stored: 1x768x256 takes 32 to 442 clocks less than
   * 128x768x256. */
  const double all = (double)tile->m * tile->n, full = fmin(tile->m, ceil((double)work->m / FRAGMENT) * FRAGMENT) * tile->n,
               elements = full + (all - full) * 2 / 3;
  t.end = ELEMENT_BYTES / rates->lds_read * elements / simds_of(tile);
  t.chain = (work->chain * all + work->store * full) / simds_of(tile);
  return t;
}

double tdm_hip_hbm(const tdm_hip_device *device) {
  return tdm_hip_cost_numbers.hbm * tdm_hip_rates(device, TDM_F32).hbm; /* the same for each type */
}

double tdm_hip_beyond_l2(const tdm_hip_device *device, double bytes) {
  return fmax(0, bytes - (double)device->chip->l2_bytes * device->xcds);
}

double tdm_hip_at_once(const tdm_hip_device *device, const hip_tile_shape *tile) {
  return (double)device->compute_units / device->xcds * (tile->resident > 1 ? tile->resident : 1);
}

/* The CU with the most tiles: what each of its pipes needs for the steps of all of them, and how long these take one after the
 * other, `resident` at a time. And what the whole device needs to move each byte of memory once. Starts and ends of tiles come
 * on top: then nothing else has work, or only the other resident workgroups. Nothing hides the stores of the last round. */
void tdm_hip_tile_cost(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, tdm_cost *cost) {
  const tdm_hip_device *device = plan->context->hip;
  hip_rates rates = tdm_hip_rates(device, work->type);
  const double hbm = tdm_hip_hbm(device);
  double parts = at_least_one(tile->split), m = (double)work->m, n = (double)work->n, batch = (double)work->batch;
  double tiles = ceil(m / tile->m) * ceil(n / tile->n) * batch * parts;
  double of_cu = fmax(work->of_cu, ceil(tiles / device->compute_units)), rounds = ceil(of_cu / at_least_one(tile->resident));
  /* The CU with more tiles than others is behind them, so it finds lines that they have loaded. */
  const double late = of_cu > 1 ? fmin(1, tiles / device->compute_units / of_cu) : 1;
  const double of_xcd = fmin(tiles / device->xcds, tdm_hip_at_once(device, tile));
  const tile_clocks one = clocks_of_tile(tile, work, &rates, device->chip, late, rounds > 1, of_xcd);
  double stored = batch * m * n *
                  (parts > 1 ? parts * at_least_one(tile->products) * (double)sizeof(float) : (double)tdm_type_size(work->out));
  double traffic = batch * (m + n * at_least_one(tile->products)) * (double)work->k * (double)tdm_type_size(work->type) +
                   tdm_hip_beyond_l2(device, stored);
  tdm_cost bounds[PIPES + 1];
  for (int p = 0; p < PIPES; p++) bounds[p] = (tdm_cost){of_cu * one.pipe[p].clocks, one.pipe[p].floor};
  /* A SIMD multiplies for whole waves: of three workgroups of two waves, two share SIMDs. Waves that divide K use all SIMDs. */
  if (!tile->sums_in_lds) bounds[MFMA].clocks = ceil(of_cu * simds_of(tile)) / simds_of(tile) * one.pipe[MFMA].clocks;
  /* While tiles that take turns find their lines in the L2, HBM has nothing to do. 64x4800x1600 bf16 nn by 16x64 takes 25,802
   * clocks on gfx950. Without this it was estimated at 22,821, and 64x128, which takes 22,770, was not chosen. */
  bounds[PIPES] = (tdm_cost){traffic / hbm + of_cu * one.hit_loads, "hbm"};
  const tdm_cost bound = longest(bounds, PIPES + 1);
  /* Where HBM is busy, loads take longer than its latency, but while a workgroup waits for them HBM works for others:
   * 16x14336x4096 nt bf16 by tiles of 16x64 takes 46,200 predicted clocks from the first load to the last, HBM alone 44,600
   * and the waits 39,800.
   *
   * Groups of waves that take turns hide more: 1024x1216x1024 bf16 nt by 256x256 takes 87,589 clocks on an eighth of gfx942 and
   * is estimated at 99,352 this way, and at 105,333 as the others are. */
  const double overlap = tdm_hip_cost_numbers.overlap + (tile->overlapped && !tile->sums_in_lds ? 1 : 0);
  const tdm_cost waits[] = {{traffic / hbm + rounds * one.hit_loop, "hbm"},
                            {fmax(rounds * one.loop, of_cu * one.on_way), "waiting"}};
  /* An epilogue waits for its own results, as one workgroup alone on a CU showed: two share what it takes. */
  const double chains = rounds * work->before_chain + fmax(rounds, of_cu / 2) * one.chain;
  /* An XCD starts one workgroup after another (`dispatch` in gfxsim's model); INSTRUCTIONS has what one for each CU takes.
   * 1x1024x4096 f16 nt by 64x16 takes 16,214 predicted clocks in 8 parts and 17,246 in 16. */
  enum { DISPATCH = 16 };
  const double dispatch = DISPATCH * fmax(0, of_xcd - (double)device->compute_units / device->xcds);
  cost->clocks = fmax(tdm_hip_joined(bounds, PIPES + 1, overlap).clocks, tdm_hip_joined(waits, 2, 2 * overlap).clocks) +
                 rounds * one.start + dispatch + (work->hits > 0 ? HIP_FIRST_TURNS : 0) + of_cu * one.end + chains +
                 tdm_hip_beyond_l2(device, stored / rounds) / hbm;
  cost->floor = bound.clocks < cost->clocks / 2 ? "waiting" : bound.floor;
}
