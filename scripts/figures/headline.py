"""The headline's picture: error against the rank of the heads, one line a variant, a panel for every width and depth."""
import math
import statistics

from figures import draw, runs
from figures.runs import Problem

# In the order in which they are drawn, the lowest last.
LABELS = {
    "plain": "plain heads", "weights": "weights mixed", "more_heads": "plain, more heads",
    "full_key": "key size = width", "scores": "scores mixed", "both": "both mixed",
}
RATE = 0.01  # the recipe's learning rate, not worth a word in a title
DODGE = 1.035  # lines of equal height stay apart by this factor along the x axis


def number(row, column):
    try:
        return float(row[column])
    except KeyError as error:
        raise Problem(f"not a table of the headline: no column {error}") from error
    except ValueError:
        return math.nan


class Panel:
    """One width, depth and learning rate: {variant: {rank: [held-out error of a seed, nan where it diverged]}}."""

    def __init__(self, width, layers, lr):
        self.width, self.layers, self.lr = width, layers, lr
        self.errors, self.linear = {}, math.nan

    @property
    def title(self):
        rate = "" if self.lr == RATE else f", rate {self.lr:g}"
        return f"width {self.width}, {self.layers} layer{'s' if self.layers > 1 else ''}{rate}"

    def seeds(self):
        """How many runs stand behind a point: "5 seeds", or "1-3 seeds" where it is not the same number everywhere."""
        counts = [len(errors) for ranks in self.errors.values() for errors in ranks.values()]
        least, most = min(counts), max(counts)
        return f"{most if least == most else f'{least}-{most}'} seed{'s' if most > 1 else ''}"


def panels(path, column):
    """The panels of a table that scripts/headline.py wrote, in order."""
    found = {}
    for row in runs.read_csv(path):
        key = int(number(row, "width")), int(number(row, "layers")), number(row, "lr")
        panel = found.setdefault(key, Panel(*key))
        # The rank of the plain heads of that number is the value size in every variant, also where the keys are larger.
        ranks = panel.errors.setdefault(row["variant"], {})
        ranks.setdefault(int(number(row, "value_size")), []).append(number(row, column))
        panel.linear = number(row, "best_linear_map")
    if not found:
        raise Problem(f"{path}: no such file, or no rows in it")
    return [found[key] for key in sorted(found, key=lambda key: (key[0], key[1], -key[2]))]


def draw_panel(axes, panel):
    """One line a variant through the medians, with a bar from the lowest seed to the highest."""
    variants = [variant for variant in LABELS if variant in panel.errors]
    for index, variant in enumerate(LABELS):
        if variant not in variants:
            continue
        look = draw.style(index)
        shift = DODGE ** (index - (len(LABELS) - 1) / 2)
        points = []
        for rank, errors in sorted(panel.errors[variant].items()):
            finite = [error for error in errors if math.isfinite(error) and error > 0]
            if len(finite) < len(errors):
                draw.mark_diverged(axes, [(rank * shift, None)], look)
                axes.lines[-1].set_label("diverged")
            if finite:
                points.append((rank * shift, statistics.median(finite), min(finite), max(finite)))
        if points:
            xs, medians, lowest, highest = zip(*points)
            axes.vlines(xs, lowest, highest, color=look["color"], linewidth=2.2, alpha=0.55)
            axes.plot(xs, medians, label=LABELS[variant], markersize=4.5, linewidth=1.2, **look)
    if math.isfinite(panel.linear):
        axes.axhline(panel.linear, color=draw.GREY, linewidth=1, linestyle=draw.DASHES[0], zorder=1, label="best linear map")
    ranks = [1 << power for power in range(panel.width.bit_length())]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(ranks[0] / 1.3, ranks[-1] * 1.3)
    axes.set_xticks(ranks, [f"{rank}\n{panel.width // rank}" for rank in ranks])
    axes.minorticks_off()
    axes.set_title(f"{panel.title} ({panel.seeds()})", fontsize=8.5)


def picture(found, title):
    """All panels on one sheet, two or three beside each other, on the same scale of errors, under one legend."""
    columns = min(3, len(found)) if len(found) != 4 else 2
    rows = -(-len(found) // columns)
    size = max(5.2, 2.9 * columns), 2.6 * rows + 0.4
    figure, grid = draw.plt.subplots(rows, columns, figsize=size, squeeze=False, sharey=True, layout="constrained")
    for axes, panel in zip(grid.flat, found):
        draw_panel(axes, panel)
    for axes in grid.flat[len(found):]:
        axes.remove()
    seeds = [seeds for panel in found for ranks in panel.errors.values() for seeds in ranks.values()]
    errors = [error for errors in seeds for error in errors if error > 0]
    if not errors:
        raise Problem("nothing to draw: no run of the table ended with a finite error")
    grid[0][0].set_ylim(min(errors) / 1.3, max(1.0, *errors) * 1.3)
    draw.log_axis(grid[0][0].yaxis)
    for line in grid:
        line[0].set_ylabel("held-out error")
    figure.supxlabel("key size $r$ of the plain heads, below it their number, width / $r$", fontsize=10)
    handles = {}
    for axes in figure.axes:
        handles.update(zip(*reversed(axes.get_legend_handles_labels())))
    heading(figure, handles, title, columns + 1)
    return figure


def heading(figure, handles, title, columns):
    """The title and one legend for all panels, above them; the figure grows by their height."""
    width, height = figure.get_size_inches()
    above = 0.2 if title else 0
    grown = height + above + 0.18 * -(-len(handles) // columns) + 0.12
    figure.set_size_inches(width, grown)
    figure.get_layout_engine().set(rect=(0, 0, 1, height / grown))
    figure.legend(handles.values(), handles.keys(), loc="upper left", bbox_to_anchor=(0.04, 1 - above / grown), ncol=columns,
                  columnspacing=1.5, handlelength=2.4, labelspacing=0.3)
    if title:
        figure.suptitle(title, fontsize=10, y=1 - 0.04 / grown, va="top")
