"""The part sim of bench/results/counted.md, from what bench/record/sim.sh counted: goals first, then every case.
Use: sim_table.py FOLDER OUT.json    FOLDER: NAME.CHIP.json of tandem-bench, and order.CHIP of tandem-bench order"""
import glob
import json
import os
import re
import sys

from replace import replacing

CHIPS = ["gfx950", "gfx942"]
# AMD's data sheets: MI355X 2.4 GHz, MI300X 2.1 GHz (src/base/chip.h names them).
CLOCK = {"gfx950": ("MI355X", 2.4e9), "gfx942": ("MI300X", 2.1e9)}

folder, out = sys.argv[1:]
rows = {}
for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
    name, chip, _ = os.path.basename(path).rsplit(".", 2)
    [rows[name, chip]] = json.load(open(path))["rows"]
with replacing(out) as file:
    json.dump([dict(name=name, **row) for (name, _), row in sorted(rows.items())], file, indent=1)
    file.write("\n")


def launch(name, chip):
    return rows[name, chip]["launches"][0]


def clocks(l, pipe):
    return l["bounds"]["clocks"][pipe]


def share(l, pipe):
    return 100 * clocks(l, pipe) / clocks(l, l["bounds"]["floor"])


def l2_hits(l):
    reads = sum(x["reads"] for x in l["caches"]["l2"])
    return 100 * sum(x["read_hits"] for x in l["caches"]["l2"]) / reads


def conflict_goal(case, l, chip):
    """Conflicts of the accesses whose phases have a source."""
    lds = l["lds"]
    left = f" of the modelled {100 - 100 * lds['unmodelled'] / lds['accesses']:.0f} % of its accesses" if lds["unmodelled"] else ""
    share = f", {100 * lds['conflict_clocks'] / lds['clocks']:.1f} % of the LDS's" if lds["conflict_clocks"] else ""
    goal(f"{case}: LDS bank conflicts", chip, f"{lds['conflict_clocks']} clocks{share}{left}", "0", lds["conflict_clocks"] == 0)


def scratch_goal(case, l, chip):
    scratch = l["occupancy"]["scratch_bytes"]
    goal(f"{case}: scratch", chip, f"{scratch} B", "0", scratch == 0)


def goal(what, chip, figure, wanted, met, why=None):
    """why: the reason, where it is known why the goal is missed."""
    missed = f"missed: {why}" if why else "missed"
    print(f"| {what} | {chip} | {figure} | {wanted} | {'' if met is None else 'met' if met else missed} |")


def product_goals(case, l, chip):
    goal(f"{case}: floor", chip, l["bounds"]["floor"], "MFMA", l["bounds"]["floor"] == "MFMA")
    conflict_goal(case, l, chip)
    scratch_goal(case, l, chip)


def gemm_goals(chip):
    l = launch("gemm", chip)
    case = "gemm bf16 nt 8192^3"
    product_goals(case, l, chip)
    goal(f"{case}: LDS", chip, f"{share(l, 'LDS'):.0f} %", "at most 75 %", share(l, "LDS") <= 75)
    for pipe in ("SALU", "issue", "VALU", "vL1D"):
        goal(f"{case}: {pipe}", chip, f"{share(l, pipe):.0f} %", "at most 50 %", share(l, pipe) <= 50)
    loop = l["loop"]
    # Moving to the other stage of the LDS is the increment of a double buffer: a v_xor, or an add.
    rest = [v for v in loop["valu"].split(", ") if v and not re.match(r"v_(xor|add)_\S+ ", v)]
    goal(f"{case}: VALU in a round of the K loop, beside {loop['instructions']['MFMA']} MFMA", chip, loop["valu"] or "none",
         "increments", not rest,
         "the wave's index, made uniform anew: clang leaves it in the loop" if rest == ["v_readfirstlane_b32 1"] else None)
    w = rows["gemm-whole", chip]
    line = [x for x in open(f"{folder}/order.{chip}") if x.startswith("window")][-1]
    order = sum(float(x) for x in line.split()[-2:]) * 1e9
    goal("gemm bf16 nt 2048^3, hip_256x256: HBM bytes over those of `tandem-bench order`", chip, f"{w['hbm_bytes'] / order:.3f}",
         "0.9 to 1.1", 0.9 <= w["hbm_bytes"] / order <= 1.1)


def attention_goals(chip):
    for d in (64, 128):
        for mask in ("causal", "full"):
            l = launch(f"attention-{d}-{mask}", chip)
            case, floor = f"attention bf16 D{d} {mask}", l["bounds"]["floor"]
            exp = f"exp2 is {100 * l['exp_share_of_valu']:.0f} % of the VALU's clocks"
            why = {"issue": "the longest wave issues for longer than any pipe works",
                   "VALU": "conversions, sums and the issue of MFMA outweigh exp2"}.get(floor)
            goal(f"{case}: floor", chip, f"{floor}; MFMA {share(l, 'MFMA'):.0f} %, VALU {share(l, 'VALU'):.0f} %; {exp}", "MFMA or exp2",
                 floor == "MFMA" or floor == "VALU" and l["exp_share_of_valu"] > 0.5,
                 "MFMA is as busy within 5 %" if share(l, "MFMA") >= 95 else why)
            conflict_goal(case, l, chip)
            scratch_goal(case, l, chip)
        mapped, unmapped = (l2_hits(launch(f"attention-{d}-{x}", chip)) for x in ("mapped", "unmapped"))
        goal(f"attention bf16 D{d} full, `hip_flash{d}`: L2 hits, and with `--xcds 1`", chip, f"{mapped:.1f} %, {unmapped:.1f} %", "higher",
             mapped > unmapped)


