"""torch.ops.tandem.*: fakes, torch.compile, no backward."""

import pytest
import tandem

torch = pytest.importorskip("torch")
import tandem.torch  # noqa: E402

ops = torch.ops.tandem


def samples(dtype):
    x, w = torch.randn(2, 5, 32).to(dtype), torch.randn(24, 32).to(dtype)
    q = torch.randn(2, 4, 5, 32).to(dtype)
    ids = torch.tensor([[1, 2, 3, 0, 4], [4, 3, 2, 1, 0]])
    return [
        (ops.add, (x, x)),
        (ops.silu_mul, (x, x)),
        (ops.softmax, (x, True)),
        (ops.rmsnorm, (x, x[0, 0].clone(), 1e-6)),
        (ops.rmsnorm_residual, (x, x[0, 0].clone(), x)),
        (ops.gemm, (x, w.T)),
        (ops.linear, (x, w, w[:, 0].clone(), None, "silu")),
        (ops.swiglu, (x, w, w)),
        (ops.attention, (q, q[:, :2].clone(), q[:, 2:].clone(), True)),
        (ops.rope, (q, 3, 1e4, "half")),
        (ops.embedding, (w, ids)),
        (ops.cross_entropy, (x, ids)),
    ]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_schemas_and_fakes(dtype):
    for op, args in samples(dtype):
        torch.library.opcheck(op.default, args)


def test_tags():
    unsafe = torch.Tag.cudagraph_unsafe in ops.add.default.tags
    assert unsafe == (tandem.build_options()["tdm_backend"] != "hip")


def test_no_backward():
    x = torch.randn(3, 4, requires_grad=True)
    y = ops.add(x, x)
    with pytest.raises(NotImplementedError, match="tandem::add has no backward"):
        y.sum().backward()
    with torch.no_grad():
        assert torch.equal(ops.add(x, x), x + x)


def test_compile():
    """aot_eager traces as inductor does, without a compiler of C++."""
    w = torch.randn(32, 32)

    def model(x):
        h = ops.rmsnorm(x, w[0].clone())
        h = ops.linear(h, w, None, None, "gelu") * 2
        return ops.add(h, x).relu()

    x = torch.randn(6, 32)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(x), model(x))
    assert torch.equal(compiled(x[:4]), model(x[:4]))


def test_compile_with_dynamic_shapes():
    """Every op in one graph, whose sizes are symbols: one trace serves all of them."""
    w, table = torch.randn(32, 32), torch.randn(7, 32)

    def model(ids, targets, offset: int):
        x = ops.embedding(table, ids)
        x, total = ops.rmsnorm_residual(x, w[0].clone(), ops.silu_mul(x, ops.rmsnorm(x, w[1].clone())))
        q = ops.rope(ops.linear(x, w).unflatten(-1, (2, 16)), offset, 1e4, "half").transpose(1, 2)
        x = ops.add(ops.attention(q, q, q, True).transpose(1, 2).flatten(2), total)
        x = ops.gemm(ops.softmax(ops.swiglu(x, w, w)), w.T)
        return ops.cross_entropy(x, targets)

    traces = []

    def count(graph, inputs):
        traces.append(graph)
        return graph

    compiled = torch.compile(model, backend=count, fullgraph=True, dynamic=True)
    for batch, seq, offset in (2, 5, 3), (3, 9, 5), (4, 6, 8):
        ids = torch.randint(7, (batch, seq))
        assert torch.equal(compiled(ids, ids, offset), model(ids, ids, offset))
    assert len(traces) == 1


def test_transformations():
    """There is no derivative of any kind, and no transformation gets a wrong one."""
    from torch.autograd import forward_ad

    x = torch.randn(3, 4)
    with pytest.raises(RuntimeError, match="functorch transforms"):  # PyTorch's own
        torch.func.grad(lambda a: ops.add(a, a).sum())(x)
    with pytest.raises(tandem.ArgumentError, match="add: a"):
        torch.func.grad(lambda a: tandem.add(a, a).sum())(x)
    for add in ops.add, tandem.add:
        with pytest.raises((tandem.ArgumentError, NotImplementedError), match="add: a|tandem::add has no derivatives"):
            torch.func.jvp(lambda a: add(a, a), (x,), (x,))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, x)
            with pytest.raises(tandem.ArgumentError, match="add: b has a tangent, and tandem has no derivatives"):
                add(x, dual)
            assert torch.equal(add(x, x), x + x)
    assert torch.equal(torch.vmap(lambda row: ops.add(row, row))(x), x + x)


def test_fakes_refuse():
    """Shapes and types that don't fit are found when a graph is traced, by the fakes, and in a run, by the kernels."""
    x, w, ids = torch.ones(4, 6), torch.ones(3, 5), torch.zeros(4, dtype=torch.long)
    q = torch.ones(2, 4, 5, 32)
    cases = (
        (ops.add, (x, x[:2]), "add: .*shape"),
        (ops.add, (x, x.half()), "add: .*same"),
        (ops.silu_mul, (x, w), "silu_mul: .*shape"),
        (ops.softmax, (x[0], True), "softmax: x has 1 dim"),
        (ops.rmsnorm, (x, w[0]), "rmsnorm: weight has the shape"),
        (ops.rmsnorm_residual, (x, x[0], x[:2]), "rmsnorm.*: residual has the shape"),
        (ops.linear, (x, w), "linear: x has the shape"),
        (ops.linear, (x, x, w[0]), "linear: bias has the shape"),
        (ops.linear, (x, x, None, w), "linear: residual has the shape"),
        (ops.linear, (x, x, None, None, "tanh"), "linear: activation = tanh"),
        (ops.swiglu, (x, w, w), "swiglu: x has the shape"),
        (ops.swiglu, (x, x, w), "swiglu: up has the shape"),
        (ops.gemm, (x, x), "gemm: a has the shape"),
        (ops.gemm, (torch.ones(2, 4, 5), torch.ones(3, 5, 4)), "gemm: a has the shape"),
        (ops.gemm, (x, x.T, w[0]), "gemm: bias has the shape"),
        (ops.attention, (x, x, x), "attention: q has 2 dim"),
        (ops.attention, (q, q[:, :3], q[:, :3]), "attention: q has 4 heads, and k 3"),
        (ops.attention, (q, q, q[:, :2]), "attention: v has the shape"),
        (ops.attention, (q, q[:1], q[:1]), "attention: q has the shape"),
        (ops.rope, (x,), "rope: x has 2 dim"),
        (ops.rope, (q, 0, 1e4, "neox"), "rope: style = neox"),
        (ops.embedding, (x[0], ids), "embedding: table has 1 dim"),
        (ops.embedding, (x, x), "embedding: ids has the type"),
        (ops.cross_entropy, (x, ids[:2]), "cross_entropy: targets has the shape"),
        (ops.cross_entropy, (x, x[:, 0].contiguous()), "cross_entropy: targets has the type"),
    )
    for op, args, message in cases:
        for device in "meta", "cpu":
            moved = [a.to(device) if isinstance(a, torch.Tensor) else a for a in args]
            with pytest.raises((RuntimeError, ValueError, TypeError), match=message):
                op(*moved)
