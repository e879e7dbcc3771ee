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
        torch.library.opcheck(op.default, args, test_utils=["test_schema", "test_faketensor"])


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


def test_fakes_refuse():
    """Shapes that don't fit are found when a graph is traced."""
    x, w = torch.empty(4, 6, device="meta"), torch.empty(3, 5, device="meta")
    for call, message in (
        (lambda: ops.add(x, x[:2]), "add: the shapes"),
        (lambda: ops.silu_mul(x, w), "silu_mul: the shapes"),
        (lambda: ops.linear(x, w), "linear: x has the shape"),
        (lambda: ops.swiglu(x, w, w), "swiglu: x has the shape"),
        (lambda: ops.gemm(x, x), "gemm: a has the shape"),
    ):
        with pytest.raises(RuntimeError, match=message):
            call()
