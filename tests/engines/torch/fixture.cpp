// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/fixture.h"

#include <algorithm>
#include <map>

#include "graph/passes/passes.h"

namespace assay::torch_test {
namespace {

// The symbolic dimensions of the graph's inputs, as these tensors have them.
std::map<std::string, int64_t> sizes_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = *graph.value(graph.inputs()[i]).type.shape;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      if (!shape[axis].known()) sizes[shape[axis].name()] = inputs[i].shape()[axis];
    }
  }
  return sizes;
}

double value_at(const Tensor& tensor, size_t i) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return tensor.values<float>()[i];
    case DType::kF64:
      return tensor.values<double>()[i];
    case DType::kBF16:
      return bf16_to_f32(tensor.values<uint16_t>()[i]);
    case DType::kF16:
      return f16_to_f32(tensor.values<uint16_t>()[i]);
    case DType::kI64:
      return static_cast<double>(tensor.values<int64_t>()[i]);
    case DType::kI32:
      return tensor.values<int32_t>()[i];
    case DType::kU8:
    case DType::kBool:
      return tensor.values<uint8_t>()[i];
    default:
      ADD_FAILURE() << "no reading of " << dtype_name(tensor.dtype());
      return 0;
  }
}

}  // namespace

Engine& torch() {
  static const EngineHandle kEngine = [] {
    auto loaded = load_plugin(std::string(ASSAY_BINARY_DIR) + "/lib/assay/engines/torch.so");
    if (!loaded.ok()) {
      ADD_FAILURE() << loaded.error().text();
      std::abort();
    }
    return std::move(loaded).value();
  }();
  return *kEngine;
}

Engine& reference() {
  static const std::unique_ptr<Engine> kEngine = make_reference_engine();
  return *kEngine;
}

Tensor drawn(const std::string& name, std::vector<int64_t> shape, float low, float high) {
  Tensor tensor = Tensor::allocate(DType::kF32, std::move(shape));
  RandomStream stream(RandomKey(7).derive(name));
  for (float& v : tensor.values<float>()) v = static_cast<float>(stream.uniform(low, high));
  return tensor;
}

Tensor labels(std::vector<int64_t> shape, int64_t classes) {
  Tensor tensor = Tensor::allocate(DType::kI64, std::move(shape));
  int64_t next = 0;
  for (int64_t& v : tensor.values<int64_t>()) v = next++ % classes;
  return tensor;
}

std::vector<TensorView> views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> all;
  all.reserve(tensors.size());
  for (const Tensor& tensor : tensors) all.push_back(tensor.view());
  return all;
}

std::unique_ptr<Program> compiled(Engine& engine, const Graph& graph, const Plan& plan,
                                  const NamedTensors& weights) {
  auto program = engine.compile(graph, plan, weights, RandomKey(1));
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? std::move(program).value() : nullptr;
}

Result<std::vector<Tensor>> run(Program& program, const Graph& graph,
                                const std::vector<Tensor>& inputs) {
  ASSAY_ASSIGN(const Graph bound, bind_dimensions(graph, sizes_of(graph, inputs)));
  std::vector<Tensor> outputs;
  for (const ValueId id : bound.outputs()) {
    const TensorType& type = bound.value(id).type;
    outputs.push_back(Tensor::zeros(type.dtype, type.shape->sizes()));
  }
  ASSAY_TRY(program.run(views(inputs), views(outputs)));
  return outputs;
}

Result<std::vector<Tensor>> infer(Engine& engine, const Graph& graph,
                                  const std::vector<Tensor>& inputs, const Plan& plan,
                                  const NamedTensors& weights) {
  ASSAY_ASSIGN(const auto program, engine.compile(graph, plan, weights, RandomKey(1)));
  return run(*program, graph, inputs);
}

std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> all(static_cast<size_t>(tensor.elements()));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(value_at(tensor, i));
  return all;
}

double error_in_eps(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.dtype(), b.dtype());
  double largest = 0;
  double error = 0;
  for (size_t i = 0; i < static_cast<size_t>(b.elements()); ++i) {
    const double x = value_at(a, i);
    const double y = value_at(b, i);
    largest = std::max(largest, std::abs(y));
    if (x != y) error = std::max(error, std::abs(x - y));
    if (std::isnan(x) != std::isnan(y)) return INFINITY;
  }
  constexpr double kEpsilon = 0x1p-23;
  return error == 0 ? 0 : error / (kEpsilon * std::max(largest, 1e-30));
}

Plan one_thread(Precision precision, int optimization_level) {
  Plan plan;
  plan.precision = precision;
  plan.threads = 1;
  plan.optimization_level = optimization_level;
  return plan;
}

}  // namespace assay::torch_test
