#!/usr/bin/env python3
"""PyTorch beside tandem-bench --shapes, case by case, on the same values: wall times of a call and a synchronise. (pytorch.py measures a
few cases in more ways, for the goals in bench/results/h200.md.)

Use: python3 bench/peer/peer_torch.py [PREFIX...] BENCH --shapes FILE --device DEVICE --json OUT [OPTION...]   as in:
     python3 bench/peer/peer_torch.py build-sm_90/bench/tandem-bench --shapes bench/shapes/map.txt --device omp:0 --json map.json
Everything after the name of this file is the command that starts the bench; --turns is added to it, and the bench keeps our answers in
OUT (turns.py). The same command again goes on with the cases that OUT does not have.

PyTorch runs eagerly, f32 without TF32, on arrays of its own. Where it has several ways to compute a case, the fastest one counts.
"""
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from turns import take_turns

WARM, SECONDS, PATIENCE, LEAST = 0.02, 0.05, 1, 5  # as bench_shapes_limits (bench/shapes/run.c)
PAUSE = 0.25  # on a host: threads of the bench's OpenMP spin for a while after their work
MOST_RESERVED = 20e9  # bytes that PyTorch keeps for later; the bench needs memory too
MOST_REPEATED = 20e9  # bytes of K and V, for kernels that take no groups of heads
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
BITS = {"f32": 24, "f16": 11, "bf16": 8}  # of a fraction
# How many roundings to the result's type PyTorch may make where we make one: of products before an epilogue, of a gate before silu, of
# probabilities before their product with V. Each is a unit of the element or of the results' root mean square. In f32 there are more: kernels
# that make a product of three in TF32 lose some bits. One in TF32 would be off by 2^-11, and be found.
ROUNDINGS = {"f32": 64, "f16": 8, "bf16": 8}


class Unsupported(Exception):
    """PyTorch has no such case, or this program does not know how to ask for it."""


# ---- Values: case_fill_block and case_block_phase (case/fill.c) ----

BLOCK, PHASE = 1048573, 131101


def signed(x):
    return x - (1 << 64) if x >> 63 else x


def shifted(x, bits):
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def mix(x):
    """splitmix64 of a tensor of int64, which wraps as uint64 does."""
    x = x + signed(0x9E3779B97F4A7C15)
    x = (x ^ shifted(x, 30)) * signed(0xBF58476D1CE4E5B9)
    x = (x ^ shifted(x, 27)) * signed(0x94D049BB133111EB)
    return x ^ shifted(x, 31)


def rounded(x, dtype):
    """float64 to a type, rounded once; PyTorch would round twice, by way of float32."""
    if dtype != "f32":
        _, exponent = torch.frexp(x)
        unit = exponent - BITS[dtype]
        if dtype == "f16":
            unit = unit.clamp(min=-24)
        scale = torch.ldexp(torch.ones_like(x), unit)
        x = torch.round(x / scale) * scale
    return x.to(TYPES[dtype])


class Data:
    """Makes the arrays of cases on a device, and keeps the blocks of the last seed: made on the host, whose powers of two are exact."""

    def __init__(self, device):
        self.device, self.seed, self.bits, self.blocks = device, None, None, {}

    def block(self, seed, dtype):
        if seed != self.seed:
            self.seed, self.blocks = seed, {}
            self.bits = mix(mix(torch.tensor([signed(seed)])) + torch.arange(BLOCK))
        if dtype not in self.blocks:
            parts = [shifted(self.bits, 16 * i) & 0xFFFF for i in range(4)]
            normal = (sum(part.to(torch.float64) for part in parts) / 65536 - 2 + 2**-15) * 1.7320508075688772
            self.blocks[dtype] = rounded(normal, dtype).to(self.device)
        return self.blocks[dtype]

    def array(self, case, index, *shape):
        """Array number `index` of a case."""
        block = torch.roll(self.block(case.seed, case.dtype), -((index + 1) * PHASE % BLOCK))
        count = math.prod(shape)
        whole = count // BLOCK
        out = torch.empty(count, dtype=block.dtype, device=self.device)
        out[: whole * BLOCK].view(whole, BLOCK).copy_(block.expand(whole, BLOCK))
        out[whole * BLOCK :].copy_(block[: count - whole * BLOCK])
        return out.view(*shape)

    def indices(self, case, index, count, limit):
        self.block(case.seed, case.dtype)
        at = (torch.arange(count) + (index + 1) * PHASE) % BLOCK
        return (shifted(self.bits[at], 33) % limit).to(self.device)


