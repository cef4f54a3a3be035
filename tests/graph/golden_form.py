# SPDX-License-Identifier: Apache-2.0
"""What the make_golden scripts share: random inputs on a coarse grid, the ONNX reference evaluator,
and the form of the cases that tests/graph/ops/golden_case.h reads."""
import json
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(2024)
NAMES = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32", "bool": "bool",
         "uint8": "u8", "int8": "i8", "uint32": "u32", "int16": "i16", "uint16": "u16",
         "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "int4": "i4", "uint4": "u4",
         "float8_e4m3fn": "f8e4m3fn", "float8_e4m3fnuz": "f8e4m3fnuz",
         "float8_e5m2": "f8e5m2", "float8_e5m2fnuz": "f8e5m2fnuz"}
CASES = []


def grid(*shape, low=-3.0, high=3.0, step=1 / 16):
    """Random numbers on a grid of few bits."""
    steps = RNG.integers(round(low / step), round(high / step) + 1, size=shape)
    return np.asarray(steps * step, dtype=np.float64)


def distinct(*shape):
    """Distinct numbers on the grid, so that maxima are unique."""
    n = int(np.prod(shape))
    return (RNG.permutation(n).reshape(shape) - n // 2) / 16.0


def i64(*values):
    return np.asarray(values, dtype=np.int64)


def evaluate(op, inputs, attributes, outputs, opset):
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    node = helper.make_node(op, names, [f"y{i}" for i in range(outputs)], **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for n, x in zip(names, inputs) if x is not None],
        [helper.make_tensor_value_info(f"y{i}", TensorProto.UNDEFINED, None)
         for i in range(outputs)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    feeds = {n: x for n, x in zip(names, inputs) if x is not None}
    return [np.asarray(y) for y in ReferenceEvaluator(model).run(None, feeds)]


def packed_bits(x):
    """The bytes of a tensor; two 4-bit numbers share one, the first in the low half."""
    octets = [b & 0xff for b in x.reshape(-1).view(np.uint8).tolist()]
    if not x.dtype.name.endswith("int4"):
        return octets
    octets = [b & 0xf for b in octets] + [0] * (len(octets) % 2)
    return [low | high << 4 for low, high in zip(octets[::2], octets[1::2])]


def tensor_json(x):
    if x is None:
        return None
    if x.dtype.name.startswith(("int4", "uint4", "float8")):  # as they are stored
        return {"type": NAMES[x.dtype.name], "shape": list(x.shape), "bits": packed_bits(x)}
    values = x.reshape(-1).tolist()
    if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
        values = [float(f"{v:.12g}") for v in values]
        values = [int(v) if v == int(v) else v for v in values]
    return {"type": NAMES[x.dtype.name], "shape": list(x.shape), "values": values}


def attribute_json(value):
    if isinstance(value, str):
        return {"s": value}
    if isinstance(value, float):
        return {"f": value}
    if isinstance(value, int):
        return {"i": value}
    if isinstance(value, onnx.TensorProto):
        return {"t": tensor_json(onnx.numpy_helper.to_array(value))}
    if value and isinstance(value[0], float):
        return {"fs": list(value)}
    if value and isinstance(value[0], str):
        return {"ss": list(value)}
    return {"is": list(value)}


def case(name, op, inputs, attributes=None, torch_values=None, outputs=1, terms=1, weight=None,
         constants=(), opset=21, values=None, types=True):
    """One case. terms: the longest sum behind an output element. weight: the input in which a 1 %
    error must be seen. constants: inputs that inference needs the data of. types: also run in f64,
    f16 and bf16 (the floating inputs are f64 here and stand for all)."""
    attributes = attributes or {}
    inputs = [None if x is None else np.asarray(x) for x in inputs]
    if values is None:
        values = evaluate(op, inputs, attributes, outputs, opset)
    if torch_values is not None:
        others = [t.numpy() if isinstance(t, torch.Tensor) else t for t in torch_values]
        for ours, other in zip(values, others):
            np.testing.assert_allclose(ours, other, rtol=2e-5, atol=2e-5, err_msg=name)
        values = others
    CASES.append({
        "name": name, "op": op,
        "attributes": {k: attribute_json(v) for k, v in attributes.items()},
        "inputs": [tensor_json(x) for x in inputs],
        "outputs": [tensor_json(np.asarray(v)) for v in values],
        "terms": terms, "weight": weight, "constants": list(constants), "all_types": types,
    })


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x))


def philox(key, block):
    """Philox4x32-10 of Salmon et al. 2011."""
    c = [block & 0xffffffff, block >> 32, 0, 0]
    k = list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xffffffff, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c


def write_cases():
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES)
    sys.stdout.write(f"[\n{lines}\n]\n")
