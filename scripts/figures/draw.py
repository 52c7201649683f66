"""The look of the figures: one palette, true log axes with plain numbers, bands over seeds, lines of baselines."""
import math
import os

import matplotlib

matplotlib.use("Agg")  # no display needed
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from figures.runs import Problem, note  # noqa: E402

# Okabe and Ito's colours, told apart with any colour vision; yellow is left out as too light for a line. The markers
# tell the groups apart without colour.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = [(0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1.5)), (0, (6, 2, 1, 2, 1, 2))]
GREY = "#555555"
LONGEST_LABEL = 70  # what the narrowest figure is wide enough for

plt.rcParams.update({
    "font.size": 9, "axes.labelsize": 10, "legend.fontsize": 8, "xtick.labelsize": 9, "ytick.labelsize": 9,
    "lines.linewidth": 1.6, "lines.markersize": 5, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "legend.frameon": False, "figure.dpi": 200, "savefig.dpi": 200, "pdf.fonttype": 42, "svg.fonttype": "none",
})


def style(index):
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def new(title):
    figure, axes = plt.subplots(figsize=(5.2, 3.5), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=10)
    return figure, axes


def text_of(value, _=None):
    """A tick's number: 0.05, 200, 100k."""
    if value >= 10000:
        return f"{value / 1000:g}k" if value < 1e6 else f"{value / 1e6:g}M"
    return f"{value:.0e}" if value < 9.99e-4 else f"{value:g}"


def log_axis(axis):
    """Numbers as dense as the decades shown leave room for."""
    low, high = axis.get_view_interval()
    decades = math.log10(high / low)
    subs = (1, 1.5, 2, 3, 4, 5, 6, 8) if decades < 0.8 else (1, 2, 3, 4, 6) if decades < 1.4 else (1, 2, 5) if decades < 3 else (1,)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=20))
    axis.set_minor_locator(LogLocator(base=10, subs=range(2, 10), numticks=100))
    axis.set_major_formatter(FuncFormatter(text_of))
    axis.set_minor_formatter(NullFormatter())


def band(axes, series, look, label, dense=False):
    """The mean of several series [(x, y)] with their min-max; an x that only some reach is the mean of those.

    The label says how many series there are, and how many at the last x where some have ended before. `dense`: too many
    points to mark each.
    """
    points = {}
    for one in series:
        for x, y in one:
            if math.isfinite(y):
                points.setdefault(x, []).append(y)
    xs = sorted(points)
    mean = [sum(points[x]) / len(points[x]) for x in xs]
    if dense and len(xs) > 12:
        look = {**look, "markevery": 0.12, "markersize": 4}  # by distance on the paper
    if len(series) > 1:
        first, last = len(series), len(points[xs[-1]])
        count = f"{first} seeds" if last == first else f"{first} seeds, {last} at the end"
        label = f"{label} ({count})" if label else f"mean and range of {count}"
        low, high = [min(points[x]) for x in xs], [max(points[x]) for x in xs]
        axes.fill_between(xs, low, high, color=look["color"], alpha=0.18, linewidth=0)
        if not dense:
            axes.vlines(xs, low, high, color=look["color"], linewidth=1, alpha=0.6)
    axes.plot(xs, mean, label=label or None, **look)


def baseline_label(name):
    return name.replace("_", " ")


def baseline_lines(axes, lines):
    """Horizontal lines {name: error}, each with its name and value at the right end, spread where they would overlap."""
    shown = sorted((error, name) for name, error in lines.items() if error > 0 and math.isfinite(error))
    for index, (error, name) in enumerate(shown):
        axes.axhline(error, color=GREY, linewidth=1, linestyle=DASHES[index % len(DASHES)], zorder=1)
    low, high = (math.log(v) for v in axes.get_ylim())
    below = -math.inf
    for error, name in shown:
        place = max((math.log(error) - low) / (high - low), below + 0.045)
        below = place
        axes.annotate(f"{baseline_label(name)} {error:.3g}", (1.01, place), xycoords="axes fraction", va="center",
                      fontsize=8, color=GREY, annotation_clip=False)


def mark_diverged(axes, points, look):
    """A cross on the curve's last finite point, or at the top edge for x alone: [(x, y or None)]."""
    for x, y in points:
        transform = axes.get_xaxis_transform() if y is None else axes.transData
        axes.plot([x], [0.97 if y is None else y], marker="x", markersize=8, markeredgewidth=2, color=look["color"],
                  linestyle="none", transform=transform, clip_on=False, zorder=5)


def legend(axes, any_diverged):
    """The legend stands above the axes, where it can hide no data; the figure grows by its height."""
    if any_diverged:
        axes.plot([], [], marker="x", markersize=7, markeredgewidth=2, linestyle="none", color="black", label="diverged")
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return
    labels = [label if len(label) <= LONGEST_LABEL else label[:LONGEST_LABEL - 3] + "..." for label in labels]
    columns = max(1, min(3, len(labels), 78 // (max(map(len, labels)) + 8)))
    rows = -(-len(labels) // columns)
    width, height = axes.figure.get_size_inches()
    axes.figure.set_size_inches(width, height + 0.17 * rows)
    axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncol=columns, borderaxespad=0.2, labelspacing=0.3,
                columnspacing=1.5, handlelength=2.6)


def save(figure, path):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        figure.savefig(path)
    except OSError as error:
        raise Problem(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # an unknown file extension
        raise Problem(f"{path}: {error}") from error
    note(f"wrote {path}")
