#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/ops/golden_sequence.json: recurrent networks, normalisations, losses, quantised
tensors, detection. Values come from torch in float64 and the ONNX reference evaluator; the variants
of recurrent cells that neither has come from ONNX's equations, written here with torch, which must
agree with torch's own cells where it has the variant; gradients are autograd's.

    pip install onnx torch torchvision numpy ml_dtypes
    python3 tests/graph/make_golden_sequence.py > tests/graph/ops/golden_sequence.json
"""
import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F
import torchvision.ops

from golden_form import RNG, case, grid, i64, philox, t, write_cases


ACTIVATIONS = {
    "Relu": lambda x, a, b: torch.relu(x), "Tanh": lambda x, a, b: torch.tanh(x),
    "Sigmoid": lambda x, a, b: torch.sigmoid(x), "Affine": lambda x, a, b: a * x + b,
    "LeakyRelu": lambda x, a, b: torch.where(x < 0, a * x, x),
    "ThresholdedRelu": lambda x, a, b: torch.where(x > a, x, 0),
    "ScaledTanh": lambda x, a, b: a * torch.tanh(b * x),
    "HardSigmoid": lambda x, a, b: torch.clamp(a * x + b, 0, 1),
    "Elu": lambda x, a, b: torch.where(x < 0, a * torch.expm1(x), x),
    "Softsign": lambda x, a, b: x / (1 + torch.abs(x)),
    "Softplus": lambda x, a, b: torch.log1p(torch.exp(x)),
}
DEFAULTS = {"RNN": ["Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


def cell_step(cell, x, h, c, w, r, b, p, f, options):
    """One step of one direction for one sequence; f are the activations with their numbers."""
    n = h.shape[0]
    wb, rb = torch.chunk(b, 2)
    gate_x = torch.chunk(w @ x + wb, GATES[cell])
    gate_h = torch.chunk(r @ h + rb, GATES[cell])
    if cell == "RNN":
        return f[0](gate_x[0] + gate_h[0]), c
    if cell == "LSTM":
        pi, po, pf = torch.chunk(p, 3)
        i = f[0](gate_x[0] + gate_h[0] + pi * c)
        forget = 1 - i if options.get("input_forget") else f[0](gate_x[2] + gate_h[2] + pf * c)
        c = forget * c + i * f[1](gate_x[3] + gate_h[3])
        return f[0](gate_x[1] + gate_h[1] + po * c) * f[2](c), c
    z, reset = f[0](gate_x[0] + gate_h[0]), f[0](gate_x[1] + gate_h[1])
    if options.get("linear_before_reset"):
        held = reset * gate_h[2]
    else:
        held = r[2 * n:] @ (reset * h) + rb[2 * n:]
    return (1 - z) * f[1](gate_x[2] + held) + z * h, c


def recurrent_torch(cell, x, w, r, b, lengths=None, h0=None, c0=None, p=None, **options):
    """ONNX's RNN, LSTM and GRU with layout 0, on torch's tensors: Y, Y_h, Y_c."""
    steps, batch, _ = x.shape
    directions, n = w.shape[0], r.shape[2]
    zeros = torch.zeros(directions, batch, n, dtype=torch.float64)
    b = torch.zeros(directions, 2 * GATES[cell] * n, dtype=torch.float64) if b is None else b
    p = torch.zeros(directions, 3 * n, dtype=torch.float64) if p is None else p
    h0, c0 = zeros if h0 is None else h0, zeros if c0 is None else c0
    lengths = [steps] * batch if lengths is None else lengths
    names = options.get("activations", DEFAULTS[cell] * directions)
    numbers = iter(options.get("numbers", [(1, 0)] * len(names)))
    clip = options.get("clip", np.inf)

    def bound(name):
        alpha, beta = next(numbers)
        return lambda v: ACTIVATIONS[name](torch.clamp(v, -clip, clip), alpha, beta)

    functions = [bound(name) for name in names]
    y = [[[zeros[0, 0]] * batch for _ in range(directions)] for _ in range(steps)]
    last_h, last_c = [], []
    for d in range(directions):
        per = len(DEFAULTS[cell])
        f = functions[d * per:(d + 1) * per]
        backwards = d == 1 or options.get("direction") == "reverse"
        for k, length in enumerate(lengths):
            h, c = h0[d, k], c0[d, k]
            for s in (range(length - 1, -1, -1) if backwards else range(length)):
                h, c = cell_step(cell, x[s, k], h, c, w[d], r[d], b[d], p[d], f, options)
                y[s][d][k] = h
            last_h.append(h)
            last_c.append(c)
    shape = (directions, batch, n)
    y = torch.stack([torch.stack([torch.stack(row) for row in step]) for step in y])
    states = [torch.stack(last).reshape(shape) for last in (last_h, last_c)]
    return [y] + states[:2 if cell == "LSTM" else 1]


def recurrent(cell, x, w, r, b, lengths=None, h0=None, c0=None, p=None, **options):
    tensors = [None if v is None else t(v) for v in (x, w, r, b, h0, c0, p)]
    x, w, r, b, h0, c0, p = tensors
    return [v.numpy() for v in recurrent_torch(cell, x, w, r, b, lengths, h0, c0, p, **options)]


def small(*shape):
    return grid(*shape, low=-1, high=1)


def weights(cell, directions, inputs, n, bias=True):
    g = GATES[cell] * n
    return [small(directions, g, inputs), small(directions, g, n),
            small(directions, 2 * g) if bias else None]


def torch_weights(module, cell, w, r, b):
    """ONNX's gates i o f c and z r h in torch's order i f c o and r z h."""
    n = r.shape[2]
    order = {"RNN": [0], "LSTM": [0, 2, 3, 1], "GRU": [1, 0, 2]}[cell]
    rows = np.concatenate([np.arange(i * n, (i + 1) * n) for i in order])
    for d in range(w.shape[0]):
        end = "_reverse" if d else ""
        for name, value in (("weight_ih_l0", w[d][rows]), ("weight_hh_l0", r[d][rows]),
                            ("bias_ih_l0", np.split(b[d], 2)[0][rows]),
                            ("bias_hh_l0", np.split(b[d], 2)[1][rows])):
            getattr(module, name + end).data = t(value)


def recurrent_cases():
    for cell in ("RNN", "LSTM", "GRU"):
        options = {"linear_before_reset": 1} if cell == "GRU" else {}
        module = getattr(torch.nn, cell)(3, 4, bidirectional=True).double()
        x = small(5, 2, 3)
        w, r, b = weights(cell, 2, 3, 4)
        torch_weights(module, cell, w, r, b)
        h0, c0 = small(2, 2, 4), small(2, 2, 4)
        with torch.no_grad():
            state = (t(h0), t(c0)) if cell == "LSTM" else t(h0)
            y, last = module(t(x), state)
        values = [y.numpy().reshape(5, 2, 2, 4).transpose(0, 2, 1, 3)]
        values += [s.numpy() for s in (last if cell == "LSTM" else [last])]
        ours = recurrent(cell, x, w, r, b, None, h0, c0, **options)
        for one, other in zip(ours, values):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        inputs = [x, w, r, b, None, h0] + ([c0] if cell == "LSTM" else [])
        attributes = dict(direction="bidirectional", hidden_size=4, **options)
        case(cell.lower() + " in both directions", cell, inputs, attributes, values=values,
             terms=40, weight=2)
    x, lengths = small(2, 4, 3), np.asarray([4, 2], np.int32)
    for cell in ("RNN", "LSTM", "GRU"):  # batch first, lengths, reverse, no bias
        w, r, _ = weights(cell, 1, 3, 2, bias=False)
        y = recurrent(cell, x.transpose(1, 0, 2), w, r, None, lengths, direction="reverse")
        case(cell.lower() + " reversed with lengths", cell, [x, w, r, None, lengths],
             dict(direction="reverse", hidden_size=2, layout=1),
             values=[y[0].transpose(2, 0, 1, 3)] + [s.transpose(1, 0, 2) for s in y[1:]], terms=20)
    x = small(3, 2, 2)
    w, r, b = weights("LSTM", 1, 2, 3)
    p, h0, c0 = small(1, 9), small(1, 2, 3), small(1, 2, 3)
    inputs = [x, w, r, b, None, h0, c0, p]
    case("lstm with peepholes", "LSTM", inputs, dict(hidden_size=3),
         values=recurrent("LSTM", x, w, r, b, None, h0, c0, p), terms=20, weight=7)
    case("lstm coupled and clipped", "LSTM", inputs, dict(hidden_size=3, input_forget=1, clip=0.5),
         values=recurrent("LSTM", x, w, r, b, None, h0, c0, p, input_forget=1, clip=0.5), terms=20)
    w, r, b = weights("GRU", 1, 2, 3)
    case("gru with other activations", "GRU", [x, w, r, b],
         dict(hidden_size=3, activations=["HardSigmoid", "ScaledTanh"], activation_alpha=[0.25, 1.5],
              activation_beta=[0.5, 0.75]),
         values=recurrent("GRU", x, w, r, b, activations=["HardSigmoid", "ScaledTanh"],
                          numbers=[(0.25, 0.5), (1.5, 0.75)]), terms=20)
    for name, alpha, beta in (("Relu", 0, 0), ("Affine", 0.5, 0.25), ("LeakyRelu", 0.125, 0),
                              ("ThresholdedRelu", 0.5, 0), ("Elu", 0.75, 0), ("Softsign", 0, 0),
                              ("Softplus", 0, 0)):
        w, r, b = weights("RNN", 1, 2, 3)
        numbers = {"activation_alpha": [alpha]} if alpha else {}
        if beta:
            numbers["activation_beta"] = [beta]
        case(f"rnn {name.lower()}", "RNN", [x, w, r, b],
             dict(hidden_size=3, activations=[name], **numbers),
             values=recurrent("RNN", x, w, r, b, activations=[name], numbers=[(alpha, beta)]),
             terms=20, types=name != "ThresholdedRelu")


def skip_cases():
    """The input, as wide as the state, is added to every gate: identity matrices for W."""
    for name, cell, options in (("relu", "RNN", dict(activations=["Relu"])), ("tanh", "RNN", {}),
                                ("lstm", "LSTM", {}), ("gru", "GRU", dict(linear_before_reset=1))):
        _, r, b = weights(cell, 1, 3, 3)
        x, h0, c0 = small(4, 2, 3), small(1, 2, 3), small(1, 2, 3)
        w = np.concatenate([np.eye(3)] * GATES[cell])[None]
        y = recurrent(cell, x, w, r, b, None, h0, c0, **options)
        case("recurrent skip " + name, "assay.RecurrentSkip",
             [x, r[0], b[0], h0[0]] + ([c0[0]] if cell == "LSTM" else []), dict(cell=name),
             values=[y[0][:, 0]] + [s[0] for s in y[1:]], terms=20, weight=1)


def recurrent_gradients():
    """By torch's autograd, of a random combination of all outputs."""
    lengths = np.asarray([4, 2], np.int32)
    for name, cell, directions, options in (
            ("rnn", "RNN", 1, {}), ("lstm", "LSTM", 2, dict(direction="bidirectional")),
            ("lstm coupled", "LSTM", 1, dict(input_forget=1, clip=0.75)),
            ("gru", "GRU", 2, dict(direction="bidirectional")),
            ("gru linear", "GRU", 1, dict(linear_before_reset=1, direction="reverse"))):
        w, r, b = weights(cell, directions, 2, 3)
        x, h0, c0, p = small(4, 2, 2), small(directions, 2, 3), small(directions, 2, 3), None
        if cell == "LSTM":
            p = small(directions, 9)
        used = [x, w, r, b, h0] + ([c0, p] if cell == "LSTM" else [])
        leaves = [t(v).requires_grad_() for v in used]
        tail = leaves[5:] if cell == "LSTM" else [None, None]
        outputs = recurrent_torch(cell, *leaves[:4], lengths, leaves[4], *tail, **options)
        gradients = [small(*y.shape) for y in outputs]
        sum((y * t(g)).sum() for y, g in zip(outputs, gradients)).backward()
        absent = [c0, p] if cell == "LSTM" else [None, None]
        case("gradient of " + name, "assay.RecurrentGradient",
             [x, w, r, b, lengths, h0] + absent + gradients,
             dict(cell=cell.lower(), hidden_size=3, **options),
             values=[leaf.grad.numpy() for leaf in leaves], terms=60, weight=8)


