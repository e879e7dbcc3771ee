#!/usr/bin/env python3
"""tandem-bench beside PyTorch on the same machine, case by case: medians in ms, random data, float32 without TF32.

Use: python3 bench/peer_torch.py BENCH DEVICE NAME [PREFIX...]     as in: python3 bench/peer_torch.py \\
     build-sm_90/bench/tandem-bench omp:0 h200      PREFIX: what starts BENCH, as in: bash run-packed.sh pack
Writes bench/results/NAME-torch.json and NAME-torch.md. Of PyTorch's op, and for the ops of a row of torch.compile of it, two
times: the device's own (events around the call, without the launch), and the wall time from the call to the end of a
synchronise. tandem's are wall times of a run, from the call to its return with the work done.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

WARM_UP, REPEATS = 5, 21


def device_ms(call):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)


def wall_ms(call):
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start)


def medians(name, call):
    """Both medians of a call, each with repeats of its own: events would lengthen the wall time."""
    for _ in range(WARM_UP):
        call()
    torch.cuda.synchronize()
    return {
        name + "_ms": statistics.median(device_ms(call) for _ in range(REPEATS)),
        name + "_wall_ms": statistics.median(wall_ms(call) for _ in range(REPEATS)),
    }


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


# Each makes (function, arguments) of a shape and type.


def gemm(dtype, m, n, k):
    return torch.mm, (random(m, k, dtype=dtype), random(k, n, dtype=dtype))


def swiglu(dtype, m, n, k):
    x, gate, up = random(m, k, dtype=dtype), random(n, k, dtype=dtype), random(n, k, dtype=dtype)
    return lambda x, gate, up: F.silu(F.linear(x, gate)) * F.linear(x, up), (x, gate, up)


def rmsnorm(dtype, rows, cols):
    return lambda x, w: F.rms_norm(x, (cols,), w), (random(rows, cols, dtype=dtype), random(cols, dtype=dtype))


def softmax(dtype, rows, cols):
    return lambda x: torch.softmax(x, dim=-1), (random(rows, cols, dtype=dtype),)


def silu_mul(dtype, rows, cols):
    return lambda gate, up: F.silu(gate) * up, (random(rows, cols, dtype=dtype), random(rows, cols, dtype=dtype))


def add(dtype, rows, cols):
    return torch.add, (random(rows, cols, dtype=dtype), random(rows, cols, dtype=dtype))


def embedding(dtype, tokens, vocab, d):
    return F.embedding, (torch.randint(vocab, (tokens,), device="cuda"), random(vocab, d, dtype=dtype))


def cross_entropy(dtype, rows, vocab):
    targets = torch.randint(vocab, (rows,), device="cuda")
    return lambda x, t: F.cross_entropy(x, t, reduction="none"), (random(rows, vocab, dtype=dtype), targets)


def rope(dtype, batch, seq, heads, head_dim):
    half = head_dim // 2
    angle = torch.arange(seq, device="cuda")[:, None] * 10000 ** (-torch.arange(half, device="cuda") / half)
    cosine, sine = angle.cos()[None, :, None, :].to(dtype), angle.sin()[None, :, None, :].to(dtype)

    def turn(x, cosine, sine):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2)

    return turn, (random(batch, seq, heads, head_dim, dtype=dtype), cosine, sine)


def attention(dtype, batch, heads_q, heads_kv, sq, skv, head_dim):
    q = random(batch, heads_q, sq, head_dim, dtype=dtype)
    k, v = (random(batch, heads_kv, skv, head_dim, dtype=dtype).repeat_interleave(heads_q // heads_kv, 1) for _ in range(2))
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), (q, k, v)


# op, shape, type, options of tandem-bench, PyTorch's maker, is it also compiled
CASES = [
    ("gemm", "4096x4096x4096", "f32", [], gemm, False),
    ("gemm", "8192x8192x8192", "f32", [], gemm, False),
    ("gemm", "4096x4096x11008", "f32", [], gemm, False),
    ("gemm", "32768x32768x64", "f32", [], gemm, False),
    ("gemm", "32768x32768x32", "f32", [], gemm, False),
    ("gemm", "4096x4096x4096", "f16", [], gemm, False),
    ("gemm", "4096x4096x4096", "bf16", [], gemm, False),
    ("swiglu", "2048x8192x2048", "f32", [], swiglu, False),
    ("rmsnorm", "65536x4096", "f32", [], rmsnorm, True),
    ("rmsnorm", "65536x4096", "bf16", [], rmsnorm, True),
    ("rmsnorm", "65536x4096", "f16", [], rmsnorm, True),
    ("rmsnorm", "8192x8192", "f32", [], rmsnorm, True),
    ("rmsnorm", "8192x8192", "bf16", [], rmsnorm, True),
    ("rmsnorm", "1024x16384", "f32", [], rmsnorm, True),
    ("softmax", "16384x4096", "f32", [], softmax, True),
    ("silu_mul", "16384x4096", "f32", [], silu_mul, True),
    ("add", "16384x4096", "f32", [], add, True),
    ("rope", "8x2048x32x128", "f32", [], rope, True),
    ("embedding", "65536x32000x4096", "f32", [], embedding, True),
    ("cross_entropy", "8192x32000", "f32", [], cross_entropy, True),
    ("attention", "4x32x32x2048x2048x64", "f32", ["--set", "causal=1"], attention, False),
    ("attention", "4x32x16x2048x2048x64", "f32", ["--set", "causal=1"], attention, False),
    ("attention", "4x32x32x2048x2048x64", "f16", ["--set", "causal=1"], attention, False),
    ("attention", "4x32x32x2048x2048x64", "bf16", ["--set", "causal=1"], attention, False),
]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def tandem(start, device, op, shape, dtype, options):
    """The row of tandem-bench's CSV, numbers as they are; a failed check ends the run."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        command = [*start, op, shape, "--dtype", dtype, *options, "--device", device, "--repeats", "21", "--csv", file.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(file.name, encoding="utf-8") as rows:
            return next(csv.DictReader(rows))


