"""plot.py on made-up run directories: pictures where there is something to draw, one clear line elsewhere."""
import json
import math
import os
import struct
import sys
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(ROOT, "scripts")]

import fake_run  # noqa: E402
import plot  # noqa: E402
from figures import against, draw, heads, headline, runs  # noqa: E402
from script_case import ScriptCase  # noqa: E402


class PlotTest(ScriptCase):
    def plot(self, *arguments, code=0):
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | {"LC_ALL": "C"}
        done = self.run_script("plot.py", *arguments, code=code, env=environment)
        self.assertNotIn("Warning", done.stderr)
        return done

    def assert_png(self, path):
        with open(path, "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", head[16:24])
        self.assertGreater(min(width, height), 600)  # legible on paper

    def test_rank_draws_and_prints_the_table(self):
        fake_run.ranks(self.path("runs"))
        done = self.plot("rank", self.path("runs"), "-o", self.path("rank.png"))
        self.assert_png(self.path("rank.png"))
        row = next(line.split() for line in done.stdout.splitlines() if "1 x 16" in line)
        self.assertAlmostEqual(float(row[3]), 0.068, delta=0.003)
        self.assertEqual(row[6], "3", done.stdout)
        self.assertIn("best linear map          0.7701", done.stdout)

    def test_every_format(self):
        fake_run.ranks(self.path("runs"), seeds=(0,))
        for extension, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
            self.plot("rank", self.path("runs"), "-o", self.path("made", "rank." + extension))
            with open(self.path("made", "rank." + extension), "rb") as file:
                self.assertTrue(file.read().startswith(start))
        self.assertIn("rank.xyz", self.plot("rank", self.path("runs"), "-o", self.path("rank.xyz"), code=3).stderr)

    def test_curves_with_seeds_of_unequal_length_and_a_diverged_one(self):
        fake_run.make(self.path("a0"), fake_run.config(4, 4, 0), 0.7)
        fake_run.make(self.path("a1"), fake_run.config(4, 4, 1), 0.7, steps=900)
        fake_run.make(self.path("a2"), fake_run.config(4, 4, 2), 0.7, diverge_at=300)
        self.plot("curves", self.folder, "-o", self.path("curves.svg"))
        with open(self.path("curves.svg"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("mean and range of 3 seeds, 1 at the end", text)
        self.assertIn("diverged", text)

    def test_a_diverged_run_is_marked_and_its_error_left_out(self):
        fake_run.ranks(self.path("runs"), seeds=(0,))
        fake_run.make(self.path("runs", "bad"), fake_run.config(4, 4, 9), diverge_at=200)
        done = self.plot("rank", self.path("runs"), "-o", self.path("rank.svg"))
        self.assertIn("bad: diverged", done.stderr)
        with open(self.path("rank.svg"), encoding="utf-8") as file:
            self.assertIn(">diverged<", file.read())

    def test_examples(self):
        for seed in (0, 1):
            fake_run.make(self.path("runs", f"s{seed}"), fake_run.config(2, 8, seed, "linear_regression"), positions=11)
        self.plot("examples", self.path("runs"), "-o", self.path("examples.png"))
        self.assert_png(self.path("examples.png"))
        fake_run.make(self.path("retrieval"), fake_run.config())
        self.assertIn("eval_positions.csv", self.plot("examples", self.path("retrieval"), code=3).stderr)

    def test_no_rows_one_row_and_a_row_cut_short(self):
        run = fake_run.make(self.path("run"), fake_run.config(), steps=10)
        self.plot("curves", run, "-o", self.path("one.png"))
        self.assert_png(self.path("one.png"))
        with open(self.path("run", "train.csv"), "a", encoding="utf-8") as file:
            file.write("20,0.")
        self.assertEqual(len(runs.Run(run).column("train.csv", "loss")), 1)
        fake_run.write(self.path("run", "train.csv"), "step,loss,lr,grad_norm,tokens,elapsed_s\n")
        self.assertIn("no run has rows in train.csv", self.plot("curves", run, code=3).stderr)

    def test_mistakes_are_one_line(self):
        os.mkdir(self.path("empty"))
        self.assertIn("no such directory", self.plot("rank", self.path("missing"), code=3).stderr)
        self.assertIn("no config.json", self.plot("rank", self.path("empty"), code=3).stderr)
        run = fake_run.make(self.path("run"), fake_run.config())
        self.assertIn("it has step, loss", self.plot("curves", run, "--column", "los", code=3).stderr)
        fake_run.write(self.path("run", "config.json"), "{")
        self.assertIn("not JSON", self.plot("rank", run, code=3).stderr)
        self.plot("bars", run, code=2)

    def test_headline_draws_medians_with_lowest_and_highest(self):
        fake_run.table(self.path("headline.csv"), {("plain", 4): (0.70, 0.71, 0.75), ("plain", 16): (0.06, 0.07, 0.08),
                                                   ("scores", 4): (0.02, 0.03, math.nan)})
        panel, = headline.panels(self.path("headline.csv"), "held_out_loss")
        figure, axes = draw.new(None)
        headline.draw_panel(axes, panel)
        lines = {line.get_label(): line for line in axes.lines}
        self.assertEqual([round(y, 9) for y in lines["plain heads"].get_ydata()], [0.71, 0.07])
        self.assertEqual([round(y, 9) for y in lines["scores mixed"].get_ydata()], [0.025])  # of the two that did not diverge
        self.assertEqual(set(lines["best linear map"].get_ydata()), {0.77})
        for x, rank in zip(lines["plain heads"].get_xdata(), (4, 16)):
            self.assertLess(abs(x / rank - 1), 0.15)  # beside its tick
        bars = [sorted(y for _, y in bar) for bars in axes.collections for bar in bars.get_segments()]
        self.assertEqual(bars, [[0.70, 0.75], [0.06, 0.08], [0.02, 0.03]])
        self.assertIn("diverged", lines)
        draw.plt.close(figure)

    def test_headline_has_a_panel_for_every_width_and_depth(self):
        rows = {("plain", 4): (0.7,), ("both", 4): (0.02,)}
        fake_run.table(self.path("headline.csv"), rows, sizes=((16, 1), (16, 2), (32, 1), (64, 1)))
        done = self.plot("headline", self.path("headline.csv"), "-o", self.path("headline.svg"))
        self.assertIn("width 16, 2 layers: 1 seed, best linear map 0.7700", done.stdout)
        with open(self.path("headline.svg"), encoding="utf-8") as file:
            text = file.read()
        for panel in ("width 16, 1 layer", "width 16, 2 layers", "width 32, 1 layer", "width 64, 1 layer"):
            self.assertIn(f">{panel} (1 seed)<", text)
        self.plot("headline", self.path("headline.csv"), "-o", self.path("headline.png"), "--title", "made up")
        self.assert_png(self.path("headline.png"))
        self.assertIn("no such file", self.plot("headline", self.path("missing.csv"), code=3).stderr)
        self.assertIn("'los'", self.plot("headline", self.path("headline.csv"), "--column", "los", code=3).stderr)
        fake_run.write(self.path("other.csv"), "step,loss\n1,0.5\n")
        self.assertIn("not a table of the headline", self.plot("headline", self.path("other.csv"), code=3).stderr)

    def test_the_headline_in_the_repository_can_be_drawn(self):
        table = os.path.join(ROOT, "data", "results", "headline.csv")
        self.plot("headline", table, "-o", self.path("headline.png"))
        self.assert_png(self.path("headline.png"))

    ERRORS = {(1, 1): (0.86, 0.9, 0.5), (1, 64): (0.02, 0.01, 0.03), (3, 1): (0.8, 0.7, math.nan), (3, 64): (0.003, 0.002, 0.004)}

    def fig2(self):
        """Runs at width 64: {(layers, rank): an error a seed, nan where it diverged}."""
        for (layers, rank), errors in self.ERRORS.items():
            for seed, error in enumerate(errors):
                settings = fake_run.config(64 // rank, rank, seed, width=64)
                settings["model"]["layers"] = layers
                run = fake_run.make(self.path("runs", f"{layers}-{rank}-{seed}"), settings, steps=50,
                                    diverge_at=30 if math.isnan(error) else None)
                if not math.isnan(error):
                    fake_run.write(run + "/eval.csv", f"step,loss,loss_sem,accuracy\n0,2.0,0.1,0.0\n50,{error},0.001,0.5\n")
        return runs.find([self.path("runs")])

    ARGUMENTS = {"x": "model.attention.key_size", "panels": "model.layers", "lines": "budget", "measure": "last", "center": "median",
                 "last": 10, "column": "loss", "position": None, "baselines": ["best_linear_map"], "title": None,
                 "published": os.path.join(ROOT, "data", "published", "amsel-fig2.csv")}

    def test_against_draws_the_numbers_of_runs_and_of_the_paper(self):
        found, args = self.fig2(), types.SimpleNamespace(**self.ARGUMENTS)
        panels, x_key = against.gather(found, args)
        self.assertEqual((x_key, [panel.title for _, panel in panels]), ("model.attention.key_size", ["1 layer", "3 layers"]))
        figure = against.picture(panels, x_key, args, found)
        one, three = figure.axes
        self.assertEqual((one.get_xscale(), one.get_yscale()), ("log", "log"))
        lines = {line.get_label(): line for line in one.lines}
        ours = lines["budget $d^{2}$"]
        self.assertEqual((list(ours.get_xdata()), list(ours.get_ydata())), ([1, 64], [0.86, 0.02]))
        self.assertEqual([round(y, 9) for y in lines["best linear map"].get_ydata()], [0.7701, 0.7701])
        dotted, = [line for line in one.lines if line.get_linestyle() == ":"]
        self.assertEqual((list(dotted.get_xdata()), list(dotted.get_ydata())),
                         ([1, 2, 4, 8, 16, 32, 64], [.868, .864, .856, .841, .801, .695, .0153]))
        self.assertEqual(dotted.get_color(), ours.get_color())
        bars = [sorted(y for _, y in bar) for bars in one.collections for bar in bars.get_segments()]
        self.assertEqual(bars, [[0.5, 0.9], [0.01, 0.03]])
        crosses = [list(line.get_xdata()) for line in three.lines if line.get_marker() == "x"]
        self.assertEqual(crosses, [[1]])
        ours = next(line for line in three.lines if line.get_label() == "budget $d^{2}$")
        self.assertEqual(list(ours.get_ydata()), [0.75, 0.003])  # of the seeds that did not diverge
        draw.plt.close(figure)

    def test_against_by_share_of_the_dimension_by_minimum_and_at_a_position(self):
        found = self.fig2()
        layers = self.ARGUMENTS | {"center": "min", "x": "rank/dim", "panels": None, "lines": "model.layers"}
        # Published at three budgets, which these lines do not tell apart.
        with self.assertRaisesRegex(runs.Problem, "two numbers for one point, 0.868 and 0.83"):
            against.gather(found, types.SimpleNamespace(**layers))
        args = types.SimpleNamespace(**layers | {"published": None})
        (_, panel), = against.gather(found, args)[0]
        self.assertEqual(panel.lines[1], {1 / 64: [0.86, 0.9, 0.5], 1.0: [0.02, 0.01, 0.03]})
        self.assertEqual(against.tick(1 / 64), "1/64")
        # Another dimension than the published one: shares, without being asked.
        fake_run.ranks(self.path("small"), seeds=(0,))
        small = runs.find([self.path("small")])
        panels, x_key = against.gather(small, types.SimpleNamespace(**self.ARGUMENTS))
        self.assertEqual(x_key, "rank/dim")
        self.assertEqual(sorted(panels[0][1].lines["$d^{2}$"]), [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1])
        self.assertEqual(panels[0][1].published["$d^{2}$"][1 / 64], 0.868)
        run = fake_run.make(self.path("context"), fake_run.config(2, 8, 0, "linear_regression"), positions=11)
        args = types.SimpleNamespace(**self.ARGUMENTS | {"position": "last", "published": None, "baselines": ["averaging"]})
        (_, panel), = against.gather(runs.find([run]), args)[0]
        last = [row for row in runs.Run(run).rows("eval_positions.csv") if (row["step"], row["position"]) == ("2000", "10")]
        self.assertEqual(panel.lines, {"$d^{2}$": {8: [float(last[0]["error"])]}})
        self.assertEqual(panel.baselines, {"averaging": {8: [0.6]}})

    def test_against_in_every_format_and_its_mistakes(self):
        self.fig2()
        for extension in ("png", "svg", "pdf"):
            done = self.plot("against", "model.attention.key_size", self.path("runs"), "--panels", "model.layers", "--lines", "budget",
                             "--published", self.ARGUMENTS["published"], "-o", self.path("against." + extension))
        self.assert_png(self.path("against.png"))
        row = next(line.split() for line in done.stdout.splitlines() if "1 layer" in line and " 64 " in line)
        self.assertEqual(row[4:], ["0.02000", "0.01000", "0.03000", "3", "0.01530"])
        self.assertIn("no field task.dims", self.plot("against", "task.dims", self.path("runs"), code=3).stderr)
        self.assertIn("no such file", self.plot("against", "budget", self.path("runs"), "--published", self.path("x"), code=3).stderr)

    def inspect_json(self, name, copies, angles, width=16):
        """What `headroom inspect --json` prints of a layer of full-rank heads, one a copy."""
        heads = [{"qk": {"singular_values": [width * (copies + 1.0)] * width, "effective_rank": width, "angle_deg": angle,
                         "scale": 10.0 * angle}} for angle in angles]
        layer = {"name": "layers.0.attention", "width": width, "copies": copies, "softmax_heads": 1, "key_size": width, "heads": heads}
        fake_run.write(self.path(name), json.dumps({"layers": [layer]}))
        return self.path(name)

    def test_identity_draws_quartiles_of_all_heads_and_seeds_beside_the_published(self):
        files = [self.inspect_json("a.json", 4, (170, 172, 174, 176)), self.inspect_json("b.json", 4, (178,)),
                 self.inspect_json("c.json", 1, (179,))]
        published = os.path.join(ROOT, "data", "published", "amsel-identity.csv")
        figure, rows = heads.identity(files, published, None)
        rows = {(row[0], row[1]): row[2:] for row in rows}
        self.assertEqual(rows["angle_degrees", "$d^{2.5}$"], (5, 170, 172, 174, 176, 178, 176.3))
        self.assertEqual(rows["scale", "$d^{2}$"], (1, 1790, 1790, 1790, 1790, 1790, 2400))
        self.assertEqual(rows["angle_degrees", "$d^{3}$"][0], 0)
        angle, scale = figure.axes
        self.assertEqual([text.get_text() for text in angle.get_xticklabels()], ["$d^{2}$", "$d^{2.5}$", "$d^{3}$"])
        self.assertEqual((angle.get_yscale(), scale.get_yscale()), ("linear", "log"))
        medians = {line.get_ydata()[0] for line in angle.lines if line.get_linewidth() == 2.4}
        self.assertEqual(medians, {179, 174})
        hollow = [line.get_ydata()[0] for line in angle.lines if line.get_markerfacecolor() == "white"]
        self.assertEqual(hollow, [179.6, 176.3, 168.5])
        draw.plt.close(figure)
        done = self.plot("identity", *files, "--published", published, "-o", self.path("identity.png"))
        self.assert_png(self.path("identity.png"))
        self.assertIn("angle_degrees   d^2.5      5    170.00    172.00    174.00    176.00    178.00    176.30", done.stdout)

    def test_spectra(self):
        files = [self.inspect_json("a.json", 1, (179.9,)), self.inspect_json("b.json", 2, (90, 120))]
        figure = heads.spectra(files, None)
        one, two, three = figure.axes[0].lines[:3]
        self.assertEqual((list(one.get_ydata()), list(two.get_ydata())), ([32.0] * 16, [48.0] * 16))
        self.assertEqual(one.get_label(), "a: effective rank 16.0, 179.9° to I")
        self.assertEqual((two.get_label(), two.get_color()), ("b: effective rank 16.0, 90.0-120.0° to I", three.get_color()))
        draw.plt.close(figure)
        self.plot("spectra", *files, "-o", self.path("spectra.png"))
        self.assert_png(self.path("spectra.png"))
        fake_run.write(self.path("c.json"), '{"layers": [{"heads": [{"qk": null}]}]}')
        self.assertIn("no heads to draw", self.plot("spectra", self.path("c.json"), code=3).stderr)
        fake_run.write(self.path("c.json"), '{"layers": [{"heads": [{}]}]}')
        self.assertIn("not what `headroom inspect", self.plot("identity", self.path("c.json"), code=3).stderr)

    def dump(self, name, tensors):
        """A safetensors file of float32 tensors {name: (shape, values)}."""
        header, data = {}, b""
        for key, (shape, values) in tensors.items():
            begin = len(data)
            data += struct.pack(f"<{len(values)}f", *values)
            header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
        text = json.dumps(header).encode()
        with open(self.path(name), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
        return self.path(name)

    def test_maps_draw_the_weights_of_the_item(self):
        weights = [x / 24 for x in range(24)]  # 2 items, 2 heads, 2 queries, 3 keys
        dump = self.dump("maps.safetensors", {"layers.10.attention.weights": ((2, 2, 2, 3), [-w for w in weights]),
                                              "layers.2.attention.weights": ((2, 2, 2, 3), weights), "batch.input": ((1, 1), [7])})
        figure = heads.maps(dump, 1, None)
        images = [axes.images[0] for axes in figure.axes[:4]]
        self.assertEqual([axes.get_title() for axes in figure.axes[:4]], ["head 0", "head 1", "", ""])
        self.assertEqual([axes.get_ylabel() for axes in figure.axes[:4:2]], ["layers 2", "layers 10"])  # by number
        for image, sign, first in zip(images, (1, 1, -1, -1), (12, 18, 12, 18)):
            shown = [value for line in image.get_array().tolist() for value in line]
            for value, wanted in zip(shown, range(first, first + 6), strict=True):
                self.assertAlmostEqual(value, sign * wanted / 24, places=6)
        self.assertAlmostEqual(images[0].norm.vmin, -23 / 24, places=6)  # some weights are negative: white is 0
        draw.plt.close(figure)
        self.plot("maps", dump, "-o", self.path("maps.png"))
        self.assert_png(self.path("maps.png"))
        self.assertIn("items 0 to 1, not 2", self.plot("maps", dump, "--item", "2", code=3).stderr)
        self.assertIn("no attention maps", self.plot("maps", self.dump("x", {"batch.input": ((1, 1), [7])}), code=3).stderr)
        fake_run.write(self.path("y"), "no tensors")
        self.assertIn("not what `headroom inspect --dump`", self.plot("maps", self.path("y"), code=3).stderr)

    def test_published_numbers_name_their_source(self):
        folder = os.path.join(ROOT, "data", "published")
        for name in os.listdir(folder):
            if name.endswith(".csv"):
                rows = runs.read_csv(os.path.join(folder, name))
                self.assertTrue(rows, name)
                for row in rows:
                    self.assertTrue(row["source"] and row["reading"] and row["statistic"], (name, row))
                    self.assertTrue(0 <= float(row.get("error") or row["median"]) < 3000)

    def test_log_axes_are_logarithmic(self):
        figure, axes = draw.new(None)
        draw.band(axes, [[(10, 1.0), (100, 0.1), (1000, 0.01)]], draw.style(0), "")
        axes.set_xscale("log")
        axes.set_yscale("log")
        at = axes.transData.transform([(10, 1.0), (100, 0.1), (1000, 0.01)])
        self.assertAlmostEqual(at[1][0] - at[0][0], at[2][0] - at[1][0], places=6)
        self.assertAlmostEqual(at[1][1] - at[0][1], at[2][1] - at[1][1], places=6)
        draw.save(figure, self.path("log.png"))

    def test_groups_are_named_by_what_differs(self):
        fake_run.make(self.path("a"), fake_run.config(4, 4, 0))
        fake_run.make(self.path("b"), fake_run.config(4, 4, 1))
        fake_run.make(self.path("c"), fake_run.config(1, 16, 0))
        groups = runs.group(runs.find([self.folder]), ())
        self.assertEqual([(label, len(members)) for label, members in groups],
                         [("heads 1, key size 16", 1), ("heads 4, key size 4", 2)])

    def test_a_group_with_an_object_where_the_other_has_none(self):
        plain, staged = fake_run.config(task="linear_regression"), fake_run.config(task="linear_regression")
        plain["task"]["curriculum"] = None
        staged["task"]["curriculum"] = {"dims": {"start": 1, "end": 16, "step": 1, "every": 100}}
        fake_run.make(self.path("a"), plain)
        fake_run.make(self.path("b"), staged)
        found = runs.find([self.folder])
        self.assertEqual([label for label, _ in runs.group(found, ())], ["curriculum none", "curriculum given"])
        staged["task"]["curriculum"]["dims"]["end"] = 8
        fake_run.make(self.path("c"), staged)
        labels = [label for label, _ in runs.group(runs.find([self.folder]), ())]
        self.assertEqual(labels[0], "curriculum none")
        self.assertIn("curriculum.dims.end': 8", labels[1] + labels[2])

    def test_a_long_label_is_cut_and_no_entry_leaves_the_figure(self):
        figure, axes = draw.new("a title")
        for index in range(6):
            axes.plot([1, 2], [1, 2], label=f"{index} " + "long " * 40)
        draw.legend(axes, False)
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        entries = axes.get_legend().get_texts()
        self.assertEqual([text.get_text()[-8:] for text in entries], ["long ..."] * 6)
        title = figure._suptitle.get_window_extent(renderer)
        for text in entries:
            box = text.get_window_extent(renderer)
            self.assertTrue(box.x0 >= 0 and box.x1 <= figure.bbox.width and box.y1 <= title.y0, (box, title))
        draw.plt.close(figure)

    def test_examples_with_published_errors(self):
        published = os.path.join(ROOT, "data", "published", "garg-in-context.csv")
        run = fake_run.make(self.path("a"), fake_run.config(task="linear_regression", width=20), positions=41)
        figure, axes = draw.new(None)
        self.assertEqual(plot.published_examples(axes, published, runs.find([run])), [0.02, 0.0006])
        self.assertEqual(list(axes.lines[0].get_xdata()), [20, 40])
        draw.plt.close(figure)
        self.plot("examples", run, "--published", published, "-o", self.path("a.png"))
        self.assert_png(self.path("a.png"))
        other = fake_run.make(self.path("b"), fake_run.config(task="linear_regression"), positions=11)
        self.assertIn("nothing of this task", self.plot("examples", other, "--published", published, "-o", self.path("b.png")).stderr)
        self.assertIn("no errors of transformers", self.plot("examples", other, "--published", self.ARGUMENTS["published"], code=3).stderr)

    def test_ticks_are_ours_where_the_published_grid_is_another(self):
        for rank in (1, 2, 4, 8, 16):
            fake_run.make(self.path("runs", str(rank)), fake_run.config(32 // rank, rank, task="linear_regression", width=8), positions=17)
        args = types.SimpleNamespace(**self.ARGUMENTS | {"x": "rank/dim", "panels": None, "lines": None, "position": "last", "baselines": [],
                                                         "published": os.path.join(ROOT, "data", "published", "amsel-in-context.csv")})
        found = runs.find([self.path("runs")])
        panels, x_key = against.gather(found, args)
        figure = against.picture(panels, x_key, args, found)
        self.assertEqual([text.get_text() for text in figure.axes[0].get_xticklabels()], ["1/8", "1/4", "1/2", "1", "2"])
        draw.plt.close(figure)
        # A baseline that falls with x is marked and lies over the runs, a level behind them.
        panel, (figure, axes) = panels[0][1], draw.new(None)
        panel.baselines = {"gradient_descent_1": {1: [0.6], 2: [0.3]}, "zero": {1: [1.0], 2: [1.001]}}
        against.draw_panel(axes, panel, {"": "ours"}, "median")
        lines = {line.get_label(): line for line in axes.lines}
        self.assertEqual([lines[name].get_marker() for name in ("gradient descent 1", "zero")], ["+", "None"])
        self.assertLess(lines["zero"].zorder, lines["ours"].zorder)
        self.assertLess(lines["ours"].zorder, lines["gradient descent 1"].zorder)
        draw.plt.close(figure)

    def test_budget_counts_copies_and_derives_the_key_size(self):
        settings = fake_run.config(4, None)
        settings["model"]["attention"]["copies"] = 3
        run = runs.Run(fake_run.make(self.path("run"), settings))
        self.assertEqual((run.key_size, run.budget), (4, 16 * 4 * 3 * 4))


if __name__ == "__main__":
    unittest.main()
