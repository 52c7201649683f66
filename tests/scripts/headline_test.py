"""headline.py with a binary made up for it: which models it trains, what it leaves as it is, what its tables say."""
import csv
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SCRIPT = os.path.join(ROOT, "scripts", "headline.py")
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("headline", SCRIPT)
headline = importlib.util.module_from_spec(spec)
spec.loader.exec_module(headline)

# Each head has 10 parameters for every number of its key, each mixing heads^2. Errors are 0.1 * heads + 0.01 * seed; seed 2 of
# the heads of rank 8 diverges, and each call of train leaves a line in the file `calls`.
BINARY = r'''
import json, os, sys
fields = dict(part.split("=", 1) for flag, part in zip(sys.argv, sys.argv[1:]) if flag == "--set")
heads, key, value = (int(fields["model.attention." + name]) for name in ("heads", "key_size", "value_size"))
width, layers = int(fields["model.width"]), int(fields["model.layers"])
mixings = sum("mix_" in name for name in fields)
parameters = layers * (10 * heads * key + mixings * heads ** 2)
if sys.argv[1] == "check":
    budget = {"d_h_r": width * heads * key, "parameters": parameters, "forward_flops_per_token": 2.0 * parameters}
    print(json.dumps({"budget": budget}))
    sys.exit(0)
run, seed = sys.argv[sys.argv.index("--out") + 1], int(fields["seed"])
with open(os.path.join(HERE, "calls"), "a") as file:
    file.write(run + "\n")
if os.path.exists(os.path.join(HERE, "full disk")):
    sys.exit("headroom: no space")
code = 4 if seed == 2 and key == 8 else 0
os.mkdir(run)
def write(name, text):
    with open(os.path.join(run, name), "w") as file:
        file.write(text)
write("config.json", json.dumps({"seed": seed, "task": {"points": 16}, "model": {"width": width, "layers": layers},
                                 "train": {"optimizer": {"lr": float(fields.get("train.optimizer.lr", 0.01))}},
                                 "run": {"log_every": 50}}))
write("run.json", json.dumps({"exit_code": code, "parameters": parameters, "commit": "abc",
    "derived": {"model": {"attention": {"heads": heads, "key_size": key, "value_size": value}}}}))
write("baselines.csv", "baseline,position,error,error_sem\nbest_linear_map,,0.77,0.001\n")
write("train.csv", "step,loss\n50,9.0\n100,0.5\n150,0.7\n")
write("eval.csv", f"step,loss,loss_sem\n0,2.0,0.1\n150,{0.1 * heads + 0.01 * seed},0.001\n")
sys.exit(code)
'''


class HeadlineTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="headline test ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.binary = self.path("headroom")
        with open(self.binary, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable} -IS\nHERE = {self.folder!r}\n{BINARY}")
        os.chmod(self.binary, 0o755)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_script(self, *arguments, code=0):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--headroom", self.binary, "--runs", self.path("runs"), "--out",
                               self.path("out"), *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def calls(self):
        with open(self.path("calls"), encoding="utf-8") as file:
            return [os.path.basename(line.strip()) for line in file]

    def table(self, name):
        with open(self.path("out", name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_the_grid_its_control_and_its_tables(self):
        self.run_script("--seeds", "0", "1", "2", "--jobs", "2")
        self.assertEqual(len(self.calls()), 3 * (4 * 6 + 2))
        rows = self.table("headline.csv")
        self.assertEqual(len(rows), 3 * (4 * 6 + 2))
        row = next(r for r in rows if r["variant"] == "scores" and r["key_size"] == "4" and r["seed"] == "1")
        self.assertEqual({**row, "held_out_loss": round(float(row["held_out_loss"]), 9)}, {
            "width": "16", "points": "16", "layers": "1", "lr": "0.01", "heads": "4", "key_size": "4", "value_size": "4",
            "variant": "scores", "seed": "1", "d_h_r": "256", "parameters": "176", "flops_per_token": "352", "train_loss": "0.6",
            "held_out_loss": 0.41, "held_out_sem": "0.001", "best_linear_map": "0.77", "status": "done", "commit": "abc"})
        sizes = {(r["variant"], r["value_size"]): (int(r["heads"]), int(r["key_size"]), int(r["parameters"])) for r in rows}
        self.assertEqual(sizes["full_key", "4"][:2], (4, 16))
        self.assertEqual([variant for variant, size in sizes if size == "16"], ["plain", "scores"])  # one head
        for size in ("1", "2", "4", "8"):
            heads, key, parameters = sizes["more_heads", size]
            self.assertGreaterEqual(parameters, sizes["both", size][2])
            self.assertLess(parameters - 10 * key, sizes["both", size][2])  # one head fewer would not do
            self.assertGreater(heads, sizes["plain", size][0])
        # The summary leaves diverged seeds out and counts them.
        lines = {(line["variant"], line["value_size"]): line for line in self.table("headline-summary.csv")}
        plain = lines["plain", "4"]
        self.assertEqual([float(plain["held_out_" + what]) for what in ("lowest", "median", "highest")], [0.4, 0.41, 0.42])
        self.assertEqual((plain["seeds"], plain["diverged"]), ("3", "0"))
        lost = lines["plain", "8"]
        self.assertEqual([float(lost["held_out_" + what]) for what in ("lowest", "median", "highest")], [0.2, 0.205, 0.21])
        self.assertEqual((lost["seeds"], lost["diverged"]), ("3", "1"))

    def test_finished_runs_are_left_as_they_are(self):
        self.run_script("--seeds", "0")
        before = len(self.calls())
        shutil.rmtree(self.path("runs", "d16-l1", "both-4x4-seed-0"))
        self.run_script("--seeds", "0")
        self.assertEqual(self.calls()[before:], ["both-4x4-seed-0"])
        self.run_script("--collect")
        self.assertEqual(len(self.calls()), before + 1)
        self.assertEqual(len(self.table("headline.csv")), 26)
        # Other widths and depths stand in the same table.
        self.run_script("--seeds", "0", "--width", "32", "--layers", "2", "--ranks", "4", "32", "--variants", "plain", "both")
        rows = self.table("headline.csv")
        self.assertEqual({(r["width"], r["layers"]) for r in rows}, {("16", "1"), ("32", "2")})
        self.assertEqual(len(rows), 26 + 3)
        self.run_script("--seeds", "0", "--lr", "0.003", "--ranks", "4", "--variants", "plain")
        lines = {line["lr"]: line for line in self.table("headline-summary.csv")
                 if (line["width"], line["variant"], line["key_size"]) == ("16", "plain", "4")}
        self.assertEqual([line["seeds"] for line in lines.values()], ["1", "1"])  # never pooled
        self.assertEqual(list(lines), ["0.01", "0.003"])
        self.assertEqual({r["d_h_r"] for r in rows if r["variant"] == "plain"}, {"256", "1024"})

    def test_a_failure_stops_the_grid_and_is_said(self):
        with open(self.path("full disk"), "w", encoding="utf-8"):
            pass
        self.assertIn("exit code 1: headroom: no space", self.run_script("--seeds", "0", code=1).stderr)
        self.assertEqual(len(self.calls()), 1)
        self.assertEqual(self.table("headline.csv"), [])
        os.remove(self.binary)
        self.assertIn("--headroom", self.run_script(code=2).stderr)


if __name__ == "__main__":
    unittest.main()
