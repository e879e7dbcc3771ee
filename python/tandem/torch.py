"""Tandem in PyTorch's graphs: the ops torch.ops.tandem.*, and patch() for Hugging Face's Llama.

    import tandem.torch
    y = torch.compile(lambda x, w: torch.ops.tandem.linear(x, w, None, None, "gelu"))(x, w)

The ops have fake implementations, so torch.compile traces through them. They have no backward: calling it raises. For eager
code the functions of tandem itself are faster, because PyTorch's dispatcher is left out.
"""

import torch
from torch._functorch import eager_transforms as _transforms

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
        # Below PyTorch's autograd a tensor has lost the tangent of torch.func.jvp: the result would have the tangent 0. The tangents of
        # dual_level() are still there, and tandem refuses them.
        if getattr(_transforms, "JVP_NESTING", 0) > 0:
            raise NotImplementedError(f"tandem::{name} has no derivatives: use it outside of torch.func.jvp")
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


def _check_type(op, first, *others):
    for other in others:
        if other is not None:
            _check(op, other.dtype == first.dtype, f"the types {first.dtype} and {other.dtype} must be the same")


def _check_shape(op, name, tensor, shape):
    if tensor is not None:
        _check(op, tensor.dim() == len(shape) and all(a == b for a, b in zip(tensor.shape, shape)),
               f"{name} has the shape {list(tensor.shape)}: must be {list(shape)}")  # fmt: skip


def _pair(op):
    def shape(a, b):
        _check(op, a.shape == b.shape, f"the shapes {list(a.shape)} and {list(b.shape)} must be the same")
        _check_type(op, a, b)
        return _like(a)

    return shape


def _product(op, x, weight):
    _check(op, weight.dim() == 2 and x.dim() > 0 and x.shape[-1] == weight.shape[1],
           f"x has the shape {list(x.shape)}, and the weight {list(weight.shape)}: must be [..., k] and [n, k]")  # fmt: skip
    _check_type(op, x, weight)
    return _like(x, (*x.shape[:-1], weight.shape[0]))


def _linear(x, weight, bias=None, residual=None, activation=None):
    y = _product("linear", x, weight)
    _check_shape("linear", "bias", bias, (weight.shape[0],))
    _check_shape("linear", "residual", residual, y.shape)
    _check_type("linear", x, bias, residual)
    _check("linear", activation in (None, "relu", "gelu", "gelu_tanh", "quick_gelu", "silu"),
           f"activation = {activation}: must be relu, gelu, gelu_tanh, quick_gelu or silu")  # fmt: skip
    return y


def _swiglu(x, gate, up):
    _check_shape("swiglu", "up", up, gate.shape)
    _check_type("swiglu", x, up)
    return _product("swiglu", x, gate)


def _gemm(a, b, bias=None, residual=None, alpha=1.0):
    fits = a.dim() > 1 and b.dim() > 1 and a.shape[-1] == b.shape[-2]
    fits = fits and (a.dim() == 2 or b.dim() == 2 or a.shape[:-2] == b.shape[:-2])
    _check("gemm", fits, f"a has the shape {list(a.shape)}, and b {list(b.shape)}: must be [..., m, k] and [..., k, n] "
                         "of one batch, or one of them a matrix")  # fmt: skip
    y = _like(a, (*(a if a.dim() >= b.dim() else b).shape[:-2], a.shape[-2], b.shape[-1]))
    _check_shape("gemm", "bias", bias, (b.shape[-1],))
    _check_shape("gemm", "residual", residual, y.shape)
    _check_type("gemm", a, b, bias, residual)
    return y


def _rmsnorm(op):
    def shape(x, weight, *others):
        residual = others[:1] if op == "rmsnorm_residual" else ()
        _check(op, x.dim() > 0, "x has no dimension: must have at least 1")
        _check_shape(op, "weight", weight, x.shape[-1:])
        _check_type(op, x, weight, *residual)
        for other in residual:
            _check_shape(op, "residual", other, x.shape)
        return (_like(x), _like(x)) if residual else _like(x)

    return shape


