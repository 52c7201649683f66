"""scripts/load_checkpoint.py on a real checkpoint: what it reads is what the program dumps; and in PyTorch, where there is one."""
import importlib.util
import os
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

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch here")
    def test_goes_into_a_pytorch_model(self):
        import torch
        tensors, _ = load_checkpoint.read(self.checkpoint)
        model = torch.nn.Module()
        for name, array in tensors.items():
            if name.startswith("optimizer."):
                continue
            *parents, leaf = name.split(".")
            at = model
            for parent in parents:
                if not hasattr(at, parent):
                    at.add_module(parent, torch.nn.Module())
                at = getattr(at, parent)
            at.register_parameter(leaf, torch.nn.Parameter(torch.zeros(array.shape)))
        load_checkpoint.put_into(model, self.checkpoint)
        for name, parameter in model.named_parameters():
            numpy.testing.assert_array_equal(parameter.detach().numpy(), tensors[name])


if __name__ == "__main__":
    unittest.main()
