#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnx-tool's side of the race over ONNX files: reads, infers shapes and counts once a step.

Set up as its README says: the model is loaded with verification off (its default prints), shapes are
inferred for the inputs the file states, and the profile is taken.
"""
import json
import resource
import sys
import time

import onnx_tool


def status_bytes(field):
    """A field of /proc/self/status."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def step(file):
    """One reading with shapes and counts."""
    model = onnx_tool.Model(file, {"verbose": False})
    graph = model.graph
    graph.shape_infer(None)
    graph.profile()
    assert sum(graph.macs) > 0


def main():
    """Answers "K" on stdin with the time of K steps."""
    print(json.dumps({"ready": True, "startup_bytes": status_bytes("RssAnon")}), flush=True)
    for line in sys.stdin:
        cpu = resource.getrusage(resource.RUSAGE_SELF)
        begin = time.perf_counter()
        for _ in range(int(line)):
            step(sys.argv[1])
        seconds = time.perf_counter() - begin
        now = resource.getrusage(resource.RUSAGE_SELF)
        used = now.ru_utime - cpu.ru_utime + now.ru_stime - cpu.ru_stime
        print(json.dumps({"seconds": seconds, "cpu_seconds": used,
                          "peak_bytes": status_bytes("VmHWM") - status_bytes("RssFile")}),
              flush=True)


main()
