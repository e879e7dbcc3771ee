"""An NVIDIA GPU, with a build for it (-Domp_offload=sm_NN). CI has none: run it with python -m pytest test_cuda.py"""

import os
import subprocess
import sys

import numpy as np
import pytest
import tandem

torch = pytest.importorskip("torch")
if not torch.cuda.is_available() or not tandem.build_options()["omp_offload"].startswith("sm_"):
    pytest.skip("needs an NVIDIA GPU and a build for it", allow_module_level=True)
F = torch.nn.functional
TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


@pytest.fixture(params=list(TOLERANCE), ids=["f32", "f16", "bf16"])
def dtype(request):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    return request.param


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda").to(dtype)


def close(result, expected, scale=1.0):
    assert type(result) is torch.Tensor and result.device.type == "cuda" and result.shape == expected.shape
    limit = TOLERANCE[result.dtype] * scale
    assert torch.allclose(result.float(), expected.float(), rtol=limit, atol=limit)


def test_functions(dtype):
    x, w, g, u = (
        random(2, 50, 256, dtype=dtype),
        random(320, 256, dtype=dtype),
        random(96, 256, dtype=dtype),
        random(96, 256, dtype=dtype),
    )
    bias, residual = random(320, dtype=dtype), random(2, 50, 320, dtype=dtype)
    close(tandem.add(x, x), x + x)
    close(tandem.silu_mul(x, x), F.silu(x.float()) * x.float())
    close(tandem.softmax(x), F.softmax(x.float(), -1))
    close(tandem.rmsnorm(x, x[0, 0]), F.rms_norm(x.float(), (256,), x[0, 0].float(), 1e-5))
    expected = F.gelu(F.linear(x.float(), w.float(), bias.float())) + residual.float()
    close(tandem.linear(x, w, bias, activation="gelu", residual=residual), expected, 32)
    close(tandem.swiglu(x, g, u), F.silu(x.float() @ g.float().T) * (x.float() @ u.float().T), 512)
    close(tandem.gemm(x[0].T, x[1]), x[0].float().T @ x[1].float(), 32)
    q, k, v = (
        random(2, 60, 8, 64, dtype=dtype).transpose(1, 2),
        random(2, 2, 60, 64, dtype=dtype),
        random(2, 2, 60, 64, dtype=dtype),
    )
    expected = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True, enable_gqa=True)
    close(tandem.attention(q, k, v, causal=True), expected, 4)
    ids = torch.randint(320, (2, 7), device="cuda")
    close(tandem.embedding(w, ids), F.embedding(ids, w))
    targets = torch.randint(256, (2, 50), device="cuda")
    loss = F.cross_entropy(x.float().flatten(0, 1), targets.flatten(), reduction="none").view(2, 50)
    close(tandem.cross_entropy(x, targets), loss)
    out = torch.zeros(2, 50, 300, device="cuda", dtype=dtype)
    tandem.add(x, x, out=out[..., 10:266])
    close(out[..., 10:266], x + x)
    assert not out[..., :10].any() and not out[..., 266:].any()


def test_streams():
    """What is queued comes before the call, and what comes after finds its result."""
    a = random(4096, 4096)
    for stream in torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream():
        stream.wait_stream(torch.cuda.default_stream())
        with torch.cuda.stream(stream):
            x = a
            for _ in range(20):
                x = x @ a * 0.01  # 40 ms or so
            x = torch.full_like(a, 3.0) + 0 * x.isnan()
            y = tandem.add(x, x)
            z = y + 1
        stream.synchronize()
        assert (z == 7).all()


def test_device_stays():
    assert torch.cuda.current_device() == 0
    before = torch.cuda.current_stream()
    tandem.add(random(3, 4), random(3, 4))
    assert torch.cuda.current_device() == 0 and torch.cuda.current_stream() == before


def test_refused():
    x = random(3, 4)
    with pytest.raises(tandem.ArgumentError, match="add: a is on CUDA's GPU 0, and b on the host"):
        tandem.add(x, x.cpu())
    with pytest.raises(tandem.ArgumentError, match="add: out is on another device"):
        tandem.add(x, x, out=x.cpu())
    tandem.cache_clear()
    for _ in range(2):  # without a plan, and with one
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph), pytest.raises(tandem.UnsupportedError, match="captur"):
            tandem.add(x, x, out=x)
        torch.cuda.synchronize()
        assert torch.equal(tandem.add(x, x), x + x)


class Interface:
    """An object that has the array interface of GPUs alone."""

    def __init__(self, address, **more):
        self.__cuda_array_interface__ = {"shape": (30, 40), "typestr": "<f4", "data": (address, False), "version": 3, **more}


