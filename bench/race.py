#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races the torch engine against Python PyTorch, paired and interleaved.

All contestants of a race live through all of it, so start-up never counts; in every round each runs
once, in a random order, for about --seconds. A round gives one ratio of rates; the result is their
geometric mean with a 95 % interval (Student's t on the logarithms). The bar is met when the lower
bound is at least bar - 0.02. Memory is the peak (VmHWM), pages of program files aside, less what was
in use after start-up.
"""
import argparse
import datetime
import json
import math
import os
import platform
import random
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Two-sided 95 % points of Student's t by degrees of freedom; beyond, the normal's 1.96 is close.
T95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
       2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060,
       2.056, 2.052, 2.048, 2.045, 2.042]
SLACK = 0.02
SPEED_BAR = 1.00
MEMORY_BAR = 1.05


class Contestant:
    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.startup = self.read()["startup_bytes"]
        self.peak = 0

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"error: {self.name} ended (exit code {self.process.wait()})")
        return json.loads(line)

    def run(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        answer = self.read()
        self.peak = answer["peak_bytes"]
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def memory(self):
        return self.peak - self.startup


def interval(logs):
    """Geometric mean and its 95 % interval of ratios given as logarithms."""
    n = len(logs)
    mean = statistics.fmean(logs)
    t = T95[n - 1] if n - 1 < len(T95) else 1.96
    half = t * statistics.stdev(logs) / math.sqrt(n)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def contestants(args, race):
    shape = [race["activity"], race["precision"], str(race["threads"]), str(race["batch"])]
    workload = os.path.join(HERE, "..", "workloads", "image-classification.toml")
    styles = ["tuned", "plain"]
    if race["activity"] == "infer" and race["precision"] == "bf16":
        styles.insert(1, "cast")
    peer = os.path.join(HERE, "peers", "racer.py")
    return [Contestant("assay", [args.racer, *shape, workload])] + [
        Contestant(style, [args.python, peer, style, *shape]) for style in styles
    ]


def steps_for(contestant, seconds):
    """How many steps take about `seconds`, after warming up."""
    contestant.run(3)
    best = min(contestant.run(2)["seconds"] / 2 for _ in range(3))
    return max(1, round(seconds / best))


def run_race(args, race, order):
    racers = contestants(args, race)
    steps = steps_for(racers[0], args.seconds)
    for racer in racers[1:]:
        racer.run(5)
    rates = {racer.name: [] for racer in racers}
    cpu = {racer.name: [] for racer in racers}
    for _ in range(args.rounds):
        for racer in order.sample(racers, len(racers)):
            answer = racer.run(steps)
            rates[racer.name].append(steps * race["batch"] / answer["seconds"])
            cpu[racer.name].append(steps * race["batch"] / answer["cpu_seconds"])
    row = dict(race, steps=steps, rounds=args.rounds, peers={})
    row["rate"] = statistics.median(rates["assay"])
    for racer in racers[1:]:
        def ratio(series):
            logs = [math.log(a / b) for a, b in zip(series["assay"], series[racer.name])]
            return dict(zip(("ratio", "low", "high"), interval(logs)))
        row["peers"][racer.name] = {
            "rate": statistics.median(rates[racer.name]), "wall": ratio(rates), "cpu": ratio(cpu),
        }
    for racer in racers:
        racer.close()
    for racer in racers[1:]:
        row["peers"][racer.name]["memory"] = racers[0].memory() / racer.memory()
        row["peers"][racer.name]["memory_bytes"] = racer.memory()
        row["peers"][racer.name]["peak_bytes"] = racer.peak
    row["memory_bytes"] = racers[0].memory()
    row["peak_bytes"] = racers[0].peak
    return row


def met(value, bar):
    return "yes" if value >= bar - SLACK else "**no**"


def table(rows):
    lines = ["| activity | precision | threads | batch | peer | images/s | peer's | ratio "
             "| 95 % interval | by CPU time | bar met | memory, MB | peer's | ratio |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        for name, peer in row["peers"].items():
            wall, cpu = peer["wall"], peer["cpu"]
            bar = "" if name == "plain" else met(wall["low"], SPEED_BAR)
            lines.append(
                f"| {row['activity']} | {row['precision']} | {row['threads']} | {row['batch']} "
                f"| {name} | {row['rate']:.0f} | {peer['rate']:.0f} | {wall['ratio']:.2f} "
                f"| {wall['low']:.2f} to {wall['high']:.2f} "
                f"| {cpu['ratio']:.2f} ({cpu['low']:.2f} to {cpu['high']:.2f}) | {bar} "
                f"| {row['memory_bytes'] / 1e6:.0f} | {peer['memory_bytes'] / 1e6:.0f} "
                f"| {peer['memory']:.2f} |")
    return "\n".join(lines)


def all_races(args):
    for threads in args.threads:
        for precision in args.precision:
            for activity in args.activity:
                for batch in [128] if activity == "train" else [1, 16, 128]:
                    yield {"activity": activity, "precision": precision, "threads": threads,
                           "batch": batch}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--racer", required=True, help="our side: the program assay_racer")
    parser.add_argument("--python", required=True, help="the peer's Python, with torch")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=1.0, help="about so long a run")
    parser.add_argument("--activity", nargs="*", default=["train", "infer"])
    parser.add_argument("--precision", nargs="*", default=["f32", "bf16"])
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--order-seed", type=int, default=1)
    parser.add_argument("--out", default="bench-race", help="writes OUT.json and OUT.md")
    args = parser.parse_args()
    order = random.Random(args.order_seed)
    rows = []
    for race in all_races(args):
        print("racing:", race, file=sys.stderr, flush=True)
        rows.append(run_race(args, race, order))
        document = {"taken": datetime.datetime.now(datetime.timezone.utc).isoformat(),
                    "machine": platform.processor() or platform.machine(), "cpus": os.cpu_count(),
                    "rows": rows}
        with open(args.out + ".json", "w") as file:
            json.dump(document, file, indent=1)
    with open(args.out + ".md", "w") as file:
        file.write(table(rows) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