def normalizations():
    x = grid(2, 4, 3, 2)
    scale, bias = grid(4), grid(4)
    case("instance norm", "InstanceNormalization", [x, scale, bias], {},
         values=[F.instance_norm(t(x), None, None, t(scale), t(bias), True).numpy()], terms=6,
         weight=1)
    case("group norm", "GroupNormalization", [x, scale, bias], dict(num_groups=2, epsilon=1 / 64),
         values=[F.group_norm(t(x), 2, t(scale), t(bias), 1 / 64).numpy()], terms=12, weight=1)
    weight = grid(3, 2)
    case("rms norm", "RMSNormalization", [x, weight], dict(axis=2, epsilon=1 / 64),
         values=[F.rms_norm(t(x), [3, 2], t(weight), 1 / 64).numpy()], terms=6, weight=1)
    for p in (1, 2):
        case(f"lp norm {p}", "LpNormalization", [x], dict(axis=1, p=p),
             values=[F.normalize(t(x), p, 1).numpy()], terms=4)
    spread = ((x - x.mean((0, 2, 3), keepdims=True)) /
              (x.std((0, 2, 3), keepdims=True) + 1e-9))
    case("mean variance norm", "MeanVarianceNormalization", [x], {}, values=[spread], terms=12)
    x = grid(2, 6, 2, 2)
    case("lrn", "LRN", [x], dict(size=3, alpha=0.5, beta=0.75, bias=1.5),
         values=[F.local_response_norm(t(x), 3, 0.5, 0.75, 1.5).numpy()], terms=3)
    # The evaluator of onnx 1.23 goes over the batch here where it means the channels.
    squares = sum(np.pad(x ** 2, [(0, 0), (1, 2), (0, 0), (0, 0)])[:, i:i + 6] for i in range(4))
    case("lrn of even size", "LRN", [x], dict(size=4, alpha=0.25, bias=1.0),
         values=[x / (1 + 0.0625 * squares) ** 0.75], terms=4)


