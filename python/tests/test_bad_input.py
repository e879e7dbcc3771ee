"""What is refused: an exception that names the argument, and nothing written."""

import ml_dtypes
import numpy as np
import pytest
import standin
import tandem

f32, f16, f64, i32 = np.float32, np.float16, np.float64, np.int32


def ones(*shape, dtype=f32):
    return np.ones(shape, dtype)


A, X, W, H = ones(4, 6), ones(2, 4, 8), ones(5, 8), ones(2, 4, 6, 32)
READ_ONLY = ones(4, 6)
READ_ONLY.flags.writeable = False
FROM = tandem.ArgumentError

CASES = [
    # arguments as such
    (TypeError, "add: b is missing", lambda: tandem.add(A)),
    (TypeError, "add: 3 arguments without a name", lambda: tandem.add(A, A, A)),
    (TypeError, "add: there is no argument colour", lambda: tandem.add(A, A, colour=1)),
    (TypeError, "add: a is given twice", lambda: tandem.add(A, A, a=A)),
    (TypeError, "add: b is a float", lambda: tandem.add(A, 1.0)),
    (TypeError, "add: b is missing", lambda: tandem.add(A, None)),
    (TypeError, "add: a is a list", lambda: tandem.add([[1.0]], A)),
    (TypeError, "rmsnorm: eps is a str", lambda: tandem.rmsnorm(X, ones(8), eps="1")),
    (FROM, "rmsnorm: eps = inf: must be finite", lambda: tandem.rmsnorm(X, ones(8), eps=float("inf"))),
    (FROM, r"rmsnorm: eps = 1e\+300: must be finite, and at most", lambda: tandem.rmsnorm(X, ones(8), eps=1e300)),
    (FROM, "rmsnorm: eps = nan", lambda: tandem.rmsnorm(X, ones(8), eps=float("nan"))),
    (FROM, "gemm: alpha: int too large", lambda: tandem.gemm(A, A.T, alpha=10**400)),
    (FROM, "rmsnorm: eps = -1", lambda: tandem.rmsnorm(X, ones(8), eps=-1)),
    (TypeError, "softmax: causal is a int: must be True or False", lambda: tandem.softmax(X, causal=1)),
    (TypeError, "attention: keys is a float: must be an integer", lambda: tandem.attention(H, H, H, keys=2.0)),
    (FROM, "attention: keys = 7: must be 0 to the length of k, 6", lambda: tandem.attention(H, H, H, keys=7)),
    (FROM, "rope: offset has more than 63 bits", lambda: tandem.rope(H, offset=1 << 70)),
    (FROM, "rope: offset = -1", lambda: tandem.rope(H, offset=-1)),
    (FROM, "rope: style = neox", lambda: tandem.rope(H, style="neox")),
    (FROM, "rope: theta = 0", lambda: tandem.rope(H, theta=0)),
    (FROM, "gemm: epilogue: tanh: must be", lambda: tandem.gemm(A, A.T, epilogue=["tanh"])),
    (FROM, "gemm: epilogue: scale needs a value", lambda: tandem.gemm(A, A.T, epilogue=["scale"])),
    (FROM, "gemm: epilogue: relu has no value", lambda: tandem.gemm(A, A.T, epilogue=[("relu", 1)])),
    (FROM, "gemm: epilogue: must have at most 8", lambda: tandem.gemm(A, A.T, epilogue=["relu"] * 9)),
    (TypeError, "gemm: epilogue has a int", lambda: tandem.gemm(A, A.T, epilogue=[3])),
    (TypeError, "gemm: epilogue is a str", lambda: tandem.gemm(A, A.T, epilogue="relu")),
    (FROM, "gemm: bias is given, and epilogue does not have it", lambda: tandem.gemm(A, A.T, bias=ones(4), epilogue=["relu"])),
    (FROM, "gemm: bias is missing, and epilogue has it", lambda: tandem.gemm(A, A.T, epilogue=["bias"])),
    (FROM, r"gemm: epilogue\[0\].value = 0", lambda: tandem.gemm(A, A.T, epilogue=[("divide", 0)])),
    (FROM, "gemm: beta = 1: needs out", lambda: tandem.gemm(A, A.T, beta=1)),
    (FROM, "gemm: dtype = int8: must be", lambda: tandem.gemm(A, A.T, dtype="int8")),
    (FROM, "linear: activation = tanh: must be", lambda: tandem.linear(X, W, activation="tanh")),
    (FROM, "rmsnorm: sum is given without residual", lambda: tandem.rmsnorm(X, ones(8), sum=X.copy())),
    (TypeError, "gemm: epilogue is a dict", lambda: tandem.gemm(A, A.T, epilogue={"relu": 1})),
    (TypeError, "gemm: epilogue is a set", lambda: tandem.gemm(A, A.T, epilogue={"relu"})),
    (TypeError, "gemm: dtype is a type: must be a string", lambda: tandem.gemm(A, A.T, dtype=f32)),
    (FROM, "gemm: dtype = f32: must be", lambda: tandem.gemm(A, A.T, dtype="f32")),
    (FROM, "add: kernel: must be a word", lambda: tandem.add(A, A, kernel="")),
    (FROM, "add: device: must be a word", lambda: tandem.add(A, A, device="host\n")),
    (FROM, r"kernels: 'add\\x00': must be the name", lambda: tandem.kernels("add\0")),
    (TypeError, "explain: function = 'sub': must be a function", lambda: tandem.explain("sub", A, A)),
    (FROM, "add: kernel: must be a word", lambda: tandem.add(A, A, kernel="omp\0")),
    (FROM, "add: kernel: must be a word", lambda: tandem.add(A, A, kernel="x" * 5000)),
    (FROM, "add: kernel: .*surrogates not allowed", lambda: tandem.add(A, A, kernel="\udc80")),
    (TypeError, "explain: function is a numpy.ufunc: must be a function of tandem", lambda: tandem.explain(np.add, A, A)),
    (FROM, "kernel = 'fast'", lambda: tandem.add(A, A, kernel="fast")),
    (FROM, "add: device = gpu: must be host, omp:N, hip:N or sim:CHIP", lambda: tandem.add(A, A, device="gpu")),
    (TypeError, "add: device is a int: must be a string", lambda: tandem.add(A, A, device=0)),
    (tandem.UnsupportedError, "add: device = omp:0: .*omp_offload", lambda: tandem.add(A, A, device="omp:0")),
    (tandem.UnsupportedError, "add: device = hip:0: .*tdm_backend=hip", lambda: tandem.explain(tandem.add, A, A, device="hip:0")),
    (tandem.UnsupportedError, "add: device = sim:gfx950: .*tdm_backend=hip", lambda: tandem.add(A, A, device="sim:gfx950")),
    # types
    (TypeError, "add: a has the type float64", lambda: tandem.add(ones(4, 6, dtype=f64), A)),
    (TypeError, "add: a has the type complex64", lambda: tandem.add(ones(4, 6, dtype=np.complex64), A)),
    (TypeError, "add: a has the type object", lambda: tandem.add(ones(4, 6, dtype=object), A)),
    (TypeError, "add: a has the type .*V2", lambda: tandem.add(np.zeros((4, 6), "V2"), A)),
    (TypeError, "add: a has the type float8", lambda: tandem.add(ones(4, 6, dtype=ml_dtypes.float8_e4m3fn), A)),
    (TypeError, "add: a is float32, and b is float16", lambda: tandem.add(A, A.astype(f16))),
    (TypeError, "add: out has the type float16: must be float32", lambda: tandem.add(A, A, out=A.astype(f16))),
    (TypeError, "linear: residual is float32, and the result float16",
     lambda: tandem.linear(X, W, residual=ones(2, 4, 5), dtype="float16")),
    (TypeError, "gemm: out has the type int32: must be float32, float16 or bfloat16", lambda: tandem.gemm(A, A.T, out=ones(4, 4, dtype=i32))),
    (TypeError, "add: a has the type .*f4", lambda: tandem.add(np.zeros((4, 6), [("x", f32)]), A)),
    (TypeError, "add: a has the type <U1", lambda: tandem.add(np.array([["x"]]), A)),
    (TypeError, "add: a has the type bool", lambda: tandem.add(A > 0, A)),
    (TypeError, "embedding: ids has the type uint32: must be int32 or int64", lambda: tandem.embedding(A, np.zeros(3, np.uint32))),
    (TypeError, "embedding: ids has the type float32: must be int32 or int64", lambda: tandem.embedding(A, ones(3))),
    (TypeError, "cross_entropy: targets has the type float32", lambda: tandem.cross_entropy(A, ones(4))),
    (FROM, "add: a is in the other byte order", lambda: tandem.add(A.astype(">f4"), A)),
    # shapes
    (FROM, r"add: b has the shape \[4, 5\]: must be \[4, 6\]", lambda: tandem.add(A, A[:, :5])),
    (FROM, r"add: b has the shape \[6\]: must be \[4, 6\]", lambda: tandem.add(A, A[0])),
    (FROM, r"add: out has the shape \[6, 4\]: must be \[4, 6\]", lambda: tandem.add(A, A, out=ones(6, 4))),
    (FROM, "add: a has no dimension", lambda: tandem.add(np.float32(1) * ones(), ones())),
    (FROM, r"gemm: a has the shape \[4, 6\], and b \[4, 6\]", lambda: tandem.gemm(A, A)),
    (FROM, "gemm: a has the shape", lambda: tandem.gemm(ones(2, 3, 4), ones(3, 4, 5))),
    (FROM, "gemm: b has 1 dimensions", lambda: tandem.gemm(A, A[0])),
    (FROM, "gemm: bias has the shape", lambda: tandem.gemm(A, A.T, bias=ones(5))),
    (FROM, "linear: x has the shape", lambda: tandem.linear(X, ones(5, 7))),
    (FROM, "swiglu: up has the shape", lambda: tandem.swiglu(X, W, ones(6, 8))),
    (FROM, "rmsnorm: weight has the shape", lambda: tandem.rmsnorm(X, ones(7))),
    (FROM, "rmsnorm: residual has the shape", lambda: tandem.rmsnorm(X, ones(8), residual=X[:1])),
    (FROM, "softmax: x has 1 dimensions: must have 2 to 12", lambda: tandem.softmax(ones(4), causal=True)),
    (FROM, "add: a has 13 dimensions", lambda: tandem.add(ones(*[1] * 13), ones(*[1] * 13))),
    (FROM, "attention: q has 2 dimensions", lambda: tandem.attention(A, A, A)),
    (FROM, "attention: v has the shape", lambda: tandem.attention(H, H, H[:, :, :5])),
    (FROM, "attention: q has 4 heads, and k 3", lambda: tandem.attention(H, H[:, :3], H[:, :3])),
    (FROM, "attention: k has no heads: must have at least 1", lambda: tandem.attention(H[:, :0], H[:, :0], H[:, :0])),
    (FROM, "attention: q has the shape", lambda: tandem.attention(H, H[:1], H[:1])),
    (FROM, "attention: head_dim = 8", lambda: tandem.attention(*[ones(1, 1, 1, 8)] * 3)),
    (FROM, "attention: lse_out has the shape", lambda: tandem.attention(H, H, H, lse_out=ones(2, 4))),
    (FROM, "rope: head_dim = 3", lambda: tandem.rope(ones(1, 1, 1, 3))),
    (FROM, "embedding: table has 1 dimensions", lambda: tandem.embedding(ones(4), np.zeros(1, i32))),
    (FROM, "cross_entropy: targets has the shape", lambda: tandem.cross_entropy(A, np.zeros(5, i32))),
    # strides
    (FROM, "add: a has the strides .* must be contiguous", lambda: tandem.add(ones(4, 12)[:, ::2], A)),
    (FROM, "add: a has the stride -6 in dimension 0: must be above 0", lambda: tandem.add(A[::-1], A)),
    (FROM, "add: a has the stride 0 in dimension 0: .*broadcast_to", lambda: tandem.add(np.broadcast_to(A[:1], (4, 6)), A)),
    (FROM, "add: a has the strides .* rows overlap",
     lambda: tandem.add(np.lib.stride_tricks.as_strided(ones(30), (4, 6), (4, 4)), A)),
    (FROM, "softmax: x .* does not fold to rows", lambda: tandem.softmax(X.transpose(1, 0, 2))),
    (FROM, "gemm: a has the strides", lambda: tandem.gemm(ones(4, 12)[:, ::2], A.T)),
    (FROM, "gemm: out is transposed", lambda: tandem.gemm(A, A.T, out=ones(4, 4).T)),
    (FROM, "gemm: a .* does not fold to a batch", lambda: tandem.gemm(ones(2, 3, 2, 4, 4)[:, :, 0][:, :2], ones(4, 4))),
    (FROM, "swiglu: one of gate and up is transposed", lambda: tandem.swiglu(X, W, ones(8, 5).T)),
    (FROM, "rmsnorm: weight has the stride 2", lambda: tandem.rmsnorm(X, ones(16)[::2])),
    (FROM, "embedding: ids has the strides", lambda: tandem.embedding(A, np.zeros((4, 4), i32)[:, ::2])),
    (FROM, "attention: k has the stride 0 in dimension 1", lambda: tandem.attention(H, np.broadcast_to(H[:, :1], H.shape), H)),
    (FROM, "add: a is not aligned", lambda: tandem.add(np.zeros(97, np.uint8)[1:].view(f32).reshape(4, 6), A)),
    (FROM, "add: b has a mask: must have none", lambda: tandem.add(A, np.ma.masked_array(A, mask=A > 0))),
    (FROM, "gemm: a has the strides", lambda: tandem.gemm(np.broadcast_to(A[:1], (4, 6)), A.T)),
    (FROM, "add: a has the strides .* last dimension must be contiguous", lambda: tandem.add(A[:, ::-1], A)),
    # outputs
    (FROM, "add: out has the stride 0",
     lambda: tandem.add(A, A, out=np.lib.stride_tricks.as_strided(ones(6), (4, 6), (0, 4)))),
    (FROM, r"gemm: out has the strides \[4, 4, 1\]: the matrices of its batch overlap",
     lambda: tandem.gemm(ones(2, 4, 6), A.T, out=np.lib.stride_tricks.as_strided(ones(99), (2, 4, 4), (16, 16, 4)))),
    (FROM, r"gemm: out has the strides .*: the matrices of its batch overlap",
     lambda: tandem.gemm(ones(2, 4, 6), A.T, out=np.lib.stride_tricks.as_strided(ones(99), (2, 4, 4), (0, 16, 4)))),
    (FROM, r"rope: out.head = 16: must be at least 32, or elements of out overlap each other",
     lambda: tandem.rope(H[:1, :2, :2], out=np.lib.stride_tricks.as_strided(ones(200), (1, 2, 2, 32), (0, 128, 64, 4)))),
    (FROM, r"attention: out.row = 16: must be at least 32, or elements of out overlap each other",
     lambda: tandem.attention(*[H[:1]] * 3, out=np.lib.stride_tricks.as_strided(ones(999), (1, 4, 6, 32), (0, 512, 64, 4)))),
    (TypeError, "add: out has the type float64: must be float32", lambda: tandem.add(A, A, out=ones(4, 6, dtype=f64))),
    (TypeError, "gemm: out has the type float64: must be float32, float16 or bfloat16",
     lambda: tandem.gemm(A, A.T, out=ones(4, 4, dtype=f64))),
    (FROM, "add: out is read-only", lambda: tandem.add(A, A, out=READ_ONLY)),
    (FROM, "embedding: out = .* overlaps table = ", lambda: (lambda t: tandem.embedding(t, np.zeros(4, i32), out=t))(ones(4, 6))),
    (FROM, "add: out = .* overlaps a = ", lambda: (lambda t: tandem.add(t[:-1], t[:-1], out=t[1:]))(ones(5, 6))),
    (FROM, "linear: out = .* overlaps x = ", lambda: (lambda t: tandem.linear(t, ones(6, 6), out=t))(ones(5, 6))),
    (FROM, "swiglu: out = .* overlaps gate = ", lambda: (lambda t: tandem.swiglu(A, t, t, out=t[:4]))(ones(6, 6))),
    (FROM, "attention: out = .* overlaps k = ", lambda: (lambda t: tandem.attention(H, t, H, out=t))(H.copy())),
    (FROM, "rmsnorm: .*sum = ", lambda: (lambda t: tandem.rmsnorm(t, ones(8), residual=X, out=t, sum=t))(X.copy())),
    # producers
    (tandem.UnsupportedError, "add: a is on cuda:1: .*omp_offload", lambda: tandem.add(*[standin.Producer(A, device=(2, 1))] * 2)),
    (tandem.UnsupportedError, "add: a is on rocm:0: .*tdm_backend=hip", lambda: tandem.add(*[standin.Producer(A, device=(10, 0))] * 2)),
    (FROM, "add: a is on the host 0, and b on CUDA's GPU 1", lambda: tandem.add(A, standin.Producer(A, device=(2, 1)))),
    (FROM, "add: out is on another device than a", lambda: tandem.add(A, A, out=standin.Producer(A, device=(2, 1)))),
    (FROM, "add: a is on a device of DLPack's type 8", lambda: tandem.add(standin.Producer(A, device=(8, 0)), A)),
    (FROM, "add: a: its __dlpack_device__ must return", lambda: tandem.add(standin.Producer(A, device=(1,)), A)),
    (FROM, "add: a has DLPack's version 2", lambda: tandem.add(standin.Producer(A, major=2), A)),
    (TypeError, "add: a has another type: must be float32", lambda: tandem.add(standin.Producer(A, lanes=4), A)),
    (TypeError, "add: a has another type: must be", lambda: tandem.add(standin.Producer(A, code=5), A)),
    (FROM, "add: a has a negative size", lambda: tandem.add(standin.Producer(A, shape=(-4, 6)), A)),
    (TypeError, "add: a: its __dlpack__ returned a str", lambda: tandem.add(standin.Producer(A, capsule="no"), A)),
]  # fmt: skip


