"""References in float64, and how far a result may be from them."""

import ml_dtypes
import numpy as np

TYPES = [np.float32, np.float16, ml_dtypes.bfloat16]
EPSILON = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def random(rng, *shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def wide(x):
    return np.asarray(x).astype(np.float64)


def close(result, expected, dtype=None, terms=1.0):
    """Sums are float32 and the result is rounded once. terms is how much larger the terms of a sum may be than its result."""
    result, name = np.asarray(result), np.dtype(dtype or result.dtype).name
    error = np.abs(wide(result) - expected)
    bound = EPSILON[name] * np.abs(expected) + 64 * EPSILON["float32"] * terms
    assert result.shape == expected.shape, f"shape {result.shape}, expected {expected.shape}"
    assert (error <= bound).all(), f"the largest error is {(error / bound).max():.3g} of its bound"


def silu(x):
    return x / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q, k, v, causal=False, scale=None):
    q, k, v = wide(q), wide(k), wide(v)
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = q @ np.swapaxes(k, -1, -2) * (scale or q.shape[-1] ** -0.5)
    if causal:
        rows, keys = scores.shape[-2:]
        scores = np.where(np.arange(keys) <= np.arange(rows)[:, None] + keys - rows, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - top)
    total = e.sum(-1, keepdims=True)
    return (e / total) @ v, (np.log(total) + top)[..., 0]


def rope(x, offset=0, theta=1e4, half=False):
    x = wide(x)
    seq, dim = x.shape[-3], x.shape[-1]
    angle = (offset + np.arange(seq))[:, None] * theta ** (-2 * np.arange(dim // 2) / dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    first, second = (x[..., : dim // 2], x[..., dim // 2 :]) if half else (x[..., ::2], x[..., 1::2])
    y = np.empty_like(x)
    low, high = (np.s_[..., : dim // 2], np.s_[..., dim // 2 :]) if half else (np.s_[..., ::2], np.s_[..., 1::2])
    y[low], y[high] = first * cos - second * sin, first * sin + second * cos
    return y
