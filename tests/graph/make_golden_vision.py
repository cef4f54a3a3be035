#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/ops/golden_vision.json: convolutions other than plain ones, poolings, regions,
resizing, grids and patches. Values come from the ONNX reference evaluator and from torch and
torchvision in float64, which must agree where both have the operator.

    pip install onnx torch torchvision numpy
    python3 tests/graph/make_golden_vision.py > tests/graph/ops/golden_vision.json
"""
import numpy as np
import torch
import torch.nn.functional as F
import torchvision.ops

from golden_form import RNG, case, distinct, grid, i64, t, write_cases


def bytes_of(*shape, signed=False):
    low, high = (-128, 128) if signed else (0, 256)
    return RNG.integers(low, high, shape).astype(np.int8 if signed else np.uint8)


def f32(*values):
    return np.asarray(values, np.float32)


def transposed():
    def conv(name, x, w, b, strides, pads, output_padding, dilations, group):
        dims = len(strides)
        y = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[dims - 1]
        value = y(t(x), t(w), None if b is None else t(b), strides, pads[:dims], output_padding,
                  group, dilations)
        case(name, "ConvTranspose", [x, w] + ([] if b is None else [b]),
             dict(strides=strides, pads=pads, output_padding=output_padding, dilations=dilations,
                  group=group), values=[value.numpy()], terms=x.shape[1] * 9, weight=1)

    conv("conv transpose 1-d", grid(1, 2, 5), grid(2, 3, 3), grid(3), [2], [1, 1], [1], [1], 1)
    conv("conv transpose 2-d", grid(2, 3, 4, 3), grid(3, 2, 3, 2), None, [2, 3], [1, 0, 1, 0],
         [1, 0], [1, 1], 1)
    conv("conv transpose groups", grid(1, 4, 3, 3), grid(4, 3, 2, 2), grid(6), [1, 1],
         [0, 0, 0, 0], [0, 0], [2, 1], 2)
    conv("conv transpose 3-d", grid(1, 2, 2, 3, 2), grid(2, 1, 2, 2, 3), grid(1), [1, 2, 1],
         [0, 1, 1, 0, 1, 1], [0, 0, 0], [1, 1, 1], 1)
    x, w = grid(1, 1, 3, 3), grid(1, 2, 3, 3)
    full = F.conv_transpose2d(t(x), t(w), None, 2).numpy()  # 7 x 7
    case("conv transpose same upper", "ConvTranspose", [x, w],
         dict(strides=[2, 2], auto_pad="SAME_UPPER"), values=[full[:, :, :6, :6]], terms=9)
    case("conv transpose same lower", "ConvTranspose", [x, w],
         dict(strides=[2, 2], auto_pad="SAME_LOWER"), values=[full[:, :, 1:, 1:]], terms=9)
    wide = np.pad(full, [(0, 0), (0, 0), (0, 1), (0, 1)])
    case("conv transpose output shape", "ConvTranspose", [x, w],
         dict(strides=[2, 2], output_shape=[8, 8], output_padding=[1, 1]), values=[wide], terms=9)


def gradients():
    for name, shape, weight, strides, pads, group in (
            ("", (2, 3, 6, 5), (4, 3, 3, 2), [2, 1], [1, 1, 1, 1], 1),
            (" groups", (1, 4, 5, 5), (6, 2, 3, 3), [1, 2], [1, 0, 1, 0], 2)):
        x, w = t(grid(*shape)).requires_grad_(), t(grid(*weight)).requires_grad_()
        y = F.conv2d(x, w, None, strides, pads[:2], 1, group)
        dy = t(grid(*y.shape))
        y.backward(dy)
        common = dict(strides=strides, pads=pads, group=group)
        case("conv input gradient" + name, "assay.ConvInputGradient",
             [dy.numpy(), w.detach().numpy(), i64(*shape[2:])], common, values=[x.grad.numpy()],
             terms=24, weight=1, constants=[2])
        case("conv weight gradient" + name, "assay.ConvWeightGradient",
             [x.detach().numpy(), dy.numpy()], dict(kernel_shape=list(weight[2:]), **common),
             values=[w.grad.numpy()], terms=60, weight=1)


def deformable():
    x, w, b = grid(1, 4, 5, 6), grid(2, 2, 3, 2), grid(2)
    offset = grid(1, 24, 3, 3, low=-2, high=2)
    mask = grid(1, 12, 3, 3, low=0, high=1)
    attributes = dict(strides=[2, 2], pads=[1, 0, 1, 0], group=2, offset_group=2)
    value = torchvision.ops.deform_conv2d(t(x), t(offset), t(w), t(b), (2, 2), (1, 0), (1, 1),
                                          t(mask))
    case("deform conv", "DeformConv", [x, w, offset, b, mask], attributes, values=[value.numpy()],
         terms=48, weight=1)
    value = torchvision.ops.deform_conv2d(t(x[:, :2]), t(offset[:, :12]), t(w), None, (2, 2),
                                          (1, 0))
    case("deform conv without mask", "DeformConv", [x[:, :2], w, offset[:, :12]],
         dict(strides=[2, 2], pads=[1, 0, 1, 0]), values=[value.numpy()], terms=48, weight=1)


def quantised():
    x, w = bytes_of(1, 2, 5, 4), bytes_of(3, 2, 3, 2)
    attributes = dict(pads=[1, 1, 1, 0])
    wide = [a.astype(np.int64) for a in (x, w)]
    zero = np.uint8(121)
    zeros = np.asarray([3, 130, 255], np.uint8)
    padded = np.pad(wide[0] - 121, [(0, 0), (0, 0), (1, 1), (1, 0)])
    shifted = wide[1] - zeros.astype(np.int64)[:, None, None, None]
    sums = F.conv2d(t(padded), t(shifted)).numpy().astype(np.int32)
    case("conv integer", "ConvInteger", [x, w, zero, zeros], attributes, values=[sums],
         types=False)
    scales, bias = f32(0.25, 0.5, 0.125), RNG.integers(-900, 900, 3).astype(np.int32)
    real = (sums + bias[None, :, None, None]) * (scales * 0.5 / 64)[None, :, None, None]
    y = np.clip(np.rint(real) + 100, 0, 255).astype(np.uint8)
    case("qlinear conv", "QLinearConv",
         [x, np.float32(0.5), zero, w, scales, zeros, np.float32(64), np.uint8(100), bias],
         attributes, values=[y], types=False)
    xs, ws = bytes_of(1, 1, 4, 4, signed=True), bytes_of(1, 1, 2, 2, signed=True)
    sums = F.conv2d(t(xs.astype(np.int64)), t(ws.astype(np.int64))).numpy()
    case("qlinear conv of signed bytes", "QLinearConv",
         [xs, np.float32(1), np.int8(0), ws, np.float32(1), np.int8(0), np.float32(512),
          np.int8(-7)], {}, values=[np.clip(np.rint(sums / 512) - 7, -128, 127).astype(np.int8)],
         types=False)


def poolings():
    x = distinct(2, 2, 5, 6)
    y, places = F.max_pool2d(t(x), 3, 2, 1, return_indices=True)
    planes = np.arange(4).reshape(2, 2, 1, 1) * 30
    attributes = dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    case("max pool with places", "MaxPool", [x], attributes, [y, places.numpy() + planes],
         outputs=2)
    column_major = places.numpy() % 6 * 5 + places.numpy() // 6
    case("max pool with places in columns", "MaxPool", [x], dict(storage_order=1, **attributes),
         values=[y.numpy(), column_major + planes], outputs=2)
    small = bytes_of(1, 1, 5, 5)
    case("max pool of bytes", "MaxPool", [small], dict(kernel_shape=[2, 2], dilations=[3, 1]),
         values=[F.max_pool2d(t(small.astype(np.float64)), 2, 1, 0, (3, 1)).numpy().astype(np.uint8)],
         types=False)
    small = bytes_of(1, 1, 4, 4, signed=True)
    lower = F.pad(t(small.astype(np.float64)), [1, 0, 1, 0], value=-128)
    case("max pool of signed bytes", "MaxPool", [small],
         dict(kernel_shape=[2, 2], auto_pad="SAME_LOWER"),
         values=[F.max_pool2d(lower, 2, 1).numpy().astype(np.int8)], types=False)
    case("average pool dilated", "AveragePool", [grid(1, 1, 6, 6)],
         dict(kernel_shape=[2, 2], dilations=[2, 3], count_include_pad=1, pads=[1, 1, 0, 0]),
         terms=4)
    small = distinct(1, 2, 4, 6)
    y, places = F.max_pool2d(t(small), 2, 2, return_indices=True)
    flat = places.numpy() + np.arange(2).reshape(1, 2, 1, 1) * 24
    case("max unpool", "MaxUnpool", [y.numpy(), flat], dict(kernel_shape=[2, 2], strides=[2, 2]),
         [F.max_unpool2d(y, places, 2)])
    wide = np.pad(F.max_unpool2d(y, places, 2).numpy(), [(0, 0), (0, 0), (0, 1), (0, 2)])
    case("max unpool into more", "MaxUnpool", [y.numpy(), flat, i64(1, 2, 5, 8)],
         dict(kernel_shape=[2, 2], strides=[2, 2]), [wide], constants=[2])
    x = grid(1, 2, 5, 6)
    positive = np.abs(x) + 0.0625
    case("lp pool", "LpPool", [x], dict(kernel_shape=[2, 3], strides=[2, 1]),
         values=[F.lp_pool2d(t(positive) * 0 + t(np.abs(x)), 2, (2, 3), (2, 1)).numpy()], terms=6)
    case("lp pool of the third power", "LpPool", [positive], dict(kernel_shape=[2, 2], p=3),
         values=[F.lp_pool2d(t(positive), 3, 2, 1).numpy()], terms=4)
    case("global max pool", "GlobalMaxPool", [x], {}, [x.max((2, 3), keepdims=True)])
    case("global lp pool", "GlobalLpPool", [x], dict(p=2),
         values=[np.sqrt((x ** 2).sum((2, 3), keepdims=True))], terms=30)


def regions():
    x = grid(2, 2, 7, 8)
    rois = np.asarray([[0.5, 0.25, 5.5, 6], [2, 1, 3.5, 7.25], [-2, -1, 9, 9]], np.float64)
    images = i64(1, 0, 1)
    boxes = t(np.concatenate([images[:, None].astype(np.float64), rois], 1))
    for name, mode, aligned in (("half pixel", "half_pixel", True),
                                ("output half pixel", "output_half_pixel", False)):
        for ratio in (2, 0):
            value = torchvision.ops.roi_align(t(x), boxes, (3, 2), 0.5, ratio if ratio else -1,
                                              aligned)
            case(f"roi align {name} {ratio}", "RoiAlign", [x, rois, images],
                 dict(coordinate_transformation_mode=mode, output_height=3, output_width=2,
                      sampling_ratio=ratio, spatial_scale=0.5), [value], terms=16)
    case("roi align max", "RoiAlign", [x, rois, images],
         dict(mode="max", output_height=2, output_width=2, sampling_ratio=2, spatial_scale=0.5))
    whole = np.concatenate([images[:, None], np.asarray([[0, 1, 5, 6], [2, 2, 2, 2], [1, 0, 7, 9]])],
                           1).astype(np.float64)
    value = torchvision.ops.roi_pool(t(x), t(whole), (2, 3), 0.5)
    case("max roi pool", "MaxRoiPool", [x, whole], dict(pooled_shape=[2, 3], spatial_scale=0.5),
         values=[value.numpy()])


def resizing():
    x = grid(1, 2, 4, 5)

    def resize(name, data, attributes, scales=None, sizes=None, roi=None, torch_value=None, **more):
        inputs = [data, roi, None if scales is None else f32(*scales),
                  None if sizes is None else i64(*sizes)]
        while inputs[-1] is None:
            inputs.pop()
        if attributes.get("mode") == "cubic" and torch_value is None:
            inputs[0], more = data.astype(np.float32), {"types": False}  # as exact as the evaluator
        case("resize " + name, "Resize", inputs, attributes,
             None if torch_value is None else [torch_value], terms=16,
             constants=[i for i in (2, 3) if i < len(inputs) and inputs[i] is not None], **more)

    up = [1, 1, 1.5, 2.5]
    for transform in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                      "half_pixel_symmetric"):
        for mode in ("linear", "cubic"):
            resize(f"{mode} {transform}", x,
                   dict(mode=mode, coordinate_transformation_mode=transform), up)
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        resize(f"nearest {rounding}", x, dict(nearest_mode=rounding), [1, 1, 0.5, 1.6])
    resize("linear as torch", x, dict(mode="linear"), sizes=[1, 2, 7, 3],
           torch_value=F.interpolate(t(x), size=(7, 3), mode="bilinear"))
    resize("cubic as torch", x, dict(mode="cubic"), sizes=[1, 2, 7, 9],
           torch_value=F.interpolate(t(x), size=(7, 9), mode="bicubic"))
    wide = grid(1, 1, 9, 8)
    resize("linear antialiased", wide, dict(mode="linear", antialias=1, exclude_outside=1), sizes=[1, 1, 4, 3],
           torch_value=F.interpolate(t(wide), size=(4, 3), mode="bilinear", antialias=True))
    resize("cubic antialiased", wide, dict(mode="cubic", antialias=1, cubic_coeff_a=-0.5,
                                           exclude_outside=1), sizes=[1, 1, 4, 5])
    resize("cubic without the outside", x, dict(mode="cubic", exclude_outside=1,
                                                cubic_coeff_a=-0.5), [1, 1, 2, 0.8])
    resize("cropping", x, dict(mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
                               extrapolation_value=2.5), sizes=[1, 2, 3, 4],
           roi=np.asarray([0, 0, 0.25, -0.25, 1, 1, 0.75, 1.25]))
    for policy in ("not_larger", "not_smaller"):
        resize(policy, x, dict(mode="linear", axes=[3, 2], keep_aspect_ratio_policy=policy),
               sizes=[7, 9])
    resize("of volumes", grid(1, 1, 2, 3, 2), dict(mode="linear"), [1, 1, 2, 1.5, 2])
    resize("of bytes", bytes_of(1, 1, 3, 3), {}, [1, 1, 2, 2], types=False)


def grids():
    x = grid(2, 2, 4, 5)
    points = grid(2, 3, 3, 2, low=-1.5, high=1.5)
    inside = grid(2, 3, 3, 2, low=-0.5, high=0.5)
    for align in (0, 1):
        for padding in ("zeros", "border", "reflection"):
            for mode, name in (("linear", "bilinear"), ("nearest", "nearest"),
                               ("cubic", "bicubic")):
                where = inside if mode == "cubic" else points
                value = F.grid_sample(t(x), t(where), name, padding, bool(align))
                case(f"grid sample {mode} {padding} {align}", "GridSample", [x, where],
                     dict(mode=mode, padding_mode=padding, align_corners=align),
                     values=None if mode == "nearest" else [value.numpy()], terms=64,
                     types=mode != "nearest")
    volume, where = grid(1, 1, 3, 4, 2), grid(1, 2, 2, 2, 3, low=-1, high=1)
    case("grid sample of volumes", "GridSample", [volume, where], {},
         [F.grid_sample(t(volume), t(where), "bilinear", "zeros", False)], terms=16)
    for size in ((2, 3, 4, 5), (1, 2, 3, 2, 4)):
        theta = grid(size[0], len(size) - 2, len(size) - 1)
        for align in (0, 1):
            value = F.affine_grid(t(theta), list(size), bool(align))
            case(f"affine grid {len(size) - 2} {align}", "AffineGrid", [theta, i64(*size)],
                 dict(align_corners=align), values=[value.numpy()], terms=8, weight=0,
                 constants=[1])


def patches():
    x = grid(2, 12, 15)
    value = F.fold(t(x), (6, 5), (3, 2), (1, 2), (1, 1), (2, 1))
    case("col2im", "Col2Im", [x, i64(6, 5), i64(3, 2)],
         dict(dilations=[1, 2], pads=[1, 1, 1, 1], strides=[2, 1]), values=[value.numpy()],
         terms=6, constants=[1, 2])
    case("col2im 1-d", "Col2Im", [grid(1, 2, 3), i64(4), i64(2)], {}, terms=2, constants=[1, 2])
    x = grid(5, 4, 3)
    case("center crop and pad", "CenterCropPad", [x, i64(2, 7)], dict(axes=[0, -2]), constants=[1])
    case("center crop of all", "CenterCropPad", [x, i64(4, 3, 3)], {}, constants=[1])


for family in (transposed, gradients, deformable, quantised, poolings, regions, resizing, grids,
               patches):
    family()
write_cases()
