#!/usr/bin/env python3
"""Figures of headroom's run directories.

    plot.py curves DIR...      loss against step, one line a configuration, seeds as a band
    plot.py rank DIR...        held-out error against key size at a fixed budget, with the baselines
    plot.py against KEY DIR... error against any field of the config, panels and lines by others, published numbers beside
    plot.py examples DIR...    error against the number of in-context examples, with the baselines
    plot.py spectra JSON...    singular values of every head's W_Q^T W_K, from `headroom inspect --json`
    plot.py identity JSON...   how near W_Q^T W_K is to minus the identity at each budget, from the same
    plot.py maps FILE          attention maps of one held-out item, from `headroom inspect --dump FILE`
    plot.py headline CSV       held-out error against key size, plain and mixed, from the table of scripts/headline.py

DIR is a run directory or holds run directories. Runs that differ only in their seeds become one line: their mean, with the
band from the lowest to the highest. A cross marks a run that diverged. --out's extension chooses PNG, SVG or PDF.
Needs matplotlib. Exit codes: 0 done, 2 wrong usage, 3 nothing to draw or a file that cannot be read or written.
"""
import argparse
import math
import sys

from figures import needs

needs.need("matplotlib")

from figures import against as against_figure, draw, heads, measures, headline as headline_figure, runs  # noqa: E402
from figures.runs import Problem, note  # noqa: E402

NO_BRACES = str.maketrans("", "", "{}")
SIZES = ("model.attention.heads", "model.attention.key_size", "model.attention.value_size")


def finite_positive(series, what):
    """What a log axis can show; says what it leaves out."""
    kept = [(x, y) for x, y in series if x > 0 and y > 0 and math.isfinite(y)]
    left_out = sum(1 for x, y in series if x > 0 and math.isfinite(y) and y <= 0)
    if left_out:
        note(f"{what}: {left_out} values of 0 or below have no place on a log axis")
    return kept


def curves(args):
    figure, axes = draw.new(args.title)
    name, title = ("eval.csv", "held-out") if args.held_out else ("train.csv", "training")
    found = runs.find(args.dirs)
    crosses, drawn, baselines = [], 0, {}
    for index, (label, members) in enumerate(runs.group(found, ())):
        series = []
        for run in members:
            points = finite_positive(run.column(name, args.column), run.path)
            if not points:
                note(f"{run.path}: no rows to draw in {name}")
            else:
                series.append(points)
            if run.diverged and points:
                crosses.append((points[-1], draw.style(index)))
            baselines = run.baselines() or baselines
        if series:
            draw.band(axes, series, draw.style(index), label, dense=True)
            drawn += 1
    if not drawn:
        raise Problem(f"nothing to draw: no run has rows in {name}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    if args.column == "loss":
        draw.baseline_lines(axes, wanted_lines(args, baselines))
    for point, look in crosses:
        draw.mark_diverged(axes, [point], look)
    draw.legend(axes, bool(crosses))
    draw.log_axis(axes.xaxis)
    draw.log_axis(axes.yaxis)
    axes.set_xlabel("step")
    axes.set_ylabel(f"{title} {args.column.replace('_', ' ')}")
    draw.save(figure, args.out)


def rank(args):
    figure, axes = draw.new(args.title)
    rows, crosses, baselines, drawn = [], [], {}, 0
    found = runs.find(args.dirs)
    budgets = sorted({run.budget for run in found})
    groups = []
    for budget in budgets:
        for label, members in runs.group([run for run in found if run.budget == budget], SIZES):
            budget_label = f"budget {budget}" if len(budgets) > 1 else ""
            groups.append((", ".join(filter(None, (budget_label, label))), members))
    for index, (label, members) in enumerate(groups):
        series = {}  # seed of the data -> [(key size, error)]
        for run in sorted(members, key=lambda r: r.key_size):
            values = run.column("eval.csv", args.column)
            if run.diverged or not values:
                note(f"{run.path}: {'diverged' if run.diverged else 'no rows in eval.csv'}")
                if run.diverged:
                    crosses.append(((run.key_size, None), draw.style(index)))
                continue
            value = values[-1][1]
            rows.append((label, run.heads, run.key_size, value, run))
            series.setdefault((run.config.get("seed"), run.config.get("seeds.init"), run.config.get("seeds.data")),
                              []).append((run.key_size, value))
            baselines = run.baselines() or baselines
        series = [kept for kept in (finite_positive(s, label or "error") for s in series.values()) if kept]
        if series:
            draw.band(axes, series, draw.style(index), label)
            drawn += 1
    if not drawn:
        raise Problem("nothing to draw: no run that did not diverge has rows in eval.csv")
    sizes = sorted({run.key_size for run in found})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0] / 1.25, sizes[-1] * 1.25)
    axes.set_xticks(sizes, [size_label(size, found) for size in sizes])
    axes.minorticks_off()
    if args.column == "loss":
        wanted = wanted_lines(args, baselines)
        values = [row[3] for row in rows] + list(wanted.values())
        axes.set_ylim(min(v for v in values if v > 0) / 1.5, max(values) * 1.25)
        draw.baseline_lines(axes, wanted)
    for point, look in crosses:
        draw.mark_diverged(axes, [point], look)
    draw.legend(axes, bool(crosses))
    draw.log_axis(axes.yaxis)
    axes.set_xlabel("key size $r$ of a head" + (f" (width $\\cdot$ heads $\\cdot$ $r$ = {budgets[0]})" if len(budgets) == 1 else ""))
    axes.set_ylabel("held-out error" if args.column == "loss" else f"held-out {args.column.replace('_', ' ')}")
    print_table(rows, wanted_lines(args, baselines) if args.column == "loss" else {})
    draw.save(figure, args.out)


