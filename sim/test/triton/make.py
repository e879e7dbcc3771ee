#!/usr/bin/env python3
"""Compiles the kernels below with Triton for both chips: NAME-CHIP.hsaco, and fixtures.def with what a launch needs.

Needs no GPU: python3 -m venv V && V/bin/pip install triton numpy && V/bin/python make.py. Run it in this folder; README.md says
which versions made the files that are here.
"""
import os

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # no paths in the files
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(c + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)


@triton.jit
def softmax(a, c, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(a + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(c + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def rmsnorm(a, weight, c, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(a + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)
    w = tl.load(weight + i, mask=i < columns, other=0.0).to(tl.float32)
    tl.store(c + row * columns + i, (x * scale * w).to(tl.float16), mask=i < columns)


@triton.jit
def layernorm(a, weight, bias, c, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(a + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    d = tl.where(i < columns, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    w = tl.load(weight + i, mask=i < columns, other=0.0)
    s = tl.load(bias + i, mask=i < columns, other=0.0)
    tl.store(c + row * columns + i, d * scale * w + s, mask=i < columns)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        at = start + inner
        x = tl.load(a + rows[:, None] * k + at[None, :], mask=(rows[:, None] < m) & (at[None, :] < k), other=0.0)
        y = tl.load(b + at[:, None] * n + columns[None, :], mask=(at[:, None] < k) & (columns[None, :] < n), other=0.0)
        sum = tl.dot(x, y, sum)
    tl.store(c + rows[:, None] * n + columns[None, :], sum, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(q, k, v, c, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """One head of causal attention, with the running maximum and sum of FlashAttention."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sum = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum(length, (tl.program_id(0) + 1) * BM), BN):
        at = start + tl.arange(0, BN)
        y = tl.load(k + at[None, :] * D + d[:, None], mask=at[None, :] < length, other=0.0)
        s = tl.dot(x, y) * scale
        s = tl.where((at[None, :] <= rows[:, None]) & (at[None, :] < length), s, -float("inf"))
        new = tl.maximum(most, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(most - new)
        z = tl.load(v + at[:, None] * D + d[None, :], mask=at[:, None] < length, other=0.0)
        sum = tl.dot(p.to(tl.float16), z, sum * shrink[:, None])
        total = total * shrink + tl.sum(p, axis=1)
        most = new
    tl.store(c + rows[:, None] * D + d[None, :], sum / total[:, None], mask=rows[:, None] < length)


TILE = {"BM": 64, "BN": 64, "BK": 32}
# name, kernel, types of the arguments, constants, warps
FIXTURES = [
    ("vector_add", vector_add, "*fp32 *fp32 *fp32 i32", {"BLOCK": 512}, 4),
    ("softmax", softmax, "*fp32 *fp32 i32", {"BLOCK": 512}, 4),
    ("rmsnorm", rmsnorm, "*fp16 *fp16 *fp16 i32 fp32", {"BLOCK": 512}, 4),
    ("layernorm", layernorm, "*fp32 *fp32 *fp32 *fp32 i32 fp32", {"BLOCK": 512}, 4),
    ("matmul_f16", matmul, "*fp16 *fp16 *fp32 i32 i32 i32", TILE, 4),
    ("matmul_bf16", matmul, "*bf16 *bf16 *fp32 i32 i32 i32", TILE, 4),
    ("attention", attention, "*fp16 *fp16 *fp16 *fp32 i32 fp32", {"BM": 64, "BN": 32, "D": 64}, 4),
]


def build(name, kernel, types, constants, warps, chip):
    names = kernel.arg_names
    signature = dict(zip(names, types.split()))
    signature.update({c: "constexpr" for c in constants})
    aligned = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if signature[n].startswith("*")}
    source = ASTSource(kernel, signature=signature, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("hip", chip, 64), options={"num_warps": warps})


with open("fixtures.def", "w") as table:
    table.write("/* Made by make.py: FIXTURE(name, chip, the kernel's name, work items, dynamic LDS) */\n")
    for name, kernel, types, constants, warps in FIXTURES:
        for chip in ("gfx942", "gfx950"):
            made = build(name, kernel, types, constants, warps, chip)
            with open(f"{name}-{chip}.hsaco", "wb") as file:
                file.write(made.asm["hsaco"])
            table.write(f'FIXTURE({name}, {chip}, "{made.metadata.name}", {warps * 64}, {made.metadata.shared})\n')
print("triton", triton.__version__)
