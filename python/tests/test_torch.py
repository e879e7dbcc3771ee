"""PyTorch's tensors of the CPU."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tandem

torch = pytest.importorskip("torch")
F = torch.nn.functional
TYPES = [torch.float32, torch.float16, torch.bfloat16]
TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


@pytest.fixture(params=TYPES, ids=lambda t: str(t).split(".")[1])
def dtype(request):
    torch.manual_seed(0)
    return request.param


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def close(result, expected, scale=1.0):
    assert type(result) is torch.Tensor and result.device.type == "cpu" and not result.requires_grad
    assert result.shape == expected.shape
    limit = TOLERANCE[result.dtype] * scale
    assert torch.allclose(result.float(), expected.float(), rtol=limit, atol=limit)


def test_functions(dtype):
    x, w, g, u = (
        random(2, 5, 64, dtype=dtype),
        random(32, 64, dtype=dtype),
        random(24, 64, dtype=dtype),
        random(24, 64, dtype=dtype),
    )
    bias, residual = random(32, dtype=dtype), random(2, 5, 32, dtype=dtype)
    close(tandem.add(x, x), x + x)
    close(tandem.silu_mul(x, x), F.silu(x.float()) * x.float())
    close(tandem.softmax(x), F.softmax(x.float(), -1))
    close(tandem.rmsnorm(x, x[0, 0]), F.rms_norm(x.float(), (64,), x[0, 0].float(), 1e-5))
    close(tandem.linear(x, w, bias, activation="gelu", residual=residual),
          F.gelu(F.linear(x.float(), w.float(), bias.float())) + residual.float(), 8)  # fmt: skip
    close(tandem.swiglu(x, g, u), F.silu(x.float() @ g.float().T) * (x.float() @ u.float().T), 64)
    close(tandem.gemm(x[0], w.T, bias=bias), F.linear(x[0].float(), w.float(), bias.float()), 8)
    assert tandem.gemm(x, w.T, dtype="float32").dtype == torch.float32
    close(tandem.embedding(w, torch.tensor([[0, 31], [5, 5]])), F.embedding(torch.tensor([[0, 31], [5, 5]]), w))
    targets = torch.randint(64, (2, 5))
    close(
        tandem.cross_entropy(x, targets),
        F.cross_entropy(x.float().flatten(0, 1), targets.flatten(), reduction="none").view(2, 5),
    )


@pytest.mark.parametrize("causal", [False, True])
def test_attention(dtype, causal):
    x = random(2, 7, 4, 32, dtype=dtype)
    q, k, v = x.transpose(1, 2), random(2, 2, 7, 32, dtype=dtype), random(2, 2, 7, 32, dtype=dtype)
    expected = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal, enable_gqa=True)
    close(tandem.attention(q, k, v, causal=causal), expected, 2)
    out = torch.zeros_like(x)
    assert tandem.attention(q, k, v, causal=causal, out=out.transpose(1, 2)) is not None
    close(out.transpose(1, 2), expected, 2)


def test_out_views_and_parameters():
    x, out = random(6, 8), torch.zeros(6, 20)
    assert tandem.add(x, x, out=out[:, 3:11]) is not out
    assert torch.equal(out[:, 3:11], x + x) and (out[:, 11:] == 0).all() and (out[:, :3] == 0).all()
    weight = torch.nn.Parameter(random(5, 8))
    with torch.no_grad():
        close(tandem.linear(x, weight), x @ weight.T)
    close(tandem.linear(x, weight.detach()), x @ weight.detach().T)
    with torch.inference_mode():
        close(tandem.add(x * 1, x), x + x)


def test_autograd_sees_what_was_written():
    """As after PyTorch's own in-place functions, a graph that saved the tensor raises instead of using what is there now."""
    x, out, weight = random(3, 4), random(3, 4), random(3, 4).requires_grad_()
    y = (weight * out).sum()
    version = out._version
    tandem.add(x, x, out=out)
    assert out._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with torch.inference_mode():
        out = x + 0
        tandem.add(x, x, out=out)
        assert torch.equal(out, x + x)


