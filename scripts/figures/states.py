"""What became of a run: the state of its directory, whatever a crash left there."""
import csv
import fcntl
import math
import os

from figures.runs import DIVERGED, Problem, is_aside, number, read_json

# In the order in which a summary counts them. Only a run that is done counts as a success; all but `diverged` go on, or
# begin again, where the same command is given once more.
DONE, RUNNING, STOPPED, NOT_STARTED = "done", "running", "stopped", "not started"
DIVERGED_STATE, KILLED, FAILED, DAMAGED = "diverged", "killed", "failed", "damaged"
STATES = (DONE, RUNNING, STOPPED, NOT_STARTED, DIVERGED_STATE, KILLED, FAILED, DAMAGED)
EARLY = {75: "a time budget or a signal", 130: "Ctrl-C"}  # headroom's exit codes for a stop with a good checkpoint
TABLES = ("train.csv", "eval.csv", "eval_positions.csv", "baselines.csv")
PARTS = ("config.json", "run.json", "checkpoints", *TABLES)  # any of these makes a directory a run's


def directories(path):
    """The run directories at this path or directly below it, damaged ones included."""
    if not os.path.isdir(path):
        raise Problem(f"{path}: no such directory")

    def looks_like_run(folder):
        return any(os.path.exists(os.path.join(folder, part)) for part in PARTS)

    if looks_like_run(path):
        return [path]
    inside = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not is_aside(name)]
    found = [folder for folder in inside if os.path.isdir(folder) and looks_like_run(folder)]
    if not found:
        raise Problem(f"{path}: neither a run directory nor one that holds any")
    return found


def is_locked(path):
    """Whether a process trains in this directory: it holds a lock on the file .lock as long as it lives."""
    try:
        with open(os.path.join(path, ".lock"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def table_damage(path):
    """What is wrong with a CSV; "" where nothing is. A last row that a kill cut short is no damage: a resume removes it."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        return str(error)
    rows = list(csv.reader(text[:text.rfind("\n") + 1].splitlines()))
    if not rows:
        return "no head line"
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            return f"line {line} has {len(row)} fields, the head has {len(rows[0])}"
    for line, row in enumerate(rows[1:], 2):
        for name, cell in zip(rows[0], row):
            if name != "baseline" and cell and math.isnan(number(cell)) and cell.lstrip("-") != "nan":
                return f"line {line}: '{cell}' in column {name} is no number"
    return ""


def damage(path):
    """What is missing or cannot be read in a run directory; "" where all is well."""
    for name in ("config.json", "run.json"):
        if not os.path.exists(os.path.join(path, name)):
            return f"no {name}"
        try:
            if not isinstance(read_json(os.path.join(path, name)), dict):
                return f"{name} holds no object"
        except Problem as problem:
            return str(problem).removeprefix(path + "/")
    for name in TABLES:
        table = os.path.join(path, name)
        wrong = table_damage(table) if os.path.exists(table) else ""
        if wrong:
            return f"{name}: {wrong}"
    return ""


def state_of(path):
    """(one of STATES, exit code or None, why): of a run directory, or of one that should be there."""
    if not os.path.isdir(path):
        return NOT_STARTED, None, "no such directory"
    running = is_locked(path)  # before its files: what ends in between counts as running still
    wrong = damage(path)
    if wrong:
        return (RUNNING, None, "") if running else (DAMAGED, None, wrong)
    status = read_json(os.path.join(path, "run.json"))
    code, reason = status.get("exit_code"), str(status.get("exit_reason"))
    if running:
        return RUNNING, None, ""
    if code is None:
        return KILLED, None, "its process ended without a word, and no other goes on with it"
    if code == 0:
        return DONE, 0, reason
    if code == DIVERGED:
        return DIVERGED_STATE, code, reason
    if code in EARLY:
        return STOPPED, code, f"{EARLY[code]} after {status.get('steps')} updates: {reason}"
    return FAILED, code, reason
