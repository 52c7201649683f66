"""Reading run directories: config.json, run.json and the CSV files, whatever state a run left them in."""
import csv
import json
import math
import os
import re
import sys

DIVERGED = 4  # headroom's exit code for a loss, gradient or parameter that is not finite


class Problem(Exception):
    """Said to the user in one line, without a traceback."""


def note(text):
    print(f"{os.path.basename(sys.argv[0]).removesuffix('.py')}: {text}", file=sys.stderr)


def flatten(value, prefix=""):
    """Nested objects to {dotted key: value}."""
    if not isinstance(value, dict):
        return {prefix: value}
    flat = {}
    for key, inner in value.items():
        flat.update(flatten(inner, f"{prefix}.{key}" if prefix else key))
    return flat


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"{path}: not JSON: {error}") from error


def read_csv(path):
    """Rows as {column: text}; [] where there is no file. A last row cut short by a kill is left out."""
    if not os.path.exists(path):
        return []
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        raise Problem(f"{path}: {error}") from error
    lines = text[:text.rfind("\n") + 1].splitlines()
    return [dict(row) for row in csv.DictReader(lines) if None not in row and None not in row.values()]


class Run:
    """One run directory."""

    def __init__(self, path):
        self.path = path
        self.config = flatten(read_json(os.path.join(path, "config.json")))
        status = os.path.join(path, "run.json")
        self.status = read_json(status) if os.path.exists(status) else {}

    def rows(self, name):
        return read_csv(os.path.join(self.path, name))

    def column(self, name, y):
        """[(step, value)] of one column of a CSV, values that are not finite included."""
        rows = self.rows(name)
        if rows and y not in rows[0]:
            raise Problem(f"{self.path}/{name} has no column '{y}'; it has {', '.join(rows[0])}")
        return [(int(number(row["step"])), number(row[y])) for row in rows]

    @property
    def diverged(self):
        if self.status.get("exit_code") == DIVERGED:
            return True
        return any(not math.isfinite(v) for name in ("train.csv", "eval.csv") if self.rows(name)
                   for _, v in self.column(name, "loss"))

    @property
    def key_size(self):
        size = self.value("model.attention.key_size")
        return size if size is not None else self.config["model.width"] // self.heads

    @property
    def heads(self):
        """Heads of one copy."""
        heads = self.value("model.attention.heads")
        if heads is None:
            raise Problem(f"{self.path}: its heads follow from a budget, and there is no run.json that says how many they are")
        return heads

    def value(self, key):
        """A field's value, or what the run made of a null or a budget."""
        value = self.config.get(key)
        return value if value is not None else flatten(self.status.get("derived", {})).get(key)

    @property
    def budget(self):
        """width * heads * key_size over all copies: the d H r that the papers hold fixed."""
        return self.config["model.width"] * self.heads * self.config["model.attention.copies"] * self.key_size

    def baselines(self):
        """{name: {position: error}}; position None where the task has none."""
        lines = {}
        for row in self.rows("baselines.csv"):
            position = number(row["position"])
            lines.setdefault(row["baseline"], {})[None if math.isnan(position) else int(position)] = number(row["error"])
        return lines


def is_run(path):
    return os.path.isfile(os.path.join(path, "config.json"))


def is_aside(name):
    """Whether --force moved this directory aside: NAME.old-1."""
    return re.search(r"\.old-\d+$", name) is not None


def find(paths):
    """The runs at these paths, or directly below them."""
    found = []
    for path in paths:
        if not os.path.isdir(path):
            raise Problem(f"{path}: no such directory")
        inside = [path] if is_run(path) else [
            os.path.join(path, name) for name in sorted(os.listdir(path))
            if is_run(os.path.join(path, name)) and not is_aside(name)]
        if not inside:
            raise Problem(f"{path}: neither a run directory nor one that holds any (no config.json)")
        found += inside
    return [Run(path) for path in dict.fromkeys(os.path.normpath(path) for path in found)]


def group(runs, ignored):
    """[(label, runs)]: runs that differ only in their seeds and in the `ignored` keys belong together.

    A label names what sets its group apart: the config keys whose values differ between the groups.
    """
    seeds = ("name", "seed", "seeds.", "run.", "eval.")
    configs = [{k: v for k, v in run.config.items() if not k.startswith(seeds) and k not in ignored} for run in runs]
    keys = sorted({key for config in configs for key in config})
    # What is an object in some and null in others is one key: its fields say nothing by themselves.
    for whole in [key for key in keys if any(other.startswith(key + ".") for other in keys)]:
        for config in configs:
            inside = {key: config.pop(key) for key in list(config) if key.startswith(whole + ".")}
            config[whole] = inside or config.get(whole)
        keys = [key for key in keys if not key.startswith(whole + ".")]
    varying = [key for key in keys if len({json.dumps(config.get(key)) for config in configs}) > 1]
    groups = {}
    for run, config in zip(runs, configs):
        values = tuple(config.get(key) for key in varying)
        groups.setdefault(json.dumps(values), (values, []))[1].append(run)

    def by_value(entry):
        return [(0, v, "") if isinstance(v, (int, float)) else (1, 0, str(v)) for v in entry[0]]

    def text(index, value):
        objects = [json.dumps(values[index]) for values, _ in groups.values() if isinstance(values[index], dict)]
        if not objects:
            return plain(value)
        return "none" if value is None else "given" if len(set(objects)) == 1 and isinstance(value, dict) else str(value)

    return [(", ".join(f"{short(key, keys)} {text(index, value)}" for index, (key, value) in enumerate(zip(varying, values))), members)
            for values, members in sorted(groups.values(), key=by_value)]


def short(key, keys):
    """The end of a dotted key, as long as it must be to be unique."""
    parts = key.split(".")
    for count in range(1, len(parts)):
        end = ".".join(parts[-count:])
        if sum(other == end or other.endswith("." + end) for other in keys) == 1:
            return end.replace("_", " ")
    return key


def plain(value):
    return "default" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def power_of(budget, width):
    """d^2.5 where a budget is a power of the width by halves, else the number; as matplotlib writes it."""
    power = 2 * math.log(budget) / math.log(width) if width > 1 and budget > 0 else math.nan
    return f"$d^{{{round(power) / 2:g}}}$" if math.isfinite(power) and abs(power - round(power)) < 1e-9 else f"{budget:g}"
