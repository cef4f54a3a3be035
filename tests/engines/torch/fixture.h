// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the torch engine share: the engine (loaded once), the reference beside it, and
// comparison within c * eps * sqrt(n).
#pragma once

#include <cmath>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/engine.h"
#include "engine/plugin.h"
#include "engine/reference.h"
#include "graph/builder.h"
#include "graph/graph.h"

namespace assay::torch_test {

Engine& torch();
Engine& reference();

// Values drawn from one key a name: the same in every test.
Tensor drawn(const std::string& name, std::vector<int64_t> shape, float low = -1, float high = 1);
Tensor labels(std::vector<int64_t> shape, int64_t classes);

// Runs the graph once on an engine; the graph's shapes are bound to those of the inputs.
Result<std::vector<Tensor>> infer(Engine& engine, const Graph& graph,
                                  const std::vector<Tensor>& inputs, const Plan& plan,
                                  const NamedTensors& weights = {});
std::unique_ptr<Program> compiled(Engine& engine, const Graph& graph, const Plan& plan,
                                  const NamedTensors& weights = {});
Result<std::vector<Tensor>> run(Program& program, const Graph& graph,
                                const std::vector<Tensor>& inputs);

std::vector<float> floats(const Tensor& tensor);  // any type
// The largest |a - b| / (eps * max |b|), eps of f32: to be compared with c * sqrt(n).
double error_in_eps(const Tensor& a, const Tensor& b);

Plan one_thread(Precision precision = Precision::kF32, int optimization_level = 2);
std::vector<TensorView> views(const std::vector<Tensor>& tensors);

}  // namespace assay::torch_test