# ---- Cases ----


class Case:
    """What case_print wrote: "gemm --dtype bf16 --layout nt --set fill=real --seed 0 64x64x64"."""

    def __init__(self, text):
        words = text.split()
        options = dict(zip(words[1:-1:2], words[2:-1:2]))
        self.op, self.shape = words[0], [int(n) for n in words[-1].split("x")]
        self.dtype, self.seed = options["--dtype"], int(options["--seed"])
        self.layout = options.get("--layout", "nn")
        steps = options.get("--epilogue", "")
        self.epilogue = [step for step in steps.split("+") if step]
        settings = options.get("--set", "")
        self.settings = dict(pair.split("=", 1) for pair in settings.split(",") if pair)
        self.settings.pop("fill", None)

    def take(self, *known):
        """The values of these settings; any other is refused."""
        for key, value in self.settings.items():
            if key not in known:
                raise Unsupported(f"peer_torch.py makes no case with --set {key}={value}")
        return [self.settings.get(key) for key in known]


# Each returns the ways to compute a case: a list of (name, function). They are made with the arrays that they need.


def stored(case, data, index, rows, cols, transposed):
    """A matrix [rows, cols], stored so or transposed."""
    return data.array(case, index, cols, rows).t() if transposed else data.array(case, index, rows, cols)


def step_function(step, bias, residual):
    name, _, value = step.partition(":")
    number = float(value) if value else 0
    functions = {
        "bias": lambda y: y + bias,
        "residual": lambda y: y + residual,
        "relu": F.relu,
        "gelu": F.gelu,
        "gelu_tanh": lambda y: F.gelu(y, approximate="tanh"),
        "quick_gelu": lambda y: y * torch.sigmoid(1.702 * y),
        "leaky_relu": lambda y: F.leaky_relu(y, number),
        "silu": F.silu,
        "scale": lambda y: y * number,
        "divide": lambda y: y / number,
    }
    return functions[name]


def gemm(case, data):
    case.take()
    m, n, k = case.shape
    a, b = stored(case, data, 0, m, k, case.layout[0] == "t"), stored(case, data, 1, k, n, case.layout[1] == "t")
    names = case.epilogue
    bias = data.array(case, 3, n) if "bias" in names else None
    residual = data.array(case, 4, m, n) if "residual" in names else None
    first = {"bias": bias, "residual": residual}.get(names[0]) if names else None
    steps = [step_function(step, bias, residual) for step in (names if first is None else names[1:])]

    def run():
        y = torch.mm(a, b) if first is None else torch.addmm(first, a, b)
        for step in steps:
            y = step(y)
        return y

    return [("mm" if first is None else "addmm", run)]


def swiglu(case, data):
    case.take()
    m, n, k = case.shape
    transposed = case.layout[1] == "t"
    x, gate, up = data.array(case, 0, m, k), stored(case, data, 1, k, n, transposed), stored(case, data, 2, k, n, transposed)
    return [("mm, silu, mul", lambda: F.silu(torch.mm(x, gate)) * torch.mm(x, up))]


def backend(q, k, v, options):
    """Which kernel SDPA takes for these arguments."""
    from torch.backends.cuda import SDPAParams, can_use_efficient_attention, can_use_flash_attention
    from torch.nn.attention import SDPBackend

    grouped = options.get("enable_gqa", False)
    if "attn_mask" in options:  # CausalBias._dispatch
        params = SDPAParams(q, k, v, None, 0.0, False, grouped)
        return "flash" if can_use_flash_attention(params) else "efficient" if can_use_efficient_attention(params) else "math"
    number = torch._fused_sdp_choice(q, k, v, None, 0.0, options.get("is_causal", False), enable_gqa=grouped)
    return SDPBackend(number).name.removesuffix("_ATTENTION").lower()


def sdpa(name, q, k, v, options):
    """A way to compute attention: its name with the backend, and the call."""
    return f"{name}, {backend(q, k, v, options)}", lambda: F.scaled_dot_product_attention(q, k, v, **options)


