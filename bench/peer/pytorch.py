#!/usr/bin/env python3
"""tandem-bench beside PyTorch on the same machine, case by case: medians in ms, random data, float32 without TF32.

Use: python3 bench/peer/pytorch.py BENCH DEVICE NAME [PREFIX...]     as in: python3 bench/peer/pytorch.py \\
     build-sm_90/bench/tandem-bench omp:0 h200      PREFIX: what starts BENCH, as in: bash run-packed.sh pack
Writes bench/results/NAME-torch.json, and NAME-torch.md: the goals, then every case. Of PyTorch's op, and for the ops of a row of
torch.compile of it, two times: the device's own (events around the call, without the launch), and the wall time from the call
to the end of a synchronise. tandem's are wall times of a run, from the call to its return with the work done.
"""
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

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "record"))
from replace import replacing

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


# op, shape, type, options of tandem-bench, PyTorch's maker, is it also compiled. The last one is all launch.
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
    ("rmsnorm", "8192x8192", "f16", [], rmsnorm, True),
    ("rmsnorm", "1024x16384", "f32", [], rmsnorm, True),
    ("rmsnorm", "1024x16384", "bf16", [], rmsnorm, True),
    ("rmsnorm", "1024x16384", "f16", [], rmsnorm, True),
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
    ("rmsnorm", "64x64", "f32", [], rmsnorm, True),
]
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
CHECK_SECONDS = "5"  # of a case, for comparing every element on the host; beyond it tandem-bench checks by sums or rows