def _attention(q, k, v, causal=False, scale=None):
    _check("attention", q.dim() in (3, 4) and k.dim() == q.dim(),
           f"q has {q.dim()} dimensions, and k {k.dim()}: must both have 3 or 4")  # fmt: skip
    _check_shape("attention", "v", v, k.shape)
    _check_type("attention", q, k, v)
    _check("attention", q.shape[:-3] == k.shape[:-3] and q.shape[-1] == k.shape[-1],
           f"q has the shape {list(q.shape)}, and k {list(k.shape)}: batch and head_dim must be the same")  # fmt: skip
    _check("attention", q.shape[-3] % k.shape[-3] == 0,
           f"q has {q.shape[-3]} heads, and k {k.shape[-3]}: the first must be a multiple of the second")  # fmt: skip
    return _like(q)


def _rope(x, offset=0, theta=1e4, style="interleaved"):
    _check("rope", x.dim() in (3, 4), f"x has {x.dim()} dimensions: must have 3 or 4")
    _check("rope", style in ("interleaved", "half"), f"style = {style}: must be interleaved or half")
    return _like(x)


def _softmax(x, causal=False):
    _check("softmax", x.dim() > int(causal), f"x has {x.dim()} dimensions: must have at least {1 + int(causal)}")
    return _like(x)


def _check_ids(op, name, ids):
    _check(op, ids.dtype in (torch.int32, torch.int64), f"{name} has the type {ids.dtype}: must be int32 or int64")


def _embedding(table, ids):
    _check("embedding", table.dim() == 2, f"table has {table.dim()} dimensions: must have 2")
    _check_ids("embedding", "ids", ids)
    return _like(table, (*ids.shape, table.shape[1]))


def _cross_entropy(logits, targets, ignore=-100):
    _check("cross_entropy", logits.dim() > 0, "logits has no dimension: must have at least 1")
    _check_shape("cross_entropy", "targets", targets, logits.shape[:-1])
    _check_ids("cross_entropy", "targets", targets)
    return _like(logits, logits.shape[:-1], torch.float32)


_op("add(Tensor a, Tensor b) -> Tensor", tandem.add, _pair("add"))
_op("silu_mul(Tensor gate, Tensor up) -> Tensor", tandem.silu_mul, _pair("silu_mul"))
_op("softmax(Tensor x, bool causal=False) -> Tensor", lambda x, causal=False: tandem.softmax(x, causal=causal), _softmax)
_op("rmsnorm(Tensor x, Tensor weight, float eps=1e-05) -> Tensor",
    lambda x, weight, eps=1e-5: tandem.rmsnorm(x, weight, eps=eps), _rmsnorm("rmsnorm"))  # fmt: skip
_op("rmsnorm_residual(Tensor x, Tensor weight, Tensor residual, float eps=1e-05) -> (Tensor, Tensor)",
    lambda x, weight, residual, eps=1e-5: tandem.rmsnorm(x, weight, residual=residual, eps=eps),
    _rmsnorm("rmsnorm_residual"))  # fmt: skip
_op("gemm(Tensor a, Tensor b, Tensor? bias=None, Tensor? residual=None, float alpha=1.0) -> Tensor",
    lambda a, b, bias=None, residual=None, alpha=1.0: tandem.gemm(a, b, bias=bias, residual=residual, alpha=alpha),
    _gemm)  # fmt: skip
_op("linear(Tensor x, Tensor weight, Tensor? bias=None, Tensor? residual=None, str? activation=None) -> Tensor",
    lambda x, weight, bias=None, residual=None, activation=None: tandem.linear(
        x, weight, bias, residual=residual, activation=activation),
    _linear)  # fmt: skip
_op("swiglu(Tensor x, Tensor gate, Tensor up) -> Tensor", tandem.swiglu, _swiglu)
_op("attention(Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None) -> Tensor",
    lambda q, k, v, causal=False, scale=None: tandem.attention(q, k, v, causal=causal, scale=scale), _attention)  # fmt: skip
_op("rope(Tensor x, SymInt offset=0, float theta=10000.0, str style='interleaved') -> Tensor",
    lambda x, offset=0, theta=1e4, style="interleaved": tandem.rope(x, offset=offset, theta=theta, style=style),
    _rope)  # fmt: skip
_op("embedding(Tensor table, Tensor ids) -> Tensor", tandem.embedding, _embedding)
_op("cross_entropy(Tensor logits, Tensor targets, int ignore=-100) -> Tensor",
    lambda logits, targets, ignore=-100: tandem.cross_entropy(logits, targets, ignore=ignore), _cross_entropy)  # fmt: skip
