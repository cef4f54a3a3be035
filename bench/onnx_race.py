#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading, shapes and counts of ONNX files, against onnx-tool; and how the time grows with nodes.

The race is bench/race.py's: paired, interleaved, a geometric mean of ratios with a 95 % interval. The
other files are ours alone: their times are the smallest of --rounds, and the memory is the peak less
what was in use after start-up (pages of files that are mapped are not counted).
"""
import argparse
import math
import os
import random
import statistics
import subprocess

import race

RATIO_BAR = 20
HERE = os.path.dirname(os.path.abspath(__file__))


def duel(args, order):
    """ResNet-50, 102 MB, against onnx-tool."""
    file = os.path.join(args.files, "resnet50.onnx")
    peer_script = os.path.join(HERE, "peers", "onnx_racer.py")
    ours = race.Contestant("assay", [args.racer, file])
    peer = race.Contestant("onnx-tool", [args.python, peer_script, file])
    steps = {ours: 20, peer: 1}
    for racer, count in steps.items():
        racer.run(count)
    times = {ours: [], peer: []}
    for _ in range(args.rounds):
        for racer in order.sample(list(steps), 2):
            times[racer].append(racer.run(steps[racer])["seconds"] / steps[racer])
    ratio, low, high = race.interval([math.log(b / a) for a, b in zip(times[ours], times[peer])])
    for racer in steps:
        racer.close()
    best = [1e3 * min(times[racer]) for racer in steps]
    middle = [1e3 * statistics.median(times[racer]) for racer in steps]
    met = "yes" if best[0] < 10 and low >= RATIO_BAR else "**no**"
    return [
        "| file | ours, ms: smallest (median) | onnx-tool's | ratio | 95 % interval | bar met |",
        "|---|---|---|---|---|---|",
        f"| resnet50.onnx, 102 MB | {best[0]:.2f} ({middle[0]:.2f}) | {best[1]:.0f} "
        f"({middle[1]:.0f}) | {ratio:.0f} | {low:.0f} to {high:.0f} | {met} |"]


def alone(args):
    """Ours alone: much data, many nodes."""
    lines = ["| file | smallest of the rounds, ms | microseconds a node | memory, MB | bar |",
             "|---|---|---|---|---|"]
    names = [("large.onnx", 34, "50 ms, 50 MB")]
    names += [(f"chain_{n}.onnx", n, "1000 ms" if n == 100000 else "")
              for n in (100, 1000, 10000, 100000)]
    for name, nodes, bar in names:
        racer = race.Contestant("assay", [args.racer, os.path.join(args.files, name)])
        seconds = min(racer.run(1)["seconds"] for _ in range(args.rounds))
        lines.append(f"| {name} | {1e3 * seconds:.2f} | {1e6 * seconds / nodes:.2f} "
                     f"| {racer.memory() / 1e6:.1f} | {bar} |")
        racer.close()
    return lines


def main():
    """Makes the files where they are missing, and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--racer", required=True, help="our side: the program assay_onnx_racer")
    parser.add_argument("--python", required=True, help="the peer's Python, with onnx-tool")
    parser.add_argument("--files", required=True, help="folder of the files; 2.6 GB")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--order-seed", type=int, default=1)
    parser.add_argument("--out", default="bench-onnx", help="writes OUT.md")
    args = parser.parse_args()
    if not os.path.exists(os.path.join(args.files, "chain_100000.onnx")):
        subprocess.run([args.racer, "--make", args.files], check=True)
    text = "\n".join(duel(args, random.Random(args.order_seed)) + [""] + alone(args)) + "\n"
    with open(args.out + ".md", "w") as file:
        file.write(text)
    print(text, end="")


if __name__ == "__main__":
    main()
