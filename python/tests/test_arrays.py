"""Kinds of arrays, strides, plans."""

import ctypes
import gc
import os
import sys

import ml_dtypes
import numpy as np
import pytest
import reference as ref
import standin
import tandem

rng = np.random.default_rng(3)


# ---- Strides ----


def test_rows_with_a_stride():
    a, b, out = (ref.random(rng, 6, 20) for _ in range(3))
    rest = out[:, 9:].copy()
    tandem.add(a[:, 2:9], b[::2].repeat(2, 0)[:, 1:8], out=out[:, :7])
    assert np.array_equal(out[:, :7], a[:, 2:9] + b[::2].repeat(2, 0)[:, 1:8])
    assert np.array_equal(out[:, 9:], rest)


def test_rows_that_fold():
    big = ref.random(rng, 4, 3, 10)
    assert np.array_equal(tandem.softmax(big[:, :, :8]), tandem.softmax(big[:, :, :8].copy()))
    assert np.array_equal(tandem.softmax(big[:, :1, 2:]), tandem.softmax(big[:, :1, 2:].copy()))
    with pytest.raises(tandem.ArgumentError, match="softmax: x has the shape .* does not fold to rows"):
        tandem.softmax(big[:, :2])


def test_heads_in_the_middle():
    x = ref.random(rng, 2, 7, 4, 32)  # as a Linear layer leaves them: [batch, seq, heads, head_dim]
    q = x.transpose(0, 2, 1, 3)
    expected, _ = ref.attention(q, q, q, causal=True)
    ref.close(tandem.attention(q, q, q, causal=True), expected, terms=4)
    out = np.zeros_like(x)
    tandem.attention(q, q, q, causal=True, out=out.transpose(0, 2, 1, 3))
    ref.close(out.transpose(0, 2, 1, 3), expected, terms=4)
    cache = ref.random(rng, 2, 4, 50, 32)
    ref.close(
        tandem.attention(q, cache[:, :, :9], cache[:, :, :9]), ref.attention(q, cache[:, :, :9], cache[:, :, :9])[0], terms=4
    )
    ref.close(tandem.rope(q.transpose(0, 2, 1, 3)), ref.rope(x), terms=4)


@pytest.mark.parametrize("axis", [0, 1])
def test_one_row_or_column(axis):
    a, b = ref.random(rng, 3, 4), ref.random(rng, 4, 5)
    short = a[:1] if axis == 0 else a[:, :1]
    other = b if axis == 0 else b[:1]
    ref.close(tandem.gemm(short, other), ref.wide(short) @ ref.wide(other), terms=4)
    ref.close(tandem.gemm(other.T, short.T), (ref.wide(short) @ ref.wide(other)).T, terms=4)


# ---- Kinds ----


def test_dlpack_of_the_host():
    a, b = ref.random(rng, 3, 4), ref.random(rng, 3, 4)
    producer = standin.Producer(a)
    result = tandem.add(producer, b)
    assert isinstance(result, tandem.Array) and result.shape == (3, 4) and result.dtype == "float32"
    assert producer.calls == [{"max_version": (1, 1)}]
    assert np.array_equal(np.from_dlpack(result), a + b)
    assert np.array_equal(np.asarray(result), a + b)
    out = np.empty_like(a)
    assert tandem.add(producer, b, out=out) is out and np.array_equal(out, a + b)


def test_dlpack_gives_everything_back():
    a = ref.random(rng, 3, 4)
    producer = standin.Producer(a)
    for _ in range(5):
        tandem.add(producer, producer)
    assert producer.alive == 0 and len(producer.calls) == 10
    with pytest.raises(TypeError):
        tandem.add(producer, 3)
    assert producer.alive == 0


def test_dlpack_before_version_1():
    a = ref.random(rng, 3, 4)
    producer = standin.Producer(a, old=True)
    assert np.array_equal(np.from_dlpack(tandem.add(producer, a)), a + a)
    assert producer.alive == 0


