"""One training step, ours against PyTorch + PyG, in one table. Run it on an idle machine.

    pip install -r benches/pyg/requirements.txt
    cargo build --release --bin itergnn
    python benches/pyg/compare.py --itergnn target/release/itergnn --out benches/pyg/results.md

With `--device cuda` both sides run on the first NVIDIA card, ours with one model and with sixteen side by side.

Both sides take the same 32 graphs, hidden width 64, 30 iterations, forward, backward and Adam. The two sides take turns and each reports its least
time, so that a busy moment does not count for either. PyTorch runs with flushed denormals and in up to four spellings (see models.py); its best one counts.
"""

import argparse
import json
import platform
import subprocess
import time
from datetime import date
from pathlib import Path

import torch
import torch_geometric
from models import Gcn, IterHomoPath

CASES = [
    # name of our row, generator, model
    ("train-step/lobster/path-sim-max", "lobster", ("path-sim", "max")),
    ("train-step/er/path-sim-max", "er", ("path-sim", "max")),
    # The next two are benches of a card only.
    ("train-step/planar/path-sim-max", "planar", ("path-sim", "max")),
    ("train-step/knn/path-sim-max", "knn", ("path-sim", "max")),
    ("train-step/lobster/path-sim-attention", "lobster", ("path-sim", "attention")),
    ("train-step/er/path-sim-attention", "er", ("path-sim", "attention")),
    ("train-step/lobster/path-attention", "lobster", ("path", "attention")),
    ("train-step/er/path-attention", "er", ("path", "attention")),
    ("train-step/lobster/gcn-30", "lobster", None),
    ("train-step/er/gcn-30", "er", None),
]


def batch(itergnn, generator):
    """32 samples, weighted, as one disjoint union."""
    command = [itergnn, "sample", "shortest-path", "--generator", generator, "--size", "4..34", "--weighted", "--count", "32"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    x, senders, receivers, edges, graph, targets, first = [], [], [], [], [], [], 0
    for number, line in enumerate(lines):
        sample = json.loads(line)
        x += sample["node_attributes"]
        senders += [first + s for s, _ in sample["edges"]]
        receivers += [first + r for _, r in sample["edges"]]
        edges += sample["edge_attributes"]
        targets.append(sample["target"])
        graph += [number] * len(sample["node_attributes"])
        first = len(x)
    order = sorted(range(len(receivers)), key=receivers.__getitem__)
    pick = lambda values: [values[i] for i in order]
    return (torch.tensor(x), torch.tensor(pick(senders)), torch.tensor(pick(receivers)), torch.tensor(pick(edges)).reshape(-1, 1),
            torch.tensor(graph), len(lines), torch.tensor(targets).reshape(-1, 1))


def spellings(model):
    if model is None:
        yield "stock", Gcn()
        yield "compiled", torch.compile(Gcn(), dynamic=False)
        return
    for split in (False, True):
        name = "split" if split else "stock"
        yield name, IterHomoPath(*model, split)
        yield f"{name}, compiled", torch.compile(IterHomoPath(*model, split), dynamic=False)


def step_time(model, data, repetitions):
    *inputs, targets = data
    on_card = targets.is_cuda
    model = model.to(targets.device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-5, fused=True)
    best = float("inf")
    for repetition in range(repetitions + 2):
        started = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(model(*inputs), targets)
        loss.backward()
        optimiser.step()
        if on_card:
            torch.cuda.synchronize()
        if repetition >= 2:
            best = min(best, time.perf_counter() - started)
    return 1e3 * best


def theirs(case, data, repetitions, compiled):
    rows = {}
    for name, model in spellings(case):
        if "compiled" in name and not compiled:
            continue
        try:
            rows[name] = step_time(model, data, repetitions)
        except Exception as error:  # a spelling that does not compile is reported, not hidden
            rows[name] = None
            print(f"  {name}: {type(error).__name__}: {str(error).splitlines()[0][:100]}", flush=True)
    return rows


def ours(itergnn, names, repetitions, device):
    """Milliseconds of a step by name and number of models."""
    found = {}
    for name in names:
        command = [itergnn, "bench", "--json", "--only", name, "--repetitions", str(repetitions), "--device", device]
        results = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["results"]
        found |= {(row["name"], row.get("models", 1)): row["step_ms"] for row in results}
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--itergnn", required=True, help="the binary, built with --release")
    arguments.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--repetitions", type=int, default=10)
    arguments.add_argument("--no-compiled", action="store_true", help="skip torch.compile, which takes minutes to warm up")
    arguments.add_argument("--only", help="part of the names of the rows to run")
    arguments.add_argument("--out", type=Path, help="write the table here too")
    arguments = arguments.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    on_card = arguments.device == "cuda"
    cases = [case for case in CASES if (arguments.only or "") in case[0] and (on_card or case[1] in ("lobster", "er"))]
    if not cases:
        raise SystemExit(f"no row has `{arguments.only}` in its name, as {CASES[0][0]} has")
    data = {generator: batch(arguments.itergnn, generator) for generator in dict.fromkeys(case[1] for case in cases)}
    data = {name: tuple(value.to(arguments.device) if torch.is_tensor(value) else value for value in values) for name, values in data.items()}
    names = [name for name, _, _ in cases]
    before = ours(arguments.itergnn, names, arguments.repetitions, arguments.device)
    more = " itergnn, 16 models | ratio per model |" if on_card else ""
    lines = [f"| training step, 32 graphs of size [4, 34), 30 iterations | PyTorch + PyG, best (spelling) | stock | itergnn | ratio |{more}",
             "|---|---|---|---|---|" + ("---|---|" if on_card else "")]
    measured = {}
    for name, generator, case in cases:
        measured[name] = theirs(case, data[generator], arguments.repetitions, not arguments.no_compiled)
        print(name, measured[name], flush=True)
    after = ours(arguments.itergnn, names, arguments.repetitions, arguments.device)
    for name, rows in measured.items():
        spelling, best = min(((k, v) for k, v in rows.items() if v is not None), key=lambda row: row[1])
        own = min(before[name, 1], after[name, 1])
        line = f"| {name} | {best:.1f} ms ({spelling}) | {rows['stock']:.1f} ms | {own:.2f} ms | {best / own:.1f} |"
        if on_card:
            many = min(before[name, 16], after[name, 16])
            line += f" {many:.2f} ms | {16 * best / many:.0f} |"
        lines.append(line)
    where = torch.cuda.get_device_name() if on_card else None
    cpu = where or next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    sizes = ", ".join(f"{name} {values[0].size(0)} nodes / {values[1].size(0)} edges" for name, values in data.items())
    heading = (f"{date.today()}, {cpu}, {arguments.threads} threads, PyTorch {torch.__version__}, PyG {torch_geometric.__version__}; "
               f"{sizes}; least of {arguments.repetitions} steps each.")
    text = heading + "\n\n" + "\n".join(lines) + "\n"
    print("\n" + text)
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
