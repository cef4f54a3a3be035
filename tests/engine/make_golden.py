#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden_optimizer.json: 100 steps of PyTorch's optimisers on made-up gradients.

usage: make_golden.py > golden_optimizer.json        (needs torch; made with 2.15.0)

Three parameters of rank 2, 1 and 4. Element i of parameter p starts at 0.5 * sin(1 + i + 10 p); its
gradient at 0-based step s is 0.2 * w + 0.5 * cos(0.3 s + i + p), scaled by 1 + p. The rate falls
linearly: rate * (1 - s / 200). Decay applies to the matrices only.
"""
import json
import math

import torch

SHAPES = [(4, 3), (3,), (2, 1, 2, 2)]
STEPS = 100
KEPT = [1, 2, 10, 100]
CASES = [
    {"name": "sgd", "kind": "sgd", "rate": 0.05, "momentum": 0.0, "decay": 0.0},
    {"name": "sgd-decay", "kind": "sgd", "rate": 0.05, "momentum": 0.0, "decay": 0.1},
    {"name": "momentum", "kind": "sgd", "rate": 0.05, "momentum": 0.9, "decay": 0.1},
    {"name": "nesterov", "kind": "sgd", "rate": 0.05, "momentum": 0.9, "decay": 0.1, "nesterov": True},
    {"name": "nesterov-clipped", "kind": "sgd", "rate": 0.05, "momentum": 0.9, "decay": 0.1,
     "nesterov": True, "clip": 1.0},
    {"name": "adam", "kind": "adam", "rate": 0.01, "decay": 0.01},
    {"name": "adamw", "kind": "adamw", "rate": 0.01, "decay": 0.1},
    {"name": "adamw-clipped", "kind": "adamw", "rate": 0.01, "decay": 0.1, "clip": 1.0},
]


def make_optimizer(case, parameters):
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": case["decay"]},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    if case["kind"] == "sgd":
        return torch.optim.SGD(groups, lr=case["rate"], momentum=case["momentum"],
                               nesterov=case.get("nesterov", False), foreach=False)
    cls = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["kind"]]
    return cls(groups, lr=case["rate"], betas=(0.9, 0.95), eps=1e-8, foreach=False)


def trajectory(case):
    parameters = []
    for p, shape in enumerate(SHAPES):
        values = [0.5 * math.sin(1 + i + 10 * p) for i in range(math.prod(shape))]
        parameters.append(torch.nn.Parameter(torch.tensor(values).reshape(shape)))
    optimizer = make_optimizer(case, parameters)
    kept = {}
    for step in range(STEPS):
        for p, w in enumerate(parameters):
            push = torch.tensor([0.5 * math.cos(0.3 * step + i + p) for i in range(w.numel())])
            w.grad = (1 + p) * (0.2 * w.detach() + push.reshape(w.shape))
        if "clip" in case:
            torch.nn.utils.clip_grad_norm_(parameters, case["clip"], foreach=False)
        for group in optimizer.param_groups:
            group["lr"] = case["rate"] * (1 - step / 200)
        optimizer.step()
        if step + 1 in KEPT:
            kept[str(step + 1)] = [w.detach().flatten().tolist() for w in parameters]
    return kept


print("[")
print(",\n".join(json.dumps({**case, "values": trajectory(case)}) for case in CASES))
print("]")