@pytest.mark.parametrize("kind, message, call", CASES, ids=[c[1] for c in CASES])
def test_refused(kind, message, call):
    if kind is tandem.UnsupportedError and tandem.build_options() != {"omp_offload": "none", "tdm_backend": "omp"}:
        pytest.skip("the host's variant alone")
    tandem.cache_clear()
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("shape", [(1 << 62, 6), (1 << 62, 1 << 62), (1 << 62, 0)])
def test_sizes_beyond_memory(shape):
    """What only a broken producer says: an exception, whatever it is, and no overflow."""
    huge = standin.Producer(A, shape=shape)
    for call in (
        lambda: tandem.add(huge, huge),
        lambda: tandem.linear(huge, huge),
        lambda: tandem.gemm(huge, huge),
        lambda: tandem.rope(standin.Producer(H, shape=(*shape, 4, 32))),
        lambda: tandem.attention(*[standin.Producer(H, shape=(*shape, 6, 32))] * 3),
    ):
        if 0 in shape:
            try:
                call()
            except (tandem.Error, MemoryError):
                pass
        else:
            with pytest.raises((tandem.Error, MemoryError)):
                call()


def test_nothing_is_written():
    out = ones(4, 6)
    for bad in lambda: tandem.add(A, A[:, :5], out=out), lambda: tandem.add(A, A.astype(f16), out=out):
        with pytest.raises((TypeError, ValueError)):
            bad()
    assert (out == 1).all()


