"""tensorboard.py: its files read back by a reader of their own, written from the formats' descriptions."""
import csv
import math
import os
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(ROOT, "scripts")]

import fake_run  # noqa: E402
import tensorboard  # noqa: E402
from script_case import ScriptCase  # noqa: E402

START = 1796040504  # 2026-11-30T12:08:24Z, as fake_run's runs begin


def crc32c(data):
    """Bit by bit: division of the reflected message by the reflected polynomial."""
    crc = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            one = (crc ^ byte >> bit) & 1
            crc = crc >> 1 ^ (0x82F63B78 if one else 0)
    return crc ^ 0xFFFFFFFF


def unmasked(stored):
    """TensorFlow's inverse of its mask: the constant taken off, the halves rotated back by 17."""
    rotated = (stored - 0xA282EAD8) % 2**32
    return (rotated >> 17 | rotated << 15) % 2**32


def records(data):
    while data:
        length, check = struct.unpack("<QI", data[:12])
        assert unmasked(check) == crc32c(data[:8]), "checksum of a length"
        body, (check,) = data[12:12 + length], struct.unpack("<I", data[12 + length:16 + length])
        assert len(body) == length and unmasked(check) == crc32c(body), "checksum of a record"
        yield body
        data = data[16 + length:]


def fields(message):
    """[(number, value)] of a protocol-buffer message: varints, doubles, floats and bytes."""
    out, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            out.append((number, varint()))
        elif kind == 2:
            length = varint()
            out.append((number, message[at:at + length]))
            at += length
        else:
            size, code = {1: (8, "<d"), 5: (4, "<f")}[kind]
            out.append((number, *struct.unpack(code, message[at:at + size])))
            at += size
    assert at == len(message)
    return out


