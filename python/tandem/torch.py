"""Tandem in PyTorch's graphs: the ops torch.ops.tandem.*, and patch() for Hugging Face's Llama.

    import tandem.torch
    y = torch.compile(lambda x, w: torch.ops.tandem.linear(x, w, None, None, "gelu"))(x, w)

The ops have fake implementations, so torch.compile traces through them. They have no backward: calling it raises. For eager
code the functions of tandem itself are faster, because PyTorch's dispatcher is left out.
"""

import torch

import tandem

from .llama import patch, unpatch

__all__ = ["patch", "unpatch"]

# Through OpenMP a run waits for its stream and can't be captured: torch.compile keeps such ops out of CUDA graphs. Inputs keep
# the strides that they have in eager mode, because not every stride can be used.
_TAGS = [torch.Tag.needs_fixed_stride_order]
if tandem.build_options()["tdm_backend"] != "hip" and hasattr(torch.Tag, "cudagraph_unsafe"):
    _TAGS.append(torch.Tag.cudagraph_unsafe)

_library = torch.library.Library("tandem", "DEF")


def _op(schema, function, fake):
    """Defines an op: what runs it on every device, the shape of its result, and that it has no backward."""
    name = schema.split("(")[0]
    _library.define(schema, tags=_TAGS)

    def run(*args, **keywords):
        with torch.no_grad():  # the dispatcher has taken care of gradients
            return function(*args, **keywords)

    for key in "CPU", "CUDA":
        _library.impl(name, run, key)
    torch.library.register_fake(f"tandem::{name}", fake, lib=_library)

    def backward(context, *gradients):
        raise NotImplementedError(f"tandem::{name} has no backward: use it in torch.no_grad()")

    torch.library.register_autograd(f"tandem::{name}", backward, lib=_library)


def _like(x, shape=None, dtype=None):
    """A packed result, as tandem makes it."""
    return torch.empty(x.shape if shape is None else shape, dtype=dtype or x.dtype, device=x.device)


def _check(op, good, text):
    """As the kernels refuse it, but when a graph is traced, and not in its first run."""
    torch._check(good, lambda: f"{op}: {text}")


def _pair(op):
    def shape(a, b):
        _check(op, a.shape == b.shape, f"the shapes {list(a.shape)} and {list(b.shape)} must be the same")
        return _like(a)

    return shape


def _linear(op):
    def shape(x, weight, *others):
        _check(op, weight.dim() == 2 and x.dim() > 0 and x.shape[-1] == weight.shape[1],
               f"x has the shape {list(x.shape)}, and the weight {list(weight.shape)}: must be [..., k] and [n, k]")  # fmt: skip
        return _like(x, (*x.shape[:-1], weight.shape[0]))

    return shape


def _gemm_shape(a, b, *others):
    _check("gemm", a.dim() > 1 and b.dim() > 1 and a.shape[-1] == b.shape[-2],
           f"a has the shape {list(a.shape)}, and b {list(b.shape)}: must be [..., m, k] and [..., k, n]")  # fmt: skip
    return _like(a, (*(a if a.dim() >= b.dim() else b).shape[:-2], a.shape[-2], b.shape[-1]))


_op("add(Tensor a, Tensor b) -> Tensor", tandem.add, _pair("add"))
_op("silu_mul(Tensor gate, Tensor up) -> Tensor", tandem.silu_mul, _pair("silu_mul"))
_op("softmax(Tensor x, bool causal=False) -> Tensor", lambda x, causal=False: tandem.softmax(x, causal=causal),
    lambda x, causal=False: _like(x))  # fmt: skip
_op("rmsnorm(Tensor x, Tensor weight, float eps=1e-05) -> Tensor", lambda x, weight, eps=1e-5: tandem.rmsnorm(x, weight, eps=eps),
    lambda x, weight, eps=1e-5: _like(x))  # fmt: skip
_op("rmsnorm_residual(Tensor x, Tensor weight, Tensor residual, float eps=1e-05) -> (Tensor, Tensor)",
    lambda x, weight, residual, eps=1e-5: tandem.rmsnorm(x, weight, residual=residual, eps=eps),
    lambda x, weight, residual, eps=1e-5: (_like(x), _like(x)))  # fmt: skip
_op("gemm(Tensor a, Tensor b, Tensor? bias=None, Tensor? residual=None, float alpha=1.0) -> Tensor",
    lambda a, b, bias=None, residual=None, alpha=1.0: tandem.gemm(a, b, bias=bias, residual=residual, alpha=alpha),
    _gemm_shape)  # fmt: skip
_op("linear(Tensor x, Tensor weight, Tensor? bias=None, Tensor? residual=None, str? activation=None) -> Tensor",
    lambda x, weight, bias=None, residual=None, activation=None: tandem.linear(x, weight, bias, residual=residual, activation=activation),
    _linear("linear"))  # fmt: skip
_op("swiglu(Tensor x, Tensor gate, Tensor up) -> Tensor", tandem.swiglu, _linear("swiglu"))
_op("attention(Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None) -> Tensor",
    lambda q, k, v, causal=False, scale=None: tandem.attention(q, k, v, causal=causal, scale=scale),
    lambda q, k, v, causal=False, scale=None: _like(q))  # fmt: skip
_op("rope(Tensor x, SymInt offset=0, float theta=10000.0, str style='interleaved') -> Tensor",
    lambda x, offset=0, theta=1e4, style="interleaved": tandem.rope(x, offset=offset, theta=theta, style=style),
    lambda x, offset=0, theta=1e4, style="interleaved": _like(x))  # fmt: skip
_op(
    "embedding(Tensor table, Tensor ids) -> Tensor",
    tandem.embedding,
    lambda table, ids: _like(table, (*ids.shape, table.shape[1])),
)
_op("cross_entropy(Tensor logits, Tensor targets, int ignore=-100) -> Tensor",
    lambda logits, targets, ignore=-100: tandem.cross_entropy(logits, targets, ignore=ignore),
    lambda logits, targets, ignore=-100: _like(logits, logits.shape[:-1], torch.float32))  # fmt: skip
