"""A Llama pass in f64, and a bound of what a pass in f32 may differ from it by, for models that fit a test.

The error of each vector is bounded in its 2-norm, to first order, with f32's unit roundoff U. A product y = W x of K terms, summed in
any order, has at most (c(K) + extra) U |W| |x| of its own, with the c of src/base/bound.h, and hands on |W|_2 times the error of x. N
ranks add N - 1 additions to the sums of `o` and `down`, and one for the residual. So two passes, by one rank and by N, differ by at
most the sum of their bounds.

Such a bound adds up the worst of every step, which no pass meets: with two layers it can be a tenth of the largest logit. So there is
a second, sharper one: the largest effect of several passes in f64 whose every step is wrong by a random part of its own bound.
"""
import json
import math
import operator
import random
import struct

U = 2.0**-24
SLACK = 1.05  # for the terms of second order


def dot(a, b):
    return math.fsum(map(operator.mul, a, b))


def norm(a):
    return math.sqrt(sum(x * x for x in a))


def product(w, x):
    return [sum(map(operator.mul, row, x)) for row in w]


def constant(terms):
    """bound_sum_constant of src/base/bound.h, for terms that are not alike."""
    return 2 + min(terms, 2 * math.sqrt(terms))


def own_errors(w, x, extra):
    """The rounding of each element of a product: K terms, and `extra` additions."""
    size, factor = [abs(value) for value in x], (constant(len(x)) + extra) * U
    return [factor * sum(map(operator.mul, map(abs, row), size)) for row in w]


def shaken(values, errors, noise):
    return values if noise is None else [x + noise.uniform(-e, e) for x, e in zip(values, errors)]


def relative(values, factor, noise):
    return shaken(values, [abs(x) * factor for x in values], noise)


def spectral(w):
    """At least the largest singular value: that of W^T W is at most its Frobenius norm."""
    small = w if len(w) <= len(w[0]) else list(zip(*w))
    return math.sqrt(norm([sum(map(operator.mul, a, b)) for a in small for b in small]))


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def make(config, generator):
    """Random weights, about as large as those that keep vectors of one size."""
    heads, kv = config["heads"] * config["head_dim"], config["kv_heads"] * config["head_dim"]
    d, ffn, vocab = config["d"], config["ffn"], config["vocab"]

    def table(rows, cols):
        scale = 0.5 / math.sqrt(cols)
        return [[f32(generator.gauss(0, scale)) for _ in range(cols)] for _ in range(rows)]

    def vector(n):
        return [f32(generator.uniform(0.5, 1.5)) for _ in range(n)]

    tensors = {"model.embed_tokens": [[f32(generator.gauss(0, 1)) for _ in range(d)] for _ in range(vocab)], "model.norm": vector(d)}
    for i in range(config["layers"]):
        name = f"model.layers.{i}."
        tensors[name + "input_layernorm"] = vector(d)
        tensors[name + "self_attn.q_proj"] = table(heads, d)
        tensors[name + "self_attn.k_proj"] = table(kv, d)
        tensors[name + "self_attn.v_proj"] = table(kv, d)
        tensors[name + "self_attn.o_proj"] = table(d, heads)
        tensors[name + "post_attention_layernorm"] = vector(d)
        tensors[name + "mlp.gate_proj"] = table(ffn, d)
        tensors[name + "mlp.up_proj"] = table(ffn, d)
        tensors[name + "mlp.down_proj"] = table(d, ffn)
    if not config["tied"]:
        tensors["lm_head"] = table(vocab, d)
    return tensors