def size_label(size, found):
    """A tick: the key size, and below it the number of heads where it is one number."""
    heads = {run.heads * run.config["model.attention.copies"] for run in found if run.key_size == size}
    return f"{size}\n{runs.plain(*heads)} head{'s' if heads != {1} else ''}" if len(heads) == 1 else str(size)


def wanted_lines(args, baselines):
    """{name: error} of the baselines asked for that have one error, not one a position."""
    return {name: next(iter(baselines[name].values())) for name in args.baselines if len(baselines.get(name, ())) == 1}


def print_table(rows, baselines):
    """The figure's numbers, seeds pooled."""
    pooled = {}
    for label, heads, size, value, _ in rows:
        pooled.setdefault((label, heads, size), []).append(value)
    print(f"{'heads x key size':>18}  {'held-out error':>14}  {'lowest':>8}  {'highest':>8}  seeds")
    for (label, heads, size), values in sorted(pooled.items(), key=lambda item: (item[0][0], item[0][2])):
        mean = sum(values) / len(values)
        print(f"{f'{heads} x {size}':>18}  {mean:>14.4f}  {min(values):>8.4f}  {max(values):>8.4f}  {len(values)}  {label}".rstrip())
    for name, error in baselines.items():
        print(f"{draw.baseline_label(name):>18}  {error:>14.4f}")


def examples(args):
    figure, axes = draw.new(args.title)
    crosses, baselines, drawn, lowest, found = [], {}, 0, math.inf, runs.find(args.dirs)
    for index, (label, members) in enumerate(runs.group(found, ())):
        series = []
        for run in members:
            rows = run.rows("eval_positions.csv")
            steps = [int(runs.number(row["step"])) for row in rows]
            points = [(int(row["position"]), runs.number(row["error"])) for row, step in zip(rows, steps) if step == max(steps)]
            kept = [(x, y) for x, y in points if y > 0 and math.isfinite(y)]
            baselines = run.baselines() or baselines
            if run.diverged:
                note(f"{run.path}: diverged")
                crosses.append(((max((x for x, _ in points), default=0), None), draw.style(index)))
            elif not kept:
                note(f"{run.path}: no rows in eval_positions.csv (only tasks in context have them)")
            if kept and not run.diverged:
                series.append(kept)
                lowest = min(lowest, *(y for _, y in kept))
        if series:
            draw.band(axes, series, draw.style(index), label or "model")
            drawn += 1
    if not drawn:
        raise Problem("nothing to draw: no run that did not diverge has rows in eval_positions.csv")
    axes.set_yscale("log")
    highest = axes.get_ylim()[1]
    for index, (name, at) in enumerate((name, baselines[name]) for name in args.baselines if name in baselines):
        points = sorted((x, y) for x, y in at.items() if x is not None and math.isfinite(y))
        axes.plot([x for x, _ in points], [max(y, 1e-300) for _, y in points], color=draw.GREY, linewidth=1.1, zorder=1,
                  linestyle=draw.DASHES[index % len(draw.DASHES)], label=draw.baseline_label(name))
        highest = max(highest, *(y for _, y in points)) if points else highest
    if args.published:
        lowest = min([lowest, *published_examples(axes, args.published, found)])
    axes.set_ylim(lowest / 2, min(highest * 1.2, 20))
    for point, look in crosses:
        draw.mark_diverged(axes, [point], look)
    draw.legend(axes, bool(crosses))
    draw.log_axis(axes.yaxis)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("in-context examples")
    axes.set_ylabel("held-out error, normalised")
    draw.save(figure, args.out)


def published_examples(axes, path, found):
    """Draws what transformers are published to reach on the runs' task without a shift; the errors drawn."""
    rows = [row for row in runs.read_csv(path) if (row.get("method"), row.get("shift")) == ("transformer", "standard")]
    tasks = {(run.config["task.type"], run.config["task.dim"]) for run in found}
    points = sorted((runs.number(row["examples"]), runs.number(row["error"])) for row in rows
                    if (row.get("task.type"), runs.number(row.get("task.dim", ""))) in tasks)
    if not rows:
        raise Problem(f"{path}: no such file, or no errors of transformers by examples in it")
    if not points:
        note(f"{path}: nothing of this task in this dimension to draw beside")
        return []
    axes.plot(*zip(*points), label="published", color="black", linestyle=":", linewidth=1.1, marker="o", markerfacecolor="white", zorder=4)
    return [error for _, error in points]


