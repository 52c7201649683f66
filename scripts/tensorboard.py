#!/usr/bin/env python3
"""TensorBoard event files of headroom's run directories, for those who look at runs there.

    tensorboard.py DIR... --out LOGS        then: tensorboard --logdir LOGS

DIR is a run directory or holds run directories. A run becomes LOGS/NAME with one event file: a scalar train/COLUMN or eval/COLUMN for
every column of train.csv and eval.csv, by step; error_after/N, the error after N in-context examples; baseline/NAME, the same error at
every evaluation. Run again, also while runs train, it appends what is new, and TensorBoard reads on; where a run was resumed or begun
again, the file is another, for which a TensorBoard that runs has to be started again.
The time of a row is the run's start and what train.csv says elapsed; an evaluation's, that of the last row up to its step.
Needs no TensorBoard. Exit codes: 0 done, 2 wrong usage, 3 nothing to convert or a file that cannot be read or written.
"""
import argparse
import datetime
import math
import os
import struct
import sys

from figures import runs
from figures.runs import Problem, note, number


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    """CRC-32C (Castagnoli; RFC 3720, B.4)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked(crc):
    """As TensorFlow stores it: rotated, so that the checksum of data that holds checksums is no special one."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    """A record of a TFRecord file: length, its checksum, the data, its checksum."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(crc32c(length))) + data + struct.pack("<I", masked(crc32c(data)))


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(index, data):
    """A protocol-buffer field of bytes, text or a message."""
    return varint(index << 3 | 2) + varint(len(data)) + data


def event(time_s, step=0, values=(), version=None):
    """tensorboard.Event: wall_time = 1, step = 2, file_version = 3, summary = 5 of values = 1 {tag = 1, simple_value = 2}."""
    out = b"\x09" + struct.pack("<d", time_s)
    if step:
        out += b"\x10" + varint(step)
    if version is not None:
        return out + field(3, version.encode())
    return out + field(5, b"".join(field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", single(value))) for tag, value in values))


def single(value):
    """What float32 can hold: beyond its range infinity, as a conversion does."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return math.copysign(math.inf, value)
    return value


def rows_of(run, name, prefix):
    """[(step, {tag: value})] of a CSV file."""
    return [(int(number(row["step"])), {prefix + column: number(text) for column, text in row.items()
                                        if column not in ("step", "elapsed_s") and text}) for row in run.rows(name)]


def scalars(run):
    """[(seconds since the start, step, {tag: value})] in the order in which headroom writes the rows."""
    held_out = dict(rows_of(run, "eval.csv", "eval/"))
    for row in run.rows("eval_positions.csv"):
        held_out.setdefault(int(number(row["step"])), {})[f"error_after/{int(number(row['position'])):03d}"] = number(row["error"])
    lines = {f"baseline/{name}": errors[None] for name, errors in run.baselines().items() if None in errors}
    rows = [(step, 0, values) for step, values in rows_of(run, "train.csv", "train/")]
    rows += [(step, 1, values | lines) for step, values in held_out.items()]
    times, elapsed, out = dict(run.column("train.csv", "elapsed_s")), 0.0, []
    for step, _, values in sorted(rows, key=lambda row: row[:2]):
        elapsed = times.get(step, elapsed)
        out.append((elapsed, step, values))
    return out


def start_of(run):
    """The time run.json says the run began, in seconds since 1970."""
    try:
        return datetime.datetime.fromisoformat(run.status["start"].replace("Z", "+00:00")).timestamp()
    except (KeyError, AttributeError, ValueError) as error:
        raise Problem(f"{run.path}/run.json: no time of start: {error!r}") from error


def write(path, data):
    """Appends what is new, for a TensorBoard that has the file open; writes the file anew where it holds something else."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = b""
        if os.path.exists(path):
            with open(path, "rb") as file:
                old = file.read()
        if old and data.startswith(old):
            with open(path, "ab") as file:
                file.write(data[len(old):])
            return
        with open(path + ".part", "wb") as file:
            file.write(data)
        os.replace(path + ".part", path)
    except OSError as error:
        raise Problem(f"{path}: {error.strerror or error}") from error


def convert(run, folder):
    """Writes the run's event file; the number of its rows."""
    start, found = start_of(run), scalars(run)
    events = [event(start, version="brain.Event:2")]
    events += [event(start + elapsed, step, values.items()) for elapsed, step, values in found]
    write(os.path.join(folder, f"events.out.tfevents.{int(start)}.headroom"), b"".join(map(record, events)))
    return len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dirs", nargs="+", metavar="DIR", help="a run directory, or one that holds some")
    parser.add_argument("--out", default="tensorboard", metavar="LOGS", help="the folder for TensorBoard's --logdir (%(default)s)")
    args = parser.parse_args()
    try:
        found, names = runs.find(args.dirs), {}
        for run in found:
            other = names.setdefault(os.path.basename(os.path.abspath(run.path)), run.path)
            if other != run.path:
                raise Problem(f"{run.path} and {other}: two runs of one name; convert them into two folders")
        for run in found:
            if not convert(run, os.path.join(args.out, os.path.basename(os.path.abspath(run.path)))):
                note(f"{run.path}: no rows yet")
        note(f"wrote {len(names)} runs to {args.out}")
    except Problem as problem:
        note(problem)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