def attention(case, data):
    [causal] = case.take("causal")
    batch, heads_q, heads_kv, sq, skv, d = case.shape
    q = data.array(case, 0, batch, heads_q, sq, d)
    k, v = (data.array(case, i, batch, heads_kv, skv, d) for i in (1, 2))
    options = {}
    if causal == "1" and sq > skv:
        raise Unsupported("SDPA has no causal mask with queries that see no key")
    if causal == "1" and sq == skv:
        options["is_causal"] = True
    elif causal == "1" and sq > 1:
        from torch.nn.attention.bias import causal_lower_right

        options["attn_mask"] = causal_lower_right(sq, skv)
    ways, group = [], heads_q // heads_kv
    if group == 1:
        return [sdpa("sdpa", q, k, v, options)]
    if case.dtype != "f32":  # f32 has no kernel with groups, only the product with all scores in memory
        ways.append(sdpa("sdpa grouped", q, k, v, options | {"enable_gqa": True}))
    if sq == 1:  # all queries of a group see the same keys
        together = q.view(batch, heads_kv, group, d)
        ways.append(("sdpa, groups as queries", lambda: F.scaled_dot_product_attention(together, k, v).reshape(q.shape)))
    if 2 * group * k.nbytes <= MOST_REPEATED:
        repeated = [x.repeat_interleave(group, 1) for x in (k, v)]
        ways.append(sdpa("sdpa, K and V repeated before", q, *repeated, options))
    if not ways:
        raise Unsupported(f"K and V repeated for {heads_q} heads do not fit in {MOST_REPEATED:g} bytes")
    return ways


def rmsnorm(case, data):
    [residual, eps] = case.take("residual", "eps")
    rows, cols = case.shape
    x, weight = data.array(case, 0, rows, cols), data.array(case, 1, cols)
    eps = float(eps) if eps else 1e-5
    if residual != "1":
        return [("rms_norm", lambda: F.rms_norm(x, (cols,), weight, eps))]
    other = data.array(case, 2, rows, cols)

    def run():
        total = x + other
        return F.rms_norm(total, (cols,), weight, eps)

    return [("add, rms_norm", run)]


def rope(case, data):
    [style, offset, theta] = case.take("rope", "offset", "theta")
    batch, seq, heads, d = case.shape
    x, half = data.array(case, 0, batch, seq, heads, d), d // 2
    frequency = (float(theta) if theta else 1e4) ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angle = (torch.arange(seq, device=x.device) + int(offset or 0))[:, None] * frequency
    cosine, sine = (t[None, :, None, :].to(x.dtype) for t in (angle.cos(), angle.sin()))
    if style == "half":
        cosine, sine = torch.cat((cosine, cosine), -1), torch.cat((-sine, sine), -1)
        return [("eager", lambda: x * cosine + torch.cat((x[..., half:], x[..., :half]), -1) * sine)]

    def run():
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cosine - b * sine, a * sine + b * cosine), dim=-1).flatten(-2)

    return [("eager", run)]


def softmax(case, data):
    case.take()
    x = data.array(case, 0, *case.shape)
    return [("softmax", lambda: torch.softmax(x, dim=-1))]


def silu_mul(case, data):
    case.take()
    gate, up = data.array(case, 0, *case.shape), data.array(case, 1, *case.shape)
    return [("silu, mul", lambda: F.silu(gate) * up)]


def add(case, data):
    case.take()
    a, b = data.array(case, 0, *case.shape), data.array(case, 1, *case.shape)
    return [("add", lambda: torch.add(a, b))]


def embedding(case, data):
    case.take()
    tokens, vocab, d = case.shape
    table, ids = data.array(case, 0, vocab, d), data.indices(case, 1, tokens, vocab)
    return [("embedding", lambda: F.embedding(ids, table))]


def cross_entropy(case, data):
    case.take()
    rows, vocab = case.shape
    logits, targets = data.array(case, 0, rows, vocab), data.indices(case, 1, rows, vocab)
    return [("cross_entropy", lambda: F.cross_entropy(logits, targets, reduction="none"))]


OPS = {f.__name__: f for f in (gemm, swiglu, attention, rmsnorm, rope, softmax, silu_mul, add, embedding, cross_entropy)}


# ---- Times ----


def wall(call, synchronise):
    start = time.perf_counter()
    call()
    synchronise()
    return time.perf_counter() - start


def measure(call, synchronise):
    """Seconds of samples, sorted; one is enough for a call that takes longer than PATIENCE."""
    start = time.perf_counter()
    wall(call, synchronise)
    while time.perf_counter() - start < WARM:
        wall(call, synchronise)
    samples, start = [], time.perf_counter()
    while not samples or time.perf_counter() - start < PATIENCE:
        if len(samples) >= LEAST and time.perf_counter() - start >= SECONDS:
            break
        samples.append(wall(call, synchronise))
    return sorted(samples)


