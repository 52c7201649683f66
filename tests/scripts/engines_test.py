"""A sweep of 40 runs of the real binary, one of which diverges and one of which is killed, under every engine that the README names:
what is left is completed by giving the same lines once more, no run is trained twice, and the summary says how each ended.

    engines_test.py BINARY shell|xargs|sweep|parallel|slurm      exit code 77: the engine is not installed here
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RUNS, BAD, VICTIM = 40, 12, 30
SKIPPED = 77

BASE = {"task": {"dim": 4, "points": 4}, "model": {"width": 4, "attention": {"heads": 1}, "ffn": {"width": 0}},
        "train": {"batch": 8, "schedule": {"warmup": 0}}, "eval": {"items": 16, "every": 100000},
        "run": {"log_every": 10, "checkpoint_every": 500}}
# One seed with a rate that diverges, one long enough to be killed in the middle.
SWEEP = {"base": BASE, "out": "the runs", "name": "seed-{seed}", "axes": [{"zip": {
    "seed": list(range(RUNS)),
    "train.optimizer.lr": [1e30 if seed == BAD else 0.01 for seed in range(RUNS)],
    "train.steps": [6000 if seed == VICTIM else 20 for seed in range(RUNS)]}}]}

# Stands before the binary on the PATH: notes each training, and kills the victim's first one behind its first checkpoint.
WRAPPER = r'''#!/usr/bin/env bash
binary=@BINARY@
[ "$1" = train ] || exec "$binary" "$@"
for ((i = 1; i < $#; ++i)); do
  if [ "${!i}" = --out ]; then j=$((i + 1)); out=${!j}; fi
done
echo "$out" >>@FOLDER@/started
case $out in
  */seed-@VICTIM@-*) ;;
  *) exec "$binary" "$@" ;;
esac
[ ! -e @FOLDER@/killed ] || exec "$binary" "$@"
"$binary" "$@" &
run=$!
until [ -e "$out/checkpoints/step-000000500.safetensors" ]; do sleep 0.01; done
touch @FOLDER@/killed
kill -9 "$run"
wait "$run"
'''

ENGINES = {  # shell commands with the lines in the file `lines`, and whether their exit code counts all runs
    "shell": ("sh lines", False),
    "xargs": ("xargs -a lines -d '\\n' -P 2 -I LINE sh -c LINE", True),
    "parallel": ("parallel --will-cite -j 2 -a lines", True),
}


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


class EngineTest(unittest.TestCase):
    engine = binary = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="engines it's ")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.path("bin"))
        text = WRAPPER.replace("@BINARY@", quoted(self.binary)).replace("@FOLDER@", quoted(self.folder)).replace("@VICTIM@", str(VICTIM))
        with open(self.path("bin", "headroom"), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path("bin", "headroom"), 0o755)
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(SWEEP, file)
        self.environment = os.environ | {"PATH": self.path("bin") + os.pathsep + os.environ["PATH"], "OMP_WAIT_POLICY": "passive",
                                         "OMP_NUM_THREADS": "1"}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL)

    def started(self):
        """The seeds whose training was started since the last call, in order of seed."""
        with open(self.path("started"), encoding="utf-8") as file:
            seeds = sorted(int(os.path.basename(line).split("-")[1]) for line in file)
        os.remove(self.path("started"))
        return seeds

    def summary(self):
        """{seed: row} of every run, and what was said."""
        done = self.shell(f"{quoted(sys.executable)} -B {quoted(ROOT)}/scripts/summarize.py sweep.json --headroom headroom --runs runs.csv")
        self.assertEqual(done.returncode, 1, done.stderr)  # one has diverged, to the last
        with open(self.path("runs.csv"), encoding="utf-8", newline="") as file:
            rows = {int(os.path.basename(row["run"]).split("-")[1]): row for row in csv.DictReader(file)}
        self.assertEqual(sorted(rows), list(range(RUNS)))
        return rows, done.stderr

    def files(self, rows):
        """{(seed, name): (size, time)} of all files of the runs that are done."""
        found = {}
        for seed, row in rows.items():
            if row["status"] == "done":
                for folder, _, names in os.walk(self.path(row["run"])):
                    for name in set(names) - {".lock"}:
                        status = os.lstat(os.path.join(folder, name))
                        found[seed, name] = status.st_size, status.st_mtime_ns
        return found

    def check_first(self):
        rows, said = self.summary()
        self.assertIn(f"{RUNS} runs: {RUNS - 2} done, 1 diverged, 1 killed", said)
        self.assertEqual(rows[BAD]["status"], "diverged")
        self.assertEqual(rows[VICTIM]["status"], "killed")
        self.assertTrue(all(float(row["last"]) > 0 for row in rows.values() if row["status"] == "done"))
        return rows

    def check_last(self):
        rows, said = self.summary()
        self.assertIn(f"{RUNS} runs: {RUNS - 1} done, 1 diverged\n", said)
        self.assertIn("diverged: the runs/seed-12-", said)
        self.assertEqual((rows[VICTIM]["status"], rows[VICTIM]["resumes"], rows[VICTIM]["steps"]), ("done", "1", "6000"))
        self.assertEqual({row["resumes"] for seed, row in rows.items() if seed not in (BAD, VICTIM)}, {"0"})
        # What was killed and resumed has the numbers of one that was not.
        self.shell(f"{quoted(self.binary)} train {quoted(self.path(rows[VICTIM]['run'], 'config.json'))} --out whole --quiet")
        for name in ("eval.csv", "baselines.csv"):
            with open(self.path("whole", name), "rb") as whole, open(self.path(rows[VICTIM]["run"], name), "rb") as resumed:
                self.assertEqual(whole.read(), resumed.read())
        return rows

    def test_engine(self):
        getattr(self, "run_" + self.engine, self.run_lines)()

    def run_lines(self):
        command, counts_all = ENGINES[self.engine]
        self.assertEqual(self.shell("headroom grid sweep.json > lines").returncode, 0)
        first = self.shell(command)
        self.assertEqual(first.returncode != 0, counts_all, first.stderr)
        self.assertEqual(self.started(), list(range(RUNS)))
        done = self.files(self.check_first())
        # The same lines: finished runs are started, see that they are, and change no file.
        self.shell(command)
        self.assertEqual(self.started(), list(range(RUNS)))
        after = self.files(self.check_last())
        self.assertEqual({key: after[key] for key in done}, done)
        # The lines made anew leave them out.
        self.shell("headroom grid sweep.json > lines")
        self.assertEqual(self.shell(command).returncode != 0, True)
        self.assertEqual(self.started(), [BAD])

    def run_sweep(self):
        command = f"{quoted(ROOT)}/scripts/sweep.sh sweep.json"
        first = self.shell(command)
        self.assertEqual(first.returncode, 1, first.stderr)
        self.assertIn("2 of 40 runs failed:", first.stderr)
        self.assertEqual(self.started(), list(range(RUNS)))
        self.check_first()
        second = self.shell(command)
        self.assertEqual(second.returncode, 1)
        self.assertIn("exit code 4  the runs/seed-12-", second.stderr)
        self.assertEqual(self.started(), [BAD, VICTIM])
        self.check_last()

    def run_slurm(self):
        node = tempfile.mkdtemp(prefix="slurm-node-")  # Slurm's own files take no spaces
        self.addCleanup(shutil.rmtree, node)
        self.environment |= {"SLURM_CONF": os.path.join(node, "slurm.conf"), "MAX_ARRAY_SIZE": "31"}  # so two arrays
        up = self.shell(f"{quoted(HERE)}/slurm_node.sh start {node}")
        self.assertEqual(up.returncode, 0, up.stderr)
        try:
            self.slurm()
        finally:
            self.shell(f"{quoted(HERE)}/slurm_node.sh stop {node}")

    def slurm(self):
        command = f"{quoted(ROOT)}/scripts/slurm_array.sh sweep.json 2"
        until_empty = "until [ -z \"$(squeue -h)\" ]; do sleep 0.2; done"  # sbatch --wait would look every half minute
        first = self.shell(command)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.shell(until_empty)
        self.assertEqual(self.started(), list(range(RUNS)))
        self.check_first()
        second = self.shell(command + " --wait")
        self.assertEqual(second.returncode, 4, second.stderr)  # that of the run that diverges
        self.assertEqual(self.started(), [BAD, VICTIM])
        self.check_last()
        # A run that its time ends: USR1, exit code 75, queued again, resumed until it is done.
        long = SWEEP | {"out": "long", "axes": [{"seed": [1, 2]}, {"train.steps": [40000]}]}
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(long, file)
        self.shell(command + " --cpus-per-task=2 --time=5")
        self.shell("until ls long/seed-1-*/checkpoints/step-000000500.safetensors; do sleep 0.02; done")
        twice = self.shell(command)
        self.assertEqual(twice.returncode, 2)
        self.assertIn("are queued or running", twice.stderr)
        self.shell("scancel --batch --signal=USR1 $(squeue -h -t running -o %A)")
        self.shell(until_empty)
        # The one that was signalled started twice; the other waited for the node's only two cores and started once.
        self.assertEqual(self.started(), [1, 1, 2])
        log = self.shell("cat long/slurm/*_1.txt").stdout
        self.assertIn("start 0, 2 threads", log)
        self.assertIn("exit code 75\nslurm_task.sh: queued again", log)
        self.assertIn("start 1, 2 threads", log)
        self.assertEqual(log.count("exit code 0"), 1)


def main():
    binary, engine = sys.argv[1:]
    needed = {"parallel": ("parallel",), "slurm": ("sbatch", "slurmctld", "slurmd")}.get(engine, ())
    missing = [name for name in needed if shutil.which(name) is None and not os.path.exists("/usr/sbin/" + name)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed (Debian: {'parallel' if engine == 'parallel' else 'slurm-wlm'})")
        return SKIPPED
    EngineTest.engine, EngineTest.binary = engine, os.path.abspath(binary)
    done = unittest.main(argv=sys.argv[:1], exit=False)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
