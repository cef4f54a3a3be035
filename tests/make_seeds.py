#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets, tests/COMPONENT/corpus/NAME/: small inputs, right and wrong.

Run again after changing it; the output is the same on every machine.
"""

import base64
import gzip
import json
import struct
import zlib
from pathlib import Path

TESTS = Path(__file__).resolve().parent

# A grey 8 x 8 baseline JPEG.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNy"
    "wtQFdBRkxOUlNSMj5aYVpQYEpRUk//wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABgQAAIDAAAA"
    "AAAAAAAAAAAAAAAEBiEy/9oACAEBAAA/ABostij/2Q==")

RECORD = {
    "id": 0, "run": "run-1", "case": "v1:activity=train workload=image-classification seed=7",
    "digest": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "status": "noisy", "reason": "varies by 9 %",
    "metrics": [{"name": "quality", "value": 0.9162},
                {"name": "loss", "value": "nan", "tags": {"phase": "training"},
                 "interval": {"low": "-inf", "high": 1.5, "confidence": 0.95, "method": "t"}}],
    "facts": {"item": "image"}, "missing": {"energy_joules": "no counter"},
    "marks": ["contended: CPU time is 71 % of wall time"],
    "samples": [{"name": "step_time_ns", "values": [25000000.0, 0.3333333333333333]}],
    "environment": "0123456789abcdef", "code_version": "0.1.0", "started_unix_ms": 1796000000123,
    "duration_s": 45.5,
}


def idx(shape, elements, kind=8):
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, kind, len(shape), *shape) + elements


def png(width, height, colour_type, channels):
    def chunk(name, data):
        return (struct.pack(">I", len(data)) + name + data +
                struct.pack(">I", zlib.crc32(name + data)))
    rows = b"".join(b"\0" + bytes(range(width * channels)) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def samples(values):
    """Format 1 of src/record/samples_codec.h after the two bytes of the count."""
    bits = [struct.unpack(">Q", struct.pack(">d", value))[0] for value in values]
    words = [b ^ a for a, b in zip([0] + bits, bits)]
    planes = bytes((word >> (56 - 8 * plane)) & 255 for plane in range(8) for word in words)
    return struct.pack("<H", len(values)) + zlib.compress(planes, 6)


def seeds():
    text = b"one line of text\n" * 20
    packed = gzip.compress(text, mtime=0)
    yield "base/gunzip", "whole.gz", packed
    yield "base/gunzip", "two_members.gz", packed + gzip.compress(b"more", mtime=0)
    yield "base/gunzip", "truncated.gz", packed[:-6]
    yield "base/gunzip", "wrong_sum.gz", packed[:-8] + b"\0\0\0\0" + packed[-4:]

    yield "base/json", "document.json", json.dumps(RECORD).encode()
    yield "base/json", "numbers.json", b'[0, -1, 1e300, 1.5e-7, 18446744073709551615, true, null]'
    yield "base/json", "text.json", '{"a\\u00e9": "\\ud83d\\ude00 é", "": []}'.encode()
    yield "base/json", "open.json", b'{"a": [1, {"b": '

    yield "data/idx", "images", idx((2, 2, 3), bytes(range(12)))
    yield "data/idx", "labels", idx((4,), b"\0\1\2\3")
    yield "data/idx", "images.gz", gzip.compress(idx((1, 4, 4), bytes(16)), mtime=0)
    yield "data/idx", "short", idx((2, 2, 3), bytes(11))
    yield "data/idx", "other_type", idx((1,), bytes(4), kind=13)
    yield "data/idx", "huge", idx((0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF), b"")

    yield "data/image_decoder", "rgb.png", png(3, 2, 2, 3)
    yield "data/image_decoder", "grey.png", png(4, 4, 0, 1)
    yield "data/image_decoder", "alpha.png", png(2, 2, 6, 4)
    yield "data/image_decoder", "truncated.png", png(3, 2, 2, 3)[:50]
    yield "data/image_decoder", "grey.jpg", JPEG
    yield "data/image_decoder", "truncated.jpg", JPEG[:-30]

    yield "record/case", "empty", b"v1:"
    yield "record/case", "train", b"v1:activity=train workload=image-classification seed=7"
    yield "record/case", "set", b"v1:activity=infer batch=16 precision=bf16 set.optimizer.rate=0.1"
    yield "record/case", "version", b"v2:batch=1"
    yield "record/case", "no_value", b"v1:batch= threads"

    yield "record/record", "noisy.json", json.dumps(RECORD).encode()
    yield "record/record", "bare.json", b'{"case": "v1:", "status": "measured"}'
    yield "record/record", "wrong.json", json.dumps(RECORD | {"status": "fine"}).encode()

    yield "record/samples", "none", samples([])
    yield "record/samples", "times", samples([25e6, 26e6, 25.5e6, 1 / 3])
    yield "record/samples", "special", samples([float("nan"), float("-inf"), -0.0])
    yield "record/samples", "short", b"\x09" + samples([1.0, 2.0])[1:]


def main():
    for target, name, content in seeds():
        component, _, parser = target.partition("/")
        folder = TESTS / component / "corpus" / parser
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
