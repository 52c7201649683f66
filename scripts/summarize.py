#!/usr/bin/env python3
"""Turns runs into tables: one row a run, and one row a configuration with its seeds pooled.

    summarize.py DIR... --runs runs.csv --groups groups.csv
    summarize.py sweep.json                  the runs of a sweep file, those that have not begun included

DIR is a run directory or holds run directories; what --force moved aside (*.old-1) is left out. Printed: the configurations. A run
that is not done (running, stopped, not started, diverged, killed, failed, damaged) is named on stderr with the reason, and counts in
no mean; the exit code is then 1. A run that is done but no better than its reference baseline ("not trained") counts, and is named too.

Columns of --runs: run; status, exit_code, reason, not_trained; every config field whose value is not the same in all runs, with what
the run made of a null or a budget; d_h_r (width x heads x key size), parameters; steps; of eval.csv: last, last_sem, best, best_step; of
train.csv: train_median (of the last K rows), train_best (the lowest row; a row is the mean of run.log_every updates); wall_s, resumes.
Columns of --groups: measure; the fields that vary apart from seeds; runs, done; over the runs that are done: mean, sd (of a sample),
median, min, max, low and high (the bootstrap interval of the mean, 10000 resamples with a fixed seed; from two runs on).

Exit codes: 0 all runs are done, 1 some are not, 2 wrong usage, 3 nothing to summarize or a file that cannot be read or written.
Needs pandas.
"""
import argparse
import json
import math
import os
import subprocess
import sys

from figures import needs

needs.need("pandas")

import numpy  # noqa: E402
import pandas  # noqa: E402

from figures import runs, states  # noqa: E402
from figures.measures import MEASURES, measures  # noqa: E402
from figures.runs import Problem, note  # noqa: E402

DERIVED = ("model.attention.heads", "model.attention.key_size")
SEEDS = ("seed", "seeds.init", "seeds.data")
RESAMPLES = 10000


def expected(sweep, headroom):
    """The run directories of a sweep file."""
    try:
        done = subprocess.run([headroom, "grid", sweep, "--all", "--quiet", "--format", "json"], capture_output=True, text=True,
                              check=False)
    except OSError as error:
        raise Problem(f"{headroom}: {error.strerror}; --headroom names the binary") from error
    if done.returncode:
        raise Problem(f"{sweep}: {done.stderr.strip() or f'headroom grid: exit code {done.returncode}'}")
    return [point["out"] for point in json.loads(done.stdout)]


def directories(arguments, headroom):
    found = []
    for path in arguments:
        found += expected(path, headroom) if os.path.isfile(path) else states.directories(path)
    return list(dict.fromkeys(os.path.normpath(path) for path in found))


def text(value):
    return json.dumps(value) if isinstance(value, (list, dict, bool)) or value is None else value


def read(paths, column, last_k):
    """One row a run, and the config fields that vary, in the config's order."""
    rows, configs = [], []
    for path in paths:
        status, code, reason = states.state_of(path)
        row, given, config = {"run": path, "status": status, "exit_code": code, "reason": reason}, {}, {}
        if status not in (states.NOT_STARTED, states.DAMAGED):
            try:
                run = runs.Run(path)
                given = {key: text(value) for key, value in run.config.items() if key != "name"}
                config = {key: text(run.value(key)) for key in given} | dict(zip(DERIVED, (run.heads, run.key_size)))
                row |= {"d_h_r": run.budget, "parameters": run.status.get("parameters"), "steps": run.status.get("steps"),
                        "wall_s": run.status.get("elapsed_s"), "resumes": run.status.get("resumes", 0),
                        "not_trained": run.status.get("not_trained")}
                row |= measures(run, column, last_k)
            except Problem as problem:
                if status != states.RUNNING:  # whose files may be in the making
                    raise
                row["reason"] = str(problem)
        rows.append(row)
        configs.append((given, config))
    known = [pair for pair in configs if pair[0]]
    keys = list(dict.fromkeys(key.removesuffix(".budget") for given, _ in known for key in given))
    # By what the config says; a null in all of them varies only in what follows from it. Heads and key size always count.
    varying = [key for key in keys if len({json.dumps((config if key in DERIVED else given).get(key)) for given, config in known}) > 1]
    for row, (_, config) in zip(rows, configs):
        row.update({key: config.get(key) for key in varying})
    order = ["run", "status", "exit_code", "reason", "not_trained", *varying, "d_h_r", "parameters", "steps", "last_step", "last",
             "last_sem", "best_step", "best", "train_median", "train_best", "wall_s", "resumes"]
    table = pandas.DataFrame(rows).reindex(columns=order)
    for whole in ("exit_code", "d_h_r", "parameters", "steps", "last_step", "best_step", "resumes", *varying):
        values = table[whole].dropna()
        if len(values) and all(not isinstance(v, str) and float(v).is_integer() for v in values):
            table[whole] = table[whole].astype("Int64") if max(map(abs, values)) < 2**53 else table[whole]
    return table, varying


