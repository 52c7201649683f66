"""Run directories as headroom writes them, made up, for the tests of plot.py."""
import json
import math
import os
import random


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def config(heads=1, key_size=16, seed=0, task="nearest_neighbor", width=16, **model):
    return {"name": "fake", "seed": seed, "task": {"type": task, "dim": width, "points": 16},
            "model": {"layers": 1, "width": width, **model,
                      "attention": {"heads": heads, "key_size": key_size, "value_size": None, "copies": 1}},
            "train": {"steps": 2000, "optimizer": {"lr": 0.01}}, "eval": {"every": 1000}, "run": {"log_every": 10}}


def make(path, settings, final=0.1, steps=2000, every=10, diverge_at=None, positions=None):
    """A run whose loss falls from 1 to about `final`; positions: how many in-context positions to report."""
    rng = random.Random(path.rsplit("/", 1)[-1])
    os.makedirs(path)
    write(f"{path}/config.json", json.dumps(settings))
    ended = {"exit_reason": "step 300: the loss is nan", "exit_code": 4} if diverge_at else {"exit_reason": "done", "exit_code": 0}
    write(f"{path}/run.json", json.dumps({"schema": 1, "start": "2026-11-30T12:08:24Z", "steps": steps, **ended}))
    rows = []
    for step in range(every, steps + 1, every):
        loss = final + (1 - final) / (1 + (step / 150) ** 2)
        if diverge_at and step >= diverge_at:
            rows.append(f"{step},nan,0.01,inf,{step * 4096},1.5")
            break
        rows.append(f"{step},{loss * rng.uniform(0.97, 1.03)!r},0.01,0.5,{step * 4096},{step / 300!r}")
    write(f"{path}/train.csv", "\n".join(["step,loss,lr,grad_norm,tokens,elapsed_s", *rows, ""]))
    if not diverge_at:
        held_out = ["0,1.99,0.01,0.06", f"{steps},{final * rng.uniform(0.97, 1.03)!r},0.002,0.9"]
        write(f"{path}/eval.csv", "\n".join(["step,loss,loss_sem,accuracy", *held_out, ""]))
    if positions:
        dim = positions // 2
        lines = [f"{step},{k},{max(0.9 ** (k * step / steps * 2) * rng.uniform(0.9, 1.1), 1e-3)!r},0.01"
                 for step in (0, steps) for k in range(positions)]
        write(f"{path}/eval_positions.csv", "\n".join(["step,position,error,error_sem", *lines, ""]))
        lines = [f"least_squares,{k},{max(0.0, 1 - k / dim)!r},0.01" for k in range(positions)]
        lines += [f"averaging,{k},{min(1.0 if k == 0 else (dim + 1) / k, 6.0)!r},0.01" for k in range(positions)]
        lines += [f"nearest_3,{k},{1 - 0.4 * (1 - math.exp(-k / 6))!r},0.01" for k in range(positions)]
        lines += [f"zero,{k},1.0,0.01" for k in range(positions)]
    else:
        lines = ["zero,,1.0,0.0", "chance,,1.99,0.01", "best_linear_map,,0.7701,0.001", "exact,,0.0,0.0"]
    write(f"{path}/baselines.csv", "\n".join(["baseline,position,error,error_sem", *lines, ""]))
    return path


def ranks(folder, seeds=(0, 1, 2)):
    """The quickstart's five ranks at a fixed budget."""
    for size, final in ((16, 0.068), (8, 0.623), (4, 0.709), (2, 0.74), (1, 0.752)):
        for seed in seeds:
            make(f"{folder}/rank-{size}-seed-{seed}", config(16 // size, size, seed), final)


def table(path, errors, sizes=((16, 1),), lr=0.01):
    """The headline's table of these held-out errors, {(variant, rank): an error a seed, nan where it diverged}."""
    lines = ["width,layers,lr,heads,key_size,value_size,variant,seed,held_out_loss,best_linear_map,status"]
    for width, layers in sizes:
        for (variant, rank), seeds in errors.items():
            for seed, error in enumerate(seeds):
                ended = ",0.77,diverged" if math.isnan(error) else f"{error},0.77,done"
                lines.append(f"{width},{layers},{lr},{width // rank},{rank},{rank},{variant},{seed},{ended}")
    write(path, "\n".join([*lines, ""]))
