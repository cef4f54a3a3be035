#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/ops/golden_pointwise.json: functions of one or a few elements, and reductions.

    python3 tests/graph/make_golden_pointwise.py > tests/graph/ops/golden_pointwise.json
"""
import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F
from onnx import TensorProto

from golden_form import RNG, case, distinct, grid, i64, t, write_cases


def functions():
    small = grid(2, 7, low=-0.9375, high=0.9375)
    wide = grid(2, 7)
    above = grid(2, 7, low=1, high=4)
    for name, x in (("Acos", small), ("Acosh", above), ("Asin", small), ("Asinh", wide),
                    ("Atan", wide), ("Atanh", small), ("Cos", wide), ("Cosh", wide), ("Sin", wide),
                    ("Sinh", wide), ("Tan", small), ("Ceil", wide), ("Floor", wide)):
        case(name.lower(), name, [x], {}, [getattr(torch, name.lower())(t(x))])
    halves = np.asarray([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.75, -0.25])
    case("round", "Round", [halves], {}, [torch.round(t(halves))])
    case("sign", "Sign", [wide], {}, [torch.sign(t(wide))])
    case("sign of integers", "Sign", [np.asarray([-5, 0, 7], np.int8)], types=False)
    case("sign of unsigned", "Sign", [np.asarray([0, 7], np.uint16)], types=False)
    case("reciprocal", "Reciprocal", [above], {}, [1 / t(above)])


def activations():
    x = grid(3, 8, low=-4, high=4)
    case("elu", "Elu", [x], dict(alpha=0.5), [F.elu(t(x), 0.5)])
    case("celu", "Celu", [x.astype(np.float32)], dict(alpha=2.0), [F.celu(t(x), 2.0).float()],
         types=False)
    # The attributes are f32 numbers.
    alpha, gamma = (float(np.float32(v)) for v in (1.6732632423543772, 1.0507009873554805))
    case("selu", "Selu", [x], dict(alpha=alpha, gamma=gamma),
         [gamma * torch.where(t(x) > 0, t(x), alpha * torch.expm1(t(x)))])
    case("hard sigmoid", "HardSigmoid", [x], dict(alpha=0.25, beta=0.5),
         [torch.clamp(0.25 * t(x) + 0.5, 0, 1)])
    case("hard swish", "HardSwish", [x], {}, [F.hardswish(t(x))])
    case("mish", "Mish", [x], {}, [F.mish(t(x))])
    case("softplus", "Softplus", [x], {}, [F.softplus(t(x))])
    case("softsign", "Softsign", [x], {}, [F.softsign(t(x))])
    case("thresholded relu", "ThresholdedRelu", [x], dict(alpha=0.5), [F.threshold(t(x), 0.5, 0)])
    case("shrink hard", "Shrink", [x], dict(lambd=1.5), [F.hardshrink(t(x), 1.5)])
    case("shrink soft", "Shrink", [x], dict(lambd=1.5, bias=1.5), [F.softshrink(t(x), 1.5)])
    case("shrink of integers", "Shrink", [np.asarray([-3, -1, 0, 2], np.int32)],
         dict(lambd=1.5, bias=1.0), types=False)
    slope = grid(8, low=-1, high=1)
    case("prelu", "PRelu", [x, slope], {}, [torch.where(t(x) < 0, t(x) * t(slope), t(x))],
         weight=1)
    case("prelu of integers", "PRelu", [np.asarray([-3, 4], np.int64), np.asarray([2], np.int64)],
         types=False)
    d = distinct(3, 4)
    case("hardmax", "Hardmax", [d], {}, [F.one_hot(t(d).argmax(1), 4).double()])
    case("hardmax over the first axis", "Hardmax", [d], dict(axis=0))
    case("hardmax takes the first of equals", "Hardmax", [np.asarray([[1., 3, 3, 0]])])


def arithmetic():
    a, b = grid(2, 3, 4), grid(3, 1)
    case("mean of three", "Mean", [a, b, np.float64(0.5)], {}, [(a + b + 0.5) / 3], terms=3,
         weight=1)
    case("sum of two", "Sum", [a, b], {}, [a + b], weight=1)
    case("sum of one", "Sum", [b], {}, [b])
    ints = np.asarray([7, -7, 9, -9, 6], np.int32), np.asarray([2, 2, -4, -4, 3], np.int32)
    case("mod takes the divisor's sign", "Mod", list(ints), {}, [np.mod(*ints)], types=False)
    case("mod takes the dividend's sign", "Mod", list(ints), dict(fmod=1), [np.fmod(*ints)],
         types=False)
    case("mod of bytes", "Mod", [np.asarray([200, 9], np.uint8), np.asarray([7, 5], np.uint8)],
         types=False)
    nonzero = np.where(b == 0, 1.0, b)
    case("mod of floating numbers", "Mod", [a, nonzero], dict(fmod=1), [np.fmod(a, nonzero)])
    case("pow of integers", "Pow", [np.asarray([3, -2, 5], np.int64), i64(4, 3, 0)], types=False)
    case("pow of a large integer is exact", "Pow", [i64(3037000499), i64(2)], types=False)
    case("pow of integers by numbers", "Pow",
         [np.asarray([4, 9], np.int32), np.asarray([0.5, 2], np.float32)], types=False)
    case("pow of numbers by integers", "Pow",
         [np.asarray([4, 0.5], np.float32), np.asarray([3, 2], np.int32)], types=False)
    case("min of integers", "Min", [np.asarray([4, -9], np.int8), np.asarray([1, 2], np.int8)],
         types=False)
    case("clip of integers", "Clip",
         [np.asarray([4, -9, 0], np.int16), np.asarray(-2, np.int16), np.asarray(3, np.int16)],
         types=False)


def logic():
    a, b = (RNG.integers(0, 2, (2, 3)).astype(bool) for _ in range(2))
    row = np.asarray([True, False, True])
    for name in ("And", "Or", "Xor"):
        case(f"logical {name}", name, [a, b], types=False)
        case(f"logical {name} of a row", name, [a, row], types=False)
    c, d = grid(3, 4), grid(3, 1)
    case("greater or equal", "GreaterOrEqual", [c, d])
    case("greater or equal of equals", "GreaterOrEqual", [c, c])
    case("less or equal", "LessOrEqual", [c, d])
    case("less or equal of integers", "LessOrEqual", [i64(3, 4, 5), i64(4, 4, 4)], types=False)
    for kind in (np.int8, np.uint16, np.int32, np.uint64):
        x = np.asarray([1, 6, 100, 77], kind)
        y = np.asarray([3, 5, 60, 1], kind)
        for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            case(f"{name} of {kind.__name__}", name, [x, y], types=False)
        case(f"BitwiseNot of {kind.__name__}", "BitwiseNot", [x], types=False)
    for kind in (np.uint8, np.uint32, np.uint64):
        x, y = np.asarray([1, 200, 6], kind), np.asarray([3, 2, 0], kind)
        case(f"shift left {kind.__name__}", "BitShift", [x, y], dict(direction="LEFT"), types=False)
        case(f"shift right {kind.__name__}", "BitShift", [x, y], dict(direction="RIGHT"),
             types=False)
    case("shift by the whole width", "BitShift",
         [np.asarray([255], np.uint8), np.asarray([8], np.uint8)], dict(direction="LEFT"),
         values=[np.asarray([0], np.uint8)], types=False)
    case("where of bools", "Where", [a, b, row], types=False)


def reductions():
    x = grid(2, 3, 4, low=0.25, high=3)
    xt = t(x)
    for name, ours in (("ReduceL1", lambda d: xt.abs().sum(d, True)),
                       ("ReduceL2", lambda d: xt.square().sum(d, True).sqrt()),
                       ("ReduceLogSum", lambda d: xt.sum(d, True).log()),
                       ("ReduceLogSumExp", lambda d: xt.logsumexp(d, True)),
                       ("ReduceMin", lambda d: xt.amin(d, True)),
                       ("ReduceMax", lambda d: xt.amax(d, True)),
                       ("ReduceProd", lambda d: xt.prod(d, True)),
                       ("ReduceSumSquare", lambda d: xt.square().sum(d, True))):
        case(f"{name} over axis 1", name, [x, i64(1)], {}, [ours(1)], terms=6, constants=[1])
        case(f"{name} of all", name, [x], dict(keepdims=0), terms=48)
    signed = grid(3, 4)
    case("l1 of signed numbers", "ReduceL1", [signed, i64(-1)], dict(keepdims=0),
         [np.abs(signed).sum(1)], terms=4, constants=[1])
    case("log sum exp of large numbers", "ReduceLogSumExp",
         [np.asarray([[1000., 1001, 999]], np.float32), i64(1)], constants=[1], types=False)
    ints = RNG.integers(-9, 9, (2, 3)).astype(np.int32)
    for name in ("ReduceL1", "ReduceMin", "ReduceMax", "ReduceProd", "ReduceSumSquare"):
        case(f"{name} of integers", name, [ints.astype(np.int64), i64(0)], types=False,
             constants=[1])
    mask = np.asarray([[True, False], [False, False]])
    case("reduce max of bools", "ReduceMax", [mask, i64(1)], types=False, constants=[1])
    case("reduce min of bools", "ReduceMin", [mask, i64(0)], types=False, constants=[1])
    case("reduce sum over no elements", "ReduceSum", [np.zeros((2, 0, 3)), i64(1)], {},
         [np.zeros((2, 1, 3))], constants=[1])
    case("reduce prod over no elements", "ReduceProd", [np.zeros((2, 0)), i64(1)], {},
         [np.ones((2, 1))], constants=[1])
    case("reduce with empty axes", "ReduceMin", [signed, np.zeros(0, np.int64)], dict(keepdims=0),
         constants=[1])
    d = distinct(3, 4, 2)
    case("arg min", "ArgMin", [d], dict(axis=1), [d.argmin(1)[:, None]])
    ties = np.asarray([[2., 1, 2, 1]])
    case("arg max of the last tie", "ArgMax", [ties], dict(axis=1, select_last_index=1))
    case("arg min of the last tie", "ArgMin", [ties], dict(axis=1, select_last_index=1, keepdims=0))
    case("arg min of integers", "ArgMin", [ints], dict(axis=-1), types=False)
    case("cumulative sum", "CumSum", [signed, np.asarray(1)], {}, [signed.cumsum(1)], terms=4,
         constants=[1])
    case("cumulative sum exclusive", "CumSum", [signed, np.asarray(0, np.int32)],
         dict(exclusive=1), terms=3, constants=[1])
    case("cumulative sum reversed", "CumSum", [signed, np.asarray(-1)], dict(reverse=1), terms=4,
         constants=[1])
    case("cumulative sum reversed exclusive", "CumSum", [i64(1, 2, 3), np.asarray(0)],
         dict(reverse=1, exclusive=1), types=False, constants=[1])
    d = distinct(3, 5)
    top = torch.topk(t(d), 2, 1)
    case("top k", "TopK", [d, i64(2)], {}, [top.values, top.indices], outputs=2, constants=[1])
    low = torch.topk(t(d), 3, 0, largest=False)
    case("top k smallest", "TopK", [d, i64(3)], dict(axis=0, largest=0), [low.values, low.indices],
         outputs=2, constants=[1])
    case("top k of ties", "TopK", [np.asarray([3, 5, 5, 1, 5], np.int32), i64(4)], dict(axis=-1),
         values=[np.asarray([5, 5, 5, 3], np.int32), i64(1, 2, 4, 0)], outputs=2, constants=[1],
         types=False)


def tests():
    """IsNaN and IsInf over bit patterns: JSON has no name for them."""
    for kind in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        codes = np.asarray([0x00, 0x38, 0x7f, 0x80, 0xff, 0x7c, 0xfc], np.uint8)
        x = codes.view(getattr(ml_dtypes, kind))
        number = x.astype(np.float32)
        case(f"is nan of {kind}", "IsNaN", [x], values=[np.isnan(number)], types=False)
        case(f"is inf of {kind}", "IsInf", [x], values=[np.isinf(number)], types=False)
        case(f"is negative inf of {kind}", "IsInf", [x], dict(detect_positive=0),
             values=[np.isinf(number) & (number < 0)], types=False)
    case("is nan of numbers", "IsNaN", [grid(3)])
    case("is inf of numbers", "IsInf", [grid(3)], dict(detect_negative=0))
    codes = np.arange(256, dtype=np.uint8)
    for kind, to in (("float8_e4m3fn", TensorProto.FLOAT8E4M3FN),
                     ("float8_e5m2", TensorProto.FLOAT8E5M2),
                     ("float8_e4m3fnuz", TensorProto.FLOAT8E4M3FNUZ),
                     ("float8_e5m2fnuz", TensorProto.FLOAT8E5M2FNUZ)):
        form = getattr(ml_dtypes, kind)
        number = codes.view(form).astype(np.float32)
        finite = codes[np.isfinite(number)].view(form)
        case(f"cast from {kind}", "Cast", [finite], dict(to=TensorProto.FLOAT),
             values=[finite.astype(np.float32)], types=False)
        between = np.linspace(-300, 300, 61).astype(np.float32) / 16
        case(f"cast to {kind}", "Cast", [between], dict(to=to), values=[between.astype(form)],
             types=False)
        large = np.asarray([1e6, -1e6, 470, 60000], np.float32)
        top = ml_dtypes.finfo(form).max
        case(f"cast to {kind} saturates", "Cast", [large], dict(to=to),
             values=[np.clip(large, -float(top), float(top)).astype(form)], types=False)
    four = np.asarray([-8, -3, 0, 7, 5], np.int8)
    case("cast to int4", "Cast", [four], dict(to=TensorProto.INT4),
         values=[four.astype(ml_dtypes.int4)], types=False)
    case("cast from int4", "Cast", [four.astype(ml_dtypes.int4)], dict(to=TensorProto.FLOAT),
         values=[four.astype(np.float32)], types=False)
    case("cast from uint4", "Cast", [np.asarray([0, 9, 15], ml_dtypes.uint4)],
         dict(to=TensorProto.INT32), values=[np.asarray([0, 9, 15], np.int32)], types=False)
    x = np.asarray([-2.75, 0, 3.5], np.float32)
    case("cast like", "CastLike", [x, np.asarray([1], np.int32)], types=False)
    case("cast like half", "CastLike", [x, np.asarray([1], np.float16)],
         values=[x.astype(np.float16)], types=False)
    case("cast wide integers", "Cast", [np.asarray([200, 70000, -1], np.int32)],
         dict(to=TensorProto.INT8), types=False)
    case("cast half to double", "Cast", [np.asarray([0.5, -2], np.float16)],
         dict(to=TensorProto.DOUBLE), values=[np.asarray([0.5, -2], np.float64)], types=False)


for family in (functions, activations, arithmetic, logic, reductions, tests):
    family()
write_cases()