def losses():
    x = F.log_softmax(t(grid(3, 4, 2)), 1).numpy()
    label = RNG.integers(0, 4, (3, 2))
    weight = grid(4, low=0.25, high=2)
    for reduction in ("mean", "sum", "none"):
        case("likelihood " + reduction, "NegativeLogLikelihoodLoss", [x, label, weight],
             dict(reduction=reduction, ignore_index=2),
             values=[F.nll_loss(t(x), t(label), t(weight), ignore_index=2,
                                reduction=reduction).numpy()], terms=6)
    case("likelihood of a batch", "NegativeLogLikelihoodLoss", [x[:, :, 0], label[:, 0]], {},
         values=[F.nll_loss(t(x[:, :, 0]), t(label[:, 0])).numpy()], terms=3)


def aligned_losses():
    x = F.log_softmax(t(grid(7, 3, 4)), -1).numpy()
    labels = np.asarray([[1, 2, 2], [3, 1, 0], [2, 0, 0]])  # what lies beyond a length is not read
    steps, lengths = i64(7, 6, 4), i64(3, 2, 1)
    for reduction in ("none", "sum", "mean"):
        value = F.ctc_loss(t(x), t(labels), t(steps), t(lengths), 0, reduction)
        case("ctc loss " + reduction, "assay.CtcLoss", [x, labels, steps, lengths],
             dict(reduction=reduction), values=[value.numpy()], terms=60)
    case("ctc loss of what does not fit", "assay.CtcLoss", [x, labels % 3, i64(7, 1, 4), lengths],
         dict(reduction="none", zero_infinity=1, blank=3),
         values=[F.ctc_loss(t(x), t(labels % 3), t(i64(7, 1, 4)), t(lengths), 3, "none",
                            True).numpy()], terms=60)


