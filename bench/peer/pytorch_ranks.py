#!/usr/bin/env python3
"""The peer of tiny-llama --ranks: Hugging Face's LlamaForCausalLM in the shape of Llama 3.1 8B, on one GPU or, under torchrun, divided by
its own tensor-parallel plan.

Use: python3 bench/peer/pytorch_ranks.py [--json FILE]                                   one GPU, random weights made on it
     python3 bench/peer/pytorch_ranks.py --make FOLDER [--shape small]                   writes the weights for several
     torchrun --nproc-per-node 2 bench/peer/pytorch_ranks.py --model FOLDER [--json FILE]
Several ranks need the package accelerate too. Prefill is a pass over all tokens that keeps no cache, up to its logits (of all positions, as tiny-llama's). Decode is a greedy step of a batch
with a cache of --context tokens and more. Times are medians, by the clock of rank 0, each up to the end of its work.
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "record"))
from replace import replacing

SHAPES = {
    "8b": dict(vocab_size=128256, hidden_size=4096, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8,
               intermediate_size=14336, max_position_embeddings=16384, rope_theta=500000.0),
    "small": dict(vocab_size=1024, hidden_size=256, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=4,
                  intermediate_size=512, max_position_embeddings=2048),
}
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


def config_of(shape):
    return LlamaConfig(tie_word_embeddings=False, rms_norm_eps=1e-5, initializer_range=0.02, **SHAPES[shape])


def random_model(arguments, device):
    """Made where it is used: a CPU would draw 8e9 numbers for minutes."""
    torch.manual_seed(0)
    torch.set_default_dtype(TYPES[arguments.dtype])
    with torch.device(device):
        model = LlamaForCausalLM._from_config(config_of(arguments.shape), attn_implementation="sdpa")
    torch.set_default_dtype(torch.float32)
    return model


def load(arguments, device):
    if arguments.model is None:
        model = random_model(arguments, device)
    else:
        plan = {"tp_plan": "auto"} if "RANK" in os.environ else {}
        model = LlamaForCausalLM.from_pretrained(arguments.model, dtype=TYPES[arguments.dtype], attn_implementation="sdpa", **plan)
        if not plan:
            model = model.to(device)
    return model.eval()


def timed(call, repeats, wait):
    times = []
    for i in range(2 + repeats):
        wait()
        start = time.perf_counter()
        call()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def decode_seconds(model, ids, steps, wait):
    """The median of a step after the whole context went through the cache at once."""
    out = model(ids, use_cache=True, logits_to_keep=1)
    times = []
    for _ in range(steps):
        wait()
        start = time.perf_counter()
        out = model(out.logits[:, -1:].argmax(-1), past_key_values=out.past_key_values, use_cache=True)
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times[3:])


@torch.no_grad()
def measure(arguments):
    cuda = torch.cuda.is_available()
    local = int(os.environ.get("LOCAL_RANK", 0))
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    device = f"cuda:{local}" if cuda else "cpu"
    wait = (lambda: torch.cuda.synchronize()) if cuda else (lambda: None)
    if cuda:
        torch.cuda.set_device(local)
    model = load(arguments, device)
    vocab = model.config.vocab_size
    draw = torch.Generator().manual_seed(arguments.seed)  # the same ids on each rank
    rows = []

    def row(what, shape, seconds, tokens):
        rows.append({"what": what, "input": shape, "ms": 1e3 * seconds, "tokens_per_second": tokens / seconds})
        if int(os.environ.get("RANK", 0)) == 0:
            print(json.dumps(rows[-1]), flush=True)

    for shape in arguments.prefill:
        batch, seq = map(int, shape.split("x"))
        ids = torch.randint(vocab, (batch, seq), generator=draw).to(device)
        row("prefill", shape, timed(lambda: model(ids, use_cache=False).logits, arguments.repeats, wait), batch * seq)
    for batch in arguments.decode:
        ids = torch.randint(vocab, (batch, arguments.context), generator=draw).to(device)
        row("decode", f"{batch}x{arguments.context}", decode_seconds(model, ids, 3 + arguments.steps, wait), batch)
    return {"peer": f"PyTorch {torch.__version__}", "ranks": ranks, "shape": arguments.shape, "dtype": arguments.dtype,
            "device": torch.cuda.get_device_name(local) if cuda else "cpu", "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", metavar="FOLDER")
    parser.add_argument("--model", metavar="FOLDER")
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--dtype", choices=TYPES, default="bf16")
    parser.add_argument("--prefill", nargs="*", default=["1x8192", "4x2048"], metavar="BATCHxSEQ")
    parser.add_argument("--decode", nargs="*", type=int, default=[1, 32], metavar="BATCH")
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    if int(os.environ.get("WORLD_SIZE", 1)) > 1 and arguments.model is None:
        parser.error("--model: several ranks read the weights of a folder; --make writes it")
    if arguments.make:
        random_model(arguments, "cuda" if torch.cuda.is_available() else "cpu").save_pretrained(arguments.make)
        return 0
    result = measure(arguments)
    if arguments.json and int(os.environ.get("RANK", 0)) == 0:
        with replacing(arguments.json) as file:
            json.dump(result, file, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
