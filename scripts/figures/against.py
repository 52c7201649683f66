"""Error against any field of the config: panels, one line a value of another field, seeds pooled, published numbers beside."""
import math
import statistics

from figures import draw, headline, measures, runs
from figures.runs import Problem, note

CENTERS = {"median": statistics.median, "mean": statistics.fmean, "min": min}
KEY_SIZE, DIM = "model.attention.key_size", "task.dim"
# Keys that are no fields: what the papers call a budget, and the rank as a share of the dimension.
BUDGET, SHARE = "budget", "rank/dim"
NO_MATH = str.maketrans("", "", "${}")
NAMES = {KEY_SIZE: "key size $r$ of a head", "model.attention.heads": "heads", DIM: "dimension $d$", "task.points": "points $N$",
         SHARE: "key size / dimension, $r / d$", "model.attention.copies": "copies of the attention module"}


def budget_text(budget, width):
    """d^2.5 where it is a power of the width by halves, else the number."""
    power = 2 * math.log(budget) / math.log(width) if width > 1 else math.nan
    return f"$d^{{{round(power) / 2:g}}}$" if math.isfinite(power) and abs(power - round(power)) < 1e-9 else f"{budget:g}"


def of_run(run, key):
    if key == BUDGET:
        return budget_text(run.budget, run.config["model.width"])
    if key == SHARE:
        return run.key_size / run.config[DIM]
    if key == KEY_SIZE:
        return run.key_size
    value = run.value(key)
    if value is None:
        raise Problem(f"{run.path}: no field {key}, or null in its config")
    return value


def of_row(row, key):
    """The same of a published row; None where it does not say."""
    def number(column):
        return runs.number(row.get(column, ""))

    if key == BUDGET:
        dim = number("model.width") if row.get("model.width") else number(DIM)
        budget = dim * number("model.attention.copies") * number("model.attention.heads") * number(KEY_SIZE)
        return budget_text(budget, dim) if math.isfinite(budget) else None
    if key == SHARE:
        return number(KEY_SIZE) / number(DIM)
    return number(key) if math.isfinite(number(key)) else row.get(key) or None


def plain(value):
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


class Panel:
    def __init__(self, title):
        self.title = title
        self.lines = {}  # value of the line's key: {x: [a number a seed, nan where it diverged]}
        self.published = {}  # the same, one number
        self.baselines = {}  # name: {x: [error]}
        self.published_dims = set()


def value_of(run, args):
    """The number of a run, nan where it diverged, None where it is not finished."""
    if run.diverged:
        note(f"{run.path}: diverged")
        return math.nan
    if run.status.get("exit_code") != 0:
        note(f"{run.path}: not finished, left out")
        return None
    if args.position is not None:
        return measures.at_position(run, args.position)
    value = measures.measures(run, args.column, args.last).get(args.measure)
    if value is None:
        note(f"{run.path}: no rows for {args.measure}")
    return value


