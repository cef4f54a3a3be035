# SPDX-License-Identifier: Apache-2.0
"""The bottleneck ResNet of image-classification as a PyTorch user writes it (ResNet v1.5)."""
import torch
from torch import nn


class Bottleneck(nn.Module):
    """1x1, 3x3 (with the stride), 1x1 to four times the width; projection where the shape changes."""

    def __init__(self, channels, width, stride):
        super().__init__()
        out = 4 * width
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or channels != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.shortcut is None else self.shortcut(x)
        return self.relu(y)


class ResNet(nn.Module):
    """Stem, bottleneck stages, global average pool, linear."""

    def __init__(self, blocks, widths, stem_width, channels=1, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(channels, stem_width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(stem_width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        stages = []
        channels = stem_width
        for stage, (count, width) in enumerate(zip(blocks, widths)):
            for block in range(count):
                stride = 2 if stage > 0 and block == 0 else 1
                stages.append(Bottleneck(channels, width, stride))
                channels = 4 * width
        self.stages = nn.Sequential(*stages)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.stages(self.stem(x))
        return self.head(torch.flatten(self.pool(x), 1))


def small():
    """The `small` variant: the same network with smaller numbers."""
    return ResNet([1, 1, 1, 1], [8, 16, 32, 64], 16)
