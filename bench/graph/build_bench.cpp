// SPDX-License-Identifier: Apache-2.0
//
// What it costs to have a network as a graph: to build, bind, narrow, count and digest it.
#include <benchmark/benchmark.h>

#include "graph/count.h"
#include "graph/passes/passes.h"
#include "model/model.h"

namespace assay {
namespace {

Graph resnet50(Phase phase) { return *build_model("resnet50", {}, phase); }
Graph bound() { return *bind_dimensions(resnet50(Phase::kTraining), {{"batch", 32}}); }

void build(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(resnet50(Phase::kTraining));
}
BENCHMARK(build)->Name("resnet50/build")->Unit(benchmark::kMicrosecond);

void bind(benchmark::State& state) {
  const Graph graph = resnet50(Phase::kTraining);
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(bind_dimensions(graph, {{"batch", 32}}));
  }
}
BENCHMARK(bind)->Name("resnet50/bind")->Unit(benchmark::kMicrosecond);

void narrow(benchmark::State& state) {
  const Graph graph = bound();
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(apply_precision(graph, Precision::kBF16));
  }
}
BENCHMARK(narrow)->Name("resnet50/bf16")->Unit(benchmark::kMicrosecond);

void cost(benchmark::State& state) {
  const Graph graph = bound();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(count(graph));
}
BENCHMARK(cost)->Name("resnet50/count")->Unit(benchmark::kMicrosecond);

void text(benchmark::State& state) {
  const Graph graph = bound();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(canonical_text(graph));
}
BENCHMARK(text)->Name("resnet50/canonical text")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace assay
