#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/ops/golden_backward.json: the parts of a backward pass, from PyTorch's autograd.

    pip install onnx torch numpy
    python3 tests/graph/make_golden_backward.py > tests/graph/ops/golden_backward.json
"""
import numpy as np
import torch
import torch.nn.functional as F

from golden_form import RNG, case, distinct, grid, i64, t, write_cases


def back(function, x, dy):
    """The gradient of function(x) by x for the arriving gradient dy."""
    leaf = t(x).clone().requires_grad_()
    function(leaf).backward(torch.as_tensor(dy))
    return leaf.grad.numpy()


def pointwise():
    x, dy = grid(3, 8, low=-4, high=4), grid(3, 8)
    relu = np.maximum(x, 0)
    case("relu gradient", "assay.ReluGradient", [dy, relu], values=[back(F.relu, x, dy)])
    for form in ("none", "tanh"):
        case(f"gelu gradient {form}", "assay.GeluGradient", [dy, x], dict(approximate=form),
             values=[back(lambda v: F.gelu(v, approximate=form), x, dy)])


def softmaxes():
    y = np.exp2(-RNG.integers(1, 6, (3, 5)).astype(np.float64))
    dy = grid(3, 5)
    case("softmax gradient", "assay.SoftmaxGradient", [dy, y],
         values=[y * (dy - (dy * y).sum(-1, keepdims=True))], terms=5, weight=1)
    log_y = grid(2, 3, 4, low=-4, high=-0.25)
    dy = grid(2, 3, 4)
    case("log softmax gradient", "assay.LogSoftmaxGradient", [dy, log_y], dict(axis=1),
         values=[dy - np.exp(log_y) * dy.sum(1, keepdims=True)], terms=3, weight=1)


def losses():
    def likelihood(name, shape, attributes, weighted=False, **options):
        log_prob = grid(*shape, low=-4, high=-0.25)
        labels = RNG.integers(0, shape[1], (shape[0], *shape[2:]))
        weight = grid(shape[1], low=0.5, high=2) if weighted else None
        dy = grid(*labels.shape) if options.get("reduction") == "none" else grid(1).reshape(())
        value = back(lambda v: F.nll_loss(v, t(labels), None if weight is None else t(weight),
                                          **options), log_prob, dy)
        case(name, "assay.NegativeLogLikelihoodGradient",
             [dy, log_prob, labels] + ([t(weight).numpy()] if weighted else []), attributes,
             values=[value], terms=shape[0])

    likelihood("likelihood gradient", (6, 4), {})
    likelihood("likelihood gradient sum", (6, 4), dict(reduction="sum"), reduction="sum")
    likelihood("likelihood gradient none", (3, 4, 2), dict(reduction="none"), reduction="none")
    likelihood("likelihood gradient weighted", (6, 4), dict(ignore_index=1), True, ignore_index=1)


def norms():
    x, dy, scale = grid(3, 4, 2, 3), grid(3, 4, 2, 3), grid(4, low=0.5, high=2)
    mean, inverse = grid(4, low=-1, high=1), grid(4, low=0.5, high=2)
    values = torch.ops.aten.native_batch_norm_backward(
        t(dy), t(x), t(scale), None, None, t(mean), t(inverse), True, 1e-5, [True] * 3)
    case("batch norm gradient", "assay.BatchNormGradient", [dy, x, mean, inverse, scale],
         values=[v.numpy() for v in values], outputs=3, terms=18, weight=4)
    x, dy, scale = grid(2, 3, 8), grid(2, 3, 8), grid(8, low=0.5, high=2)
    mean, inverse = grid(2, 3, 1, low=-1, high=1), grid(2, 3, 1, low=0.5, high=2)
    values = torch.ops.aten.native_layer_norm_backward(
        t(dy), t(x), [8], t(mean), t(inverse), t(scale), t(scale), [True] * 3)
    case("layer norm gradient", "assay.LayerNormGradient", [dy, x, mean, inverse, scale],
         values=[v.numpy() for v in values], outputs=3, terms=8, weight=4)


def places():
    dy = grid(2, 4, 3)
    indices = np.asarray([[0, 2], [2, -1]], dtype=np.int64)
    x = grid(2, 5, 3)
    case("gather gradient", "assay.GatherGradient", [dy.reshape(2, 2, 2, 3), indices, i64(2, 5, 3)],
         dict(axis=1), values=[back(lambda v: v[:, t(indices) % 5], x, dy.reshape(2, 2, 2, 3))],
         terms=2, constants=[2])
    x = distinct(1, 2, 4, 5)
    y, at = F.max_pool2d(t(x), 3, 1, return_indices=True)
    dy = grid(*y.shape)
    whole = at.numpy() + np.arange(2).reshape(1, 2, 1, 1) * 20
    case("max pool gradient", "assay.MaxPoolGradient", [dy, whole, i64(1, 2, 4, 5)],
         values=[back(lambda v: F.max_pool2d(v, 3, 1), x, dy)], terms=9, constants=[2])
    x, dy = grid(1, 2, 5, 5), grid(1, 2, 3, 3)
    for counted in (False, True):
        case(f"average pool gradient {'' if counted else 'not '}counting pads",
             "assay.AveragePoolGradient", [dy, i64(1, 2, 5, 5)],
             dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
                  count_include_pad=int(counted)),
             values=[back(lambda v: F.avg_pool2d(v, 3, 2, 1, count_include_pad=counted), x, dy)],
             terms=9, constants=[1])
    x, dy = grid(4, 6), grid(2, 3)
    case("slice gradient", "assay.SliceGradient", [dy, i64(4, 6), i64(1, -1), i64(4, -7), i64(0, 1),
                                                   i64(2, -2)],
         values=[back(lambda v: v[1:4:2].flip(1)[:, ::2], x, dy)], constants=[1, 2, 3, 4, 5])


for family in (pointwise, softmaxes, losses, norms, places):
    family()
write_cases()