def test_producers_that_raise():
    class Raises:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            raise RuntimeError("the battery is empty")

    with pytest.raises(tandem.ArgumentError, match="add: a: the battery is empty") as caught:
        tandem.add(Raises(), A)
    assert isinstance(caught.value.__cause__, RuntimeError)

    class Long(Raises):
        def __dlpack__(self, **keywords):
            raise RuntimeError("one line\nand a stack of calls")

    with pytest.raises(tandem.ArgumentError, match="^add: a: one line$"):
        tandem.add(Long(), A)

    class Silent(Raises):
        def __dlpack__(self, **keywords):
            raise RuntimeError

    with pytest.raises(tandem.ArgumentError, match="^add: a: RuntimeError$"):
        tandem.add(Silent(), A)

    class Interrupts(Raises):
        def __dlpack__(self, **keywords):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tandem.add(Interrupts(), A)


def test_exceptions_are_python_s():
    assert issubclass(tandem.ArgumentError, ValueError) and issubclass(tandem.UnsupportedError, NotImplementedError)
    assert issubclass(tandem.DeviceError, RuntimeError) and issubclass(tandem.VerifyError, RuntimeError)
    for error in tandem.ArgumentError, tandem.UnsupportedError, tandem.DeviceError, tandem.VerifyError:
        assert issubclass(error, tandem.Error)
