#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/ops/golden_movement.json: data movement, signals, Einsum, Det, optimisers.

    python3 tests/graph/make_golden_movement.py > tests/graph/ops/golden_movement.json
"""
import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F
from onnx import TensorProto

from golden_form import RNG, case, grid, i64, t, write_cases


def gathering():
    x = grid(3, 4)
    index = np.asarray([[0, 2, -1], [1, 1, 3], [3, 0, 0]])
    case("gather elements", "GatherElements", [x, index], dict(axis=1))
    case("gather elements along the first axis", "GatherElements",
         [x, np.asarray([[0, 2, -1, 1]])], {},
         values=[np.take_along_axis(x, np.asarray([[0, 2, 2, 1]]), 0)])
    case("gather nd", "GatherND", [grid(2, 3, 4), np.asarray([[1, 2], [0, -1]])])
    case("gather nd of elements", "GatherND", [grid(2, 3), np.asarray([[[1, 2]], [[0, 0]]])])
    case("gather nd in batches", "GatherND", [grid(2, 3, 4), np.asarray([[2], [0]])],
         dict(batch_dims=1))
    case("one hot of numbers", "OneHot",
         [np.asarray([1., 3], np.float32), np.asarray([4.], np.float32),
          np.asarray([2, 5], np.int32)], dict(axis=0), constants=[1], types=False,
         values=[np.asarray([[2, 2], [5, 2], [2, 2], [2, 5]], np.int32)])


def scattering():
    x = grid(3, 4)
    index = np.asarray([[0, 2, -1], [1, 1, 3]])
    updates = grid(2, 3)
    case("scatter elements", "ScatterElements", [x, np.asarray([[0, 2, 1], [1, 3, 0]]), updates],
         dict(axis=1))
    for how, torch_how in (("add", "sum"), ("mul", "prod"), ("max", "amax"), ("min", "amin")):
        want = t(x.copy())
        want[:2] = want[:2].scatter_reduce(1, t(index % 4), t(updates), torch_how)
        case(f"scatter elements {how}", "ScatterElements", [x, index, updates],
             dict(axis=1, reduction=how), [want], terms=3)
        rows = np.asarray([[2], [0], [2]])
        case(f"scatter nd {how}", "ScatterND", [x, rows, grid(3, 4)], dict(reduction=how), terms=3)
    case("scatter nd", "ScatterND", [x, np.asarray([[1], [2]]), grid(2, 4)])
    case("scatter nd of elements", "ScatterND", [x, np.asarray([[1, 3], [0, -1]]), grid(2)])
    case("scatter elements of integers", "ScatterElements",
         [np.asarray([1, 2, 3], np.int32), i64(1, 1), np.asarray([10, 20], np.int32)],
         dict(reduction="add"), types=False)
    case("scatter elements of bools", "ScatterElements",
         [np.asarray([True, True]), i64(1), np.asarray([False])], types=False)


def selecting():
    x = np.asarray([[1., 0, 2], [0, 3, 0]])
    case("non zero", "NonZero", [x])
    case("non zero of bools", "NonZero", [x > 0], types=False)
    case("non zero of nothing", "NonZero", [np.zeros((2, 2), np.int32)], types=False)
    y = grid(3, 2)
    case("compress rows", "Compress", [y, np.asarray([False, True, True])], dict(axis=0))
    case("compress columns", "Compress", [y, np.asarray([False, True])], dict(axis=-1))
    case("compress flat", "Compress", [y, np.asarray([False, True, False, True])])
    d = np.asarray([2., 1, 1, 3, 4, 3])
    case("unique", "Unique", [d], outputs=4)
    case("unique unsorted", "Unique", [d], dict(sorted=0), outputs=4,
         values=[np.asarray([2., 1, 3, 4]), i64(0, 1, 3, 4), i64(0, 1, 1, 2, 3, 2),
                 i64(1, 2, 2, 1)])
    rows = np.asarray([[1, 0, 0], [1, 0, 0], [2, 3, 4]], np.int32)
    case("unique rows", "Unique", [rows], dict(axis=0), outputs=4, types=False)
    case("unique columns", "Unique", [rows], dict(axis=-1), outputs=4, types=False)


def blocks():
    x = grid(2, 8, 2, 3)
    case("depth to space", "DepthToSpace", [x], dict(blocksize=2))
    case("depth to space crd", "DepthToSpace", [x], dict(blocksize=2, mode="CRD"),
         [F.pixel_shuffle(t(x), 2)])
    y = grid(1, 2, 4, 6)
    case("space to depth", "SpaceToDepth", [y], dict(blocksize=2))
    case("tile", "Tile", [grid(2, 3), i64(2, 3)], constants=[1])
    case("tile to nothing", "Tile", [grid(2, 3), i64(2, 0)], constants=[1])
    z = grid(4, 3, 2)
    case("reverse sequence", "ReverseSequence", [z, i64(4, 2, 1)])
    case("reverse sequence by batch", "ReverseSequence", [z, i64(3, 1, 2, 0)],
         dict(batch_axis=0, time_axis=1))
    m = grid(2, 3, 4)
    case("upper triangle", "Trilu", [m])
    case("lower triangle", "Trilu", [m, np.asarray(-1)], dict(upper=0))
    case("upper triangle of integers", "Trilu", [np.arange(6).reshape(2, 3), np.asarray(1)],
         types=False)
    case("eye like", "EyeLike", [grid(3, 4)], dict(k=1))
    case("eye like of integers", "EyeLike", [np.zeros((3, 2), np.int32)],
         dict(k=-1, dtype=TensorProto.INT64), types=False)
    n = np.asarray([[-8, 7, 3], [1, -2, 0]], np.int8).astype(ml_dtypes.int4)
    case("transpose of int4", "Transpose", [n], values=[n.T.copy()], types=False)
    case("pad by wrapping", "Pad", [grid(2, 3), i64(1, 2, 2, 1)], dict(mode="wrap"), constants=[1])
    case("pad of int4", "Pad", [n[0], i64(1, 1)], constants=[1], types=False,
         values=[np.asarray([0, -8, 7, 3, 0], np.int8).astype(ml_dtypes.int4)])
    case("split into uneven parts", "Split", [grid(7)], dict(num_outputs=3), outputs=3)


def sources():
    case("size", "Size", [grid(2, 3)], types=False)
    case("range", "Range", [np.asarray(1, np.float32), np.asarray(2.5, np.float32),
                            np.asarray(0.5, np.float32)], constants=[0, 1, 2], types=False)
    case("range downwards", "Range", [np.asarray(10, np.int32), np.asarray(4, np.int32),
                                      np.asarray(-4, np.int32)], constants=[0, 1, 2], types=False)
    case("range of nothing", "Range", [np.asarray(3), np.asarray(3), np.asarray(1)],
         constants=[0, 1, 2], types=False)
    size = np.asarray(10, np.int32)
    for name, ours in (("HannWindow", torch.hann_window), ("HammingWindow", None),
                       ("BlackmanWindow", torch.blackman_window)):
        for periodic in (0, 1):
            want = None
            if ours is not None:
                want = [ours(10, periodic=bool(periodic), dtype=torch.float64).float()]
            case(f"{name} periodic {periodic}", name, [size], dict(periodic=periodic), want,
                 constants=[0], types=False)
    case("HannWindow of doubles", "HannWindow", [np.asarray(7)],
         dict(output_datatype=TensorProto.DOUBLE),
         values=[torch.hann_window(7, dtype=torch.float64).numpy()], constants=[0], types=False)
    case("mel weight matrix", "MelWeightMatrix",
         [np.asarray(8), np.asarray(16), np.asarray(8192), np.asarray(0, np.float32),
          np.asarray(4096, np.float32)], constants=[0, 1], types=False)


def transforms():
    def parts(z):
        return torch.view_as_real(z)

    x = grid(2, 6, 1)
    case("dft", "DFT", [x, None, np.asarray(1)], {}, [parts(torch.fft.fft(t(x[..., 0])))],
         terms=6, constants=[2])
    case("dft onesided", "DFT", [x, None, np.asarray(1)], dict(onesided=1),
         [parts(torch.fft.rfft(t(x[..., 0])))], terms=6, constants=[2])
    case("dft padded", "DFT", [x, np.asarray(8), np.asarray(1)], {},
         [parts(torch.fft.fft(t(x[..., 0]), 8))], terms=6, constants=[1, 2])
    z = grid(2, 3, 5, 2)
    complex_z = torch.view_as_complex(t(z))
    case("dft of complex numbers", "DFT", [z], {}, [parts(torch.fft.fft(complex_z, dim=2))],
         terms=10)
    case("dft of the second axis", "DFT", [z, None, np.asarray(1)], {},
         [parts(torch.fft.fft(complex_z, dim=1))], terms=6, constants=[2])
    case("dft inverse", "DFT", [z, None, np.asarray(-2)], dict(inverse=1),
         [parts(torch.fft.ifft(complex_z, dim=2))], terms=10, constants=[2])
    signal, window = grid(2, 11, 1), grid(4, low=0.25, high=1)
    frames = torch.stack([t(signal[:, s:s + 4, 0]) for s in range(0, 8, 2)], 1)
    case("stft", "STFT", [signal, np.asarray(2), window], {},
         [parts(torch.fft.rfft(frames * t(window)))], terms=4, weight=2, constants=[1])
    case("stft without window", "STFT", [signal, np.asarray(2), None, np.asarray(4)],
         dict(onesided=0), [parts(torch.fft.fft(frames))], terms=4, constants=[1, 3])


def algebra():
    for equation, shapes in (("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk", [(2, 3, 4), (2, 4, 2)]),
                             ("ii->i", [(3, 3)]), ("...ij->...ji", [(2, 3, 4)]), ("i,i", [(5,), (5,)]),
                             ("ij->", [(2, 3)]), ("...i,...i->...", [(2, 1, 3), (4, 3)]),
                             ("a,b,c->abc", [(2,), (3,), (2,)])):
        inputs = [grid(*shape) for shape in shapes]
        want = [torch.einsum(equation, *[t(x) for x in inputs])]
        case(f"einsum {len(shapes)} operands " + equation.replace("->", " to "), "Einsum", inputs, dict(equation=equation), want, terms=15,
             weight=len(inputs) - 1)
    m = grid(2, 3, 3)
    case("determinants", "Det", [m], {}, [torch.linalg.det(t(m))], terms=40)
    case("determinant of a singular matrix", "Det", [np.asarray([[1., 2], [2, 4]])], {},
         [np.asarray(0.)])
    a, b, c = (RNG.integers(-9, 9, s).astype(np.int32) for s in ((2, 3), (3, 4), (4,)))
    case("gemm of integers", "Gemm", [a, b, c], {}, values=[a @ b + c], types=False)


def optimizers():
    rate, step = np.asarray(0.125), np.asarray(3)
    x, g = grid(4), grid(4)
    h = grid(4, low=0.25, high=2)

    def adagrad(x, g, h):
        g = 0.25 * x + g
        h = h + g * g
        return x - 0.125 / (1 + 3 * 0.5) * g / (np.sqrt(h) + 0.015625), h

    case("adagrad", "ai.onnx.preview.training.Adagrad", [rate, step, x, g, h],
         dict(decay_factor=0.5, epsilon=0.015625, norm_coefficient=0.25), outputs=2,
         values=list(adagrad(x, g, h)), terms=4)
    y, gy, hy = grid(2, 2), grid(2, 2), grid(2, 2, low=0.25, high=2)
    one, two = adagrad(x, g, h), adagrad(y, gy, hy)
    case("adagrad of two tensors", "ai.onnx.preview.training.Adagrad",
         [rate, step, x, y, g, gy, h, hy],
         dict(decay_factor=0.5, epsilon=0.015625, norm_coefficient=0.25), outputs=4,
         values=[one[0], two[0], one[1], two[1]], terms=4)

    def adam(t_, x, g, v, h):
        v = 0.5 * v + 0.5 * g
        h = 0.75 * h + 0.25 * g * g
        r = 0.125 * np.sqrt(1 - 0.75 ** t_) / (1 - 0.5 ** t_) if t_ > 0 else 0.125
        return 0.5 * (x - r * v / (np.sqrt(h) + 0.015625)), v, h

    v = grid(4)
    for count in (0, 3):
        case(f"adam step {count}", "ai.onnx.preview.training.Adam",
             [rate, np.asarray(count), x, g, v, h],
             dict(alpha=0.5, beta=0.75, epsilon=0.015625, norm_coefficient_post=0.5), outputs=3,
             values=list(adam(count, x, g, v, h)), terms=8)

    def momentum(t_, mode, x, g, v):
        g = 0.25 * x + g
        v = 0.5 * v + (0.75 if t_ > 0 else 1) * g
        return x - 0.125 * (v if mode == "standard" else g + 0.5 * v), v

    for mode in ("standard", "nesterov"):
        for count in (0, 3):
            case(f"momentum {mode} step {count}", "ai.onnx.preview.training.Momentum",
                 [rate, np.asarray(count), x, g, v],
                 dict(alpha=0.5, beta=0.75, mode=mode, norm_coefficient=0.25), outputs=2,
                 values=list(momentum(count, mode, x, g, v)), terms=4)


for family in (gathering, scattering, selecting, blocks, sources, transforms, algebra, optimizers):
    family()
write_cases()