def tandem(start, device, op, shape, dtype, options):
    """The row of tandem-bench's JSON and the device's ceilings; a failed check ends the run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [*start, op, shape, "--dtype", dtype, *options, "--device", device, "--repeats", "21"]
        command += ["--check-time", CHECK_SECONDS, "--json", file.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(file.name, encoding="utf-8") as text:
            root = json.load(text)
        [row], [ceiling] = root["rows"], root["ceilings"]
        return row, ceiling


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
        row, ceiling = tandem(start, device, op, shape, dtype, options)
        result |= {f"{key}_ms": 1e3 * row["seconds"][key] for key in ("median", "p10", "p90")}
        result |= {key: row[key] for key in ("kernel", "checked", "flop", "bytes")}
        result["arithmetic_bound_ms"] = 1e3 * row["arithmetic_bound_s"]
        result["memory_bound_ms"] = 1e3 * row["memory_bound_s"]
        result["empty_region_ms"] = 1e3 * ceiling["launch_s"]
        print(json.dumps(result), flush=True)
        yield result


def against(result, peer):
    """Cells of a peer: its device time, its wall time, and both over ours."""
    if peer + "_ms" not in result:
        return [result.get(peer, ""), "", "", ""]
    times = [result[peer + "_ms"], result[peer + "_wall_ms"]]
    return [f"{t:.4g}" for t in times] + [f"{t / result['median_ms']:.2f}" for t in times]


def put(rows, texts):
    """A Markdown table; its first `texts` columns are texts."""
    rows.insert(1, ["---"] * texts + ["---:"] * (len(rows[0]) - texts))
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def case_table(results):
    head = ["case", "kernel", "ms", "10-90 %"]
    for peer in ("PyTorch", "compiled"):
        head += [f"{peer} device ms", "wall ms", "device ratio", "wall ratio"]
    rows = [head + ["arithmetic bound", "memory bound", "of the bound"]]
    for r in results:
        bound = max(r["arithmetic_bound_ms"], r["memory_bound_ms"])
        row = [r["case"], r["kernel"], f"{r['median_ms']:.4g}", f"{r['p10_ms']:.4g}-{r['p90_ms']:.4g}"]
        row += against(r, "torch") + against(r, "compiled")
        rows.append(row + [f"{r['arithmetic_bound_ms']:.4g}", f"{r['memory_bound_ms']:.4g}", f"{100 * bound / r['median_ms']:.0f} %"])
        if "math_ms" in r:
            rows.append(["SDPA math of it", "", "", "", *against(r, "math")] + [""] * 7)
    return put(rows, 2)


def goal_table(results):
    """What was asked: our speed over the peer's, like with like by wall times; beside it by the time of the peer's device alone."""
    by_case = {r["case"]: r for r in results}
    square, causal = "4096x4096x4096", "4x32x32x2048x2048x64"

    def over(peer, wall=""):
        return lambda r: r[f"{peer}{wall}_ms"] / r["median_ms"] if f"{peer}_ms" in r else None

    def over_f32(r):
        f32 = by_case[r["case"].replace("bf16", "f32").replace("f16", "f32")]
        return f32["median_ms"] / r["median_ms"]

    def of_copy(r, launch_ms=0):
        return r["memory_bound_ms"] / (r["median_ms"] - launch_ms)

    f32 = [f"gemm {shape} f32" for shape in (square, "8192x8192x8192", "4096x4096x11008")]
    small_k = ["gemm 32768x32768x64 f32", "gemm 32768x32768x32 f32"]
    norms = [f"rmsnorm {shape} {dtype}" for shape in ("65536x4096", "8192x8192", "1024x16384") for dtype in ("f32", "bf16", "f16")]
    rows_ops = ["softmax 16384x4096", "silu_mul 16384x4096", "add 16384x4096", "rope 8x2048x32x128", "embedding 65536x32000x4096",
                "cross_entropy 8192x32000"]
    rows_ops = [case + " f32" for case in rows_ops]
    attentions = [f"attention {shape} f32 --set causal=1" for shape in (causal, "4x32x16x2048x2048x64")]
    halves = [f"gemm {square} {t}" for t in ("f16", "bf16")] + [f"attention {causal} {t} --set causal=1" for t in ("f16", "bf16")]
    goals = [(case, "cuBLAS", "torch", 0.90) for case in f32]
    goals += [(case, "cuBLAS", "torch", 1.30) for case in small_k]
    goals += [("swiglu 2048x8192x2048 f32", "two linears and silu-mul", "torch", 0.95)]
    goals += [(case, "PyTorch's rms_norm", "torch", 1.30) for case in norms]
    goals += [(case, name, peer, 1.00) for case in rows_ops for name, peer in (("PyTorch", "torch"), ("torch.compile", "compiled"))]
    goals += [(case, "SDPA", "torch", 1.00) for case in attentions] + [(case, "SDPA math", "math", 4.00) for case in attentions]
    rows = [["goal", "by wall times", "by the peer's device alone", "at least", ""]]

    def add(what, wall, device, least):
        met = "" if least is None else "no figure" if wall is None else "met" if wall >= least else "missed"
        cells = ["" if x is None else f"{x:.3f}" for x in (wall, device, least)]
        rows.append([what, *cells, met])

    for case, name, peer, least in goals:
        add(f"{case} over {name}", over(peer, "_wall")(by_case[case]), over(peer)(by_case[case]), least)
    empty = statistics.median(r["empty_region_ms"] for r in results)  # it varies from process to process
    for case, least in [(norms[0], 0.95)] + [(case, 0.90) for case in rows_ops]:
        r = by_case[case]
        add(f"{case} over the copy rate", of_copy(r), None, least)
        add(f"the same without the launch overhead ({1e3 * empty:.1f} us)", of_copy(r, empty), None, None)
    for case in halves:
        add(f"{case} over our f32", over_f32(by_case[case]), None, 1.00)
        add(f"{case} over PyTorch on tensor cores", over("torch", "_wall")(by_case[case]), over("torch")(by_case[case]), None)
    launch = by_case["rmsnorm 64x64 f32"]
    added = 1e3 * (launch["median_ms"] - launch["empty_region_ms"])
    rows.append([f"a run of {launch['case']} over an empty region of {1e3 * launch['empty_region_ms']:.1f} us",
                 f"+ {added:.1f} us", "", "+ 5 us at most", "met" if added <= 5 else "missed"])
    return put(rows, 1)


def driver():
    """What is under PyTorch, as far as it can be asked."""
    if torch.version.hip:
        return "of ROCm " + torch.version.hip
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def main():
    if len(sys.argv) < 4:
        sys.exit("pytorch.py: needs BENCH DEVICE NAME, as in: build-sm_90/bench/tandem-bench omp:0 h200")
    if not torch.cuda.is_available():
        sys.exit("pytorch.py: no CUDA device answers")
    torch.backends.cuda.matmul.allow_tf32 = False
    bench, device, name, *prefix = sys.argv[1:]
    base = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "results", name + "-torch")
    x, y = random(65536, 4096), random(65536, 4096)
    about = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "driver": driver()}
    about |= medians("copy_65536x4096", lambda: y.copy_(x))
    del x, y
    print(json.dumps(about), flush=True)
    results = list(measure([*prefix, bench], device))
    head = f"{about['device']}, driver {about['driver']}, PyTorch {about['torch']}, whose own copy of 65536x4096 f32 takes "
    head += f"{about['copy_65536x4096_ms']:.3f} ms of the device, {about['copy_65536x4096_wall_ms']:.3f} ms with the launch."
    with replacing(base + ".json") as file:
        json.dump(about | {"cases": results}, file, indent=1)
    with replacing(base + ".md") as file:
        file.write(f"{head}\n\n{goal_table(results)}\n{case_table(results)}")


if __name__ == "__main__":
    main()
