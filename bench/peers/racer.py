# SPDX-License-Identifier: Apache-2.0
"""The peer's side of a race: Python PyTorch, eager; the same protocol as bench/racer.cpp.

usage: racer.py STYLE train|infer PRECISION THREADS BATCH

Styles:
  tuned  as PyTorch's performance tuning guide advises for eager mode on CPU: channels-last, in-place
         relu, gradients set to None, fused optimiser, autocast for bf16, inference_mode, data in
         memory; no gradient in inference
  cast   inference only: like tuned, but the model itself converted to bf16, which spares autocast's
         casts of the weights at every call
  plain  as a first script would be: default layout, default optimiser, no_grad
"""
import contextlib
import json
import resource
import sys
import time

import torch

import resnet

BATCHES = 8
RATE = 0.2


def status_bytes(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def autocast(precision, enabled=True):
    if precision == "bf16" and enabled:
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return contextlib.nullcontext()


def training_step(style, precision, data):
    model = resnet.small()
    tuned = style == "tuned"
    if tuned:
        model = model.to(memory_format=torch.channels_last)
        data = [(x.contiguous(memory_format=torch.channels_last), y) for x, y in data]
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 5e-4},
        {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0},
    ]
    options = {"fused": True} if tuned else {}
    optimizer = torch.optim.SGD(groups, lr=RATE, momentum=0.9, nesterov=True, **options)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)

    def step(i):
        images, labels = data[i % BATCHES]
        optimizer.zero_grad(set_to_none=True)
        with autocast(precision):
            loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()

    return step


def inference_step(style, precision, data):
    model = resnet.small().eval()
    if style != "plain":
        model = model.to(memory_format=torch.channels_last)
    images = [x for x, _ in data]
    if style == "cast" and precision == "bf16":
        model = model.to(torch.bfloat16)
        images = [x.to(torch.bfloat16) for x in images]
    if style != "plain":
        images = [x.contiguous(memory_format=torch.channels_last) for x in images]
    mode = torch.no_grad if style == "plain" else torch.inference_mode

    def step(i):
        with mode(), autocast(precision, style != "cast"):
            model(images[i % BATCHES])

    return step


def warm_library(style, precision):
    """One small convolution, as in bench/racer.cpp: what libtorch and oneDNN keep for themselves is
    start-up on both sides."""
    cast = style == "cast" and precision == "bf16"
    dtype = torch.bfloat16 if cast else torch.float32
    with torch.no_grad(), autocast(precision, not cast):
        torch.nn.Conv2d(1, 4, 3).to(dtype)(torch.zeros(1, 1, 8, 8, dtype=dtype)).relu()


def main():
    style, activity, precision, threads, batch = sys.argv[1:6]
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    warm_library(style, precision)
    startup = status_bytes("RssAnon")
    data = [(torch.randn(int(batch), 1, 28, 28), torch.randint(0, 10, (int(batch),)))
            for _ in range(BATCHES)]
    step = (training_step if activity == "train" else inference_step)(style, precision, data)
    print(json.dumps({"ready": True, "startup_bytes": startup}), flush=True)
    done = 0
    for line in sys.stdin:
        count = int(line)
        cpu = cpu_seconds()
        begin = time.perf_counter()
        for _ in range(count):
            step(done)
            done += 1
        seconds = time.perf_counter() - begin
        print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds() - cpu,
                          "peak_bytes": status_bytes("VmHWM") - status_bytes("RssFile")}), flush=True)


main()