class TensorboardTest(ScriptCase):
    def convert(self, *arguments, code=0):
        done = self.run_script("tensorboard.py", *arguments, "--out", self.path("logs"), code=code)
        return done.stderr

    def events(self, name):
        """[(time, step, {tag: value})] of a run's file, behind the one that names the format."""
        only, = os.listdir(self.path("logs", name))
        self.assertEqual(only, f"events.out.tfevents.{START}.headroom")
        with open(self.path("logs", name, only), "rb") as file:
            first, *rest = [fields(record) for record in records(file.read())]
        self.assertEqual(first, [(1, float(START)), (3, b"brain.Event:2")])
        out = []
        for event in map(dict, rest):
            self.assertLessEqual(set(event), {1, 2, 5})
            values = [dict(fields(value)) for _, value in fields(event[5])]
            self.assertTrue(all(set(value) == {1, 2} for value in values))
            out.append((event[1], event.get(2, 0), {value[1].decode(): value[2] for value in values}))
        return out

    def assert_single(self, found, wanted):
        self.assertEqual(struct.pack("<f", found), struct.pack("<f", wanted))

    def test_known_checksums(self):
        for data, wanted in ((b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43),  # RFC 3720, B.4
                             (bytes(range(32)), 0x46DD794E), (bytes(range(31, -1, -1)), 0x113FDB5C), (b"", 0)):
            self.assertEqual((tensorboard.crc32c(data), crc32c(data)), (wanted, wanted))
        for crc in (0, 1, 0x7FFF, 0x8000, 0xE3069283, 0xFFFFFFFF):
            self.assertEqual(unmasked(tensorboard.masked(crc)), crc)
        self.assertEqual(tensorboard.masked(0), 0xA282EAD8)

    def test_every_value_of_the_csv_files_comes_back(self):
        fake_run.make(self.path("runs", "a"), fake_run.config())
        fake_run.make(self.path("runs", "b"), fake_run.config(2, 8, 0, "linear_regression"), steps=300, positions=11)
        self.assertIn("wrote 2 runs", self.convert(self.path("runs")))
        for name in ("a", "b"):
            events = self.events(name)
            found = {}
            for _, step, values in events:
                for tag, value in values.items():
                    self.assertNotIn((step, tag), found)
                    found[step, tag] = value
            wanted = {}
            for file in ("train", "eval"):
                with open(self.path("runs", name, file + ".csv"), encoding="utf-8", newline="") as text:
                    for row in csv.DictReader(text):
                        wanted |= {(int(row["step"]), f"{file}/{key}"): float(value) for key, value in row.items()
                                   if key not in ("step", "elapsed_s")}
            if name == "b":
                with open(self.path("runs", name, "eval_positions.csv"), encoding="utf-8", newline="") as text:
                    wanted |= {(int(row["step"]), f"error_after/{int(row['position']):03d}"): float(row["error"])
                               for row in csv.DictReader(text)}
            else:
                wanted |= {(step, "baseline/" + key): value for step in (0, 2000)
                           for key, value in (("zero", 1.0), ("chance", 1.99), ("best_linear_map", 0.7701), ("exact", 0.0))}
            self.assertEqual(set(found), set(wanted))
            for key, value in wanted.items():
                self.assert_single(found[key], value)
            self.assertEqual([step for _, step, _ in events], sorted(step for _, step, _ in events))
        # elapsed_s is step / 300 there.
        times = {step: time for time, step, values in self.events("a") if "train/loss" in values}
        self.assertAlmostEqual(times[1500] - START, 5, places=6)
        self.assertAlmostEqual(dict((step, time) for time, step, values in self.events("a") if "eval/loss" in values)[2000], times[2000])

    def test_a_run_that_goes_on_is_appended_to_and_one_begun_again_written_anew(self):
        run = fake_run.make(self.path("runs", "a"), fake_run.config())
        with open(run + "/train.csv", encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        fake_run.write(run + "/train.csv", "".join(lines[:50]) + "500,0.")  # in the middle of a row
        fake_run.write(run + "/eval.csv", "step,loss,loss_sem,accuracy\n0,1.99,0.01,0.06\n")
        self.convert(run)
        file = self.path("logs", "a", f"events.out.tfevents.{START}.headroom")
        before = os.stat(file)
        self.assertEqual(len(self.events("a")), 1 + 49)
        fake_run.write(run + "/train.csv", "".join(lines))
        self.convert(run)
        after = os.stat(file)
        self.assertEqual(after.st_ino, before.st_ino)  # the file a running TensorBoard has open
        self.assertEqual(len(self.events("a")), 1 + 200)
        fake_run.write(run + "/train.csv", "".join(lines[:1] + lines[2:]))
        self.convert(run)
        self.assertEqual(len(self.events("a")), 1 + 199)

    def test_numbers_beyond_a_single_and_none(self):
        run = fake_run.make(self.path("a"), fake_run.config(), steps=100, diverge_at=50)
        with open(run + "/train.csv", "a", encoding="utf-8") as file:
            file.write("60,1e300,1e-300,-1e39,1,2\n")
        self.convert(run)
        values = {step: values for _, step, values in self.events("a")}
        self.assertTrue(math.isnan(values[50]["train/loss"]))
        self.assertEqual((values[60]["train/loss"], values[60]["train/lr"], values[60]["train/grad_norm"]), (math.inf, 0, -math.inf))

    def test_mistakes_are_one_line(self):
        self.assertIn("no such directory", self.convert(self.path("missing"), code=3))
        fake_run.make(self.path("x", "a"), fake_run.config())
        fake_run.make(self.path("y", "a"), fake_run.config())
        self.assertIn("two runs of one name", self.convert(self.path("x"), self.path("y"), code=3))
        fake_run.write(self.path("x", "a", "run.json"), '{"start": 7}')
        self.assertIn("no time of start", self.convert(self.path("x", "a"), code=3))
        fake_run.write(self.path("logs"), "a file")
        self.assertIn("logs", self.convert(self.path("y"), code=3))


if __name__ == "__main__":
    unittest.main()
