#!/usr/bin/env python3
"""The headline: error against the rank of the heads, plain, mixed and with full keys, over seeds of data and weights.

    headline.py                              the grid at width 16, one layer, five seeds, then the tables
    headline.py --width 32 --layers 2        another width or depth
    headline.py --ranks 1 4 --variants both  only a part of the grid
    headline.py --collect                    only the tables, from the runs there are

Every model is configs/quickstart/base.json with another width, depth or kind of heads; everything else, the optimiser, the
schedule and the batch, stays as it is there, and the FFN is four times as wide as the model. At width d the heads of rank r
(r = 1, 2, 4, ..., d) number d / r, so that d * heads * r = d^2, in these variants:

    plain        heads of key size r
    scores       their scores mixed before the softmax      (mix_scores identity: at the first step the heads are plain)
    weights      their weights mixed after the softmax      (mix_weights identity)
    both         both mixings
    full_key     key size d, value size d / heads
    more_heads   plain heads of the same key and value size, the fewest with at least as many parameters as `both`

With one head (r = d) full_key is plain, and a mixing is one number: times the weights it does what the values can do
themselves, times the scores it is a temperature that is learned. So only `plain` and `scores` are trained there.

A finished run is left as it is, so an interrupted grid goes on where it stopped; one grid at a time, please. Parameters, FLOPs
and d * heads * r are those that `headroom check` prints. Needs Python 3.9, nothing else.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASE = os.path.join(ROOT, "configs", "quickstart", "base.json")
MIXED = {"plain": (), "scores": ("mix_scores",), "weights": ("mix_weights",), "both": ("mix_scores", "mix_weights")}
VARIANTS = [*MIXED, "full_key", "more_heads"]
FINISHED = {0: "done", 4: "diverged"}  # exit codes after which a run will not get any further
LAST = 100  # updates whose losses the final training loss is the mean of

COLUMNS = ["width", "points", "layers", "lr", "heads", "key_size", "value_size", "variant", "seed", "d_h_r", "parameters",
           "flops_per_token", "train_loss", "held_out_loss", "held_out_sem", "best_linear_map", "status", "commit"]
MODEL = COLUMNS[:8] + COLUMNS[9:12]  # the columns that seeds share
SUMMARY = [*MODEL, "seeds", "diverged", "train_median", "train_lowest", "train_highest", "held_out_median", "held_out_lowest",
           "held_out_highest", "best_linear_map"]


def say(text):
    print(f"headline: {text}", file=sys.stderr, flush=True)


def settings(width, layers, heads, key_size, value_size, variant):
    """The fields that set one model apart from the base."""
    fields = {"task.dim": width, "model.width": width, "model.ffn.width": 4 * width, "model.layers": layers,
              "model.attention.heads": heads, "model.attention.key_size": key_size, "model.attention.value_size": value_size}
    return fields | {f"model.attention.{mixing}": "identity" for mixing in MIXED.get(variant, ())}


def as_options(fields):
    return [part for key, value in fields.items() for part in ("--set", f"{key}={value}")]


class Grid:
    def __init__(self, args):
        self.args = args
        self.folder = args.runs
        self.problem = None  # the first thing that went wrong; nothing is started after it

    def checked(self, fields):
        """What `headroom check` says of a model; asked once, kept beside the runs."""
        name = "-".join(f"{key.rpartition('.')[2]}={value}" for key, value in fields.items())
        path = os.path.join(self.folder, "checks", name + ".json")
        if not os.path.exists(path):
            done = subprocess.run([self.args.headroom, "check", BASE, "--json", *as_options(fields)], check=False,
                                  stdout=subprocess.PIPE, text=True)  # what goes wrong it says itself
            if done.returncode:
                raise SystemExit(f"headline: headroom check: exit code {done.returncode}")
            budget = json.loads(done.stdout)["budget"]
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".part", "w", encoding="utf-8") as file:
                json.dump({key: budget[key] for key in ("d_h_r", "parameters", "forward_flops_per_token")}, file)
            os.replace(path + ".part", path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def control_heads(self, width, layers, size):
        """The fewest plain heads of this size with at least as many parameters as `both`."""
        def parameters(heads, variant):
            return self.checked(settings(width, layers, heads, size, size, variant))["parameters"]

        mixed = parameters(width // size, "both")
        low = width // size  # too few
        high = low + 1
        while parameters(high, "plain") < mixed:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if parameters(middle, "plain") < mixed else (low, middle)
        return high

    def models(self, width, layers):
        """(variant, heads, key size, value size) of every model of the grid."""
        for size in [1 << power for power in range(width.bit_length())]:
            heads = width // size
            if self.args.ranks and size not in self.args.ranks:
                continue
            for variant in VARIANTS if heads > 1 else ["plain", "scores"]:
                if variant not in self.args.variants:
                    continue
                if variant == "full_key":
                    yield variant, heads, width, size
                elif variant == "more_heads":
                    yield variant, self.control_heads(width, layers, size), size, size
                else:
                    yield variant, heads, size, size

    def train(self, run, fields, seed):
        if exit_code(run) in FINISHED or self.problem:
            return
        os.makedirs(os.path.dirname(run), exist_ok=True)
        # --force: what an interrupted run left is moved aside.
        done = subprocess.run([self.args.headroom, "train", BASE, *as_options(fields | {"seed": seed}), "--out", run, "--force",
                               "--threads", "1", "--quiet"], check=False, stderr=subprocess.PIPE, text=True)
        if done.returncode in FINISHED:
            say(f"{run}: {FINISHED[done.returncode]}")
        else:
            self.problem = f"{run}: exit code {done.returncode}: {done.stderr.strip()}"

    def run(self):
        """Trains what is missing, seed by seed."""
        width, layers = self.args.width, self.args.layers
        models = list(self.models(width, layers))
        lr = self.args.lr
        rate, changed = (f"-lr{lr}", {"train.optimizer.lr": lr}) if lr else ("", {})
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            waiting = []
            for seed in self.args.seeds:
                for variant, heads, key_size, value_size in models:
                    fields = settings(width, layers, heads, key_size, value_size, variant)
                    name = f"{variant}-{heads}x{key_size}"
                    run = os.path.join(self.folder, f"d{width}-l{layers}{rate}", f"{name}-seed-{seed}")
                    self.checked(fields)  # here, so that only one check runs at a time
                    waiting.append(pool.submit(self.train, run, fields | changed | {"name": name}, seed))
            for one in waiting:
                one.result()


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read_csv(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def exit_code(run):
    try:
        return read_json(os.path.join(run, "run.json")).get("exit_code")
    except (OSError, ValueError):
        return None


def row_of(grid, run, variant):
    """The CSV's row of a finished run."""
    config, status = read_json(f"{run}/config.json"), read_json(f"{run}/run.json")
    attention = status["derived"]["model"]["attention"]
    width, layers = config["model"]["width"], config["model"]["layers"]
    model = grid.checked(settings(width, layers, attention["heads"], attention["key_size"], attention["value_size"], variant))
    if model["parameters"] != status["parameters"]:
        raise SystemExit(f"headline: {run}: {status['parameters']} parameters, but headroom check says {model['parameters']}")
    row = {"width": width, "points": config["task"]["points"], "layers": layers,
           "lr": config["train"]["optimizer"]["lr"], "heads": attention["heads"], "key_size": attention["key_size"],
           "value_size": attention["value_size"], "variant": variant, "seed": config["seed"],
           "d_h_r": model["d_h_r"], "parameters": status["parameters"],
           "flops_per_token": f"{model['forward_flops_per_token']:.0f}",
           "status": FINISHED[status["exit_code"]], "commit": status["commit"]}
    baselines = {one["baseline"]: one["error"] for one in read_csv(f"{run}/baselines.csv")}
    row["best_linear_map"] = baselines.get("best_linear_map", "")
    if row["status"] == "done":
        # A row of train.csv is the mean of log_every updates.
        losses = [float(one["loss"]) for one in read_csv(f"{run}/train.csv")][-(LAST // config["run"]["log_every"]):]
        held_out = read_csv(f"{run}/eval.csv")[-1]
        row |= {"train_loss": repr(statistics.fmean(losses)), "held_out_loss": held_out["loss"],
                "held_out_sem": held_out["loss_sem"]}
    return row


def order(row):
    return (int(row["width"]), int(row["layers"]), -float(row["lr"]), int(row["value_size"]), VARIANTS.index(row["variant"]),
            int(row["seed"]))


def collect(grid):
    """Rows of all finished runs, of every width and depth."""
    rows = []
    for folder in sorted(os.listdir(grid.folder)):
        inside = os.path.join(grid.folder, folder)
        for name in sorted(os.listdir(inside)) if folder != "checks" else ():
            variant = name.split("-")[0]
            run = os.path.join(inside, name)
            if variant in VARIANTS and ".old" not in name and exit_code(run) in FINISHED:
                rows.append(row_of(grid, run, variant))
    return sorted(rows, key=order)


def summarise(rows):
    """Medians with the lowest and highest over the seeds that did not diverge."""
    models = {}
    for row in rows:
        models.setdefault(tuple(str(row[column]) for column in MODEL), []).append(row)
    lines = []
    for model, members in models.items():
        done = [row for row in members if row["status"] == "done"]
        line = dict(zip(MODEL, model)) | {"seeds": len(members), "diverged": len(members) - len(done),
                                          "best_linear_map": members[0]["best_linear_map"]}
        for kind in ("train", "held_out"):
            values = [float(row[f"{kind}_loss"]) for row in done]
            if values:
                line |= {f"{kind}_median": f"{statistics.median(values):.5f}", f"{kind}_lowest": f"{min(values):.5f}",
                         f"{kind}_highest": f"{max(values):.5f}"}
        lines.append(line)
    return lines


def write(path, columns, rows):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    os.replace(path + ".part", path)
    say(f"wrote {path}, {len(rows)} rows")


def show(lines):
    shape = "{:>5} {:>6} {:>6} {:>11} {:>10} {:>6} {:>10} {:>8} {:>5} {:>8} {:>8} {:>8}"
    print(shape.format("width", "layers", "lr", "heads x key", "variant", "d*H*r", "parameters", "FLOPs", "seeds", "median",
                       "lowest", "highest"))
    for line in lines:
        numbers = [line[column] for column in ("d_h_r", "parameters", "flops_per_token", "seeds")]
        errors = [line.get(f"held_out_{what}", "diverged") for what in ("median", "lowest", "highest")]
        print(shape.format(line["width"], line["layers"], line["lr"], f"{line['heads']} x {line['key_size']}", line["variant"],
                           *numbers, *errors))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--width", type=int, default=16, choices=(16, 32, 64), help="of the model and of the points (%(default)s)")
    option("--layers", type=int, default=1, choices=(1, 2, 3), help="layers (%(default)s)")
    option("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4], help="seeds of data and weights (0 1 2 3 4)")
    option("--lr", type=float, help="another learning rate than the recipe's .01")
    option("--ranks", type=int, nargs="+", default=[], help="only these key sizes of the plain heads (all)")
    option("--variants", nargs="+", default=VARIANTS, choices=VARIANTS, metavar="VARIANT", help="only these (all)")
    option("--jobs", type=int, default=1, help="runs at a time, one thread each (%(default)s)")
    option("--headroom", default=os.path.join(ROOT, "build", "release", "headroom"), help="the binary (build/release/headroom)")
    runs = os.path.join(ROOT, "runs", "headline")
    option("--runs", default=runs, help="where the runs go (runs/headline)")
    option("--out", default=runs, help="where headline.csv and headline-summary.csv go (runs/headline; ours: data/results)")
    option("--collect", action="store_true", help="train nothing; write the tables from the finished runs")
    args = parser.parse_args()
    if not os.access(args.headroom, os.X_OK):
        parser.error(f"{args.headroom} is not there; build it (scripts/quickstart.sh does) or name it with --headroom")
    os.makedirs(args.runs, exist_ok=True)
    grid = Grid(args)
    if not args.collect:
        grid.run()
    rows = collect(grid)
    lines = summarise(rows)
    write(os.path.join(args.out, "headline.csv"), COLUMNS, rows)
    write(os.path.join(args.out, "headline-summary.csv"), SUMMARY, lines)
    show([line for line in lines if args.collect or (line["width"], line["layers"]) == (str(args.width), str(args.layers))])
    if grid.problem:
        say(grid.problem)
    return 1 if grid.problem else 0


if __name__ == "__main__":
    sys.exit(main())
