#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_training.json: a tiny network trained by PyTorch, step by step.

usage: make_golden.py > golden_training.json        (needs torch; made with 2.15.0)

The network: 3x3 convolution 2 -> 4 without bias, batch norm, relu, 3x3 max-pool of stride 2, linear
4*4*4 -> 3, mean cross entropy. Element i of parameter p (in the order of PARAMETERS) starts at
0.4 * sin(1 + 0.7 i + 10 p), the batch norm's scale at 1 more than that. Images of step s are
cos(0.37 i + 1.3 s), labels (i + s) mod 3. The rate falls linearly: rate * (1 - s / 200). Weight
decay applies to the weights of rank 2 and more.
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

STEPS = 100
KEPT = [1, 2, 10, 100]
BATCH = 6
PARAMETERS = {
    "conv.weight": (4, 2, 3, 3),
    "bn.weight": (4,),
    "bn.bias": (4,),
    "fc.weight": (3, 64),
    "fc.bias": (3,),
}
CASES = [
    {"name": "sgd", "kind": "sgd", "rate": 0.05, "momentum": 0.0, "decay": 0.01},
    {"name": "nesterov", "kind": "sgd", "rate": 0.05, "momentum": 0.9, "nesterov": True,
     "decay": 0.01},
    {"name": "clipped", "kind": "sgd", "rate": 0.05, "momentum": 0.9, "decay": 0.01, "clip": 0.5},
    {"name": "adam", "kind": "adam", "rate": 0.01, "decay": 0.01},
    {"name": "adamw", "kind": "adamw", "rate": 0.01, "decay": 0.1},
]


def start():
    values = {}
    for p, (name, shape) in enumerate(PARAMETERS.items()):
        data = [0.4 * math.sin(1 + 0.7 * i + 10 * p) for i in range(math.prod(shape))]
        tensor = torch.tensor(data).reshape(shape)
        values[name] = torch.nn.Parameter(tensor + 1 if name == "bn.weight" else tensor)
    return values


def batch(step):
    images = [math.cos(0.37 * i + 1.3 * step) for i in range(BATCH * 2 * 8 * 8)]
    return (torch.tensor(images).reshape(BATCH, 2, 8, 8),
            torch.tensor([(i + step) % 3 for i in range(BATCH)]))


def forward(w, images, labels):
    x = F.conv2d(images, w["conv.weight"], padding=1)
    mean = x.mean((0, 2, 3))
    variance = x.var((0, 2, 3), unbiased=False)
    x = F.batch_norm(x, None, None, w["bn.weight"], w["bn.bias"], True, 0.1, 1e-5)
    x = F.max_pool2d(F.relu(x), 3, 2, 1).flatten(1)
    loss = F.cross_entropy(F.linear(x, w["fc.weight"], w["fc.bias"]), labels)
    return loss, mean, variance


def optimizer(case, w):
    groups = [
        {"params": [p for p in w.values() if p.dim() > 1], "weight_decay": case["decay"]},
        {"params": [p for p in w.values() if p.dim() <= 1], "weight_decay": 0.0},
    ]
    if case["kind"] == "sgd":
        return torch.optim.SGD(groups, lr=case["rate"], momentum=case["momentum"],
                               nesterov=case.get("nesterov", False), foreach=False)
    cls = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["kind"]]
    return cls(groups, lr=case["rate"], betas=(0.9, 0.999), eps=1e-8, foreach=False)


def flat(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().flatten().tolist()]


def train(case):
    w = start()
    steps = optimizer(case, w)
    result = dict(case, losses=[], weights={})
    running_mean, running_variance = torch.zeros(4), torch.ones(4)
    for step in range(STEPS):
        for group in steps.param_groups:
            group["lr"] = case["rate"] * (1 - step / 200)
        steps.zero_grad()
        loss, mean, variance = forward(w, *batch(step))
        loss.backward()
        running_mean = 0.9 * running_mean + 0.1 * mean.detach()
        running_variance = 0.9 * running_variance + 0.1 * variance.detach()
        if step == 0:
            result["gradients"] = {name: flat(p.grad) for name, p in w.items()}
            result["running_mean"] = flat(running_mean)
            result["running_var"] = flat(running_variance)
        if "clip" in case:
            torch.nn.utils.clip_grad_norm_(list(w.values()), case["clip"])
        steps.step()
        result["losses"].append(float(f"{loss.item():.9g}"))
        if step + 1 in KEPT:
            result["weights"][str(step + 1)] = {name: flat(p) for name, p in w.items()}
    return result


torch.set_num_threads(1)
json.dump({"torch": torch.__version__, "cases": [train(case) for case in CASES]}, sys.stdout)
print()