def test_dlpack_read_only():
    a = ref.random(rng, 3, 4)
    producer = standin.Producer(a, read_only=True)
    assert np.array_equal(np.from_dlpack(tandem.add(producer, a)), a + a)
    with pytest.raises(tandem.ArgumentError, match="add: out is read-only"):
        tandem.add(a, a, out=producer)


def test_dlpack_that_does_not_say():
    """As JAX: it knows of max_version and returns a capsule without flags."""
    a = ref.random(rng, 3, 4)
    producer = standin.Producer(a, mixed=True)
    assert np.array_equal(np.from_dlpack(tandem.add(producer, a)), a + a)
    with pytest.raises(tandem.ArgumentError, match="add: out is read-only"):
        tandem.add(a, a, out=producer)
    old = standin.Producer(a.copy(), old=True)
    assert tandem.add(a, a, out=old) is old and np.array_equal(old.array, a + a)


def test_streams_of_producers():
    """The producer of a GPU is asked for no wait, and for the legacy stream if it does not know that."""
    producer = standin.Producer(ref.random(rng, 3, 4), device=(2, 0))
    producer.refused_streams = (-1,)
    if tandem.build_options() == {"omp_offload": "none", "tdm_backend": "omp"}:
        with pytest.raises(tandem.UnsupportedError, match="cuda:0"):
            tandem.add(producer, producer)
        assert [call["stream"] for call in producer.calls] == [-1, 1, -1, 1]


def test_results_by_the_package_of_the_class():
    """As CuPy, which has no __array_namespace__."""
    import types

    class Own(standin.Producer):
        pass

    sys.modules["standin_package"] = package = types.ModuleType("standin_package")
    package.from_dlpack = lambda other: Own(np.from_dlpack(other))
    Own.__module__ = "standin_package.core"
    a = ref.random(rng, 3, 4)
    result = tandem.add(Own(a), a)
    assert type(result) is Own and np.array_equal(result.array, a + a)
    del sys.modules["standin_package"]


def test_dlpack_bfloat16():
    a = ref.random(rng, 3, 4, dtype=ml_dtypes.bfloat16)
    result = tandem.add(standin.Producer(a), a)
    assert result.dtype == "bfloat16"
    assert np.array_equal(standin.bits(result), (a + a).view(np.uint16))


def test_immutable_library():
    """As JAX: no out=, and results that its from_dlpack takes over."""
    a = ref.random(rng, 3, 4)
    result = tandem.add(standin.Immutable(a), a)
    assert isinstance(result, standin.Immutable)
    assert np.array_equal(result.array, a + a)


def test_array_interface_alone():
    class Interface:
        def __init__(self, array):
            self.__array_struct__ = array.__array_struct__
            self.array = array

    a = ref.random(rng, 3, 4)
    assert np.array_equal(np.asarray(tandem.add(Interface(a), a)), a + a)


class Dictionary:
    """An object that has the array interface as a dictionary alone."""

    def __init__(self, array, **changes):
        self.__array_interface__ = {**array.__array_interface__, **changes}
        self.array = array


def test_array_interface_as_a_dictionary():
    a = ref.random(rng, 3, 8)
    assert np.array_equal(np.asarray(tandem.add(Dictionary(a), a)), a + a)
    assert np.array_equal(np.asarray(tandem.add(Dictionary(a[:, 2:6]), a[:, 2:6])), a[:, 2:6] * 2)
    assert tandem.embedding(Dictionary(a), Dictionary(np.array([2, 0]))).shape == (2, 8)
    out = np.zeros((3, 8), np.float32)
    tandem.add(a, a, out=Dictionary(out))
    assert np.array_equal(out, a + a)
    again = tandem.add(tandem.add(Dictionary(a), a), a)
    assert isinstance(again, tandem.Array)
    for changes, message in (
        ({"data": (a.ctypes.data, True)}, None),
        ({"typestr": ">f4"}, "other byte order"),
        ({"shape": [3, 8]}, "needs shape"),
        ({"shape": (1,) * 13}, "needs shape"),
        ({"data": None}, "needs shape"),
        ({"strides": (32,)}, "as many integers"),
        ({"strides": (33, 4)}, "33 bytes"),
        ({"mask": a}, "has a mask"),
        ({"data": (-4, False)}, "negative"),
        ({"data": (a.ctypes.data, np.ones(2))}, "ambiguous"),
        ({"data": (a.ctypes.data + 1, False)}, "aligned"),
        ({"data": (0, False)}, "NULL"),
    ):
        if message is None:
            with pytest.raises(tandem.ArgumentError, match="add: out is read-only"):
                tandem.add(a, a, out=Dictionary(a, **changes))
        else:
            with pytest.raises(tandem.ArgumentError, match="add: a.* " + message):
                tandem.add(Dictionary(a, **changes), a)


