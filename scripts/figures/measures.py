"""The numbers of one run that tables and figures show, from its CSV files."""
import math
import statistics

from figures.runs import Problem, number

HIGHER_IS_BETTER = ("accuracy", "hit_rate")
MEASURES = ("last", "best", "train_median", "train_best")


def finite(points):
    return [(step, value) for step, value in points if math.isfinite(value)]


def measures(run, column="loss", last_k=10):
    """{name: number}; what there are no rows for is missing.

    Of eval.csv: last, last_step, last_sem (of the loss), best, best_step (of equals the earlier, as headroom's own `best`). Of
    train.csv: train_median, of the last K rows, and train_best, the lowest row.
    """
    row = {}
    held_out = finite(run.column("eval.csv", column)) if run.rows("eval.csv") else []
    if held_out:
        row["last_step"], row["last"] = held_out[-1]
        pick = max if column in HIGHER_IS_BETTER else min
        row["best_step"], row["best"] = pick(held_out, key=lambda point: point[1])
        if column == "loss":
            row["last_sem"] = next(number(r["loss_sem"]) for r in reversed(run.rows("eval.csv"))
                                   if int(number(r["step"])) == row["last_step"])
    training = [value for _, value in finite(run.column("train.csv", "loss"))] if run.rows("train.csv") else []
    if training:
        row["train_median"] = statistics.median(training[-last_k:])
        row["train_best"] = min(training)
    return row


def at_position(run, position):
    """The held-out error after `position` in-context examples, "last" for the most there are, at the last evaluation; or None."""
    rows = run.rows("eval_positions.csv")
    if not rows:
        raise Problem(f"{run.path}: no rows in eval_positions.csv (only tasks in context have them)")
    step = max(int(number(row["step"])) for row in rows)
    errors = {int(number(row["position"])): number(row["error"]) for row in rows if int(number(row["step"])) == step}
    return errors.get(max(errors) if position == "last" else int(position))
