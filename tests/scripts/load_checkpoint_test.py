"""scripts/load_checkpoint.py on real checkpoints: what it reads is what the program dumps; a PyTorch model that takes one gives
the program's outputs, where there is a PyTorch."""
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

HEADROOM = sys.argv.pop()
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../scripts"))
import load_checkpoint  # noqa: E402

CONFIG = """{"task": {"dim": 4, "points": 5}, "model": {"width": 4, "ffn": {"width": 8}, "norm": {"type": "none"}},
  "train": {"steps": 3, "batch": 8}, "eval": {"items": 8}}"""
# The command of a Python that has PyTorch.
TORCH = shlex.split(os.environ.get("TORCH_PYTHON", sys.executable if importlib.util.find_spec("torch") else ""))
TORCH_CONFIGS = {
    "retrieval": {"task": {"dim": 8, "points": 5}, "model": {"width": 8, "layers": 2, "attention": {"heads": 2}, "ffn": {"width": 12}}},
    "talking-gpt": {"task": {"type": "linear_regression", "dim": 3, "points": 6},
                    "model": {"width": 16, "layers": 2, "read_in": "linear", "read_out": "linear", "norm": {"type": "layernorm", "placement": "pre"},
                              "positions": {"type": "learned", "length": 12}, "ffn": {"width": 32, "activation": "gelu_tanh"},
                              "attention": {"heads": 4, "mask": "causal", "mix_scores": "identity", "mix_weights": "identity"}}},
    "cross": {"task": {"dim": 8, "points": 6, "query": "separate", "queries": 3},
              "model": {"width": 8, "attention": {"kind": "cross", "heads": 2, "scale": "learned"}, "ffn": {"width": 12}}}}


class LoadCheckpoint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(self.path("c.json"), "w", encoding="utf-8") as file:
            file.write(CONFIG)
        self.run_headroom("train", self.path("c.json"), "--quiet", "--out", self.path("run"))
        self.checkpoint = self.path("run/checkpoints/last.safetensors")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    @staticmethod
    def run_headroom(*args):
        subprocess.run([HEADROOM, *args], check=True, stdout=subprocess.DEVNULL)

    def test_reads_what_the_program_dumps(self):
        self.run_headroom("step", self.path("c.json"), "--load", self.checkpoint, "--dump", self.path("d"))
        dump, _ = load_checkpoint.read(self.path("d"))
        tensors, state = load_checkpoint.read(self.checkpoint)
        params = {name: array for name, array in tensors.items() if not name.startswith("optimizer.")}
        self.assertEqual(len(tensors), 3 * len(params))
        self.assertGreaterEqual(len(params), 12)
        for name, array in params.items():
            numpy.testing.assert_array_equal(array, dump["param." + name])
            self.assertEqual(array.shape, tensors["optimizer.v." + name].shape)
        self.assertEqual(state["step"], "3")

    def test_a_pytorch_model_gives_the_same_outputs(self):
        if not TORCH:
            self.skipTest("no PyTorch here; TORCH_PYTHON can name a command that runs a Python with it")
        # Everything in one folder, where the command may see nothing else.
        scripts = os.path.join(os.path.dirname(__file__), "../../scripts")
        shutil.copytree(os.path.join(scripts, "frozen"), self.path("scripts/frozen"))
        shutil.copy(os.path.join(scripts, "load_checkpoint.py"), self.path("scripts"))
        shutil.copy(os.path.join(os.path.dirname(__file__), "torch_outputs.py"), self.folder.name)
        for name, config in TORCH_CONFIGS.items():
            with open(self.path(name + ".json"), "w", encoding="utf-8") as file:
                json.dump({"train": {"steps": 20, "batch": 8}, "eval": {"items": 8}, **config}, file)
            self.run_headroom("train", self.path(name + ".json"), "--quiet", "--out", self.path(name))
            shutil.copy(self.path(name + "/checkpoints/last.safetensors"), self.path(name + ".checkpoint"))
            self.run_headroom("step", self.path(name + ".json"), "--load", self.path(name + ".checkpoint"), "--dump", self.path(name + ".dump"))
            done = subprocess.run([*TORCH, "torch_outputs.py", "scripts", name + ".json", name + ".checkpoint", name + ".dump"],
                                  cwd=self.folder.name, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, name + ": " + done.stdout + done.stderr)
            print(name + ": " + done.stdout, end="")


if __name__ == "__main__":
    unittest.main()