def sparse():
    dense = grid(4, 6) * (RNG.random((4, 6)) < 0.4)
    rows, columns = np.nonzero(dense)
    offsets = np.searchsorted(rows, np.arange(5))
    b = grid(6, 3)
    case("sparse matmul", "assay.SparseMatMul", [dense[rows, columns], columns, offsets, b],
         values=[dense @ b], terms=6, weight=3)
    table, indices, begins = grid(7, 3), RNG.integers(0, 7, 9), i64(0, 2, 2, 6)
    for mode in ("sum", "mean", "max"):
        value = F.embedding_bag(t(indices), t(table), t(begins), mode=mode)
        case("embedding bag " + mode, "assay.EmbeddingBag", [table, indices, begins],
             dict(mode=mode), values=[value.numpy()], terms=4)
    weight = grid(9)
    value = F.embedding_bag(t(indices), t(table), t(begins), mode="sum",
                            per_sample_weights=t(weight))
    case("embedding bag weighted", "assay.EmbeddingBag", [table, indices, begins, weight],
         values=[value.numpy()], terms=4)


def quantised():
    x = (grid(3, 4) * 40).astype(np.float32)
    scales, zeros = np.asarray([0.5, 2, 3], np.float32), np.asarray([128, 3, 250], np.uint8)
    case("quantize rows", "QuantizeLinear", [x, scales, zeros], dict(axis=0), types=False)
    case("quantize to signed", "QuantizeLinear", [x, np.float32(0.75), np.int8(-9)], {},
         types=False)
    case("quantize to words", "QuantizeLinear", [x, np.float32(1 / 512), np.uint16(32768)], {},
         types=False)
    blocks = np.asarray([[0.5, 2], [1, 4], [8, 0.25]], np.float32)
    case("quantize blocks", "QuantizeLinear", [x, blocks], dict(axis=1, block_size=2,
                                                                output_dtype=3), types=False)
    case("quantize to float8", "QuantizeLinear",
         [x, np.float32(0.25), np.zeros((), ml_dtypes.float8_e4m3fn)], {}, types=False)
    case("quantize to four bits", "QuantizeLinear",
         [x[:, :3], np.float32(20), np.asarray(3, ml_dtypes.uint4)], {}, types=False)
    case("quantize f16", "QuantizeLinear", [x.astype(np.float16), np.float16(0.5), np.uint8(120)],
         {}, types=False)
    y = RNG.integers(0, 256, (3, 4)).astype(np.uint8)
    case("dequantize rows", "DequantizeLinear", [y, scales, zeros], dict(axis=0), types=False)
    case("dequantize blocks", "DequantizeLinear", [y, blocks], dict(axis=1, block_size=2),
         types=False)
    case("dequantize to f16", "DequantizeLinear", [y, np.float16(0.5), np.uint8(7)], {},
         types=False)
    case("dequantize sums", "DequantizeLinear", [y.astype(np.int32) * 99, np.float32(0.125)], {},
         types=False)
    case("dequantize four bits", "DequantizeLinear",
         [RNG.integers(-8, 8, 5).astype(ml_dtypes.int4), np.float32(1.5)], {}, types=False)
    case("dynamic quantize", "DynamicQuantizeLinear", [x], {}, outputs=3, types=False)
    a = RNG.integers(0, 256, (2, 3, 4)).astype(np.uint8)
    b = RNG.integers(-128, 128, (4, 5)).astype(np.int8)
    rows, columns = np.asarray([3, 9, 200], np.uint8), np.asarray([1, -2, 3, -4, 5], np.int8)
    sums = ((a.astype(np.int64) - rows[None, :, None]) @ (b.astype(np.int64) - columns))
    case("matmul integer", "MatMulInteger", [a, b, rows, columns],
         values=[sums.astype(np.int32)], types=False)
    out = np.clip(np.rint(sums * (0.5 * 0.25 / 40)) + 100, 0, 255).astype(np.uint8)
    case("qlinear matmul", "QLinearMatMul",
         [a, np.float32(0.5), rows, b, np.float32(0.25), columns, np.float32(40), np.uint8(100)],
         values=[out], types=False)


