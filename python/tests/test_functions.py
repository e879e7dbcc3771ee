"""Every function on NumPy arrays, against float64."""

import numpy as np
import pytest
import reference as ref
import tandem

rng = np.random.default_rng(19)


@pytest.fixture(params=ref.TYPES, ids=lambda t: np.dtype(t).name)
def dtype(request):
    return request.param


def test_add_silu_mul(dtype):
    a, b = ref.random(rng, 3, 5, 7, dtype=dtype), ref.random(rng, 3, 5, 7, dtype=dtype)
    for function, expected in (tandem.add, ref.wide(a) + ref.wide(b)), (tandem.silu_mul, ref.silu(ref.wide(a)) * ref.wide(b)):
        result = function(a, b)
        assert type(result) is np.ndarray and result.dtype == a.dtype
        ref.close(result, expected)
        out = np.empty_like(a)
        assert function(a, b, out=out) is out
        assert np.array_equal(out.view(np.uint8), result.view(np.uint8))


def test_in_place(dtype):
    a, b = ref.random(rng, 4, 9, dtype=dtype), ref.random(rng, 4, 9, dtype=dtype)
    expected = ref.wide(a) + ref.wide(b)
    tandem.add(a, b, out=a)
    ref.close(a, expected)


def test_rmsnorm(dtype):
    x, w, r = ref.random(rng, 2, 6, 40, dtype=dtype), ref.random(rng, 40, dtype=dtype), ref.random(rng, 2, 6, 40, dtype=dtype)
    norm = lambda v, eps: v / np.sqrt((v * v).mean(-1, keepdims=True) + eps) * ref.wide(w)  # noqa: E731
    ref.close(tandem.rmsnorm(x, w), norm(ref.wide(x), 1e-5))
    y, total = tandem.rmsnorm(x, w, residual=r, eps=0.5)
    ref.close(total, ref.wide(x) + ref.wide(r))
    ref.close(y, norm(ref.wide(x) + ref.wide(r), 0.5))
    again, same = tandem.rmsnorm(x, w, residual=r, eps=0.5, sum=r)
    assert same is r and np.array_equal(again.view(np.uint16), y.view(np.uint16))


def test_softmax(dtype):
    x = ref.random(rng, 2, 5, 8, dtype=dtype)
    ref.close(tandem.softmax(x), ref.softmax(ref.wide(x)))
    hidden = np.arange(8) > np.arange(5)[:, None] + 3
    ref.close(tandem.softmax(x, causal=True), ref.softmax(np.where(hidden, -np.inf, ref.wide(x))))


@pytest.mark.parametrize("ids", [np.int32, np.int64])
def test_embedding(dtype, ids):
    table = ref.random(rng, 11, 6, dtype=dtype)
    index = np.array([[0, 10], [3, 3]], ids)
    assert np.array_equal(tandem.embedding(table, index).view(np.uint16), table[index].view(np.uint16))
    assert np.isnan(tandem.embedding(table, np.array([-1, 11, 2], ids)).astype(np.float32)).all(-1).tolist() == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("targets", [np.int32, np.int64])
def test_cross_entropy(dtype, targets):
    x, t = ref.random(rng, 2, 3, 50, dtype=dtype), np.array([[0, 49, 7], [-100, 3, 3]], targets)
    loss = tandem.cross_entropy(x, t)
    assert loss.dtype == np.float32
    expected = -np.log(np.take_along_axis(ref.softmax(ref.wide(x)), np.maximum(t, 0)[..., None].astype(int), -1)[..., 0])
    expected[1, 0] = 0
    ref.close(loss, expected, terms=8)
    assert tandem.cross_entropy(x, t, ignore=3).tolist()[1][1:] == [0.0, 0.0]


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_gemm(dtype, layout):
    m, n, k = 13, 21, 34
    a = ref.random(rng, m, k, dtype=dtype) if layout[0] == "n" else ref.random(rng, k, m, dtype=dtype).T
    b = ref.random(rng, k, n, dtype=dtype) if layout[1] == "n" else ref.random(rng, n, k, dtype=dtype).T
    product = ref.wide(a) @ ref.wide(b)
    ref.close(tandem.gemm(a, b), product, terms=k)
    assert f"gemm {layout}" in tandem.explain(tandem.gemm, a, b)
    wide = tandem.gemm(a, b, dtype="float32")
    assert wide.dtype == np.float32
    ref.close(wide, product, terms=k)
    c = ref.random(rng, m, n, dtype=dtype)
    expected = 0.5 * product - 2 * ref.wide(c)
    tandem.gemm(a, b, alpha=0.5, beta=-2, out=c)
    ref.close(c, expected, terms=k)


def test_gemm_epilogue(dtype):
    a, b = ref.random(rng, 5, 16, dtype=dtype), ref.random(rng, 16, 9, dtype=dtype)
    bias, residual = ref.random(rng, 9, dtype=dtype), ref.random(rng, 5, 9, dtype=dtype)
    product = ref.wide(a) @ ref.wide(b)
    ref.close(tandem.gemm(a, b, bias=bias, residual=residual), product + ref.wide(bias) + ref.wide(residual), terms=16)
    steps = [("scale", 2.0), "residual", "relu", "bias", ("divide", 4)]
    expected = (np.maximum(2 * product + ref.wide(residual), 0) + ref.wide(bias)) / 4
    ref.close(tandem.gemm(a, b, bias=bias, residual=residual, epilogue=steps), expected, terms=16)


