#!/usr/bin/env python3
"""Freeze PyTorch's values of small models, in float64, for the tests to hold headroom's double path against.

    freeze_torch.py --out DIR      write DIR/NAME.safetensors
    freeze_torch.py --check DIR    make them again and compare with the files in DIR; exit 1 on a difference

Needs PyTorch 2.6 or newer, nothing else. Each model file holds `batch.input` (B,T,D), `batch.query` (B,Q,D) where queries
are separate, `batch.target` (B,P,O), `output` (B,T,O) of the whole model (prediction p stands at token p * stride), `loss`,
`param.NAME`, `grad.NAME`, `updated.NAME` after one optimizer step, and in `__metadata__` the headroom config. The optimizer
files hold `param.NAME`, and `grad.NAME` and `updated.NAME` with a leading axis of 5 steps. Parameters and batches come from
Python's own generator, so only PyTorch's rounding can differ between machines.
"""
import argparse
import json
import math
import os
import random
import sys

import torch

from frozen import cases, modules, plain, tensor_file

TOLERANCE = 1e-12  # of a tensor's largest entry (or 1e-3 of the file's), between machines and between the two implementations
# eps is large: the key's bias has gradient 0 but for rounding, which Adam's division by a small eps would blow up.
TRAIN = {"steps": 1, "batch": cases.BATCH, "precision": "float32",
         "optimizer": {"type": "adamw", "lr": 0.01, "betas": [0.9, 0.95], "eps": 1e-4, "weight_decay": 0.1},
         "schedule": {"type": "constant", "warmup": 0}, "clip_norm": None, "accumulate": 1}
ADAMW = {**TRAIN, "optimizer": {**TRAIN["optimizer"], "eps": 1e-8}}
SGD = {**TRAIN, "optimizer": {"type": "sgd", "lr": 0.05, "momentum": 0.9, "weight_decay": 0}}
OPTIMIZER_SHAPES = {"read_in.weight": (3, 4), "read_in.bias": (3,), "positions.weight": (5, 3), "layers.0.norm1.weight": (1,)}


def decays(name, shape):
    """Weight decay is for matrices: not for biases, norms, positions, heads' scales."""
    return name.endswith(".weight") and len(shape) > 1 and not name.endswith(("positions.weight", ".scale.weight"))


def draw(rng, shape, spread):
    count = math.prod(shape)
    return torch.tensor([rng.uniform(-spread, spread) for _ in range(count)], dtype=torch.float64).reshape(shape)


def draw_params(rng, rows):
    """Random biases and norms too, so that a term left out shows."""
    params = {}
    for name, shape in rows.items():
        value = draw(rng, shape, 1.5 / math.sqrt(shape[-1]) if decays(name, shape) else 0.4)
        if "norm" in name.split(".")[-2] and name.endswith(".weight") or ".scale." in name:
            value = value + 1
        params[name] = value.requires_grad_()
    return params


def single(x):
    """Batches hold values of single precision, in which headroom keeps them."""
    return x.float().double()


def normal(rng, *shape):
    return torch.tensor([rng.gauss(0, 1) for _ in range(math.prod(shape))], dtype=torch.float64).reshape(shape)


def sphere(rng, *shape):
    x = normal(rng, *shape)
    return single(x / x.square().sum(-1, keepdim=True).sqrt())


def batch_of(rng, task):
    """input (B,T,D), query (B,Q,D) or None, target (B,P,O), stride between predictions."""
    count, dim = task["points"], task["dim"]
    if task["type"] == "linear_regression":
        x = single(normal(rng, cases.BATCH, count, dim))
        w = draw(rng, (cases.BATCH, dim), 2)
        y = single(torch.einsum("bnd,bd->bn", x, w))
        tokens = torch.zeros(cases.BATCH, count, 2, dim, dtype=torch.float64)
        tokens[:, :, 0], tokens[:, :, 1, 0] = x, y
        return tokens.reshape(cases.BATCH, 2 * count, dim), None, y[..., None], 2
    x = sphere(rng, cases.BATCH, count, dim)
    query = sphere(rng, cases.BATCH, task["queries"], dim) if task["query"] == "separate" else None
    scores = (query if query is not None else -x) @ x.mT
    return x, query, torch.gather(x, 1, scores.argmax(2)[..., None].expand(-1, -1, dim)), 1


def loss_of(output, target, stride):
    """Mean over batch and predictions of the squared error summed over coordinates."""
    return (output[:, ::stride][:, :target.shape[1]] - target).square().sum(-1).mean()


def optimizer_of(params, settings):
    groups = [{"params": [v for k, v in params.items() if decays(k, v.shape) == decay],
               "weight_decay": settings["weight_decay"] if decay else 0.0} for decay in (True, False)]
    groups = [g for g in groups if g["params"]]
    if settings["type"] == "sgd":
        return torch.optim.SGD(groups, lr=settings["lr"], momentum=settings["momentum"])
    return torch.optim.AdamW(groups, lr=settings["lr"], betas=tuple(settings["betas"]), eps=settings["eps"])


