"""The safetensors format by hand: 8 bytes of header length, a JSON header, then the raw little-endian values."""
import json
import struct


def write(path, tensors, metadata):
    """tensors: name -> (shape, flat list of floats); stored as float64."""
    header, chunks, offset = {"__metadata__": metadata}, [], 0
    for name in sorted(tensors):
        shape, values = tensors[name]
        data = struct.pack(f"<{len(values)}d", *values)
        header[name] = {"dtype": "F64", "shape": list(shape), "data_offsets": [offset, offset + len(data)]}
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the values start at a multiple of 8
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def read(path):
    """Returns (tensors, metadata) as `write` takes them."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, row in header.items():
        if row["dtype"] != "F64":
            raise ValueError(f"{path}: {name} is {row['dtype']}, not F64")
        begin, end = row["data_offsets"]
        tensors[name] = (row["shape"], list(struct.unpack(f"<{(end - begin) // 8}d", data[begin:end])))
    return tensors, metadata