def test_together_with_numpy():
    x = random(3, 4)
    close(tandem.add(x, x.numpy()), x + x)
    assert type(tandem.add(x.numpy(), x)) is np.ndarray


def test_refused():
    x = random(3, 4)
    grad = x.clone().requires_grad_()
    with pytest.raises(tandem.ArgumentError, match="add: b needs a gradient, .*no_grad"):
        tandem.add(x, grad)
    with pytest.raises(tandem.ArgumentError, match="add: out needs a gradient"):
        tandem.add(x, x, out=grad)
    with pytest.raises(TypeError, match="add: a has the type torch.float64"):
        tandem.add(x.double(), x)
    with pytest.raises(TypeError, match="add: a has the type torch.complex64"):
        tandem.add(x.to(torch.complex64), x)
    with pytest.raises(tandem.ArgumentError, match="add: a"):
        tandem.add(x.to_sparse(), x)
    with pytest.raises(tandem.ArgumentError, match="add: a"):
        tandem.add(x.to("meta"), x)
    with pytest.raises(tandem.ArgumentError, match="add: a has the stride 0"):
        tandem.add(x[:1].expand(3, 4), x)
    with pytest.raises(tandem.ArgumentError, match="add: a has its negative bit set"):
        tandem.add(torch.zeros(3, 4, dtype=torch.complex64).conj().imag, x)
    with pytest.raises(tandem.ArgumentError, match="^add: a: [^\n]*$"):
        tandem.add(x.to_mkldnn(), x)
    with pytest.raises(tandem.ArgumentError, match="add: a: .*storage"):
        torch.vmap(lambda row: tandem.add(row, row))(x)
    gone = x.clone()
    gone.untyped_storage().resize_(0)
    with pytest.raises(tandem.ArgumentError, match="add: a = NULL"):
        tandem.add(gone, x)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(), pytest.raises(tandem.ArgumentError, match="add: a is a FakeTensor"):
        fake = torch.empty(3, 4)
        tandem.add(fake, fake)


def test_without_the_exchange_api():
    """Tensors of PyTorch before 2.10 are read by their methods."""
    code = """
import torch
if hasattr(torch.Tensor, '__dlpack_c_exchange_api__'): del torch.Tensor.__dlpack_c_exchange_api__
import tandem
for dtype in torch.float32, torch.float16, torch.bfloat16:
    x = torch.randn(3, 8).to(dtype)[:, 2:6]
    assert torch.equal(tandem.add(x, x), x + x)
    out = torch.zeros(5, 4, dtype=dtype)
    tandem.add(x, x, out=out[1:4])
    assert torch.equal(out[1:4], x + x) and not out[0].any()
for bad in torch.zeros(3, 4, device='meta'), torch.zeros(3, 4).to_sparse(), torch.zeros([1] * 13):
    try: tandem.add(bad, bad)
    except tandem.ArgumentError as error: assert 'add: a: ' in str(error), error
    else: raise SystemExit('accepted')
assert tandem.embedding(torch.ones(4, 4), torch.tensor([1, 2])).sum() == 8
"""
    run(code)


def run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=os.path.dirname(__file__))
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("order", ["torch, tandem", "tandem, torch"])
def test_import_orders(order):
    """One OpenMP runtime or two: both compute, at the same time too. docs/python.md says which it is."""
    code = f"""
import {order}
import re, threading
x = torch.randn(300, 300)
expected = x @ x
def both():
    for _ in range(30):
        assert torch.allclose(tandem.gemm(x, x), x @ x, atol=1e-3)
threads = [threading.Thread(target=both) for _ in range(2)]
[t.start() for t in threads]
both()
[t.join() for t in threads]
print(len(set(re.findall(r'/\\S*libgomp\\S*', open('/proc/self/maps').read()))))
"""
    assert run(code).strip() in ("1", "2")