def flat(tensor):
    tensor = tensor.detach()
    return list(tensor.shape), tensor.flatten().tolist()


def gradients(loss, params):
    return dict(zip(params, torch.autograd.grad(loss, list(params.values()))))


def model_case(name, task, model):
    """(tensors, metadata) of one model, after holding it against PyTorch's modules."""
    rng = random.Random(name)
    tokens, query, target, stride = batch_of(rng, task)
    m = plain.resolve(model, tokens.shape[-1], target.shape[-1])
    params = draw_params(rng, plain.shapes(m))
    output = plain.forward(m, params, tokens, query)
    loss = loss_of(output, target, stride)
    grads = gradients(loss, params)

    twin = plain.forward(m, params, tokens, query, modules.layer)
    twin_grads = gradients(loss_of(twin, target, stride), params)
    worst = difference({"output": flat(output), **{k: flat(v) for k, v in grads.items()}},
                       {"output": flat(twin), **{k: flat(v) for k, v in twin_grads.items()}})
    if worst[0] > TOLERANCE:
        raise AssertionError(f"{name}: {worst[1]} differs from torch.nn by {worst[0]:.1e} of its size")
    way = "torch.nn layer" if modules.is_standard(m) else "torch functions"
    print(f"{name}: loss {loss.item():.6f}, {sum(v.numel() for v in params.values())} parameters, {way} agree to {worst[0]:.0e}")

    tensors = {"batch.input": flat(tokens), "batch.target": flat(target), "output": flat(output), "loss": ([], [loss.item()])}
    if query is not None:
        tensors["batch.query"] = flat(query)
    for key, value in params.items():
        tensors["param." + key], tensors["grad." + key] = flat(value), flat(grads[key])
        value.grad = grads[key]
    optimizer_of(params, TRAIN["optimizer"]).step()
    tensors.update({"updated." + key: flat(value) for key, value in params.items()})
    return tensors, {"config": json.dumps({"task": task, "model": model, "train": TRAIN})}


def optimizer_case(name, train):
    """Five updates on given gradients, one of them large and one zero."""
    rng = random.Random(name)
    params = draw_params(rng, OPTIMIZER_SHAPES)
    tensors = {"param." + key: flat(value) for key, value in params.items()}
    given, updated = {key: [] for key in params}, {key: [] for key in params}
    optimizer = optimizer_of(params, train["optimizer"])
    for spread in (1e-3, 1.0, 0.0, 30.0, 0.1):
        for key, value in params.items():
            value.grad = draw(rng, value.shape, spread)
            given[key].append(value.grad)
        optimizer.step()
        for key, value in params.items():
            updated[key].append(value.detach().clone())
    for key in params:
        tensors["grad." + key], tensors["updated." + key] = flat(torch.stack(given[key])), flat(torch.stack(updated[key]))
    print(f"{name}: 5 updates")
    return tensors, {"config": json.dumps({"train": train}), "decay": json.dumps(
        [key for key, shape in OPTIMIZER_SHAPES.items() if decays(key, shape)])}


def difference(one, two):
    """(largest difference, its tensor), each over max(the tensor's largest entry, 1e-3 of the largest of all)."""
    if {k: v[0] for k, v in one.items()} != {k: v[0] for k, v in two.items()}:
        return math.inf, "a name or shape"
    largest = max(max(map(abs, values), default=0) for _, values in one.values())
    worst = (0.0, "nothing")
    for key, (_, values) in one.items():
        size = max(max(map(abs, values), default=0), 1e-3 * largest)
        for a, b in zip(values, two[key][1]):
            error = abs(a - b) / size
            if not error <= worst[0]:
                worst = (error, key)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", metavar="DIR", help="write the files here")
    where.add_argument("--check", metavar="DIR", help="compare with the files here")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    for name, (task, model) in cases.STANDARD.items():
        model_case(name, task, model)
    made = {name: model_case(name, task, model) for name, (task, model) in cases.FROZEN.items()}
    made["optimizer_adamw"], made["optimizer_sgd"] = optimizer_case("adamw", ADAMW), optimizer_case("sgd", SGD)
    if args.out:
        os.makedirs(args.out, exist_ok=True)
    failed = False
    for name, (tensors, metadata) in made.items():
        path = os.path.join(args.out or args.check, name + ".safetensors")
        metadata = {**metadata, "made_by": f"scripts/freeze_torch.py, PyTorch {torch.__version__}"}
        if args.out:
            tensor_file.write(path, tensors, metadata)
            continue
        if not os.path.exists(path):
            print(f"{path}: missing", file=sys.stderr)
            failed = True
            continue
        old, old_metadata = tensor_file.read(path)
        worst = difference(old, tensors)
        if worst[0] > TOLERANCE or old_metadata.get("config") != metadata["config"]:
            what = f"{worst[1]} by {worst[0]:.1e} of its size" if worst[0] > TOLERANCE else "the config"
            print(f"{path}: differs in {what}", file=sys.stderr)
            failed = True
    if not failed:
        print(f"{len(made)} files {'written to' if args.out else 'equal to those in'} {args.out or args.check}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