def small_k_goals(chip):
    l = launch("small-k", chip)
    name, clock = CLOCK[chip]
    bound = f"{clocks(l, 'MFMA'):.0f} clocks, {1e3 * clocks(l, 'MFMA') / clock:.2f} ms of an {name} at {clock / 1e9} GHz"
    goal("gemm f32 32768x32768x64: MFMA bound", chip, bound, "0.87 ms (MI355X)" if chip == "gfx950" else "",
         None if chip != "gfx950" else abs(clocks(l, "MFMA") / clock - 0.87e-3) < 0.01e-3)
    product_goals("gemm f32 32768x32768x64", l, chip)
    ratio = rows["small-k-whole", chip]["hbm_bytes_over_bytes"]
    goal("gemm f32 4096x8192x64: HBM bytes over output and inputs once", chip, f"{ratio:.3f}", "at most 1.05", ratio <= 1.05)


def row_goals(chip):
    for name, what in (("rmsnorm", "rmsnorm bf16"), ("rmsnorm-f32", "rmsnorm f32"), ("rmsnorm-residual", "rmsnorm bf16 residual")):
        ratio = rows[name, chip]["hbm_bytes_over_bytes"]
        goal(f"{what}: HBM bytes over one read and one write", chip, f"{ratio:.3f}", "at most 1.02", ratio <= 1.02)


def swiglu_goals(chip):
    l = launch("swiglu", chip)
    case = "swiglu bf16 nt 4096x8192x4096"
    product_goals(case, l, chip)
    ratio = rows["swiglu-whole", chip]["hbm_bytes_over_bytes"]
    goal("swiglu bf16 nt 1024x2048x1024: HBM bytes over each array once", chip, f"{ratio:.3f}", "at most 1.05", ratio <= 1.05)


def put_case(name, chip):
    row = rows[name, chip]
    case = row["case"].replace(" --set fill=real", "").replace(",fill=real", "").replace(" --seed 0", "")
    if name.endswith("unmapped"):
        case += " --xcds 1"
    for l in row["launches"]:
        pipes = sorted((p for p in l["bounds"]["clocks"] if clocks(l, p) is not None), key=lambda p: -clocks(l, p))
        text = ", ".join(f"{p} {share(l, p):.0f}" for p in pipes[1:])
        whole = l["workgroups_run"] == l["workgroups"]
        hbm = f"{row['hbm_bytes']:.0f} ({row['hbm_bytes_over_bytes']:.3f})" if row["hbm_bytes"] is not None else "not modelled"
        conflicts = str(l["lds"]["conflict_clocks"]) + (" and not modelled" if l["lds"]["unmodelled"] else "")
        o = l["occupancy"]
        print(f"| {case} | {chip} | {l['kernel']} | {l['workgroups_run']} of {l['workgroups']} | {l['bounds']['tail']:.2f} | "
              f"{l['bounds']['floor']} {clocks(l, l['bounds']['floor']):.0f} | {text} | {conflicts} | "
              f"{f'{l2_hits(l):.1f} %' if whole else 'not modelled'} | {hbm} | {o['scratch_bytes']} | {o['vgprs']} | "
              f"{o['waves_per_simd']} |")


print("""## On simulated chips

`sh bench/record/sim.sh` made this part with gfxsim's counters ([docs/gfxsim-profile.md](../../docs/gfxsim-profile.md)): what the code objects
do on an MI355X (gfx950) and an MI300X (gfx942), counted, and the clocks that each pipe needs at least. None of it is a time, and
nothing of it was measured on a GPU. All counters are in [sim.json](sim.json).

| goal | chip | figure | wanted | |
|---|---|---|---|---|""")
for chip in CHIPS:
    for goals in (gemm_goals, attention_goals, swiglu_goals, small_k_goals, row_goals):
        goals(chip)
print("""
Shares are of the floor, the pipe with the most clocks. L2 sets are chosen by folded address bits; the chips' own hash is not
documented. In brackets after HBM bytes: over each input once and each output once; caches are cold at the start. A sample (8 of
1024 workgroups) stands for all, and what lies beyond the vL1D is then not modelled. Clocks are means over the CUs that have work; the fullest CU
has so many times the mean.

| case | chip | kernel | workgroups | fullest CU | floor, clocks | other pipes, % of the floor | LDS conflicts | L2 hits | HBM bytes | scratch B | VGPRs | waves/SIMD |
|---|---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|""")
for name, chip in rows:
    if chip == "gfx950":
        put_case(name, chip)
        put_case(name, "gfx942")
