// SPDX-License-Identifier: Apache-2.0
#include "engine/reference.h"

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/json.h"
#include "engine/weights.h"
#include "graph/interpret.h"
#include "graph/operator.h"

namespace assay {
namespace {

// A graph with its symbolic dimensions replaced by sizes, ready to run.
struct BoundGraph {
  explicit BoundGraph(Graph bound) : graph(std::move(bound)), interpreter(graph) {}
  Graph graph;
  Interpreter interpreter;
};

// The sizes that the symbolic dimensions of the inputs take for these views.
Result<std::map<std::string, int64_t>> dimension_sizes(const Graph& graph,
                                                       std::span<const TensorView> inputs) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs()[i]);
    const auto mismatch = [&value, &inputs, i] {
      return Error{ErrorCode::kInvalid,
                   "input is " + TensorType(inputs[i].dtype, Shape::of(inputs[i].shape)).text() +
                       ", the graph wants " + value.type.text(),
                   value.name};
    };
    if (!value.type.shape || value.type.dtype != inputs[i].dtype ||
        value.type.shape->rank() != inputs[i].shape.size()) {
      return mismatch();
    }
    for (size_t axis = 0; axis < inputs[i].shape.size(); ++axis) {
      const Dim& dim = (*value.type.shape)[axis];
      const int64_t size = inputs[i].shape[axis];
      if (!dim.known() && dim.name().empty()) continue;  // any size
      if (dim.known() ? dim.size() != size
                      : sizes.emplace(dim.name(), size).first->second != size) {
        return mismatch();
      }
    }
  }
  return sizes;
}

class ReferenceProgram final : public Program {
 public:
  ReferenceProgram(Graph graph, NamedTensors tensors, RandomKey seed)
      : graph_(std::move(graph)), tensors_(std::move(tensors)), seed_(seed) {}

  Result<Ticket> enqueue(std::span<const TensorView> inputs,
                         std::span<const TensorView> outputs) override {
    ASSAY_ASSIGN(const BoundGraph* bound, bind(inputs));
    ASSAY_ASSIGN(std::vector<Tensor> values, leaves(bound->graph, inputs));
    const Graph& graph = bound->graph;
    const TensorMeter meter;
    ASSAY_TRY(bound->interpreter.run(values));
    activations_ = Bytes{meter.peak_bytes()};
    ASSAY_TRY(deliver(graph, values, outputs));
    for (const State& state : graph.states()) {
      if (state.next != kNoValue) tensors_[graph.value(state.value).name] = values[state.next];
    }
    return static_cast<Ticket>(runs_++);
  }
  Result<void> wait(Ticket /*ticket*/) override { return {}; }

  Json as_compiled() const override {
    return Json{{"precision", "f32"},
                {"layout", "row-major"},
                {"threads", 1},
                {"kernels", "operator table"},
                {"nodes", graph_.nodes().size()}};
  }

  MemoryUse memory() const override {
    MemoryUse use;
    Bytes parameters;
    for (const auto& [name, tensor] : tensors_) parameters += Bytes{tensor.bytes()};
    use.parameters = parameters;
    use.activations = activations_;  // with the kernels' workspace, of the last run
    return use;
  }

 private:
  Result<const BoundGraph*> bind(std::span<const TensorView> inputs) {
    if (inputs.size() != graph_.inputs().size()) {
      return Error{ErrorCode::kInvalid,
                   std::to_string(inputs.size()) + " inputs given, the graph has " +
                       std::to_string(graph_.inputs().size()),
                   graph_.name()};
    }
    ASSAY_ASSIGN(auto sizes, dimension_sizes(graph_, inputs));
    const auto found = bound_.find(sizes);
    if (found != bound_.end()) return found->second.get();
    ASSAY_ASSIGN(Graph graph, bind_dimensions(graph_, sizes));
    auto bound = std::make_unique<BoundGraph>(std::move(graph));
    return bound_.emplace(std::move(sizes), std::move(bound)).first->second.get();
  }

