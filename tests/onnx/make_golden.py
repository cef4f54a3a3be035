#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes shapes_golden.txt: what onnx.shape_inference says of every value of the test models.

Needs the package onnx (1.23.2 was used), Debian's libonnx-testdata, and for the last argument the
folder of models that ./dev setup unpacks for tests. What a model itself states of inner values and
outputs is removed first, so that everything is inferred.

Usage: make_golden.py /usr/share/libonnx-testdata/data ASSAY_HOME/test/onnx > shapes_golden.txt
Lines: "model NAME", then "VALUE TYPE DIM DIM ..." where the rank is known; an unknown dimension is ?.
Where a name holds a blank the value is left out.
"""
import pathlib
import sys

import onnx
import onnx.shape_inference

NAMES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16",
         11: "f64", 12: "u32", 13: "u64", 16: "bf16", 17: "f8e4m3fn", 18: "f8e4m3fnuz",
         19: "f8e5m2", 20: "f8e5m2fnuz", 21: "u4", 22: "i4"}


def inferred(path):
    """The model with every shape inferred anew, or None where that fails."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    for output in model.graph.output:
        if output.type.WhichOneof("value") == "tensor_type":
            output.type.tensor_type.ClearField("shape")
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception as error:  # noqa: BLE001 - whatever the oracle cannot do is left out
        print(f"{path}: {str(error).splitlines()[0]}", file=sys.stderr)
        return None


def main():
    """Prints the file."""
    print("# Written by make_golden.py with onnx", onnx.__version__)
    for root in map(pathlib.Path, sys.argv[1:]):
        for path in sorted(root.rglob("*.onnx")):
            model = inferred(path)
            if model is None:
                continue
            lines = []
            for value in list(model.graph.value_info) + list(model.graph.output):
                kind = value.type.tensor_type
                if not kind.HasField("shape") or kind.elem_type not in NAMES or " " in value.name:
                    continue
                dims = [str(d.dim_value) if d.HasField("dim_value") else "?" for d in kind.shape.dim]
                lines.append(" ".join([value.name, NAMES[kind.elem_type], *dims]))
            if lines:
                print("model", path.relative_to(root).as_posix())
                print("\n".join(lines))


if __name__ == "__main__":
    main()