def test_cuda_array_interface():
    """The GPU is that of the pointer, also for a thread without a context of CUDA."""
    import threading

    a, out = random(30, 40), torch.zeros(30, 40, device="cuda")
    found = []

    def work():
        found.append(tandem.add(Interface(a.data_ptr()), Interface(a.data_ptr()), out=Interface(out.data_ptr())))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 1 and torch.equal(out, a + a)
    result = tandem.add(Interface(a.data_ptr()), Interface(a.data_ptr()))
    assert type(result) is tandem.Array and torch.equal(torch.from_dlpack(result), a + a)
    last = torch.cuda.device_count() - 1
    b = torch.ones(30, 40, device=f"cuda:{last}")
    assert tandem.add(Interface(b.data_ptr()), Interface(b.data_ptr())).__dlpack_device__() == (2, last)
    host = torch.zeros(30, 40)
    with pytest.raises(tandem.ArgumentError, match="add: a = .* is memory of the host: its __cuda_array_interface__"):
        tandem.add(Interface(host.data_ptr()), Interface(a.data_ptr()))
    pinned = torch.ones(30, 40).pin_memory()  # the GPU can read it
    tandem.add(Interface(pinned.data_ptr()), Interface(a.data_ptr()), out=Interface(out.data_ptr()))
    assert torch.equal(out, a + 1)


def test_device_by_name():
    x, host = random(30, 40), np.ones((30, 40), np.float32)
    assert torch.equal(tandem.add(x, x, device="omp:0"), x + x)
    assert "device: omp:0" in tandem.explain(tandem.gemm, host, host.T, device="omp:0")
    if os.environ.get("OMP_TARGET_OFFLOAD") != "MANDATORY":  # which forbids the host
        assert "device: host" in tandem.explain(tandem.gemm, host, host.T)
        with pytest.raises(tandem.ArgumentError, match="add: a is on cuda:0, and device = host"):
            tandem.add(x, x, device="host")
    try:  # a GPU that can read the host's memory computes with it
        assert np.array_equal(tandem.add(host, host, device="omp:0"), host + host)
    except tandem.ArgumentError as error:
        assert "is memory of the host, which omp:0 can't read" in str(error)
    with pytest.raises((tandem.UnsupportedError, tandem.DeviceError), match="omp:99"):
        tandem.add(x, x, device="omp:99")


def test_fork():
    code = """
import os, torch, tandem
x = torch.ones(3, 4, device='cuda')
tandem.add(x, x)
child = os.fork()
if child == 0:
    try: tandem.add(x, x)
    except tandem.DeviceError as error: os._exit(0 if 'forked' in str(error) else 1)
    except BaseException: os._exit(2)
    os._exit(3)
assert os.waitpid(child, 0)[1] == 0
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr


def test_cupy():
    cupy = pytest.importorskip("cupy")
    a = cupy.random.standard_normal((300, 400), dtype=cupy.float32)
    with cupy.cuda.Stream(non_blocking=True):
        b = a
        for _ in range(50):
            b = b * 1.0001
        result = tandem.add(b, a)
    assert type(result) is cupy.ndarray
    assert cupy.array_equal(result, b + a)
    out = cupy.empty_like(a)
    assert tandem.add(a, a, out=out) is out and cupy.array_equal(out, a + a)


def test_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    jax = pytest.importorskip("jax")
    a = jax.numpy.arange(1200.0, dtype="float32").reshape(30, 40)
    result = tandem.add(a * 2, a)
    assert isinstance(result, jax.Array) and np.array_equal(np.asarray(result), np.asarray(a) * 3)
    half = a.astype("bfloat16")
    assert np.array_equal(np.asarray(tandem.add(half, half), np.float32), np.asarray(half + half, np.float32))
    with pytest.raises((tandem.ArgumentError, TypeError)):
        tandem.add(np.ones((30, 40), np.float32), a)


def test_compiled_with_cuda_graphs():
    """The tag keeps the op out of the graphs, and the rest is captured around it."""
    import tandem.torch  # noqa: F401

    w = random(64, 64)
    model = torch.compile(lambda x: torch.ops.tandem.linear(x * 2, w).relu() + 1, mode="reduce-overhead")
    for _ in range(4):
        x = random(8, 64)
        assert torch.allclose(model(x), (x * 2 @ w.T).relu() + 1, atol=1e-3)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_generate(cache):
    from test_llama import CONFIGS, compare, llama, logits

    from tandem.torch import patch, unpatch

    model, reference = llama(1, **CONFIGS[1]), llama(1, **CONFIGS[1])
    ids = torch.randint(1, 211, (3, 7))
    model.cuda()
    patch(model)
    made = model.generate(
        ids.cuda(), attention_mask=torch.ones_like(ids).cuda(), max_new_tokens=12, do_sample=False, pad_token_id=0,
        eos_token_id=None, cache_implementation=cache, disable_compile=True, return_dict_in_generate=True, output_logits=True,
    )  # fmt: skip
    unpatch(model)
    whole, result = made.sequences, torch.stack(made.logits, 1).double().cpu()
    expected = logits(reference.double(), whole.cpu())[:, 6:-1]
    compare(result, logits(model, whole).cpu()[:, 6:-1], expected, torch.float32)


@pytest.mark.parametrize("rows", [1, 40])
def test_llama(dtype, rows):
    from test_llama import CONFIGS, compare, llama, logits

    from tandem.torch import patch

    config = dict(CONFIGS[1], hidden_size=256, intermediate_size=512)
    model = llama(1, **config)
    reference = llama(1, **config)
    model.to(dtype)
    reference.load_state_dict(model.state_dict())
    ids = torch.randint(211, (3, rows))
    expected = logits(reference.double(), ids)
    model.cuda()
    eager = logits(model, ids.cuda()).cpu()
    patch(model)
    compare(logits(model, ids.cuda()).cpu(), eager, expected, dtype)
