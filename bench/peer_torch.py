#!/usr/bin/env python3
"""PyTorch's own ops on the cases of tandem-bench that it has: medians in ms, by events of the device, after a warm-up.

Use: python3 bench/peer_torch.py [--json FILE]     beside `sh bench/device.sh ...`, on the same machine
Random data; float32 without TF32; outputs in place where the op can, so that no allocation is timed.
"""
import argparse
import json
import statistics
import sys

import torch
import torch.nn.functional as F

WARM_UP, REPEATS = 5, 21


def median_ms(call):
    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(REPEATS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def gemm(m, n, k):
    a, b, c = random(m, k), random(k, n), random(m, n)
    return lambda: torch.mm(a, b, out=c)


def rmsnorm(rows, cols, dtype=torch.float32):
    x, weight = random(rows, cols, dtype=dtype), random(cols, dtype=dtype)
    return lambda: F.rms_norm(x, (cols,), weight)


def softmax(rows, cols):
    x, y = random(rows, cols), random(rows, cols)
    return lambda: torch.softmax(x, dim=-1, out=y)


def silu_mul(rows, cols):
    gate, up = random(rows, cols), random(rows, cols)
    return lambda: F.silu(gate) * up


def add(rows, cols):
    a, b, c = random(rows, cols), random(rows, cols), random(rows, cols)
    return lambda: torch.add(a, b, out=c)


def copy(rows, cols):
    x, y = random(rows, cols), random(rows, cols)
    return lambda: y.copy_(x)


def embedding(tokens, vocab, d):
    table, ids = random(vocab, d), torch.randint(vocab, (tokens,), device="cuda")
    return lambda: F.embedding(ids, table)


def cross_entropy(rows, vocab):
    logits, targets = random(rows, vocab), torch.randint(vocab, (rows,), device="cuda")
    return lambda: F.cross_entropy(logits, targets, reduction="none")


def attention(batch, heads, seq, head_dim):
    q, k, v = (random(batch, heads, seq, head_dim) for _ in range(3))
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)


def swiglu(m, n, k):
    x, gate, up = random(m, k), random(n, k), random(n, k)
    return lambda: F.silu(F.linear(x, gate)) * F.linear(x, up)


CASES = [
    ("copy 65536x4096", copy, (65536, 4096)),
    ("gemm 4096x4096x4096", gemm, (4096, 4096, 4096)),
    ("gemm 8192x8192x8192", gemm, (8192, 8192, 8192)),
    ("gemm 4096x4096x11008", gemm, (4096, 4096, 11008)),
    ("gemm 32768x32768x64", gemm, (32768, 32768, 64)),
    ("gemm 32768x32768x32", gemm, (32768, 32768, 32)),
    ("swiglu 2048x8192x2048", swiglu, (2048, 8192, 2048)),
    ("rmsnorm 65536x4096", rmsnorm, (65536, 4096)),
    ("rmsnorm 65536x4096 bf16", rmsnorm, (65536, 4096, torch.bfloat16)),
    ("rmsnorm 65536x4096 f16", rmsnorm, (65536, 4096, torch.float16)),
    ("rmsnorm 8192x8192", rmsnorm, (8192, 8192)),
    ("rmsnorm 1024x16384", rmsnorm, (1024, 16384)),
    ("softmax 16384x4096", softmax, (16384, 4096)),
    ("silu_mul 16384x4096", silu_mul, (16384, 4096)),
    ("add 16384x4096", add, (16384, 4096)),
    ("embedding 65536x32000x4096", embedding, (65536, 32000, 4096)),
    ("cross_entropy 8192x32000", cross_entropy, (8192, 32000)),
    ("attention 4x32x32x2048x2048x64 causal", attention, (4, 32, 2048, 64)),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("peer_torch.py: no CUDA device answers")
    torch.backends.cuda.matmul.allow_tf32 = False
    results = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "cases": []}
    for name, make, shape in CASES:
        milliseconds = median_ms(make(*shape))
        torch.cuda.empty_cache()
        print(f"{name:40} {milliseconds:9.4f} ms", flush=True)
        results["cases"].append({"case": name, "ms": milliseconds})
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
