#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden files of tests/serve and tests/mlperf with MLCommons LoadGen, the oracle.

  python3 -m venv V && V/bin/pip install mlcommons-loadgen==6.0.17 && V/bin/python make_golden.py

Every run leaves what LoadGen derived from the settings, which samples it loaded and issued and when
(from its trace), every latency and every result. A test replays the latencies.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import mlperf_loadgen as lg

HERE = pathlib.Path(__file__).resolve().parent
V61 = dict(qsl_rng_seed=2085463073848966840, sample_index_rng_seed=2747215439041700203,
           schedule_rng_seed=16159082839903944936)


def digest(numbers):
    return hashlib.sha256(",".join(map(str, numbers)).encode()).hexdigest()[:16]


def run(scenario, total=64, loaded=None, mode="PerformanceOnly", slow=(), slow_s=0.0, data=False,
        config=None, **fields):
    """One test; `slow` are the queries (by number) that take slow_s longer."""
    settings = lg.TestSettings()
    settings.scenario = getattr(lg.TestScenario, scenario)
    settings.mode = getattr(lg.TestMode, mode)
    if config:
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(config["text"])
            file.flush()
            settings.FromConfig(file.name, config["model"], scenario)
    for key, value in fields.items():
        setattr(settings, key, value)
    seen = [0]

    def issue(samples):
        if seen[0] in slow:
            time.sleep(slow_s)
        seen[0] += 1
        lg.QuerySamplesComplete([lg.QuerySampleResponse(s.id, 0, 0) for s in samples])

    sut = lg.ConstructSUT(issue, lambda: None)
    qsl = lg.ConstructQSL(total, loaded or total, lambda _: None, lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        log = lg.LogSettings()
        output = lg.LogOutputSettings()
        output.outdir = folder
        output.copy_summary_to_stdout = False
        log.log_output = output
        log.enable_trace = True
        lg.StartTestWithLogSettings(sut, qsl, settings, log, folder + "/no.audit")
        texts = {name: (pathlib.Path(folder) / f"mlperf_log_{name}").read_text()
                 for name in ("summary.txt", "detail.txt", "accuracy.json", "trace.json")}
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)
    asked = {"scenario": scenario, "mode": mode, "total": total, "loaded": loaded or total}
    asked.update({k: str(v) if "seed" in k else v for k, v in fields.items()})
    return asked, texts


def lines_of(detail):
    return [json.loads(line[len(":::MLLOG "):]) for line in detail.splitlines()]


def samples_of(trace):
    """(sequence, query, index, scheduled ns, latency ns) of every sample."""
    pattern = re.compile(r'"id":\d+,"ts":(-?\d+)\.(\d{3}),"args":\{"sample_seq":(\d+),"query_seq":'
                         r'(\d+),"sample_idx":(\d+),"issue_start_ns":\d+,"complete_ns":(\d+)')
    found = [(int(m[3]), int(m[4]), int(m[5]), int(m[1]) * 1000 + int(m[2]), int(m[6]))
             for m in pattern.finditer(trace)]
    return sorted(found)


def golden(arguments):
    asked, texts = run(**arguments)
    lines = lines_of(texts["detail.txt"])
    values = [(line["key"], line["value"]) for line in lines]
    samples = samples_of(texts["trace.json"])
    minimum = dict(values)["effective_min_sample_count"]
    if asked["mode"] != "PerformanceOnly" or asked["scenario"] in ("Server", "Offline"):
        minimum = len(samples)
    minimum = min(minimum, len(samples))
    origin = samples[0][3]
    result = {
        "asked": asked,
        "effective": {k[len("effective_"):]: str(v) if "seed" in k else v
                      for k, v in values if k.startswith("effective_")},
        "loaded": [{"count": len(v), "first": v[:8], "digest": digest(v)}
                   for k, v in values if k == "loaded_qsl_set"],
        "generated": [v for k, v in values if k == "generated_query_count"],
        "samples_per_query": [v for k, v in values if k == "generated_samples_per_query"],
        "issued": {"count": minimum, "first": [s[2] for s in samples[:12]],
                   "digest": digest(s[2] for s in samples[:minimum])},
        "logged": [json.loads(line.rstrip(","))["seq_id"]
                   for line in texts["accuracy.json"].splitlines() if "seq_id" in line],
    }
    if asked["scenario"] == "Server" and asked["mode"] == "PerformanceOnly":
        arrivals = [s[3] - origin for s in samples]
        result["arrivals"] = {"first": arrivals[:8], "digest": digest(arrivals)}
    return result, lines, samples, texts


