"""What `headroom inspect` sees of the heads: spectra, how near to the identity, attention maps."""
import contextlib
import os
import re
import statistics
import struct

from figures import draw, runs
from figures.headline import heading
from figures.runs import Problem, note

MOST_HEADS = 8  # beside each other on a page
QUANTITIES = (("angle_degrees", "angle_deg", "angle to the identity, degrees"), ("scale", "scale", "scale, $\\Vert M \\Vert_F / \\sqrt{d}$"))


@contextlib.contextmanager
def reading(path):
    """What is not there or of another kind in a file of `headroom inspect --json` is the user's mistake."""
    try:
        yield
    except (KeyError, TypeError, IndexError) as error:
        raise Problem(f"{path}: not what `headroom inspect --json` prints: {error!r}") from error


def score_maps(path):
    """(the first layer, the rows on W_Q^T W_K of every head of all layers that has one of its own)."""
    with reading(path):
        layers = runs.read_json(path)["layers"]
        maps = [head["qk"] for layer in layers for head in layer["heads"] if head["qk"]]
    if not maps:
        raise Problem(f"{path}: no heads to draw")
    return layers[0], maps


def spectra(paths, title):
    """Singular values of W_Q^T W_K, a curve a head, a colour a file."""
    figure, axes = draw.new(title)
    for index, path in enumerate(paths):
        _, heads = score_maps(path)
        angles = [head["angle_deg"] for head in heads if head["angle_deg"] is not None]
        rank = statistics.fmean(head["effective_rank"] for head in heads)
        label = f"{os.path.splitext(os.path.basename(path))[0]}: effective rank {rank:.1f}"
        label += f", {'-'.join(dict.fromkeys(f'{angle:.1f}' for angle in (min(angles), max(angles))))}° to I" if angles else ""
        for head in heads:
            values = [value for value in head["singular_values"] if value > 0]
            axes.plot(range(1, len(values) + 1), values, label=label, markersize=4, alpha=0.7, **draw.style(index))
            label = None
    axes.set_yscale("log")
    draw.legend(axes, False)
    draw.log_axis(axes.yaxis)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("index")
    axes.set_ylabel("singular value of $W_Q^T W_K$")
    return figure


def by_budget(paths):
    """({budget as a power of the width: {quantity: [a number a head]}}, widths): one-layer runs, heads and seeds pooled."""
    groups, widths = {}, set()
    for path in paths:
        layer, maps_of_run = score_maps(path)
        with reading(path):
            width = layer["width"]
            budget = runs.power_of(width * layer["copies"] * layer["softmax_heads"] * layer["key_size"], width)
            widths.add(width)
            for head in maps_of_run:
                for quantity, key, _ in QUANTITIES:
                    groups.setdefault(budget, {}).setdefault(quantity, []).append(head[key])
    return groups, sorted(widths)


