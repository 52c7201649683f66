#!/usr/bin/env python3
"""Time headroom's training step against PyTorch's on the same models, interleaved in one run.

    compare_torch.py [--rows A,E] [--rounds 5] [--precision bfloat16] [--headroom build/release/headroom] [--python "python3"]

A round measures every chosen row once in each program, each in a fresh process that takes the median of some steps after
warm-up. Printed: the medians of the rounds, the ratio of medians, the least and greatest ratio of a round, and the peak memory of both
processes (PyTorch's under its default allocator, in one more process; its time is with the allocator told to keep its memory,
which is faster). --python says how to call a Python with PyTorch 2, where that is not this one.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

SMALL = {"layers": 1, "ffn": 64, "dim": 16, "points": 16, "batch": 256}
ENCODER = {"layers": 5, "ffn": 2048, "dim": 64, "points": 16, "batch": 256}
GARG = {"layers": 12, "width": 256, "ffn": 1024, "dim": 20, "points": 41, "batch": 64}
# name: (what it is, sizes, heads, rank, copies, mixing, steps of one measurement)
ROWS = {
    "A": ("encoder, 5 layers, 1 head of rank 64", ENCODER, 1, 64, 1, "", 8),
    "B": ("the same, 64 heads of rank 1", ENCODER, 64, 1, 1, "", 8),
    "C": ("the same, 64 copies of a rank-64 head", ENCODER, 1, 64, 64, "", 3),
    "D": ("1 layer, 4096 heads of rank 1", dict(ENCODER, layers=1), 64, 1, 64, "", 3),
    "E": ("quickstart, 1 head of rank 16", SMALL, 1, 16, 1, "", 300),
    "F": ("quickstart, 8 points, batch 32", dict(SMALL, points=8, batch=32), 1, 16, 1, "", 1000),
    "G": ("Garg standard, 8 heads", GARG, 8, 32, 1, "", 3),
    "S": ("Garg, 8 talking heads", GARG, 8, 32, 1, "scores weights", 3),
    "T": ("Garg, 64 heads of rank 4, scores mixed", GARG, 64, 4, 1, "scores", 3),
}


def headroom_config(row, precision="float32"):
    _, size, heads, rank, copies, mixing, _ = ROWS[row]
    attention = {"heads": heads, "key_size": rank, "value_size": rank, "copies": copies}
    attention.update({f"mix_{what}": "identity" for what in mixing.split()})
    model = {"layers": size["layers"], "attention": attention, "ffn": {"width": size["ffn"]}}
    task = {"dim": size["dim"], "points": size["points"]}
    if "width" in size:
        task["type"] = "linear_regression"
        attention["mask"] = "causal"
        model.update(width=size["width"], read_in="linear", read_out="linear", init="gpt2",
                     norm={"type": "layernorm", "placement": "pre"}, positions={"type": "learned", "length": 202})
        model["ffn"]["activation"] = "gelu_tanh"
    else:
        task["type"] = "nearest_neighbor"
        model.update(width=size["dim"], norm={"type": "l2", "placement": "post"})
    return {"task": task, "model": model, "train": {"batch": size["batch"], "precision": precision, "optimizer": {"lr": 1e-4}}}


def torch_step_times(row):
    """Milliseconds of PyTorch's steps, after two that warm up."""
    import math
    import time

    import torch
    from torch import nn
    from torch.nn import functional as F

    _, size, heads, rank, copies, mixing, steps = ROWS[row]
    gpt = "width" in size
    width = size.get("width", size["dim"])

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))

        def forward(self, x):
            return self.scale * F.normalize(x, dim=-1)

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.into, self.out = nn.Linear(width, 3 * heads * rank), nn.Linear(heads * rank, width)
            for what in ("scores", "weights"):
                self.register_parameter(what, nn.Parameter(torch.eye(heads)) if what in mixing else None)

        def mixed(self, q, k, v):
            scores = torch.einsum("gh,bhij->bgij", self.scores, q @ k.mT / math.sqrt(rank))
            future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            weights = scores.masked_fill(future, -math.inf).softmax(-1)
            if self.weights is not None:
                weights = torch.einsum("gh,bhij->bgij", self.weights, weights)
            return weights @ v

        def forward(self, x):
            q, k, v = self.into(x).unflatten(-1, (3, heads, rank)).permute(2, 0, 3, 1, 4)
            z = self.mixed(q, k, v) if mixing else F.scaled_dot_product_attention(q, k, v, is_causal=gpt)
            return self.out(z.transpose(1, 2).flatten(2))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = nn.ModuleList(Heads() for _ in range(copies))
            self.norm1, self.norm2 = (nn.LayerNorm(width), nn.LayerNorm(width)) if gpt else (Norm(), Norm())
            self.up, self.down = nn.Linear(width, size["ffn"]), nn.Linear(size["ffn"], width)

        def forward(self, x):
            if gpt:
                x = x + self.heads[0](self.norm1(x))
                return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
            x = self.norm1(x + sum(h(x) for h in self.heads) / copies)
            return self.norm2(x + self.down(F.relu(self.up(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.read_in, self.read_out = nn.Linear(size["dim"], width), nn.Linear(width, 1)
            self.positions = nn.Parameter(0.02 * torch.randn(202, width))
            self.layers, self.norm = nn.Sequential(*(Layer() for _ in range(size["layers"]))), nn.LayerNorm(width)

        def forward(self, x):
            x = self.layers(self.read_in(x) + self.positions[: x.shape[1]])
            return self.read_out(self.norm(x))[:, ::2, 0]

    def batch():
        x = torch.randn(size["batch"], size["points"], size["dim"])
        if not gpt:
            x = F.normalize(x, dim=-1)
            farthest = (x @ x.mT).argmin(-1, keepdim=True)
            return x, x.gather(1, farthest.expand_as(x))
        y = (x @ torch.randn(size["batch"], size["dim"], 1))[..., 0]
        tokens = torch.zeros(*x.shape[:2], 2, size["dim"])
        tokens[:, :, 0], tokens[:, :, 1, 0] = x, y
        return tokens.flatten(1, 2), y

    model = Gpt() if gpt else nn.Sequential(*(Layer() for _ in range(size["layers"])))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0)
    times = []
    for _ in range(steps + 2):
        start = time.perf_counter()
        x, y = batch()
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - start))
    return times[2:]


def measure_torch(row, threads):
    import resource

    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    median = statistics.median(torch_step_times(row))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"ms": median, "mb": peak, "version": torch.__version__}))


def run_json(command, **environment):
    done = subprocess.run(command, env=dict(os.environ, **environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} ended with exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="which rows, by letter (default: all)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="headroom's; PyTorch's is float32")
    parser.add_argument("--headroom", default="build/release/headroom")
    parser.add_argument("--python", default=sys.executable, help="command of a Python that has PyTorch 2; it must see this script")
    parser.add_argument("--script", default=os.path.abspath(__file__), help="this script's path as that Python sees it")
    parser.add_argument("--torch", choices=ROWS, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.torch:
        return measure_torch(a.torch, a.threads)
    rows = a.rows.split(",")
    for row in rows:
        if row not in ROWS:
            parser.error(f"no row '{row}'; there are {', '.join(ROWS)}")
    torch = [*shlex.split(a.python), a.script, "--threads", str(a.threads), "--torch"]
    keep = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 34), "MALLOC_TOP_PAD_": str(1 << 28)}
    ours, theirs = {r: [] for r in rows}, {r: [] for r in rows}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            with open(f"{folder}/{row}.json", "w", encoding="utf-8") as file:
                json.dump(headroom_config(row, a.precision), file)
        for _ in range(a.rounds):
            for row in rows:
                bench = [a.headroom, "bench", f"{folder}/{row}.json", "--json", "--threads", str(a.threads), "--steps", str(ROWS[row][-1])]
                ours[row].append(run_json(bench))
                theirs[row].append(run_json([*torch, row], **keep))
        peaks = {row: run_json([*torch, row])["mb"] for row in rows}
    print(f"median ms a step of {a.rounds} rounds, {a.threads} threads, headroom in {a.precision}, PyTorch {theirs[rows[0]][0]['version']} in float32\n")
    print("| row | work | headroom | PyTorch | PyTorch / headroom | share of roofline | peak MB | PyTorch's |\n|---|---|---|---|---|---|---|---|")
    for row in rows:
        mine, other = [m["step_ms"]["median"] for m in ours[row]], [m["ms"] for m in theirs[row]]
        ratios = [t / m for m, t in zip(mine, other)]
        share = statistics.median(m["roofline_share"] for m in ours[row])
        print(f"| {row} | {ROWS[row][0]} | {statistics.median(mine):.4g} | {statistics.median(other):.4g} | "
              f"{statistics.median(other) / statistics.median(mine):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) | {share:.0%} | "
              f"{max(m['peak_rss_mb'] for m in ours[row]):.0f} | {peaks[row]:.0f} |")


if __name__ == "__main__":
    main()