SCHEDULES = [
    dict(scenario="SingleStream"),
    dict(scenario="SingleStream", **V61),
    dict(scenario="SingleStream", min_query_count=1),
    dict(scenario="SingleStream", min_query_count=2000, total=5000, loaded=1024, **V61),
    dict(scenario="SingleStream", total=70001, **V61),
    dict(scenario="SingleStream", total=65536, **V61),
    dict(scenario="SingleStream", total=65535, sample_index_rng_seed=7),
    dict(scenario="SingleStream", total=1),
    dict(scenario="SingleStream", total=100, performance_sample_count_override=10),
    dict(scenario="SingleStream", min_duration_ms=10, single_stream_expected_latency_ns=333333),
    dict(scenario="SingleStream", performance_issue_unique=True),
    dict(scenario="SingleStream", performance_issue_same=True, performance_issue_same_index=3),
    dict(scenario="SingleStream", sample_concatenate_permutation=True),
    dict(scenario="SingleStream", sample_concatenate_permutation=True, min_query_count=300, **V61),
    dict(scenario="SingleStream", sample_concatenate_permutation=True, min_duration_ms=70),
    dict(scenario="SingleStream", single_stream_target_latency_percentile=0.95),
    dict(scenario="SingleStream", mode="AccuracyOnly"),
    dict(scenario="SingleStream", mode="AccuracyOnly", total=100, loaded=32, **V61),
    dict(scenario="SingleStream", mode="AccuracyOnly", total=100,
         accuracy_sample_count_override=50),
    dict(scenario="SingleStream", accuracy_log_probability=0.1),
    dict(scenario="SingleStream", accuracy_log_sampling_target=20, accuracy_log_rng_seed=11),
    dict(scenario="MultiStream"),
    dict(scenario="MultiStream", **V61),
    dict(scenario="MultiStream", total=70, **V61),
    dict(scenario="MultiStream", multi_stream_samples_per_query=3, total=1000, loaded=100),
    dict(scenario="MultiStream", total=8),
    dict(scenario="MultiStream", performance_issue_unique=True, total=70),
    dict(scenario="MultiStream", performance_issue_same=True, performance_issue_same_index=5),
    dict(scenario="MultiStream", sample_concatenate_permutation=True, **V61),
    dict(scenario="MultiStream", sample_concatenate_permutation=True, min_duration_ms=200),
    dict(scenario="MultiStream", sample_concatenate_permutation=True, total=80,
         multi_stream_samples_per_query=1),
    dict(scenario="MultiStream", mode="AccuracyOnly", total=70),
    dict(scenario="MultiStream", mode="AccuracyOnly", total=100, loaded=30, **V61),
    dict(scenario="MultiStream", accuracy_log_sampling_target=50),
    dict(scenario="Server", server_target_qps=1000.0),
    dict(scenario="Server", server_target_qps=1000.0, **V61),
    dict(scenario="Server", server_target_qps=3333.3, min_duration_ms=300, **V61),
    dict(scenario="Server", server_target_qps=2000.0, min_query_count=500,
         schedule_rng_seed=(1 << 40) + 5),
    dict(scenario="Server", server_target_qps=2000.0, server_coalesce_queries=True),
    dict(scenario="Server", server_target_qps=2000.0, performance_issue_unique=True),
    dict(scenario="Server", server_target_qps=2000.0, performance_issue_same=True),
    dict(scenario="Server", server_target_qps=2000.0, sample_concatenate_permutation=True),
    dict(scenario="Server", server_target_qps=500.0, mode="AccuracyOnly", **V61),
    dict(scenario="Server", server_target_qps=1000.0, accuracy_log_sampling_target=10),
    dict(scenario="Offline", offline_expected_qps=1000.0),
    dict(scenario="Offline", offline_expected_qps=12345.6, min_duration_ms=70, **V61),
    dict(scenario="Offline", min_query_count=24576, total=1024, **V61),
    dict(scenario="Offline", performance_issue_unique=True),
    dict(scenario="Offline", performance_issue_same=True, performance_issue_same_index=9),
    dict(scenario="Offline", sample_concatenate_permutation=True, **V61),
    dict(scenario="Offline", sample_concatenate_permutation=True, offline_expected_qps=5000.0,
         min_duration_ms=50),
    dict(scenario="Offline", mode="AccuracyOnly", total=100, **V61),
    dict(scenario="Offline", mode="AccuracyOnly", total=100, loaded=30),
    dict(scenario="Offline", offline_expected_qps=700.0, accuracy_log_sampling_target=30),
]