  // Values by id, with everything that exists before the first node filled in.
  Result<std::vector<Tensor>> leaves(const Graph& graph, std::span<const TensorView> inputs) {
    std::vector<Tensor> values(graph.values().size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].strides.empty() || inputs[i].device.kind != DeviceKind::kCpu) {
        return Error{ErrorCode::kUnsupported, "the reference engine takes packed host tensors",
                     graph.value(graph.inputs()[i]).name};
      }
      values[graph.inputs()[i]] =
          Tensor::wrap(inputs[i].dtype, inputs[i].shape, inputs[i].data, nullptr);
    }
    for (const ValueId id : graph.random_keys()) {
      const uint64_t key = seed_.derive(graph.value(id).name).derive(runs_).value();
      const std::array<uint32_t, 2> words = {static_cast<uint32_t>(key),
                                             static_cast<uint32_t>(key >> 32)};
      values[id] = Tensor::from<uint32_t>(DType::kU32, {2}, words);
    }
    for (const Parameter& p : graph.parameters()) {
      values[p.value] = tensors_[graph.value(p.value).name];
    }
    for (const State& s : graph.states()) values[s.value] = tensors_[graph.value(s.value).name];
    return values;
  }

  static Result<void> deliver(const Graph& graph, const std::vector<Tensor>& values,
                              std::span<const TensorView> outputs) {
    if (outputs.size() != graph.outputs().size()) {
      return Error{ErrorCode::kInvalid,
                   std::to_string(outputs.size()) + " output buffers given, the graph has " +
                       std::to_string(graph.outputs().size()),
                   graph.name()};
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& value = values[graph.outputs()[i]];
      if (outputs[i].dtype != value.dtype() || outputs[i].elements() != value.elements()) {
        return Error{ErrorCode::kInvalid, "output buffer does not fit " + value.type().text(),
                     graph.value(graph.outputs()[i]).name};
      }
      std::memcpy(outputs[i].data, value.data(), static_cast<size_t>(value.bytes()));
    }
    return {};
  }

  Graph graph_;
  NamedTensors tensors_;
  RandomKey seed_;
  uint64_t runs_ = 0;
  std::optional<Bytes> activations_;
  std::map<std::map<std::string, int64_t>, std::unique_ptr<BoundGraph>> bound_;
};

class ReferenceEngine final : public Engine {
 public:
  std::string name() const override { return "reference"; }
  std::string version() const override { return "1"; }
  std::vector<Device> devices() const override { return {Device{}}; }

  std::vector<Unsupported> unsupported(const Graph& graph, const Plan& plan) const override {
    std::vector<Unsupported> all;
    if (plan.device != Device{}) {
      all.push_back({"", "", "the reference engine has no device " + plan.device.text()});
    }
    if (plan.precision != Precision::kF32) {
      all.push_back({"", "",
                     "the reference engine computes in f32, not " +
                         std::string(precision_name(plan.precision))});
    }
    for (const Node& node : graph.nodes()) {
      if (node.op->kernel != nullptr) continue;
      const std::string note = node.op->note.empty() ? "" : ": " + node.op->note;
      all.push_back({node.name, node.op->type, "no reference kernel" + note});
    }
    return all;
  }

  Result<std::unique_ptr<Program>> compile(const Graph& graph, const Plan& plan,
                                           const NamedTensors& weights, RandomKey seed) override {
    const std::vector<Unsupported> reasons = unsupported(graph, plan);
    if (!reasons.empty()) {
      const Unsupported& first = reasons.front();
      const std::string place =
          first.node.empty() ? "" : "node " + first.node + ", " + first.op_type;
      return Error{ErrorCode::kUnsupported, first.reason, place};
    }
    ASSAY_ASSIGN(NamedTensors tensors, initial_tensors(graph, weights, seed));
    return std::unique_ptr<Program>(
        std::make_unique<ReferenceProgram>(graph, std::move(tensors), seed));
  }

  Result<std::unique_ptr<Trainer>> trainer(const Graph& graph, const OptimizerConfig& /*optimizer*/,
                                           const Plan& /*plan*/, RandomKey /*seed*/,
                                           ProcessGroup* /*group*/) override {
    return Error{ErrorCode::kUnsupported,
                 "the reference engine trains through gradient graphs, which this version cannot "
                 "make; train with torch",
                 graph.name()};
  }
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace assay
