#!/usr/bin/env python3
"""The peer of tiny-llama: Hugging Face's LlamaForCausalLM in PyTorch, eager and through torch.compile, f32 without TF32, on the
same weights and the same ids.

Use: python3 bench/peer/pytorch_llama.py --make FOLDER [--preset benchmark|train]      writes the model: N(0, 0.02), seeded
     tiny-llama --model FOLDER --input 4x512 --logits logits.f32 ...
     python3 bench/peer/pytorch_llama.py --model FOLDER --input 4x512 [--logits logits.f32] [--json FILE]
                                               [--beside FILE --markdown FILE]
Times are medians of REPEATS passes after WARM_UP ones, by the clock, each up to the end of its work. With --logits the largest
difference from tiny-llama's logits is printed, divided by the largest logit. --beside names what tiny-llama --compare wrote as JSON for the
same input; --markdown is then a table of both. bench/record/llama.sh runs all of it.
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

WARM_UP = 3
PRESETS = {
    "benchmark": dict(vocab_size=32000, hidden_size=2048, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=16,
                      intermediate_size=8192, max_position_embeddings=4096),
    "train": dict(vocab_size=1000, hidden_size=512, num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=4,
                  intermediate_size=2048, max_position_embeddings=2048),
}
MASK = (1 << 64) - 1


def make(folder, preset):
    torch.manual_seed(0)
    config = LlamaConfig(tie_word_embeddings=True, rms_norm_eps=1e-5, initializer_range=0.02, **PRESETS[preset])
    LlamaForCausalLM(config).save_pretrained(folder)


def bits(x):
    """splitmix64, as tiny-llama draws its ids."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def draw_ids(batch, seq, vocab, seed, device):
    ids = [bits((~seed + i) & MASK) % vocab for i in range(batch * seq)]
    return torch.tensor(ids, device=device).reshape(batch, seq)


def median_seconds(call, repeats, device):
    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    times = []
    for i in range(WARM_UP + repeats):
        wait()
        start = time.perf_counter()
        call()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times[WARM_UP:])


def logits_error(path, logits):
    with open(path, "rb") as file:
        theirs = torch.frombuffer(bytearray(file.read()), dtype=torch.float32).reshape(logits.shape)
    return ((theirs - logits).abs().max() / logits.abs().max()).item()


@torch.no_grad()
def measure(arguments):
    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = False
    model = LlamaForCausalLM.from_pretrained(arguments.model, dtype=torch.float32, attn_implementation="sdpa").to(device).eval()
    batch, seq = map(int, arguments.input.split("x"))
    ids = draw_ids(batch, seq, model.config.vocab_size, arguments.seed, device)
    rows = []
    for name, call in (("eager", model), ("compile", torch.compile(model))):
        seconds = median_seconds(lambda: call(ids, use_cache=False).logits, arguments.repeats, device)
        row = {"peer": f"PyTorch {torch.__version__} {name}", "device": device, "ms": 1e3 * seconds,
               "tokens_per_second": batch * seq / seconds}
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            call(ids, use_cache=False)
            row["peak_mib_beside_weights"] = (torch.cuda.max_memory_allocated() - before) / 2**20
        if arguments.logits:
            row["error"] = logits_error(arguments.logits, call(ids, use_cache=False).logits.cpu())
        print(json.dumps(row))
        rows.append(row)
    return {"model": arguments.model, "input": arguments.input, "threads": torch.get_num_threads(), "rows": rows}


def table(ours, rows):
    """Markdown: tiny-llama's versions, then PyTorch; and the goals."""
    yield "| " + ours["model"].split("/")[-1] + f" {ours['batch']}x{ours['seq']}, {ours['dtype']}, on {ours['device']} | ms | tokens/s | bound ms | memory MiB | launches |"
    yield "|---|---:|---:|---:|---:|---:|"
    for v in ours["versions"]:
        memory = (v["bytes"]["activations"] + v["bytes"]["scores"]) / 2**20
        yield (f"| version {v['version']} | {v['ms']:.1f} | {v['tokens_per_second']:.1f} | {v['bound_ms']:.1f} | {memory:.0f} | "
               f"{v['launches']} |")
    for row in rows:
        memory = f"{row['peak_mib_beside_weights']:.0f}" if "peak_mib_beside_weights" in row else ""
        yield f"| {row['peer']} | {row['ms']:.1f} | {row['tokens_per_second']:.1f} | | {memory} | |"
    first, last = ours["versions"][0], ours["versions"][-1]
    working = [v["bytes"]["activations"] + v["bytes"]["scores"] for v in (first, last)]
    yield ""
    yield "| goal | figure | wanted |"
    yield "|---|---:|---:|"
    yield f"| version 4 over its bound | {last['ms'] / last['bound_ms']:.2f} | at most 1.10 |"
    for row in rows:
        wanted = "at least 0.90" if row["peer"].endswith("eager") else ""
        yield f"| speed over {row['peer']} | {row['ms'] / last['ms']:.2f} | {wanted} |"
    yield f"| memory under version 1's | {100 * (1 - working[1] / working[0]):.0f} % | at least 65 %, where scores weigh |"
    yield f"| launches under version 1's | {100 * (1 - last['launches'] / first['launches']):.0f} % | 75 % |"
    yield f"| a pass over version 1 | {first['ms'] / last['ms']:.2f} | 2.2, of which {first['ms'] / last['bound_ms']:.2f} can be had |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", metavar="FOLDER")
    parser.add_argument("--preset", choices=PRESETS, default="benchmark")
    parser.add_argument("--model", metavar="FOLDER")
    parser.add_argument("--input", default="4x512")
    parser.add_argument("--device", choices=("cpu", "cuda"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--logits", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--beside", metavar="FILE")
    parser.add_argument("--markdown", metavar="FILE")
    arguments = parser.parse_args()
    if (arguments.make is None) == (arguments.model is None):
        parser.error("name one of --make and --model")
    if (arguments.beside is None) != (arguments.markdown is None):
        parser.error("--beside and --markdown go together")
    if arguments.make:
        make(arguments.make, arguments.preset)
        return 0
    result = measure(arguments)
    if arguments.json:
        with replacing(arguments.json) as file:
            json.dump(result, file, indent=2)
    if arguments.markdown:
        with open(arguments.beside, encoding="utf-8") as file:
            ours = json.load(file)
        with replacing(arguments.markdown) as file:
            file.write("\n".join(table(ours, result["rows"])) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