def gather(found, args):
    """([(panel value, Panel)] in order, the key of the x axis)."""
    rows = runs.read_csv(args.published) if args.published else []
    if args.published and not rows:
        raise Problem(f"{args.published}: no such file, or no rows in it")
    # At another dimension than the published one, ranks compare as a share of it.
    dims = {run.config[DIM] for run in found}
    elsewhere = {runs.number(row.get(DIM, "")) for row in rows} - dims
    x_key = SHARE if args.x == KEY_SIZE and (elsewhere or len(dims) > 1) else args.x
    panels = {}
    for run in found:
        value = value_of(run, args)
        if value is None:
            continue
        at = of_run(run, args.panels) if args.panels else ""
        name = {"model.layers": f"{at} layer{'s' if at != 1 else ''}"}.get(args.panels, f"{args.panels} {plain(at)}" if args.panels else "")
        panel = panels.setdefault(at, Panel(name))
        x = of_run(run, x_key)
        panel.lines.setdefault(of_run(run, args.lines) if args.lines else "", {}).setdefault(x, []).append(value)
        for baseline, errors in run.baselines().items():
            position = args.position if args.position != "last" else max((p for p in errors if p is not None), default=None)
            wanted = errors.get(None) if args.position is None else errors.get(None if position is None else int(position))
            if baseline in args.baselines and wanted is not None and args.column == "loss":
                panel.baselines.setdefault(baseline, {}).setdefault(x, []).append(wanted)
    beside = {}  # panel value: its published rows
    for row in rows:
        at = of_row(row, args.panels) if args.panels else ""
        if at in panels and of_row(row, x_key) is not None:
            beside.setdefault(at, []).append((of_row(row, args.lines) if args.lines else "", row))
    for at, of_panel in beside.items():
        # The lines that ours have; all where there is none, as where the lines are dimensions.
        shared = [(line, row) for line, row in of_panel if line in panels[at].lines]
        for line, row in shared or of_panel:
            points, x, error = panels[at].published.setdefault(line, {}), of_row(row, x_key), runs.number(row["error"])
            if points.setdefault(x, error) != error:
                raise Problem(f"{args.published}: two numbers for one point, {points[x]:g} and {error:g}; --panels and --lines tell them apart")
            panels[at].published_dims.add(of_row(row, DIM))
    if not any(math.isfinite(v) for panel in panels.values() for line in panel.lines.values() for vs in line.values() for v in vs):
        raise Problem("nothing to draw: no run that did not diverge has rows")
    return sorted(panels.items(), key=lambda item: (str(type(item[0])), item[0])), x_key


def in_order(lines):
    """Numbers by size, then texts; d^2 before d^2.5."""
    return sorted(lines, key=lambda value: (isinstance(value, str), value.replace("}", "") if isinstance(value, str) else value))


def draw_panel(axes, panel, names, center):
    """One line a group through the centers with a bar from the lowest seed to the highest; published numbers hollow and dotted."""
    for index, line in enumerate(names):
        look = draw.style(index)
        points = []
        for x, values in sorted(panel.lines.get(line, {}).items()):
            kept = [v for v in values if math.isfinite(v) and v > 0]
            if any(math.isnan(v) for v in values):
                draw.mark_diverged(axes, [(x, None)], look)
            if kept:
                points.append((x, CENTERS[center](kept), min(kept), max(kept)))
        if points:
            xs, middle, lowest, highest = zip(*points)
            axes.vlines(xs, lowest, highest, color=look["color"], linewidth=2.2, alpha=0.5)
            axes.plot(xs, middle, label=names[line], **look)
        published = sorted((x, y) for x, y in panel.published.get(line, {}).items() if y > 0)
        if published:
            axes.plot(*zip(*published), label=None if line in panel.lines else f"published, {names[line]}",
                      linestyle=":", linewidth=1.1, color=look["color"], marker=look["marker"], markersize=5,
                      markerfacecolor="white", markeredgewidth=1.1, zorder=1.5)
    for index, (name, at) in enumerate(sorted(panel.baselines.items())):
        points = sorted((x, statistics.fmean(values)) for x, values in at.items())
        points = [(x, y) for x, y in points if y > 0 and math.isfinite(y)]
        if points:
            axes.plot(*zip(*points), color=draw.GREY, linewidth=1, linestyle=draw.DASHES[index % len(draw.DASHES)], zorder=1,
                      label=draw.baseline_label(name))


def tick(value):
    """1/16 for a share below 1."""
    if isinstance(value, float) and 0 < value < 1 and (1 / value).is_integer():
        return f"1/{round(1 / value)}"
    return plain(value)


