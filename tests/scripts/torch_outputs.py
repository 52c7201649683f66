"""Puts a checkpoint into a PyTorch model by scripts/load_checkpoint.py and compares its outputs with a dump of `headroom step`.

    torch_outputs.py SCRIPTS CONFIG CHECKPOINT DUMP     exit 1, and the difference, where outputs differ by more than 1e-5 of the largest
"""
import json
import sys

scripts, config, checkpoint, dump = sys.argv[1:]
sys.path.insert(0, scripts)
import torch  # noqa: E402
import load_checkpoint  # noqa: E402
from frozen import plain  # noqa: E402


class Model(torch.nn.Module):
    """A module with headroom's names; its formulas are those of scripts/frozen/plain.py."""

    def __init__(self, m):
        super().__init__()
        self.m = m
        for name, shape in plain.shapes(m).items():
            *parents, leaf = name.split(".")
            at = self
            for parent in parents:
                if not hasattr(at, parent):
                    at.add_module(parent, torch.nn.Module())
                at = getattr(at, parent)
            at.register_parameter(leaf, torch.nn.Parameter(torch.zeros(shape)))

    def forward(self, tokens, query):
        return plain.forward(self.m, dict(self.named_parameters()), tokens, query)


with open(config, encoding="utf-8") as file:
    section = json.load(file)["model"]
arrays, _ = load_checkpoint.read(dump)
want = {name: torch.from_numpy(array.copy()) for name, array in arrays.items() if name.startswith(("batch.", "output"))}
model = Model(plain.resolve(section, want["batch.input"].shape[-1], want["batch.target"].shape[-1]))
load_checkpoint.put_into(model, checkpoint)
with torch.no_grad():
    output = model(want["batch.input"], want.get("batch.query"))
if output.shape != want["output"].shape:
    sys.exit(f"outputs {tuple(output.shape)}, the dump has {tuple(want['output'].shape)}")
worst = ((output - want["output"]).abs().max() / want["output"].abs().max()).item()
print(f"PyTorch {torch.__version__}: {output.numel()} outputs, the largest difference {worst:.1e} of the largest output")
sys.exit(None if worst <= 1e-5 else 1)
