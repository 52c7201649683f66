"""summarize.py on made-up run directories: its numbers against ones computed here, and every way a run may end."""
import csv
import fcntl
import itertools
import json
import os
import statistics
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(ROOT, "scripts")]

from figures import needs  # noqa: E402

needs.need("pandas")

import fake_run  # noqa: E402
import summarize  # noqa: E402
from figures import runs  # noqa: E402
from script_case import ScriptCase  # noqa: E402


class SummarizeTest(ScriptCase):
    def summarize(self, *arguments, code=0):
        done = self.run_script("summarize.py", *arguments, code=code)
        self.assertNotIn("Warning", done.stderr)
        return done

    def table(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def rewrite(self, path, change):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        fake_run.write(path, change(text))

    def test_numbers_of_runs_and_of_pooled_seeds(self):
        fake_run.ranks(self.path("runs"), seeds=(0, 1, 2, 3))
        self.rewrite(self.path("runs", "rank-4-seed-0", "run.json"),
                     lambda _: json.dumps({"exit_code": 0, "exit_reason": "done", "steps": 2000, "elapsed_s": 7.5, "resumes": 2,
                                           "parameters": 3218}))
        done = self.summarize(self.path("runs"), "--runs", self.path("runs.csv"), "--groups", self.path("made", "groups.csv"),
                              "--measure", "last", "train_median", "train_best", "--last", "7")
        self.assertIn("summarize: 20 runs: 20 done\n", done.stderr)
        by_rank = {}
        for row in self.table("runs.csv"):
            run = runs.Run(row["run"])
            self.assertEqual((row["status"], row["exit_code"]), ("done", "0"))
            self.assertEqual(int(row["seed"]), run.config["seed"])
            self.assertEqual(int(row["d_h_r"]), 256)
            held_out, training = run.column("eval.csv", "loss"), [v for _, v in run.column("train.csv", "loss")]
            self.assertEqual((float(row["last"]), int(row["last_step"])), held_out[-1][::-1])
            self.assertEqual(float(row["best"]), min(v for _, v in held_out))
            self.assertEqual(float(row["last_sem"]), 0.002)
            self.assertAlmostEqual(float(row["train_median"]), statistics.median(training[-7:]), places=14)
            self.assertEqual(float(row["train_best"]), min(training))
            self.assertNotIn("train.optimizer.lr", row)  # the same in all of them
            rank = by_rank.setdefault(int(row["model.attention.key_size"]), {})
            for measure in ("last", "train_median", "train_best"):
                rank.setdefault(measure, []).append(float(row[measure]))
        one = next(row for row in self.table("runs.csv") if row["run"].endswith("rank-4-seed-0"))
        self.assertEqual((one["wall_s"], one["resumes"], one["parameters"]), ("7.5", "2", "3218"))
        groups = self.table(os.path.join("made", "groups.csv"))
        self.assertEqual(len(groups), 3 * 5)
        self.assertEqual([row["model.attention.heads"] for row in groups[:5]], ["1", "2", "4", "8", "16"])
        for row in groups:
            values = by_rank[int(row["model.attention.key_size"])][row["measure"]]
            self.assertEqual((row["runs"], row["done"]), ("4", "4"))
            for column, of in (("mean", statistics.fmean), ("sd", statistics.stdev), ("median", statistics.median), ("min", min),
                               ("max", max)):
                self.assertAlmostEqual(float(row[column]), of(values), places=12)
            self.assertTrue(min(values) <= float(row["low"]) < float(row["mean"]) < float(row["high"]) <= max(values))

    def test_the_bootstrap_interval_is_that_of_all_resamples(self):
        values = [0.0, 1.0, 2.0, 3.0, 10.0]
        means = sorted(statistics.fmean(draw) for draw in itertools.product(values, repeat=5))
        low, high = summarize.interval(values, 0.9)
        self.assertAlmostEqual(low, means[round(0.05 * len(means))], delta=0.21)
        self.assertAlmostEqual(high, means[round(0.95 * len(means))], delta=0.21)
        wide = summarize.interval(values, 0.99)
        self.assertTrue(wide[0] < low and high < wide[1])
        self.assertEqual(str(summarize.interval([3.0], 0.9)), "(nan, nan)")

    def test_every_end_of_a_run_is_named(self):
        def end(name, **status):
            run = fake_run.make(self.path("runs", name), fake_run.config(seed=len(name)))
            fake_run.write(run + "/run.json", json.dumps({"steps": 70, **status}))
            return run

        end("fine", exit_code=0, exit_reason="done")
        end("moved.old-2", exit_code=3, exit_reason="not of this sweep any more")
        end("early", exit_code=75, exit_reason="SIGTERM")
        end("full-disk", exit_code=3, exit_reason="no space left")
        end("killed", exit_code=None, exit_reason="running")
        alive = end("alive!", exit_code=None, exit_reason="running")
        fake_run.make(self.path("runs", "diverged"), fake_run.config(seed=90), diverge_at=200)
        fake_run.write(end("torn-json") + "/run.json", '{"steps": ')
        os.remove(end("no-config-there") + "/config.json")
        table = end("torn-table-here", exit_code=0, exit_reason="done") + "/train.csv"
        self.rewrite(table, lambda text: text.replace("\n20,", "\n2\0\x000,", 1))
        cut = end("cut-by-the-kill-only", exit_code=None, exit_reason="running") + "/train.csv"
        self.rewrite(cut, lambda text: text[:-9])
        with open(alive + "/.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.summarize(self.path("runs"), "--runs", self.path("runs.csv"), "--groups", self.path("groups.csv"), code=1)
        status = {os.path.basename(row["run"]): row["status"] for row in self.table("runs.csv")}
        self.assertEqual(status, {
            "fine": "done", "early": "stopped", "full-disk": "failed", "killed": "killed", "alive!": "running", "diverged": "diverged",
            "torn-json": "damaged", "no-config-there": "damaged", "torn-table-here": "damaged", "cut-by-the-kill-only": "killed"})
        for name, state in status.items():
            self.assertEqual(f"{state}: {self.path('runs', name)}" in done.stderr, state != "done", done.stderr)
        for reason in ("no space left", "SIGTERM", "the loss is nan", "no config.json", "not JSON", "train.csv: line 3: "):
            self.assertIn(reason, done.stderr)
        self.assertIn("10 runs: 1 done, 1 running, 1 stopped, 1 diverged, 2 killed, 1 failed, 3 damaged", done.stderr)
        group, = self.table("groups.csv")
        self.assertEqual((group["runs"], group["done"], group["sd"], group["low"]), ("7", "1", "", ""))  # one done, no spread

    def test_a_run_that_learned_nothing_counts_and_is_named(self):
        for name, flag in (("learned", False), ("guesses", True), ("before-the-flag", None)):
            run = fake_run.make(self.path("runs", name), fake_run.config(seed=len(name)))
            fake_run.write(run + "/run.json", json.dumps({"exit_code": 0, "exit_reason": "done", "steps": 2000, "not_trained": flag}))
        done = self.summarize(self.path("runs"), "--runs", self.path("runs.csv"))
        self.assertEqual([line for line in done.stderr.splitlines() if "not trained" in line],
                         [f"summarize: not trained: {self.path('runs', 'guesses')}: no better than its reference baseline"])
        self.assertIn("3 runs: 3 done", done.stderr)
        self.assertEqual({os.path.basename(row["run"]): row["not_trained"] for row in self.table("runs.csv")},
                         {"learned": "False", "guesses": "True", "before-the-flag": ""})

    def test_mistakes_are_one_line(self):
        self.assertIn("no such directory", self.summarize(self.path("missing"), code=3).stderr)
        os.mkdir(self.path("empty"))
        self.assertIn("neither a run directory", self.summarize(self.path("empty"), code=3).stderr)
        run = fake_run.make(self.path("run"), fake_run.config())
        self.assertIn("it has step, loss", self.summarize(run, "--column", "los", code=3).stderr)
        self.assertIn("--headroom", self.summarize(run + "/config.json", "--headroom", self.path("none"), code=3).stderr)
        self.assertIn("full", self.summarize(run, "--runs", "/dev/full/x.csv", code=3).stderr)
        self.summarize(run, "--last", "0", code=2)
        self.summarize(run, "--confidence", "1", code=2)


if __name__ == "__main__":
    unittest.main()