def test_cuda_array_interface_needs_a_build_for_it():
    class Gpu:
        __cuda_array_interface__ = {"shape": (2, 2), "typestr": "<f4", "data": (4096, False), "version": 3}

    if tandem.build_options()["omp_offload"] == "none":
        with pytest.raises(tandem.UnsupportedError, match="add: a is on cuda:0"):
            tandem.add(Gpu(), Gpu())


def test_results_outlive_everything():
    a = ref.random(rng, 300, 400)
    result = np.from_dlpack(tandem.add(standin.Producer(a), a))
    tandem.cache_clear()
    gc.collect()
    assert np.array_equal(result, a + a)
    again = tandem.add(standin.Producer(a), a)
    capsule = again.__dlpack__(max_version=(1, 0))
    del again, capsule
    with pytest.raises(BufferError):
        tandem.add(standin.Producer(a), a).__dlpack__(copy=True)
    with pytest.raises(TypeError):
        tandem.Array()


def test_read_only_input():
    a = ref.random(rng, 3, 4)
    a.flags.writeable = False
    assert np.array_equal(tandem.add(a, a), a + a)


# ---- Plans ----


def test_plans_are_kept():
    tandem.cache_clear()
    a = ref.random(rng, 3, 4)
    for _ in range(3):
        tandem.add(a, a)
    assert tandem.cache_info() == {"hits": 2, "misses": 1, "plans": 1, "most": 512}
    tandem.add(a[:2], a[:2])
    tandem.gemm(a, a.T)
    tandem.gemm(a, a.T, alpha=0.5)
    tandem.gemm(a, a.T, epilogue=["relu"])
    tandem.gemm(a, a.T, epilogue=["relu"])
    assert tandem.cache_info()["misses"] == 5 and tandem.cache_info()["hits"] == 3


def test_decoding_makes_few_plans():
    tandem.cache_clear()
    x, cache = ref.random(rng, 1, 1, 4, 32), ref.random(rng, 1, 4, 64, 32)
    for position in range(40):
        q = tandem.rope(x, offset=position, style="half")
        tandem.attention(q.transpose(0, 2, 1, 3), cache, cache, keys=position + 1)
    assert tandem.cache_info()["misses"] == 2


def test_the_oldest_plan_goes():
    tandem.cache_clear()
    a = ref.random(rng, 600, 4)
    for rows in range(1, 600):
        tandem.add(a[:rows], a[:rows])
    info = tandem.cache_info()
    assert info["plans"] == info["most"] and info["misses"] == 599
    tandem.add(a[:599], a[:599])
    assert tandem.cache_info()["hits"] == 1
    tandem.add(a[:1], a[:1])
    assert tandem.cache_info()["misses"] == 600


# ---- What is chosen ----


def test_explain():
    a = ref.random(rng, 40, 40)
    text = tandem.explain(tandem.gemm, a, a, bias=a[0].copy())
    assert text.startswith("plan: gemm nn f32->f32 40x40x40") and "\nkernel: " in text
    assert tandem.explain("gemm", a, a) == tandem.explain(tandem.gemm, a, a)
    assert "kernel: omp, named by the caller" in tandem.explain(tandem.gemm, a, a, kernel="omp")
    with pytest.raises(TypeError, match="explain"):
        tandem.explain(len, a)
    with pytest.raises(TypeError, match="explain"):
        tandem.explain()


