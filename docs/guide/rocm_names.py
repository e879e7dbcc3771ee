"""What gfxsim counted, under the names of ROCm's counters. Usage: rocm_names.py FILE.json, of tandem-bench --json on a simulated chip.

Names and meanings: ROCm documentation, "MI300 and MI200 Series performance counters and metrics" and "MI350 Series performance
counters"; formulas: ROCm Compute Profiler, analysis_configs/gfx942. Nothing here was compared with a GPU: none was at hand.
"""
import json
import sys


def conflicts(lds):
    """Where gfxsim has no source for some accesses, it counts a lower bound, and one of 0 shows nothing."""
    if not lds["unmodelled"]:
        return lds["conflict_clocks"]
    return f"at least {lds['conflict_clocks']}" if lds["conflict_clocks"] else "not modelled"


def rows(launch):
    classes, lds, caches = launch["classes"], launch["lds"], launch["caches"]
    l2 = {name: sum(x[name] for x in caches["l2"]) for name in caches["l2"][0]}
    return [
        ("SQ_WAVES", launch["waves"]),
        ("SQ_INSTS_VALU", classes["VALU"] + classes["MFMA"]),
        ("SQ_INSTS_MFMA", classes["MFMA"]),
        ("SQ_INSTS_VALU_MFMA_MOPS_* x 512", launch["mfma"]["flops"]),
        ("SQ_VALU_MFMA_BUSY_CYCLES", launch["mfma"]["clocks"]),
        ("SQ_INSTS_SALU", classes["SALU"]),
        ("SQ_INSTS_SMEM", classes["SMEM"]),
        ("SQ_INSTS_VMEM", classes["VMEM"]),
        ("SQ_INSTS_LDS", classes["LDS"]),
        ("SQ_INSTS_BRANCH", classes["branch"]),
        ("SQ_LDS_IDX_ACTIVE", lds["clocks"]),
        ("SQ_LDS_BANK_CONFLICT", conflicts(lds)),
        ("TCP_TOTAL_CACHE_ACCESSES_sum", sum(launch[kind]["lines128"] for kind in ("load", "store", "atomic"))),
        ("TCP_TCC_READ_REQ_sum", l2["reads"]),
        ("TCC_HIT_sum / (TCC_HIT_sum + TCC_MISS_sum), reads", round(l2["read_hits"] / l2["reads"], 3) if l2["reads"] else "-"),
        ("FETCH_SIZE x 1024", l2["fabric_read"]),
        ("WRITE_SIZE x 1024", l2["fabric_write"]),
    ]


if __name__ == "__main__":
    for launch in json.load(open(sys.argv[1]))["rows"][0]["launches"]:
        print(launch["kernel"])
        for name, count in rows(launch):
            print(f"  {name:50} {count}")
