#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/model/golden.json: what torchvision's networks have and fvcore counts, batch 1.

    pip install torch torchvision fvcore
    python3 tests/model/make_golden.py > tests/model/golden.json
"""
import json
import sys

import torch
import torchvision
from fvcore.nn import FlopCountAnalysis


def stride_in_first(model):
    """ResNet v1: the stride of a bottleneck on its first 1x1 convolution."""
    for module in model.modules():
        if isinstance(module, torchvision.models.resnet.Bottleneck):
            module.conv1.stride, module.conv2.stride = module.conv2.stride, (1, 1)
    return model


def small():
    """Bottlenecks 2,2,2,2 of inner width 8,16,32,64 behind a 3x3 stem, for 28x28 grey images."""
    model = torchvision.models.ResNet(torchvision.models.resnet.Bottleneck, [2, 2, 2, 2],
                                      num_classes=10, width_per_group=64)
    model.inplanes = 16
    model.conv1 = torch.nn.Conv2d(1, 16, 3, 1, 1, bias=False)
    model.bn1 = torch.nn.BatchNorm2d(16)
    for i, width in enumerate((8, 16, 32, 64)):
        layer = model._make_layer(torchvision.models.resnet.Bottleneck, width, 2, 1 if i == 0 else 2)
        setattr(model, f"layer{i + 1}", layer)
    model.fc = torch.nn.Linear(256, 10)
    return model


def describe(model, shape, tensors):
    model.eval()
    flops = FlopCountAnalysis(model, torch.zeros(1, *shape))
    flops.unsupported_ops_warnings(False)
    counts = flops.by_operator()
    entry = {
        "parameters": sum(p.numel() for p in model.parameters()),
        # fvcore calls a multiply-add a flop.
        "macs": int(counts["conv"] + counts["linear"]),
    }
    if tensors:
        entry["tensors"] = {name: list(t.shape) for name, t in model.state_dict().items()
                            if not name.endswith("num_batches_tracked")}
    return entry


models = torchvision.models
golden = {
    "resnet18": describe(models.resnet18(), (3, 224, 224), True),
    "resnet50": describe(models.resnet50(), (3, 224, 224), True),
    "resnet50-v1": describe(stride_in_first(models.resnet50()), (3, 224, 224), False),
    "resnet152": describe(models.resnet152(), (3, 224, 224), False),
    "small": describe(small(), (1, 28, 28), True),
}
sys.stdout.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}"
                                    for k, v in golden.items()) + "\n}\n")