def test_device_by_name():
    a, out = ref.random(rng, 40, 40), np.empty((40, 40), np.float32)
    assert np.array_equal(tandem.add(a, a, device="host"), a + a)
    assert tandem.add(a, a, out=out, kernel="omp", device="host") is out and np.array_equal(out, a + a)
    assert "device: host" in tandem.explain(tandem.gemm, a, a, device="host")


def test_devices_and_kernels():
    assert "host" in tandem.devices()
    assert tandem.kernels("linear") == tandem.kernels("gemm") and tandem.kernels("add")[0] == "omp"
    with pytest.raises(tandem.ArgumentError):
        tandem.kernels("nothing")
    assert set(tandem.build_options()) == {"omp_offload", "tdm_backend"}


def test_every_kernel_by_name():
    a = ref.random(rng, 8, 32)
    expected = ref.wide(a) @ ref.wide(a).T
    ran = 0
    for kernel in tandem.kernels("gemm"):
        try:
            ref.close(tandem.gemm(a, a.T, kernel=kernel), expected, terms=32)
            ran += 1
        except tandem.UnsupportedError as error:
            assert kernel in str(error)
    assert ran >= 2


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="needs 64 bits")
def test_docstrings():
    import inspect

    for name in "add attention cross_entropy embedding gemm linear rmsnorm rope silu_mul softmax swiglu".split():
        function = getattr(tandem, name)
        assert "out" in inspect.signature(function).parameters and len(function.__doc__) > 100


# ---- References ----


def test_references():
    """Calls that end well and calls that fail give all references back."""
    a, out, step = ref.random(rng, 4, 4), np.zeros((4, 4), np.float32), ("scale", 2.0)
    steps, producer = [step, "relu"], standin.Producer(a)
    watched = [a, out, step, steps, producer, a.dtype, np.empty, None, True]

    def work():
        tandem.add(a, a)
        tandem.add(a, a, out=out)
        tandem.gemm(a, a.T, epilogue=steps, out=out)
        tandem.gemm(a, a, dtype="bfloat16")
        tandem.attention(*[np.zeros((1, 1, 2, 16), np.float32)] * 3, lse=True, causal=True)
        tandem.rmsnorm(a, a[0], residual=a)
        tandem.add(producer, producer)
        tandem.explain(tandem.add, a, a)
        for bad in (
            lambda: tandem.add(a, a[:2]),
            lambda: tandem.add(a, producer, out=a[:, :2]),
            lambda: tandem.gemm(a, a, epilogue=[step, step, 3]),
            lambda: tandem.rmsnorm(a, a[0], residual=a, sum=a[:1]),
            lambda: tandem.add(a, a, kernel="none of these"),
            lambda: tandem.add(a, a, colour=steps),
        ):
            with pytest.raises((tandem.Error, TypeError)):
                bad()

    work()
    producer.calls.clear()
    producer.kept.clear()
    gc.collect()
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(20):
        work()
    producer.calls.clear()
    producer.kept.clear()
    gc.collect()
    after = [sys.getrefcount(x) for x in watched]
    grown = [(repr(x)[:30], y - x0) for x, x0, y in zip(watched, before, after) if abs(y - x0) > 15 and x0 < 1 << 29]
    assert grown == []


def test_memory_stays():
    """Plans, results and refused calls: 10000 of each keep the process at its size."""

    def size():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    a, producer = ref.random(rng, 64, 64), standin.Producer(ref.random(rng, 64, 64))

    def work(times):
        for i in range(times):
            tandem.add(a, a)
            tandem.add(a[: 1 + i % 64], a[: 1 + i % 64], out=a[: 1 + i % 64] * 0)
            if i % 10 == 0:
                np.from_dlpack(tandem.add(producer, a))
                producer.kept.clear()
                producer.calls.clear()
                tandem.cache_clear()
            try:
                tandem.add(a, a[:5])
            except tandem.ArgumentError:
                pass

    work(3000)
    gc.collect()
    before = size()
    work(10000)
    gc.collect()
    quarantine = 256 << 20 if "asan" in os.environ.get("LD_PRELOAD", "") else 0  # ASan keeps what was freed
    assert size() - before < (4 << 20) + quarantine