def identity(paths, published, title):
    """How near W_Q^T W_K is to minus the identity: a box a budget (quartiles; whiskers to the lowest and highest), published ones beside.

    Returns the figure and its rows (quantity, budget, heads, lowest, quartile, median, quartile, highest, published median).
    Amsel et al. measure W_Q W_K^T, whose trace is the same and whose norm is not.
    """
    groups, widths = by_budget(paths)
    rows = runs.read_csv(published) if published else []
    if published and not rows:
        raise Problem(f"{published}: no such file, or no rows in it")
    theirs = {}
    for row in rows:
        dim, copies, heads, size = (runs.number(row[key]) for key in (
            "task.dim", "model.attention.copies", "model.attention.heads", "model.attention.key_size"))
        theirs[row["quantity"], runs.power_of(dim * copies * heads * size, dim)] = row
    names = sorted({*groups, *(budget for _, budget in theirs)}, key=lambda name: name.replace("}", ""))
    figure, (grid,) = draw.plt.subplots(1, 2, figsize=(6.4, 3.2), squeeze=False, layout="constrained")
    ours, other, table = draw.style(0)["color"], draw.style(1), []
    for axes, (quantity, _, label) in zip(grid, QUANTITIES):
        for place, name in enumerate(names):
            values, row = sorted(groups.get(name, {}).get(quantity, [])), theirs.get((quantity, name))
            low, middle, high = (None,) * 3
            if values:
                low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
                box = {"med": middle, "q1": low, "q3": high, "whislo": values[0], "whishi": values[-1], "fliers": []}
                lines = {"color": ours, "linewidth": 1.4}
                axes.bxp([box], positions=[place - 0.17], widths=0.26, manage_ticks=False, boxprops=lines, whiskerprops=lines,
                         capprops=lines, medianprops={"color": ours, "linewidth": 2.4})
            median = runs.number(row["median"]) if row else None
            if row:
                ends = [runs.number(row[key]) for key in ("quartile1", "quartile3")]
                bars = [[median - ends[0]], [ends[1] - median]] if ends[0] == ends[0] else None
                axes.errorbar([place + 0.17], [median], yerr=bars, linestyle="none", capsize=4, markerfacecolor="white", **other)
            table.append((quantity, name, len(values), *((values[0], low, middle, high, values[-1]) if values else (None,) * 5), median))
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylabel(label)
    grid[1].set_yscale("log")
    draw.log_axis(grid[1].yaxis)
    figure.supxlabel("budget: width $\\cdot$ heads $\\cdot$ $r$ $\\cdot$ copies", fontsize=10)
    handles = {f"ours, $d$ = {', '.join(map(str, widths))}": draw.plt.Line2D([], [], color=ours, linewidth=2.4)}
    if theirs:
        dims = ", ".join(sorted({row["task.dim"] for row in rows}))
        handles[f"published, $d$ = {dims}: median, quartiles"] = draw.plt.Line2D([], [], linestyle="none", markerfacecolor="white", **other)
    heading(figure, handles, title, 2)
    return figure, table


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def maps(path, item, title):
    """Attention maps of one held-out item: a row a layer (before and after mixing where weights are mixed), a column a head."""
    import load_checkpoint  # needs numpy, as matplotlib does
    try:
        tensors, _ = load_checkpoint.read(path)
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise Problem(f"{path}: not what `headroom inspect --dump` writes: {error}") from error
    found = {name: tensors[name] for name in sorted(tensors, key=natural) if name.endswith("weights") and tensors[name].ndim == 4}
    if not found:
        raise Problem(f"{path}: no attention maps (headroom inspect RUN --dump writes some)")
    items = min(len(weights) for weights in found.values())
    if not 0 <= item < items:
        raise Problem(f"{path}: it has items 0 to {items - 1}, not {item}")
    heads = max(weights.shape[1] for weights in found.values())
    if heads > MOST_HEADS:
        note(f"{path}: the first {MOST_HEADS} of {heads} heads")
    columns = min(heads, MOST_HEADS)
    shown = [weights[item, :columns] for weights in found.values()]
    low, high = min(float(w.min()) for w in shown), max(float(w.max()) for w in shown)
    # Linear weights and mixed ones may be negative: then white is 0.
    scale = {"cmap": "cividis", "vmin": 0, "vmax": high} if low >= 0 else {"cmap": "PuOr", "vmin": -max(high, -low), "vmax": max(high, -low)}
    size = max(5.2, 1.25 * columns + 1.2), 1.25 * len(found) + 0.9
    figure, grid = draw.plt.subplots(len(found), columns, figsize=size, squeeze=False, layout="constrained")
    image = None
    for row, (line, name, weights) in enumerate(zip(grid, found, shown)):
        for head, axes in enumerate(line):
            if head >= len(weights):
                axes.remove()
                continue
            image = axes.imshow(weights[head], interpolation="nearest", **scale)
            axes.grid(False)
            axes.set_xticks([])
            axes.set_yticks([])
            if row == 0:
                axes.set_title(f"head {head}", fontsize=8)
        line[0].set_ylabel(name.replace(".attention", "").replace("mixed_weights", "mixed").replace(".weights", "").replace(".", " "), fontsize=8)
    figure.colorbar(image, ax=figure.axes, shrink=0.8, label="weight")
    figure.supxlabel("key", fontsize=9)
    figure.supylabel("query", fontsize=9)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure
