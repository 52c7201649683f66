#!/usr/bin/env python3
"""A headroom checkpoint in Python, with numpy alone, and from there in a PyTorch model (src/train/CHECKPOINT.md).

    load_checkpoint.py FILE            lists the tensors and the state
    from load_checkpoint import read, put_into
    put_into(model, FILE)              model: a torch.nn.Module whose parameters have headroom's names and shapes
"""
import json
import struct
import sys

import numpy


def read(path):
    """(name -> array, metadata): parameters by their names, moments as optimizer.m.NAME and optimizer.v.NAME."""
    with open(path, "rb") as file:
        whole = file.read()
    (length,) = struct.unpack_from("<Q", whole)
    header, data = json.loads(whole[8:8 + length]), whole[8 + length:]
    metadata = header.pop("__metadata__", {})
    types = {"F32": "<f4", "F64": "<f8"}
    return {name: numpy.frombuffer(data[slice(*row["data_offsets"])], types[row["dtype"]]).reshape(row["shape"])
            for name, row in header.items()}, metadata


def put_into(model, path):
    """Sets every parameter of the model; a name or shape that does not fit is PyTorch's error."""
    import torch
    tensors, _ = read(path)
    model.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in tensors.items()
                           if not name.startswith("optimizer.")})


if __name__ == "__main__":
    arrays, state = read(sys.argv[1])
    for name, array in arrays.items():
        print(f"{name} {tuple(array.shape)} {array.dtype}")
    print({key: value for key, value in state.items() if key != "config"})