LIMIT = dict(server_target_latency_ns=1_000_000)
RESULTS = [
    dict(scenario="SingleStream", min_query_count=63),
    dict(scenario="SingleStream", min_query_count=64),
    dict(scenario="SingleStream", min_query_count=700, slow=range(0, 700, 50), slow_s=5e-4),
    dict(scenario="SingleStream", min_query_count=100, single_stream_target_latency_percentile=.5),
    dict(scenario="SingleStream", min_query_count=100, min_duration_ms=50,
         single_stream_expected_latency_ns=100_000, slow=range(100), slow_s=4e-4),
    dict(scenario="SingleStream", min_query_count=10, min_duration_ms=20),
    dict(scenario="SingleStream", min_query_count=100, max_query_count=50),
    dict(scenario="MultiStream", min_query_count=70, multi_stream_samples_per_query=3),
    dict(scenario="MultiStream", min_query_count=662, multi_stream_samples_per_query=2),
    dict(scenario="MultiStream", min_query_count=100, multi_stream_samples_per_query=2,
         multi_stream_target_latency_percentile=.9, slow=range(0, 100, 7), slow_s=3e-4),
    dict(scenario="Server", server_target_qps=1500.0, min_query_count=458, **LIMIT),
    dict(scenario="Server", server_target_qps=1500.0, min_query_count=700,
         server_target_latency_ns=200_000_000),
    dict(scenario="Server", server_target_qps=500.0, min_query_count=200, slow=(20,), slow_s=.1,
         server_target_latency_percentile=.5, server_target_latency_ns=50_000_000),
    dict(scenario="Server", server_target_qps=1000.0, min_query_count=100, slow=(10, 50, 90),
         slow_s=2e-3, server_target_latency_percentile=.9, **LIMIT),
    dict(scenario="Server", server_target_qps=500.0, min_query_count=150, slow=range(0, 150, 3),
         slow_s=2e-3, server_target_latency_percentile=.9, **LIMIT),
    dict(scenario="Server", server_target_qps=1000.0, min_query_count=100, min_duration_ms=150,
         server_target_latency_percentile=.9, **LIMIT),
    dict(scenario="Offline", offline_expected_qps=1000.0, min_duration_ms=100),
    dict(scenario="Offline", offline_expected_qps=100.0, min_duration_ms=50, slow=(0,), slow_s=.06),
    dict(scenario="Offline", min_query_count=30),
]


BRIEF = "*.*.min_duration = 0\n"
SHORT = BRIEF + "*.*.min_query_count = 2\n"
CONFIGS = [
    ("resnet50", "Server", "*.Server.target_qps = 700.5\n"),
    ("bert", "Server", "bert.Server.target_qps = 100\n*.Server.target_qps = 900\n"),
    ("unheard-of", "Server", "*.Server.max_async_queries = 0x10\n*.*.coalesce_queries = 1\n"
                             "*.Server.target_latency = 12.5\n*.Server.target_qps = 300\n"
                             "*.Server.target_latency_percentile = 97\n"),
    ("resnet50", "SingleStream", "*.SingleStream.target_latency = 0.25\n"),
    ("rnnt", "SingleStream", "rnnt.*.performance_sample_count_override = 32\n"
                             "*.SingleStream.performance_sample_count_override = 16\n"
                             "# a line of comment\n\n*.*.qsl_rng_seed = 7\n"),
    ("retinanet", "MultiStream", "*.*.samples_per_query = 4\n"
                                 "*.MultiStream.target_latency = 3\n"),
    ("resnet50", "Offline", "*.Offline.target_qps = 1234\n*.Offline.min_query_count = 50\n"),
    ("dlrm", "Offline", "*.*.accuracy_log_sampling_target = 3\n*.Offline.target_qps = 5\n"
                        "*.*.accuracy_log_probability = 0.5\n"
                        "dlrm.*.performance_issue_same = 1\n"
                        "dlrm.*.performance_issue_same_index = 3\n"),
    ("resnet50", "Offline", BRIEF),
    ("bert", "Offline", BRIEF),
    ("3d-unet", "Offline", BRIEF),
    ("pointpainting", "SingleStream", SHORT),
    ("dlrm-v2", "MultiStream", BRIEF),
    ("stable-diffusion-xl", "Server", SHORT + "*.Server.target_qps = 900\n"),
    ("unheard-of", "Offline", BRIEF),
]


def configuration(model, scenario, text):
    text = text if text.startswith(BRIEF) else SHORT + text
    _, texts = run(scenario, config={"model": model, "text": text})
    values = {line["key"]: line["value"] for line in lines_of(texts["detail.txt"])}
    return {"model": model, "scenario": scenario, "text": text,
            "requested": {k[len("requested_"):]: str(v) if "seed" in k else v
                          for k, v in values.items() if k.startswith("requested_")}}


def main():
    schedules = [golden({"min_duration_ms": 0, **arguments})[0] for arguments in SCHEDULES]
    results = []
    for arguments in RESULTS:
        result, lines, samples, texts = golden({"min_duration_ms": 0, **arguments})
        keys = [line["key"] for line in lines]
        start = keys.index("result_validity") if "result_validity" in keys else len(keys)
        origin = samples[0][3]
        results.append({
            "asked": result["asked"],
            "generated": result["generated"][0],
            "latencies_ns": [s[4] for s in samples],
            "scheduled_ns": [s[3] - origin for s in samples
                             if s[0] % result["samples_per_query"][0] == 0],
            "keys": keys,
            "results": {line["key"]: line["value"] for line in lines[start:]},
            "messages": [line["value"] for line in lines
                         if line["key"].endswith("generic_message") and
                         "allocation" not in line["value"]],
            "summary": texts["summary.txt"],
        })
    folder = HERE / "golden"
    folder.mkdir(exist_ok=True)
    # Their rules are read once a process: a new one for each.
    configurations = [json.loads(subprocess.run(
        [sys.executable, __file__, str(i)], check=True, capture_output=True, text=True).stdout)
        for i in range(len(CONFIGS))]
    for name, rows in (("schedules", schedules), ("results", results),
                       ("configurations", configurations)):
        with open(folder / f"{name}.json", "w") as out:
            out.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(configuration(*CONFIGS[int(sys.argv[1])])))
    else:
        main()