def test_gemm_batch(dtype):
    a, b = ref.random(rng, 2, 3, 4, 8, dtype=dtype), ref.random(rng, 2, 3, 8, 5, dtype=dtype)
    ref.close(tandem.gemm(a, b), ref.wide(a) @ ref.wide(b), terms=8)
    ref.close(tandem.gemm(a, b[0, 1]), ref.wide(a) @ ref.wide(b[0, 1]), terms=8)
    ref.close(tandem.gemm(a[1, 2], b), ref.wide(a[1, 2]) @ ref.wide(b), terms=8)
    same = np.broadcast_to(a[0, 0], (6, 4, 8))
    ref.close(tandem.gemm(same, b.reshape(6, 8, 5)), ref.wide(same) @ ref.wide(b.reshape(6, 8, 5)), terms=8)


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "gelu_tanh", "quick_gelu", "silu"])
def test_linear(dtype, activation):
    x, w = ref.random(rng, 2, 3, 24, dtype=dtype), ref.random(rng, 10, 24, dtype=dtype)
    bias, residual = ref.random(rng, 10, dtype=dtype), ref.random(rng, 2, 3, 10, dtype=dtype)
    v = ref.wide(x) @ ref.wide(w).T + ref.wide(bias)
    erf = np.vectorize(__import__("math").erf)
    apply = {
        None: lambda v: v,
        "relu": lambda v: np.maximum(v, 0),
        "gelu": lambda v: v / 2 * (1 + erf(v / np.sqrt(2))),
        "gelu_tanh": lambda v: v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))),
        "quick_gelu": lambda v: v / (1 + np.exp(-1.702 * v)),
        "silu": ref.silu,
    }[activation]
    ref.close(tandem.linear(x, w, bias, activation=activation), apply(v), terms=24)
    ref.close(tandem.linear(x, w, bias, activation=activation, residual=residual), apply(v) + ref.wide(residual), terms=24)
    stored = np.ascontiguousarray(w.T).T  # the same numbers, stored [k, n]
    ref.close(tandem.linear(x, stored, bias, activation=activation), apply(v), terms=24)


def test_swiglu(dtype):
    x, g, u = ref.random(rng, 2, 3, 24, dtype=dtype), ref.random(rng, 10, 24, dtype=dtype), ref.random(rng, 10, 24, dtype=dtype)
    gate, up = ref.wide(x) @ ref.wide(g).T, ref.wide(x) @ ref.wide(u).T
    ref.close(tandem.swiglu(x, g, u), ref.silu(gate) * up, terms=24 * 8)
    assert tandem.swiglu(x, g, u, dtype="float32").dtype == np.float32


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [(4, 4), (4, 2), (6, 1)])
def test_attention(dtype, causal, heads):
    q = ref.random(rng, 2, heads[0], 5, 32, dtype=dtype)
    k, v = (ref.random(rng, 2, heads[1], 9, 32, dtype=dtype) for _ in range(2))
    expected, lse = ref.attention(q, k, v, causal)
    result, sums = tandem.attention(q, k, v, causal=causal, lse=True)
    kernel = tandem.explain(tandem.attention, q, k, v, causal=causal, lse=True)
    rounding = 4 if "kernel: omp_amx" in kernel else 0  # it rounds probabilities to 16 bits
    ref.close(result, expected, terms=4 + rounding * ref.EPSILON[np.dtype(dtype).name] / ref.EPSILON["float32"])
    ref.close(sums, lse, terms=32 + rounding)
    only, _ = ref.attention(q, k[:, :, :7], v[:, :, :7], causal)
    short = tandem.attention(q, k, v, causal=causal, keys=7)
    ref.close(short, only, terms=4 + rounding * ref.EPSILON[np.dtype(dtype).name] / ref.EPSILON["float32"])
    one = tandem.attention(q[0], k[0], v[0], causal=causal)
    assert one.shape == q[0].shape


@pytest.mark.parametrize("style", ["interleaved", "half"])
@pytest.mark.parametrize("offset", [0, 100, 70000])
def test_rope(dtype, style, offset):
    x = ref.random(rng, 2, 6, 3, 16, dtype=dtype)
    ref.close(tandem.rope(x, offset=offset, style=style), ref.rope(x, offset, half=style == "half"), terms=4)


def test_rope_scaled():
    x = ref.random(rng, 1, 4, 2, 16)
    half = tandem.rope(x, offset=100, factor=2.0)
    ref.close(half, ref.rope(x, 50, half=False) * 0 + _scaled(x, 100, 2.0), terms=4)


def _scaled(x, offset, factor):
    x, dim = ref.wide(x), x.shape[-1]
    angle = (offset + np.arange(x.shape[-3]))[:, None] / factor * 1e4 ** (-2 * np.arange(dim // 2) / dim)
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    y = np.empty_like(x)
    y[..., ::2], y[..., 1::2] = x[..., ::2] * cos - x[..., 1::2] * sin, x[..., ::2] * sin + x[..., 1::2] * cos
    return y


@pytest.mark.parametrize("rows", [0, 1])
def test_empty(dtype, rows):
    x, w = np.zeros((rows, 0), dtype), np.zeros((4, 0), dtype)
    assert tandem.add(x, x).shape == (rows, 0)
    assert (tandem.linear(x, w).astype(np.float32) == 0).all()
    assert tandem.embedding(np.zeros((3, 0), dtype), np.zeros(rows, np.int32)).shape == (rows, 0)