def compiled(function):
    """Made anew: shapes of the case before must not make it dynamic."""
    torch._dynamo.reset()
    return torch.compile(function)


def peers(op, make, shape, dtype, also_compiled):
    function, arguments = make(TYPES[dtype], *(int(n) for n in shape.split("x")))
    result = medians("torch", lambda: function(*arguments))
    if op == "attention":
        with sdpa_kernel(SDPBackend.MATH):
            result |= medians("math", lambda: function(*arguments))
    if also_compiled:
        try:
            fast = compiled(function)
            result |= medians("compiled", lambda: fast(*arguments))
        except Exception as error:  # no compiler for it there: said in the table's place, not hidden
            result["compiled"] = str(error).splitlines()[0][:120]
    return result


def measure(start, device):
    for op, shape, dtype, options, make, also_compiled in CASES:
        result = {"case": " ".join([op, shape, dtype, *options])}
        result |= peers(op, make, shape, dtype, also_compiled)
        torch.cuda.empty_cache()
        row = tandem(start, device, op, shape, dtype, options)
        for key in ("median_s", "p10_s", "p90_s", "flop", "bytes"):
            result[key] = float(row[key])
        result["kernel"] = row["kernel"]
        result["arithmetic_bound_ms"] = 1e3 * result["flop"] / float(row["ceiling_flop_per_s"])
        result["memory_bound_ms"] = 1e3 * result["bytes"] / float(row["ceiling_copy_bytes_per_s"])
        print(json.dumps(result), flush=True)
        yield result


def against(result, peer, ms):
    """Cells of a peer: its device time, its wall time, and both over ours."""
    if peer + "_ms" not in result:
        return [result.get(peer, ""), "", "", ""]
    times = [result[peer + "_ms"], result[peer + "_wall_ms"]]
    return [f"{t:.4g}" for t in times] + [f"{t / ms:.2f}" for t in times]


def table(results):
    head = ["case", "ms", "10-90 %"]
    for peer in ("PyTorch", "compiled"):
        head += [f"{peer} device ms", "wall ms", "device ratio", "wall ratio"]
    head += ["FMA bound", "copy bound", "of the ceiling"]
    rows = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for r in results:
        ms = 1e3 * r["median_s"]
        bound = max(r["arithmetic_bound_ms"], r["memory_bound_ms"])
        row = [r["case"], f"{ms:.4g}", f"{1e3 * r['p10_s']:.4g}-{1e3 * r['p90_s']:.4g}"]
        row += against(r, "torch", ms) + against(r, "compiled", ms)
        rows.append(row + [f"{r['arithmetic_bound_ms']:.4g}", f"{r['memory_bound_ms']:.4g}", f"{100 * bound / ms:.0f} %"])
        if "math_ms" in r:
            rows.append(["SDPA math of it", "", "", *against(r, "math", ms)] + [""] * 7)
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def main():
    if len(sys.argv) < 4:
        sys.exit("peer_torch.py: needs BENCH DEVICE NAME, as in: build-sm_90/bench/tandem-bench omp:0 h200")
    if not torch.cuda.is_available():
        sys.exit("peer_torch.py: no CUDA device answers")
    torch.backends.cuda.matmul.allow_tf32 = False
    bench, device, name, *prefix = sys.argv[1:]
    base = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", name + "-torch")
    x, y = random(65536, 4096), random(65536, 4096)
    about = {"torch": torch.__version__, "device": torch.cuda.get_device_name()}
    about |= medians("copy_65536x4096", lambda: y.copy_(x))
    del x, y
    print(json.dumps(about), flush=True)
    results = list(measure([*prefix, bench], device))
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(about | {"cases": results}, file, indent=1)
    with open(base + ".md", "w", encoding="utf-8") as file:
        file.write(table(results))


if __name__ == "__main__":
    main()