def against(args):
    found = runs.find(args.dirs)
    panels, x_key = against_figure.gather(found, args)
    draw.save(against_figure.picture(panels, x_key, args, found), args.out)
    against_figure.print_table(panels, x_key, args)


def spectra(args):
    draw.save(heads.spectra(args.json, args.title), args.out)


def identity(args):
    figure, rows = heads.identity(args.json, args.published, args.title)
    draw.save(figure, args.out)
    print(f"{'quantity':>14}  {'budget':>6}  heads  {'lowest':>8}  {'quartile':>8}  {'median':>8}  {'quartile':>8}  {'highest':>8}  published")
    for quantity, budget, count, *numbers in rows:
        shown = ["-" if number is None else f"{number:.2f}" for number in numbers]
        print(f"{quantity:>14}  {budget.strip('$').translate(NO_BRACES):>6}  {count:>5}  {'  '.join(f'{text:>8}' for text in shown)}")


def maps(args):
    draw.save(heads.maps(args.file, args.item, args.title), args.out)


def headline(args):
    found = headline_figure.panels(args.csv, args.column)
    for panel in found:
        print(f"{panel.title}: {panel.seeds()}, best linear map {panel.linear:.4f}")
    draw.save(headline_figure.picture(found, args.title), args.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for function, help_text in ((curves, "loss against step"), (rank, "held-out error against key size"),
                                (against, "error against any field"), (examples, "error against in-context examples"),
                                (spectra, "singular values of the heads, from inspect --json"),
                                (identity, "angle to the identity and scale of the heads, from inspect --json"),
                                (maps, "attention maps, from inspect --dump"),
                                (headline, "plain and mixed heads, from a table")):
        command = commands.add_parser(function.__name__, help=help_text)
        command.set_defaults(function=function)
        if function in (spectra, identity):
            command.add_argument("json", nargs="+", metavar="JSON", help="what `headroom inspect RUN --json` printed")
        elif function is maps:
            command.add_argument("file", metavar="FILE", help="what `headroom inspect RUN --dump FILE` wrote")
            command.add_argument("--item", type=int, default=0, metavar="N", help="the held-out item (%(default)s)")
        elif function is headline:
            command.add_argument("csv", metavar="CSV", help="data/results/headline.csv or its like")
        else:
            if function is against:
                command.add_argument("x", metavar="KEY", help="a field (model.attention.key_size), rank/dim or budget")
            command.add_argument("dirs", nargs="+", metavar="DIR", help="a run directory, or one that holds some")
        command.add_argument("-o", "--out", default=f"{function.__name__}.png", help="the picture: .png, .svg or .pdf (%(default)s)")
        command.add_argument("--title", help="a line above the figure")
        if function is headline:
            command.add_argument("--column", default="held_out_loss", help="the column to draw (%(default)s)")
        elif function is identity:
            command.add_argument("--published", metavar="CSV", help="numbers to draw beside: data/published/amsel-identity.csv")
        elif function not in (spectra, maps):
            if function is not examples:
                command.add_argument("--column", default="loss", help="the column to draw (%(default)s)")
            lines = ["zero", "averaging", "nearest_3", "least_squares"] if function is examples else ["best_linear_map", "zero"]
            command.add_argument("--baselines", nargs="*", default=lines, metavar="NAME", help="the lines to draw (%(default)s)")
        if function is against:
            command.add_argument("--panels", metavar="KEY", help="a panel for each value of this field (model.layers)")
            command.add_argument("--lines", metavar="KEY", help="a line for each value of this field; budget: d^2, d^2.5, ...")
            command.add_argument("--measure", choices=measures.MEASURES, default="last",
                                 help="of a run: see summarize.py; train_best is what Amsel et al. report (%(default)s)")
            command.add_argument("--center", choices=against_figure.CENTERS, default="median", help="of seeds (%(default)s)")
            command.add_argument("--last", type=int, default=10, metavar="K", help="rows of train_median (%(default)s)")
            command.add_argument("--position", metavar="N", help="the error after N in-context examples, or `last`")
            command.add_argument("--published", metavar="CSV", help="numbers to draw beside, as in data/published/")
        if function is examples:
            command.add_argument("--published", metavar="CSV", help="errors to draw beside: data/published/garg-in-context.csv")
        if function is curves:
            command.add_argument("--held-out", action="store_true", help="draw eval.csv instead of train.csv")
    args = parser.parse_args()
    try:
        args.function(args)
    except Problem as problem:
        note(problem)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
