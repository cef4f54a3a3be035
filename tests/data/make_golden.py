#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes images_golden.json and resample_golden.json beside this script.

images_golden.json: small image files encoded, and decoded again, by Pillow (RGB, grey and CMYK JPEG,
RGB and palette PNG), with the pixels expected. resample_golden.json: resizings by torch's
interpolate(mode="bilinear", antialias=True, align_corners=False) in f64.
Needs numpy, Pillow and torch; the tests need the JSON files only. Usage: make_golden.py
"""
import base64
import io
import json
import pathlib

import numpy
import torch
from PIL import Image

HERE = pathlib.Path(__file__).parent


def picture(height, width):
    y, x = numpy.mgrid[0:height, 0:width]
    red = 255 * x / (width - 1)
    green = 255 * y / (height - 1)
    blue = 127 + 100 * numpy.sin(x / 3.0) * numpy.cos(y / 4.0)
    return numpy.stack([red, green, blue], axis=2).round().astype(numpy.uint8)


def encoded(image, kind, **options):
    memory = io.BytesIO()
    image.save(memory, kind, **options)
    return memory.getvalue()


def images():
    rgb = Image.fromarray(picture(13, 19))
    files = {
        "rgb.jpeg": encoded(rgb, "JPEG", quality=90),
        "progressive.jpeg": encoded(rgb, "JPEG", quality=80, progressive=True),
        "grey.jpeg": encoded(rgb.convert("L"), "JPEG", quality=90),
        "cmyk.jpeg": encoded(rgb.convert("CMYK"), "JPEG", quality=95),
        "rgb.png": encoded(rgb, "PNG"),
        "palette.png": encoded(rgb.convert("P"), "PNG"),
    }
    rows = []
    for name, content in files.items():
        pixels = numpy.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
        rows.append({
            "name": name,
            "file": base64.b64encode(content).decode(),
            "height": pixels.shape[0],
            "width": pixels.shape[1],
            "pixels": base64.b64encode(pixels.tobytes()).decode(),
        })
    return rows


def resizings():
    rows = []
    for height, width, to_height, to_width in [(9, 14, 4, 5), (6, 5, 11, 7), (12, 3, 5, 8),
                                               (7, 7, 7, 7), (20, 17, 1, 2), (1, 1, 3, 2)]:
        random = numpy.random.default_rng(height * 100 + width)
        pixels = random.integers(0, 256, (height, width, 3), dtype=numpy.uint8)
        planes = torch.tensor(pixels.astype(numpy.float64)).permute(2, 0, 1)[None]
        resized = torch.nn.functional.interpolate(planes, size=(to_height, to_width),
                                                  mode="bilinear", antialias=True,
                                                  align_corners=False)
        rows.append({
            "height": height,
            "width": width,
            "pixels": pixels.ravel().tolist(),
            "to_height": to_height,
            "to_width": to_width,
            "expected": [round(v, 6) for v in resized[0].permute(1, 2, 0).ravel().tolist()],
        })
    return rows


def write(name, rows):
    (HERE / name).write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    write("images_golden.json", images())
    write("resample_golden.json", resizings())