def detection():
    corners = np.sort(grid(2, 2, 9, 2, low=0, high=4), axis=1).astype(np.float32)
    boxes = np.concatenate([corners[:, 0], corners[:, 1] + 1], -1)  # y1 x1 y2 x2
    scores = (RNG.permutation(2 * 3 * 9).reshape(2, 3, 9) / 54).astype(np.float32)
    kept = {(n, c): [i for i in torchvision.ops.nms(torch.tensor(boxes[n]), torch.tensor(scores[n, c]),
                                                    0.5).tolist() if scores[n, c, i] > 0.25][:4]
            for n in range(2) for c in range(3)}
    rows = [[n, c, i] for (n, c), chosen in kept.items() for i in chosen]
    case("non-max suppression", "NonMaxSuppression",
         [boxes, scores, i64(4), np.asarray([0.5], np.float32), np.asarray([0.25], np.float32)], {},
         values=[np.asarray(rows)], types=False)
    centers = np.stack([(boxes[..., 1] + boxes[..., 3]) / 2, (boxes[..., 0] + boxes[..., 2]) / 2,
                        boxes[..., 3] - boxes[..., 1], boxes[..., 2] - boxes[..., 0]], -1)
    index, mask = np.zeros((2, 3, 5), np.int64), np.zeros((2, 3, 5), bool)
    for (n, c), chosen in kept.items():
        index[n, c, :len(chosen)], mask[n, c, :len(chosen)] = chosen, True
    case("fixed non-max suppression", "assay.FixedNms", [centers, scores],
         dict(boxes=4, center_point_box=1, iou_threshold=0.5, score_threshold=0.25),
         values=[index[..., :4], mask[..., :4]], types=False)


def dropout():
    x = grid(3, 7)
    case("dropout of inference", "Dropout", [x, np.float64(0.75)],
         values=[x, np.ones((3, 7), bool)])
    words = [w for block in range(6) for w in philox([11, 0], block)][:21]
    keep = np.asarray([(w >> 8) / 2 ** 24 >= 0.25 for w in words]).reshape(3, 7)
    case("dropout of training", "Dropout", [x, np.float64(0.25), np.asarray(True)], dict(seed=11),
         values=[np.where(keep, x / 0.75, 0), keep])


for family in (recurrent_cases, skip_cases, recurrent_gradients, normalizations, losses,
               aligned_losses, sparse, quantised, detection, dropout):
    family()
write_cases()