def spread(samples):
    tenths = statistics.quantiles(samples, n=10, method="inclusive") if len(samples) > 1 else samples * 9
    return {"best": samples[0], "p10": tenths[0], "median": statistics.median(samples), "p90": tenths[-1], "samples": len(samples)}


# ---- Results ----


def difference(case, result, samples):
    """None where PyTorch's elements agree with ours; else what differs."""
    at = torch.tensor(samples["at"], dtype=torch.int64)
    if result.dim() > 1:
        places = torch.unravel_index(at.to(result.device), result.shape)
        theirs = result[places]
    else:
        theirs = result[at.to(result.device)]
    values = samples["value"]
    scale = math.sqrt(sum(v * v for v in values) / len(values)) if values else 0
    unit = ROUNDINGS[case.dtype] * 2.0 ** -BITS[case.dtype]
    for place, own, value, bound, other in zip(samples["at"], samples["got"], values, samples["bound"], theirs.double().tolist()):
        allowed = bound + unit * (abs(value) + scale)
        if not abs(other - value) <= allowed:
            return f"{samples['array']}[{place}]: PyTorch has {other:.9g}, tandem {own:.9g}, f64 {value:.9g}; allowed is {allowed:.3g}"
    return None


class Peer:
    def __init__(self, device):
        self.host = device == "host"
        self.device = torch.device("cpu" if self.host else "cuda:" + device.partition(":")[2])
        if not self.host:
            torch.cuda.set_device(self.device)
        self.synchronise = (lambda: None) if self.host else torch.cuda.synchronize
        where = "the host" if self.host else torch.cuda.get_device_name()
        self.name = f"PyTorch {torch.__version__} on {where}"
        self.data = Data(self.device)

    def fastest(self, ways):
        """Samples, name and result of the way that is fastest; a way that PyTorch refuses does not count unless all are refused."""
        best, refused = None, None
        for name, call in ways:
            try:
                samples = measure(call, self.synchronise)
            except (RuntimeError, TypeError, ValueError) as error:  # also torch.OutOfMemoryError; an argument that this version lacks
                if "CUDA error" in str(error) or "HIP error" in str(error):  # nothing after it would work
                    raise
                refused = error
                continue
            if best is None or statistics.median(samples) < statistics.median(best[0]):
                best = samples, name, call
        if best is None:
            raise Unsupported(str(refused).splitlines()[0][:200])
        return best

    def answer(self, turn):
        row, samples = turn["row"], turn["samples"]
        result = {"name": self.name}
        if row["outcome"] != "ok":
            return result | {"outcome": "unsupported", "reason": "tandem has no result to compare with"}
        if self.host:
            time.sleep(PAUSE)
        try:
            case = Case(row["case"])
            measured, way, call = self.fastest(OPS[case.op](case, self.data))
            wrong = difference(case, call(), samples)
        except (Unsupported, torch.OutOfMemoryError) as error:
            return result | {"outcome": "unsupported", "reason": str(error).splitlines()[0][:200]}
        result |= {"way": way, "seconds": spread(measured), "compared": len(samples["at"])}
        return result | ({"outcome": "ok"} if wrong is None else {"outcome": "failed", "reason": wrong})

    def tidy(self):
        if not self.host and torch.cuda.memory_reserved() > MOST_RESERVED:
            torch.cuda.empty_cache()


class Answers:
    """Opens the peer when the first row says on which device the bench runs."""

    def __init__(self):
        self.peer = None

    def __call__(self, turn):
        if self.peer is None:
            self.peer = Peer(turn["row"]["device"])
        answer = self.peer.answer(turn)
        self.peer.tidy()
        return answer


def main():
    command = sys.argv[1:]
    if "--shapes" not in command or "--json" not in command:
        sys.exit("peer_torch.py: needs the bench's command with --shapes FILE and --json OUT, as in:\n"
                 "  python3 bench/peer/peer_torch.py build/bench/tandem-bench --shapes bench/shapes/map.txt --device omp:0 --json map.json")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_grad_enabled(False)
    sys.exit(take_turns("peer_torch.py", command, Answers()))


if __name__ == "__main__":
    main()
