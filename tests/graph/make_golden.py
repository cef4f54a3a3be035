#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/ops/golden.json: inputs and outputs of every operator, computed by others.

The values come from the ONNX reference evaluator (package onnx) and, where PyTorch has the operator,
from torch in float64; the two must agree. Dropout's mask comes from a Philox written here from the
paper. Inputs lie on a grid that f16 and bf16 hold exactly, so one case serves every floating type.

    pip install onnx torch numpy
    python3 tests/graph/make_golden.py > tests/graph/ops/golden.json
"""
import numpy as np
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper

from golden_form import RNG, case, distinct, grid, i64, philox, t, write_cases


def convolutions():
    def conv(name, x, w, b, strides, pads, dilations, group):
        n = len(strides)
        y = F.conv1d if n == 1 else F.conv2d if n == 2 else F.conv3d
        padded = F.pad(t(x), [p for i in reversed(range(n)) for p in (pads[i], pads[i + n])])
        value = y(padded, t(w), None if b is None else t(b), strides, 0, dilations, group)
        case(name, "Conv", [x, w] + ([] if b is None else [b]),
             dict(strides=strides, pads=pads, dilations=dilations, group=group), [value],
             terms=int(np.prod(w.shape[1:])) + 1, weight=1)

    conv("conv 3x3", grid(2, 3, 5, 6), grid(4, 3, 3, 3), None, [1, 1], [1, 1, 1, 1], [1, 1], 1)
    conv("conv 3x3 stride 2 bias", grid(1, 3, 7, 6), grid(2, 3, 3, 3), grid(2), [2, 2],
         [1, 1, 1, 1], [1, 1], 1)
    conv("conv uneven pads", grid(1, 2, 4, 5), grid(2, 2, 2, 3), grid(2), [1, 2], [0, 1, 2, 0],
         [1, 1], 1)
    conv("conv groups", grid(1, 4, 4, 4), grid(6, 2, 3, 3), grid(6), [1, 1], [1, 1, 1, 1], [1, 1],
         2)
    conv("conv depthwise dilated", grid(1, 3, 7, 7), grid(3, 1, 3, 3), None, [1, 1], [2, 2, 2, 2],
         [2, 2], 3)
    conv("conv 1x1 stride 2", grid(1, 4, 5, 5), grid(3, 4, 1, 1), None, [2, 2], [0, 0, 0, 0],
         [1, 1], 1)
    conv("conv 1-d", grid(2, 2, 9), grid(3, 2, 3), grid(3), [2], [1, 1], [1], 1)
    conv("conv 3-d", grid(1, 2, 3, 4, 4), grid(2, 2, 2, 2, 3), None, [1, 1, 1],
         [0, 0, 1, 0, 0, 1], [1, 1, 1], 1)
    x, w = grid(1, 2, 5, 6), grid(2, 2, 3, 2)
    # Along the width of 6: 3 outputs need (3 - 1) * 2 + 2 = 6 columns, no padding.
    same = F.conv2d(F.pad(t(x), [0, 0, 1, 1]), t(w), None, [2, 2])
    case("conv same upper", "Conv", [x, w], dict(strides=[2, 2], auto_pad="SAME_UPPER"), [same],
         terms=12, weight=1)
    x = grid(1, 1, 4, 4)
    w = grid(1, 1, 2, 2)
    lower = F.conv2d(F.pad(t(x), [1, 0, 1, 0]), t(w))
    case("conv same lower", "Conv", [x, w], dict(auto_pad="SAME_LOWER"), [lower], terms=4, weight=1)


def poolings():
    x = distinct(2, 2, 5, 6)
    case("max pool 3x3 stride 2", "MaxPool", [x],
         dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
         [F.max_pool2d(t(x), 3, 2, 1)])
    case("max pool ceil", "MaxPool", [x], dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
         [F.max_pool2d(t(x), 2, 2, 0, ceil_mode=True)])
    case("max pool dilated", "MaxPool", [x], dict(kernel_shape=[2, 2], dilations=[2, 2]),
         [F.max_pool2d(t(x), 2, 1, 0, dilation=2)])
    x = distinct(1, 2, 8)
    case("max pool 1-d", "MaxPool", [x], dict(kernel_shape=[3], strides=[2]),
         [F.max_pool1d(t(x), 3, 2)])
    x = grid(1, 2, 5, 5)
    case("average pool", "AveragePool", [x],
         dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
         [F.avg_pool2d(t(x), 3, 2, 1, count_include_pad=False)], terms=9)
    case("average pool with padding counted", "AveragePool", [x],
         dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1),
         [F.avg_pool2d(t(x), 3, 2, 1, count_include_pad=True)], terms=9)
    case("average pool ceil", "AveragePool", [x],
         dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
         [F.avg_pool2d(t(x), 2, 2, 0, ceil_mode=True)], terms=4)
    case("average pool 3-d", "AveragePool", [grid(1, 1, 4, 4, 4)],
         dict(kernel_shape=[2, 2, 2], strides=[2, 2, 2]), terms=8)
    case("global average pool", "GlobalAveragePool", [x],
         torch_values=[t(x).mean((2, 3), keepdim=True)], terms=25)


def normalizations():
    x = grid(3, 4, 2, 3)
    scale, bias, mean = grid(4), grid(4), grid(4, low=-1, high=1)
    var = grid(4, low=0.25, high=2)
    infer = F.batch_norm(t(x), t(mean), t(var), t(scale), t(bias), False, 0.1, 1e-5)
    case("batch norm", "BatchNormalization", [x, scale, bias, mean, var], dict(epsilon=1e-5),
         [infer], terms=4, weight=1)
    running_mean, running_var = t(mean.copy()), t(var.copy())
    train = F.batch_norm(t(x), running_mean, running_var, t(scale), t(bias), True, 0.25, 1 / 1024)
    # ONNX keeps the population variance where PyTorch keeps the unbiased one.
    population = var * 0.75 + x.var((0, 2, 3)) * 0.25
    case("batch norm training", "BatchNormalization", [x, scale, bias, mean, var],
         dict(epsilon=1 / 1024, momentum=0.75, training_mode=1),
         [train, running_mean, population], outputs=3, terms=18, weight=1)
    x2 = grid(5, 3)
    case("batch norm of rank 2", "BatchNormalization",
         [x2, grid(3), grid(3), grid(3), grid(3, low=0.25, high=2)], terms=4, weight=1)
    x = grid(2, 3, 8)
    scale, bias = grid(8), grid(8)
    case("layer norm", "LayerNormalization", [x, scale, bias], {},
         [F.layer_norm(t(x), [8], t(scale), t(bias))], terms=8, weight=1)
    scale2 = grid(3, 8)
    value = F.layer_norm(t(x), [3, 8], t(scale2), None, 1 / 128)
    mean = t(x).mean((1, 2), keepdim=True)
    inverse = 1 / torch.sqrt(t(x).var((1, 2), correction=0, keepdim=True) + 1 / 128)
    case("layer norm over two axes", "LayerNormalization", [x, scale2],
         dict(axis=1, epsilon=1 / 128), [value, mean, inverse], outputs=3, terms=24, weight=1)


def matrices():
    def matmul(name, a, b):
        case(name, "MatMul", [a, b], {}, [np.matmul(a, b)], terms=a.shape[-1], weight=1)

    matmul("matmul", grid(3, 5), grid(5, 4))
    matmul("matmul batched broadcast", grid(2, 1, 2, 3), grid(4, 3, 2))
    matmul("matmul vector", grid(4), grid(4))
    matmul("matmul matrix vector", grid(3, 4), grid(4))
    matmul("matmul vector batch", grid(3), grid(2, 3, 4))
    a, b, c = grid(3, 5), grid(5, 4), grid(4)
    case("gemm", "Gemm", [a, b, c], {}, [a @ b + c], terms=6, weight=1)
    case("gemm transposed and scaled", "Gemm", [a.T, b.T, grid(3, 1)],
         dict(transA=1, transB=1, alpha=0.5, beta=2.0), terms=6, weight=1)
    case("gemm without c", "Gemm", [a, b.T], dict(transB=1), [a @ b], terms=5, weight=1)
    ints = RNG.integers(-9, 9, (2, 3)), RNG.integers(-9, 9, (3, 2))
    case("matmul of integers", "MatMul", [x.astype(np.int64) for x in ints], types=False)


def activations():
    x = grid(3, 8, low=-4, high=4)
    positive = grid(3, 8, low=1 / 16, high=4)
    case("relu", "Relu", [x], {}, [F.relu(t(x))])
    case("leaky relu", "LeakyRelu", [x], dict(alpha=0.125), [F.leaky_relu(t(x), 0.125)])
    case("sigmoid", "Sigmoid", [x], {}, [torch.sigmoid(t(x))])
    case("tanh", "Tanh", [x], {}, [torch.tanh(t(x))])
    case("erf", "Erf", [x], {}, [torch.erf(t(x))])
    case("gelu", "Gelu", [x], {}, [F.gelu(t(x))])
    case("gelu tanh", "Gelu", [x], dict(approximate="tanh"), [F.gelu(t(x), approximate="tanh")])
    case("exp", "Exp", [x], {}, [torch.exp(t(x))])
    case("log", "Log", [positive], {}, [torch.log(t(positive))])
    case("sqrt", "Sqrt", [positive], {}, [torch.sqrt(t(positive))])
    case("abs", "Abs", [x], {}, [np.abs(x)])
    case("neg", "Neg", [x], {}, [-x])
    case("abs of integers", "Abs", [np.asarray([-5, 0, 7], np.int32)], types=False)
    case("neg of integers", "Neg", [np.asarray([-5, 0, 7], np.int64)], types=False)


def elementwise():
    a, b = grid(2, 3, 4), grid(3, 1)
    nonzero = np.where(b == 0, 1.0, b)
    case("add broadcast", "Add", [a, b], {}, [a + b], weight=1)
    case("sub broadcast", "Sub", [b, a], {}, [b - a], weight=1)
    case("mul scalar", "Mul", [a, np.float64(1.5)], {}, [a * 1.5], weight=1)
    case("div", "Div", [a, nonzero], {}, [a / nonzero], weight=1)
    base = grid(2, 3, low=0.25, high=3)
    power = grid(3, low=-2, high=2)
    case("pow", "Pow", [base, power], {}, [base ** power])
    case("pow with integer exponent", "Pow", [a, i64(2)], {}, [a ** 2])
    case("min of three", "Min", [a, b, np.float64(0.5)], {}, [np.minimum(np.minimum(a, b), 0.5)])
    case("max of two", "Max", [a, b], {}, [np.maximum(a, b)])
    case("max of one", "Max", [b], {}, [b])
    case("clip", "Clip", [a, np.float64(-1), np.float64(1.5)], {}, [np.clip(a, -1, 1.5)])
    case("clip above only", "Clip", [a, None, np.float64(0.25)], {}, [np.minimum(a, 0.25)])
    c = grid(3, 4)
    case("equal", "Equal", [c, np.where(c > 0, c, c + 1)])
    case("greater", "Greater", [c, b])
    case("less", "Less", [c, b])
    mask = RNG.integers(0, 2, (3, 4)).astype(bool)
    case("not", "Not", [mask], types=False)
    case("where", "Where", [mask, c, np.float64(2)], {}, [np.where(mask, c, 2.0)])
    ints = np.asarray([7, -7, 9, -9], np.int32), np.asarray([2, 2, -4, -4], np.int32)
    case("div of integers", "Div", list(ints), {}, [np.trunc(ints[0] / ints[1]).astype(np.int32)],
         types=False)
    case("add of integers", "Add", list(ints), types=False)
    case("mul of bytes", "Mul", [np.asarray([200, 3], np.uint8), np.asarray([2, 5], np.uint8)],
         types=False)
    case("equal of bools", "Equal", [mask[0], mask[1]], types=False)


def softmaxes():
    x = grid(3, 5)
    case("softmax", "Softmax", [x], {}, [F.softmax(t(x), -1)], terms=5)
    case("softmax over the first axis", "Softmax", [x], dict(axis=0), [F.softmax(t(x), 0)], terms=3)
    case("log softmax", "LogSoftmax", [x], {}, [F.log_softmax(t(x), -1)], terms=5)
    label = i64(4, 0, 2)
    log_prob = F.log_softmax(t(x), 1)
    case("cross entropy", "SoftmaxCrossEntropyLoss", [x, label], {},
         [F.cross_entropy(t(x), t(label)), log_prob], outputs=2, terms=15)
    case("cross entropy sum", "SoftmaxCrossEntropyLoss", [x, label], dict(reduction="sum"),
         [F.cross_entropy(t(x), t(label), reduction="sum")], terms=15)
    weights = grid(5, low=0.25, high=2)
    ignoring = i64(4, -1, 2)
    case("cross entropy weighted, ignoring", "SoftmaxCrossEntropyLoss", [x, ignoring, weights],
         dict(ignore_index=-1), [F.cross_entropy(t(x), t(ignoring), t(weights), ignore_index=-1)],
         terms=15)
    x = grid(2, 4, 3)
    label = RNG.integers(0, 4, (2, 3))
    case("cross entropy of planes", "SoftmaxCrossEntropyLoss", [x, label], dict(reduction="none"),
         [F.cross_entropy(t(x), t(label), reduction="none")], terms=4)


def reductions():
    x = grid(2, 3, 4)
    case("reduce mean of all", "ReduceMean", [x], dict(keepdims=0), [np.mean(x)], terms=24)
    case("reduce mean of axes", "ReduceMean", [x, i64(-1, 0)], {}, [x.mean((0, 2), keepdims=True)],
         terms=8, constants=[1])
    case("reduce sum", "ReduceSum", [x, i64(1)], dict(keepdims=0), [x.sum(1)], terms=3,
         constants=[1])
    case("reduce sum of nothing", "ReduceSum", [x], dict(noop_with_empty_axes=1), [x])
    case("reduce max", "ReduceMax", [x, i64(2)], {}, [x.max(2, keepdims=True)], constants=[1])
    case("reduce sum of integers", "ReduceSum", [RNG.integers(-9, 9, (2, 3)), i64(0)], types=False,
         constants=[1])
    d = distinct(3, 4, 2)
    case("arg max", "ArgMax", [d], dict(axis=1), [d.argmax(1)[:, None]])
    ties = np.asarray([[1, 2, 2], [3, 3, 1]], np.float64)
    case("arg max, first of equals", "ArgMax", [ties], dict(axis=-1, keepdims=0), [ties.argmax(-1)])
    case("arg max, last of equals", "ArgMax", [ties],
         dict(axis=-1, keepdims=0, select_last_index=1))


def layouts():
    x = grid(2, 3, 4)
    case("identity", "Identity", [x], {}, [x])
    case("flatten", "Flatten", [x], dict(axis=2), [x.reshape(6, 4)])
    case("transpose", "Transpose", [x], dict(perm=[2, 0, 1]), [x.transpose(2, 0, 1)])
    case("transpose reversed", "Transpose", [x], {}, [x.T])
    case("reshape", "Reshape", [x, i64(0, -1)], {}, [x.reshape(2, 12)], constants=[1])
    case("squeeze", "Squeeze", [grid(1, 3, 1, 2), i64(0, -2)], constants=[1])
    case("squeeze all", "Squeeze", [grid(1, 3, 1)])
    case("unsqueeze", "Unsqueeze", [x, i64(0, -1)], constants=[1])
    case("expand", "Expand", [grid(3, 1), i64(2, 1, 4)], constants=[1])
    case("concat", "Concat", [x, grid(2, 1, 4), grid(2, 2, 4)], dict(axis=-2))
    case("split", "Split", [x, i64(1, 3)], dict(axis=2), list(np.split(x, [1], 2)), outputs=2,
         constants=[1])
    case("split unevenly", "Split", [grid(7)], dict(num_outputs=3), outputs=3)
    case("slice", "Slice", [x, i64(1, 0), i64(3, 9), i64(1, 2), i64(1, 2)], {}, [x[:, 1:3, 0:9:2]],
         constants=[1, 2, 3, 4])
    case("slice backwards", "Slice", [x, i64(-1), i64(-99), i64(2), i64(-2)], {}, [x[:, :, ::-2]],
         constants=[1, 2, 3, 4])
    case("gather", "Gather", [x, np.asarray([[2, 0], [-1, 1]])], dict(axis=1),
         [np.take(x, [[2, 0], [-1, 1]], 1)])
    case("gather a scalar", "Gather", [x, np.asarray(1)], {}, [x[1]])
    pads = i64(0, 1, 0, 2, 0, 1)
    one = [(0, 2), (1, 0), (0, 1)]
    case("pad", "Pad", [x, pads, np.float64(0.5)], {},
         [np.pad(x, one, constant_values=0.5)], constants=[1])
    case("pad reflect", "Pad", [x, i64(2, 1), None, i64(-1)], dict(mode="reflect"),
         [np.pad(x, [(0, 0), (0, 0), (2, 1)], mode="reflect")], constants=[1, 3])
    case("pad edge", "Pad", [x, pads], dict(mode="edge"), [np.pad(x, one, mode="edge")],
         constants=[1])
    case("pad wrap", "Pad", [x, pads], dict(mode="wrap"), [np.pad(x, one, mode="wrap")],
         constants=[1])
    row = grid(4)
    case("pad negative", "Pad", [row, i64(-1, 2)], {}, constants=[1],
         values=[np.pad(row[1:], (0, 2))])
    case("one hot", "OneHot", [i64(1, -1, 5), i64(3), np.asarray([-1.0, 2.0])], {},
         values=[np.asarray([[-1, 2, -1], [-1, -1, 2], [-1, -1, -1]], np.float64)], constants=[1])
    case("one hot in front", "OneHot", [np.asarray([[0, 2]]), np.asarray(3), np.asarray([0., 1.])],
         dict(axis=0), constants=[1])
    case("shape", "Shape", [x], dict(start=1), types=False)
    case("constant of shape", "ConstantOfShape", [i64(2, 3)],
         dict(value=helper.make_tensor("v", TensorProto.INT64, [1], [7])), constants=[0],
         types=False)
    numbers = np.asarray([-2.75, -0.5, 0, 1.5, 3.25])
    case("cast to integers", "Cast", [numbers], dict(to=TensorProto.INT64))
    case("cast to bool", "Cast", [numbers], dict(to=TensorProto.BOOL))
    case("cast from integers", "Cast", [i64(-3, 7)], dict(to=TensorProto.FLOAT), types=False)


def training():
    x = grid(3, 7)
    key = np.asarray([0x12345678, 0x9abcdef0], np.uint32)
    words = [w for block in range(6) for w in philox([int(k) for k in key], block)][:21]
    keep = np.asarray([(w >> 8) / 2 ** 24 >= 0.25 for w in words]).reshape(3, 7)
    case("dropout", "assay.Dropout", [x, key], dict(ratio=0.25),
         values=[np.where(keep, x / 0.75, 0.0)])
    case("stop gradient", "assay.StopGradient", [x], values=[x])


for family in (convolutions, poolings, normalizations, matrices, activations, elementwise,
               softmaxes, reductions, layouts, training):
    family()
write_cases()