def picture(panels, x_key, args, found):
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    size = max(5.2, 2.9 * columns), (3.3 if len(panels) == 1 else 2.7) * rows + 0.3
    figure, grid = draw.plt.subplots(rows, columns, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained")
    every = in_order({line for _, panel in panels for line in (*panel.lines, *panel.published)})
    short = (args.lines or "").removesuffix(".type").rpartition(".")[2].replace("_", " ")
    names = {line: f"{short} {tick(line)}".strip() if args.lines else "ours" for line in every}
    xs = sorted({x for _, panel in panels for line in (*panel.lines.values(), *panel.published.values()) for x in line})
    for axes, (_, panel) in zip(grid.flat, panels):
        draw_panel(axes, panel, names, args.center)
        axes.set_title(panel.title, fontsize=9)
        if all(isinstance(x, (int, float)) and x > 0 for x in xs):
            axes.set_xscale("log", base=2)
            axes.set_xlim(xs[0] / 1.3, xs[-1] * 1.3)
        shown = xs if len(xs) <= 9 else xs[::2] if (len(xs) - 1) % 2 == 0 else xs[1::2]
        axes.set_xticks(shown, [tick(x) for x in shown])
        axes.minorticks_off()
        axes.set_yscale("log")
    for axes in grid.flat[len(panels):]:
        axes.remove()
    draw.log_axis(grid[0][0].yaxis)
    what = {"train_best": "lowest training loss", "train_median": "training loss", "best": "lowest held-out error"}
    label = what.get(args.measure, "held-out error") if args.column == "loss" else f"held-out {args.column.replace('_', ' ')}"
    if args.position is not None:
        label = "held-out error after " + ("all examples" if args.position == "last" else f"{args.position} examples")
    counts = [len(v) for _, panel in panels for line in panel.lines.values() for v in line.values()]
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    for line in grid:
        line[0].set_ylabel(label)
    name = NAMES.get(x_key, x_key.rpartition(".")[2].replace("_", " "))
    dims = sorted({run.config[DIM] for run in found})
    where = f"; ours $d$ = {', '.join(map(str, dims))}" if x_key == SHARE else ""
    figure.supxlabel(f"{name}{where} ({f'{args.center} of {seeds} seeds' if max(counts) > 1 else '1 seed'})", fontsize=9.5)
    handles = {}
    for axes in figure.axes:
        handles.update(zip(*reversed(axes.get_legend_handles_labels())))
    if any(line in panel.lines for _, panel in panels for line in panel.published):
        theirs = sorted({dim for _, panel in panels for dim in panel.published_dims if dim is not None})
        name = "published" if args.lines == DIM or theirs == dims else f"published, $d$ = {', '.join(map(plain, theirs))}"
        handles[name] = draw.plt.Line2D([], [], color="black", marker="o", markerfacecolor="white", linestyle=":", linewidth=1.1)
    if any(math.isnan(v) for _, panel in panels for line in panel.lines.values() for vs in line.values() for v in vs):
        handles["diverged"] = draw.plt.Line2D([], [], color="black", marker="x", markersize=7, markeredgewidth=2, linestyle="none")
    headline.heading(figure, handles, args.title, columns + 1 if columns > 1 else 3)
    return figure


def print_table(panels, x_key, args):
    """The figure's numbers."""
    print(f"{'panel':>12}  {'line':>12}  {x_key.rpartition('.')[2]:>10}  {args.center:>9}  {'lowest':>9}  {'highest':>9}  seeds  published")
    for _, panel in panels:
        for line in in_order({*panel.lines, *panel.published}):
            for x in sorted(set(panel.lines.get(line, {})) | set(panel.published.get(line, {}))):
                values = panel.lines.get(line, {}).get(x, [])
                kept = [v for v in values if math.isfinite(v)]
                numbers = [f"{'diverged' if values else '-':>9}"] * 3
                if kept:
                    numbers = [f"{f(kept):>9.5f}" for f in (CENTERS[args.center], min, max)]
                beside = panel.published.get(line, {}).get(x)
                print(f"{panel.title:>12}  {plain(line).translate(NO_MATH):>12}  {tick(x):>10}  {'  '.join(numbers)}  {len(values):>5}"
                      + (f"  {beside:.5f}" if beside is not None else ""))
        for name, at in sorted(panel.baselines.items()):
            for x, errors in sorted(at.items()):
                print(f"{panel.title:>12}  {draw.baseline_label(name):>12}  {tick(x):>10}  {statistics.fmean(errors):>9.5f}")
