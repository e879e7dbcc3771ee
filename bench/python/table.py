"""The tables of a Llama in PyTorch as Markdown, from the files that llama.py --json has written: table.py FILE..."""

import json
import sys

PHASES = {"prefill": "prefill {batch} x {tokens}", "decode": "decode {batch} x 1 after it"}


def main(names):
    every = []
    for name in names:
        with open(name, encoding="utf-8") as file:
            every += json.load(file)
    print("| | layers | eager ms | torch.compile ms | Tandem ms | of eager's speed | of torch.compile's |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for run in every:
        for phase, text in PHASES.items():
            ms = run[phase]
            compiled = ms.get("compile")
            cells = [f"{text.format(**run)}, {run['dtype']}", run["layers"], f"{ms['eager']:.2f}"]
            cells += [f"{compiled:.2f}" if compiled else "", f"{ms['tandem']:.2f}", f"{ms['eager'] / ms['tandem']:.2f}"]
            cells += [f"{compiled / ms['tandem']:.2f}" if compiled else ""]
            print("|", " | ".join(str(cell) for cell in cells), "|")
    print()
    print("| | layers | largest error of a logit: eager | Tandem | largest KL divergence of a token: eager | Tandem |")
    print("|---|---:|---:|---:|---:|---:|")
    for run in every:
        for phase in PHASES:
            values = [run[phase][f"{kind}_{what}"] for what in ("error", "kl") for kind in ("eager", "tandem")]
            print(f"| {phase}, {run['dtype']} | {run['layers']} |", " | ".join(f"{value:.2g}" for value in values), "|")


main(sys.argv[1:])
