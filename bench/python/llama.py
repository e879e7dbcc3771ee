"""A Llama of Hugging Face's transformers, with Tandem's kernels (tandem.torch.patch) and without.

    python bench/python/llama.py [--device cuda] [--dtype bf16 f32] [--layers 16] [--compile]

Random weights in the shape of Llama 3.2 1B: hidden 2048, 32 heads of 64, 8 key-value heads, feed-forward 8192, vocabulary 128256.
Prefill is one forward of `batch` x `tokens`; decode is one forward of `batch` x 1 after that, with the cache. Each is timed alone,
from the call to the end of its work; the median of `rounds` counts. Then the logits of eager PyTorch and of Tandem are compared with
those of a wider type (float32, or float64 for f32): the largest error, and the largest KL divergence of a token.
"""

import argparse
import json
import platform
import statistics
import time

import torch
import transformers
from tandem.torch import patch, unpatch

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def timed(run, device):
    if device == "cuda":
        torch.cuda.synchronize()
    begin = time.perf_counter()
    result = run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin, result


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="cpu")
    options.add_argument("--dtype", default=["bf16"], choices=TYPES, nargs="+")
    options.add_argument("--layers", type=int, default=16)
    options.add_argument("--batch", type=int, default=4)
    options.add_argument("--tokens", type=int, default=512)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--compile", action="store_true", help="also torch.compile of the unpatched model")
    options.add_argument("--json", help="a file for the numbers")
    options = options.parse_args()
    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "python": platform.python_version()}
    if options.device == "cuda":
        versions["gpu"] = torch.cuda.get_device_name()
    every = []
    for dtype in options.dtype:
        every.append({**versions, **measure(options, dtype)})
        if options.json:  # after each type, so that a run that is ended leaves what it has
            with open(options.json, "w") as file:
                json.dump(every, file, indent=1)
                file.write("\n")


def measure(options, dtype):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    config = transformers.LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=options.layers, num_attention_heads=32, num_key_value_heads=8,
        vocab_size=128256, max_position_embeddings=4096, rms_norm_eps=1e-5, tie_word_embeddings=True,
    )  # fmt: skip
    with torch.device(options.device):
        model = transformers.LlamaForCausalLM(config).to(TYPES[dtype]).eval().requires_grad_(False)
        # to() has rounded the frequencies too; from_pretrained() keeps them in float32.
        model.model.rotary_emb = type(model.model.rotary_emb)(config)
        ids = torch.randint(config.vocab_size, (options.batch, options.tokens))
        token = torch.randint(config.vocab_size, (options.batch, 1))
    cache = transformers.DynamicCache(config=config)
    model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)

    def prefill(forward):
        return lambda: forward(ids, use_cache=False, logits_to_keep=1).logits

    def decode(forward):
        def run():
            result = forward(token, past_key_values=cache, use_cache=True).logits
            cache.crop(-1)
            return result

        return run

    compiled = torch.compile(model, dynamic=False) if options.compile else None
    numbers, results = {key: value for key, value in vars(options).items() if key != "json"}, {}
    numbers["dtype"] = dtype
    for name, phase in ("prefill", prefill), ("decode", decode):
        times, logits = {}, {}
        runs = {"eager": (False, phase(model)), "tandem": (True, phase(model))}
        if compiled is not None:
            runs["compile"] = (False, phase(compiled))
        for kind, (patched, run) in runs.items():
            if patched:
                numbers["counts"] = patch(model)
            for _ in range(3):
                run()
            for _ in range(options.rounds):
                seconds, logits[kind] = timed(run, options.device)
                times.setdefault(kind, []).append(seconds)
            if patched:
                unpatch(model)
        ms = {kind: statistics.median(values) * 1e3 for kind, values in times.items()}
        numbers[name] = dict(ms)
        results[name] = {kind: logits[kind].double() for kind in ("eager", "tandem")}
        ratios = ", ".join(f"{ms[kind] / ms['tandem']:.2f} x {kind}" for kind in ms if kind != "tandem")
        shape = f"{options.batch} x {options.tokens if name == 'prefill' else 1}"
        values = ", ".join(f"{kind} {value:.2f} ms" for kind, value in ms.items())
        print(f"{name:8} {dtype} {shape}, {options.layers} layers: {values}; tandem is {ratios}", flush=True)
    # The truth: the same weights in a wider type, with a cache of its own.
    model.to(torch.float64 if dtype == "f32" else torch.float32)
    cache = transformers.DynamicCache(config=config)
    first = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
    truth = {"prefill": first, "decode": model(token, past_key_values=cache, use_cache=True).logits}
    for name, logits in results.items():
        expected = truth[name].double()
        p = torch.log_softmax(expected, -1)
        for kind, values in logits.items():
            error = (values - expected).abs().max().item()
            divergence = (p.exp() * (p - torch.log_softmax(values, -1))).sum(-1).max().item()
            numbers[name][f"{kind}_error"], numbers[name][f"{kind}_kl"] = error, divergence
        text = ", ".join(
            f"{kind} {numbers[name][f'{kind}_error']:.3g} (KL {numbers[name][f'{kind}_kl']:.2g})" for kind in logits
        )
        print(f"{name:8} {dtype}: the largest error of a logit, of {expected.abs().max():.3g}: {text}", flush=True)
    print("layers by kernel:", numbers["counts"])
    return numbers


with torch.no_grad():
    main()