def interval(values, confidence):
    """The percentile bootstrap interval of the mean; missing below two values."""
    if len(values) < 2:
        return math.nan, math.nan
    draws = numpy.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    means = numpy.asarray(values)[draws].mean(axis=1)
    tail = 100 * (1 - confidence) / 2
    return tuple(float(v) for v in numpy.percentile(means, [tail, 100 - tail]))


def pool(table, varying, wanted, confidence):
    """One row a measure and configuration: runs that differ in their seeds and in `run` alone."""
    fields = [key for key in varying if key not in SEEDS and not key.startswith("run.")]
    known = table[~table["status"].isin([states.NOT_STARTED, states.DAMAGED])].copy()
    known["_key"] = [json.dumps([None if pandas.isna(row[key]) else str(row[key]) for key in fields]) for _, row in known.iterrows()]
    rows = []
    for measure in wanted:
        for _, members in known.groupby("_key", sort=False):
            values = members.loc[members["status"] == states.DONE, measure].dropna().astype(float).tolist()
            low, high = interval(values, confidence)
            series = pandas.Series(values, dtype=float)
            rows.append({"measure": measure, **{key: members.iloc[0][key] for key in fields}, "runs": len(members),
                         "done": int((members["status"] == states.DONE).sum()), "mean": series.mean(), "sd": series.std(),
                         "median": series.median(), "min": series.min(), "max": series.max(), "low": low, "high": high})
    groups = pandas.DataFrame(rows, columns=["measure", *fields, "runs", "done", "mean", "sd", "median", "min", "max", "low", "high"])
    by = [key for key in fields if pandas.api.types.is_numeric_dtype(groups[key].infer_objects())]
    return groups.sort_values(["measure", *by], kind="stable", key=lambda c: c if c.name != "measure" else c.map(wanted.index))


def write(table, path):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        table.to_csv(path + ".part", index=False, lineterminator="\n")
        os.replace(path + ".part", path)
    except OSError as error:
        raise Problem(f"{path}: {error.strerror or error}") from error
    note(f"wrote {path}, {len(table)} rows")


def report(table, groups):
    """The configurations on stdout; what is not done on stderr."""
    shown = groups.rename(columns={key: key.rpartition(".")[2] if list(c.rpartition(".")[2] for c in groups).count(
        key.rpartition(".")[2]) == 1 else key for key in groups})
    if groups["measure"].nunique() == 1:
        shown = shown.drop(columns="measure")
    print(shown.to_string(index=False, float_format=lambda v: f"{v:.4g}", na_rep="-"))
    counts = table["status"].value_counts()
    listed = ", ".join(f"{counts[state]} {state}" for state in states.STATES if state in counts)
    note(f"{len(table)} runs: {listed}")
    for _, row in table[table["status"] != states.DONE].iterrows():
        note(f"{row['status']}: {row['run']}" + (f": {row['reason']}" if row["reason"] else ""))
    for run in table.loc[(table["status"] == states.DONE) & (table["not_trained"] == True), "run"]:  # noqa: E712, may be missing
        note(f"not trained: {run}: no better than its reference baseline")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("paths", nargs="+", metavar="DIR", help="a run directory, one that holds some, or a sweep file")
    option("--runs", metavar="FILE", help="write one row a run to this CSV")
    option("--groups", metavar="FILE", help="write one row a configuration to this CSV")
    option("--column", default="loss", help="the column of eval.csv that `last` and `best` are of (%(default)s)")
    option("--measure", nargs="+", choices=MEASURES, default=["last"], help="what to pool over seeds (last)")
    option("--last", type=int, default=10, metavar="K", help="rows of train.csv that train_median is of (%(default)s)")
    option("--confidence", type=float, default=0.95, metavar="P", help="of the bootstrap interval (%(default)s)")
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    built = os.path.join(root, "build", "release", "headroom")
    option("--headroom", default=built if os.access(built, os.X_OK) else "headroom", help="the binary, for a sweep file (%(default)s)")
    args = parser.parse_args()
    if args.last < 1:
        parser.error("--last must be 1 or more")
    if not 0 < args.confidence < 1:
        parser.error("--confidence must lie between 0 and 1")
    try:
        table, varying = read(directories(args.paths, args.headroom), args.column, args.last)
        groups = pool(table, varying, args.measure, args.confidence)
        report(table, groups)
        if args.runs:
            write(table, args.runs)
        if args.groups:
            write(groups, args.groups)
    except Problem as problem:
        note(problem)
        return 3
    return 0 if (table["status"] == states.DONE).all() else 1


if __name__ == "__main__":
    sys.exit(main())