def save(folder, config, tensors):
    """config.json and model.safetensors of Hugging Face."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "vocab_size": config["vocab"], "hidden_size": config["d"],
        "num_hidden_layers": config["layers"], "num_attention_heads": config["heads"], "num_key_value_heads": config["kv_heads"],
        "head_dim": config["head_dim"], "intermediate_size": config["ffn"], "max_position_embeddings": config["context"],
        "rms_norm_eps": config["eps"], "rope_theta": config["theta"], "tie_word_embeddings": config["tied"], "hidden_act": "silu"}))
    header, parts, at = {}, [], 0
    for name, values in tensors.items():
        shape = [len(values), len(values[0])] if isinstance(values[0], list) else [len(values)]
        flat = [x for row in values for x in row] if len(shape) == 2 else values
        parts.append(struct.pack(f"<{len(flat)}f", *flat))
        header[name + ".weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def rms(x, error, weight, eps, noise):
    root = math.sqrt(sum(value * value for value in x) / len(x) + eps)
    y = [value / root * w for value, w in zip(x, weight)]
    # The derivative of x / |x| is a projection over |x|; the root leaves half of the mean's relative error.
    own = (constant(len(x)) / 2 + 8) * U
    return relative(y, own, noise), max(map(abs, weight)) * error / root + own * norm(y)


def rotate(x, error, position, theta, noise):
    half = len(x) // 2
    y = [0.0] * len(x)
    for i in range(half):
        angle = position * theta ** (-2 * i / len(x))
        c, s = math.cos(angle), math.sin(angle)
        y[i], y[half + i] = x[i] * c - x[half + i] * s, x[half + i] * c + x[i] * s
    # 3 U of both products, whose sum is at most sqrt(2) |x|.
    return relative(y, 3 * U, noise), error + 3 * math.sqrt(2) * U * norm(x)


def attend(q, keys, values, dim, noise):
    """q and each key and value: (vector, bound)."""
    scale = 1 / math.sqrt(dim)
    size, of_q = norm(q[0]), q[1]
    scores = [scale * dot(q[0], k) for k, _ in keys]
    most = max(scores)
    # Of a score, and of its exponential, whose argument is rounded, and then its result.
    own = [scale * (constant(dim) + 2) * U * dot(map(abs, q[0]), map(abs, k)) + (2 * (most - s) + 4) * U for (k, _), s in zip(keys, scores)]
    errors = [scale * (of_q * norm(k) + size * e) + mine for (k, e), mine in zip(keys, own)]
    scores = shaken(scores, own, noise)
    weights = [math.exp(s - most) for s in scores]
    total = sum(weights)
    weights = [w / total for w in weights]
    out = [sum(map(operator.mul, weights, column)) for column in zip(*(v for v, _ in values))]
    # A score moves the mean of the values towards its own value, or away from it.
    moved = sum(w * e * norm([a - b for a, b in zip(v, out)]) for w, e, (v, _) in zip(weights, errors, values))
    factor = (2 * constant(len(keys)) + 8) * U
    own = factor * sum(w * norm(v) for w, (v, _) in zip(weights, values))
    return relative(out, factor, noise), sum(w * e for w, (_, e) in zip(weights, values)) + moved + own


def silu(x):
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


def slope(x):
    s = 1 / (1 + math.exp(-x))
    return abs(s * (1 + x * (1 - s)))


def forward(config, tensors, ids, ranks, noise=None):
    """The logits of each position of a sequence, and a bound of each, for a pass in f32 by `ranks` ranks. noise: a generator that
    shakes every step by a part of its own bound."""
    eps, dim, theta = config["eps"], config["head_dim"], config["theta"]
    group = config["heads"] // config["kv_heads"]
    stream = [(list(tensors["model.embed_tokens"][i]), 0.0) for i in ids]
    largest = {}

    def apply(name, x, extra=1, first=0, rows=None):
        """Rows of a product: of q, k and v those of a head."""
        w = tensors[name] if rows is None else tensors[name][first : first + rows]
        if (name, first) not in largest:
            largest[name, first] = spectral(w)
        own = own_errors(w, x[0], extra)
        return shaken(product(w, x[0]), own, noise), largest[name, first] * x[1] + norm(own)

    def heads_of(name, x, count):
        return [apply(name, x, 1, head * dim, dim) for head in range(count)]

    def add(x, branch):
        y = [a + b for a, b in zip(x[0], branch[0])]
        return relative(y, U, noise), x[1] + branch[1] + U * norm(y)

    for i in range(config["layers"]):
        name = f"model.layers.{i}."
        keys, values, queries = [], [], []
        for position, x in enumerate(stream):
            y = rms(*x, tensors[name + "input_layernorm"], eps, noise)
            queries.append([rotate(*q, position, theta, noise) for q in heads_of(name + "self_attn.q_proj", y, config["heads"])])
            keys.append([rotate(*k, position, theta, noise) for k in heads_of(name + "self_attn.k_proj", y, config["kv_heads"])])
            values.append(heads_of(name + "self_attn.v_proj", y, config["kv_heads"]))
        for position, x in enumerate(stream):
            heads = [attend(queries[position][h], [k[h // group] for k in keys[: position + 1]],
                            [v[h // group] for v in values[: position + 1]], dim, noise) for h in range(config["heads"])]
            joined = [value for part, _ in heads for value in part], norm([e for _, e in heads])
            x = add(x, apply(name + "self_attn.o_proj", joined, 1 + ranks))
            y = rms(*x, tensors[name + "post_attention_layernorm"], eps, noise)
            gate, up = apply(name + "mlp.gate_proj", y), apply(name + "mlp.up_proj", y)
            inner = relative([silu(g) * u for g, u in zip(gate[0], up[0])], 12 * U, noise)
            error = max(slope(g) * abs(u) for g, u in zip(gate[0], up[0])) * gate[1] + max(map(abs, map(silu, gate[0]))) * up[1]
            stream[position] = add(x, apply(name + "mlp.down_proj", (inner, error + 12 * U * norm(inner)), 1 + ranks))
    head = tensors["model.embed_tokens" if config["tied"] else "lm_head"]
    logits, bounds = [], []
    for x in stream:
        y, error = rms(*x, tensors["model.norm"], eps, noise)
        own = own_errors(head, y, 1)
        logits += shaken(product(head, y), own, noise)
        bounds += [SLACK * (norm(row) * error + mine) for row, mine in zip(head, own)]
    return logits, bounds


def sharper(config, tensors, ids, ranks, logits, generator):
    """The second bound, of all logits of a sequence."""
    shaken_logits = [forward(config, tensors, ids, ranks, generator)[0] for _ in range(4)]
    return 3 * max(abs(a - b) for other in shaken_logits for a, b in zip(other, logits))


def draw(generator, ranks, first):
    """A config that `ranks` ranks can share. The first: 8 query heads and 2 key heads, an odd vocabulary, a tied head."""
    if first:
        heads, kv = 8, 2
    else:
        kv = generator.choice([n for n in (1, 2, 4, 8) if n % ranks == 0 or ranks % n == 0])
        heads = min(8, max(kv, ranks) * generator.choice((1, 2)))
    return {"heads": heads, "kv_heads": kv, "head_dim": generator.choice((16, 18, 20, 24)), "d": generator.randint(24, 48),
            "ffn": generator.randint(21, 70), "vocab": 61 if first else generator.randint(20, 130) * 2 + 1,
            "layers": generator.choice((1, 2)), "tied": first or generator.random() < 0.4, "context": 64,
            "eps": 1e-5, "theta": generator.choice((1e4, 5e5))}
