#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The baselines of workloads/image-classification.toml: simpler predictors on the same images.

Each is trained by PyTorch for the recipe's three epochs, and the LeNet also for eight, on batches of
128 without mirror images: SGD with Nesterov momentum 0.9, weight decay 5e-4, a linear warm-up over a
fifth of the steps and a linear fall to zero. The best of four peak rates on the test images is
printed, which favours the baseline.

    pip install torch numpy
    python3 tests/workload/make_baselines.py FOLDER_OF_FASHION_MNIST
"""
import gzip
import sys

import numpy as np
import torch
from torch import nn

RATES = (0.02, 0.05, 0.1, 0.2)
BATCH = 128
NETWORKS = {
    "linear": lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 10)),
    "mlp": lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)),
    "lenet": lambda: nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
}


def read_idx(path, header):
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def load(folder, split):
    images = read_idx(f"{folder}/{split}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = read_idx(f"{folder}/{split}-labels-idx1-ubyte.gz", 8)
    return torch.tensor(images / 255.0, dtype=torch.float32), torch.tensor(labels.astype(np.int64))


def train(make, rate, epochs, images, labels):
    torch.manual_seed(1)
    network = make()
    optimizer = torch.optim.SGD(network.parameters(), lr=rate, momentum=0.9, nesterov=True,
                                weight_decay=5e-4)
    steps = epochs * (len(images) // BATCH)
    warm = steps // 5
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: (s + 1) / warm if s < warm else (steps - s) / (steps - warm))
    for _ in range(epochs):
        order = torch.randperm(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            pick = order[start:start + BATCH]
            loss = nn.functional.cross_entropy(network(images[pick]), labels[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network


def main():
    torch.set_num_threads(1)
    images, labels = load(sys.argv[1], "train")
    tests, answers = load(sys.argv[1], "t10k")
    mean, deviation = images.mean(), images.std()
    images, tests = (images - mean) / deviation, (tests - mean) / deviation
    for name, epochs in (("linear", 3), ("mlp", 3), ("lenet", 3), ("lenet", 8)):
        best = (0.0, 0.0)
        for rate in RATES:
            network = train(NETWORKS[name], rate, epochs, images, labels)
            with torch.no_grad():
                right = (network(tests).argmax(1) == answers).float().mean().item()
            best = max(best, (right, rate))
        print(f"{name}: {best[0]:.4f}, {epochs} epochs, peak rate {best[1]}", flush=True)


main()
