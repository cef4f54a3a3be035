// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/gradient.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "graph/passes/replay.h"

namespace assay {
namespace {

class GradientPass {
 public:
  GradientPass(const Graph& graph, std::span<const size_t> losses,
               std::span<const std::string> parameters)
      : graph_(graph), losses_(losses), names_(parameters), replay_(graph) {}

  Result<Graph> run() {
    ASSAY_TRY(copy_forward());
    ASSAY_TRY(find_parameters());
    mark_varying();
    ASSAY_TRY(seed());
    for (size_t n = forward_nodes_; n-- > 0;) ASSAY_TRY(differentiate(static_cast<uint32_t>(n)));
    return finish();
  }

 private:
  GraphBuilder& builder() { return replay_.builder(); }
  const Graph& now() { return replay_.builder().peek(); }

  Result<void> copy_forward() {
    replay_.sources();
    for (const Node& node : graph_.nodes()) ASSAY_TRY(replay_.node(node));
    forward_nodes_ = now().nodes().size();
    forward_values_ = now().values().size();
    return {};
  }

  Result<void> find_parameters() {
    for (const std::string& name : names_) {
      const auto found = graph_.find_value(name);
      const auto kind = found ? graph_.value(*found).kind : ValueKind::kComputed;
      if (kind != ValueKind::kParameter && kind != ValueKind::kInput) {
        return Error{ErrorCode::kInvalid, "no parameter or input is called '" + name + "'",
                     graph_.name()};
      }
      if (!is_floating(graph_.value(*found).type.dtype)) {
        return Error{ErrorCode::kInvalid, "the gradient of an integer value", name};
      }
      wanted_.push_back(replay_.of(*found));
    }
    return {};
  }

  // Which values depend on a wanted one through floating values.
  void mark_varying() {
    varying_.assign(forward_values_, 0);
    for (const ValueId id : wanted_) varying_[id] = 1;
    for (const Node& node : now().nodes()) {
      const bool any = std::ranges::any_of(
          node.inputs, [&](ValueId id) { return id != kNoValue && varying_[id] != 0; });
      if (!any) continue;
      for (const ValueId id : node.outputs) {
        if (id != kNoValue && is_floating(now().value(id).type.dtype)) varying_[id] = 1;
      }
    }
  }

  Result<void> seed() {
    gradients_.assign(forward_values_, kNoValue);
    for (const size_t index : losses_) {
      if (index >= graph_.outputs().size()) {
        return Error{ErrorCode::kInvalid, "there is no output " + std::to_string(index),
                     graph_.name()};
      }
      const ValueId loss = replay_.of(graph_.outputs()[index]);
      const TensorType type = builder().type(loss);
      const bool scalar = type.shape && std::ranges::all_of(type.shape->dims(), [](const Dim& d) {
                            return d.known() && d.size() == 1;
                          });
      if (!scalar || !is_floating(type.dtype)) {
        return Error{ErrorCode::kInvalid, "the loss is " + type.text() + ", not a floating scalar",
                     graph_.value(graph_.outputs()[index]).name};
      }
      accumulate(loss, ones_like(type));
    }
    return {};
  }

  ValueId ones_like(const TensorType& type) {
    const ValueId one = builder().scalar(1);
    const ValueId typed =
        type.dtype == DType::kF32
            ? one
            : builder().add("Cast", {one}, {{"to", dtype_to_onnx(type.dtype)}}, "one");
    if (type.shape->rank() == 0) return typed;
    const ValueId shape = builder().constant("one.shape", Tensor::vector_i64(type.shape->sizes()));
    return builder().add("Reshape", {typed, shape}, {}, "one");
  }

  void accumulate(ValueId value, ValueId gradient) {
    ValueId& sum = gradients_[value];
    sum = sum == kNoValue ? gradient : builder().add("Add", {sum, gradient});
  }

  Result<void> differentiate(uint32_t index) {
    const Node node = now().nodes()[index];
    std::vector<ValueId> arriving;
    for (const ValueId id : node.outputs) {
      arriving.push_back(id == kNoValue || id >= forward_values_ ? kNoValue : gradients_[id]);
    }
    const auto is_value = [](ValueId id) { return id != kNoValue; };
    if (std::ranges::none_of(arriving, is_value)) return {};
    std::vector<uint8_t> wanted;
    for (const ValueId id : node.inputs) {
      wanted.push_back(id != kNoValue && varying_[id] != 0 ? 1 : 0);
    }
    if (std::ranges::find(wanted, 1) == wanted.end()) return {};
    const std::string place = "node '" + node.name + "' (" + node.op->type + ")";
    if (node.op->gradient == nullptr) {
      return Error{ErrorCode::kUnsupported, "the operator has no gradient", place};
    }
    std::vector<ValueId> given(node.inputs.size(), kNoValue);
    auto done = node.op->gradient({builder(), index, arriving, wanted, given});
    if (!done.ok()) {
      Error error = std::move(done).error();
      error.place = place;
      return error;
    }
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] != kNoValue && wanted[i] != 0) accumulate(node.inputs[i], given[i]);
    }
    return {};
  }

  Result<Graph> finish() {
    std::vector<std::string> unreached;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (gradients_[wanted_[i]] == kNoValue) unreached.push_back(names_[i]);
    }
    if (!unreached.empty()) {
      return Error{ErrorCode::kInvalid, "does not reach the loss", join(unreached, ", ")};
    }
    // The forward outputs first; finish() of the replay would build already.
    for (const ValueId id : graph_.outputs()) {
      builder().output(replay_.of(id), graph_.value(id).name);
    }
    for (size_t i = 0; i < wanted_.size(); ++i) {
      builder().output(gradients_[wanted_[i]], names_[i] + std::string(kGradientSuffix));
    }
    for (const State& state : graph_.states()) {
      if (state.next != kNoValue) {
        builder().set_next(replay_.of(state.value), replay_.of(state.next));
      }
    }
    return std::move(builder()).build();
  }

  const Graph& graph_;
  std::span<const size_t> losses_;
  std::span<const std::string> names_;
  Replay replay_;
  size_t forward_nodes_ = 0;
  size_t forward_values_ = 0;
  std::vector<ValueId> wanted_;     // in the order of names_
  std::vector<uint8_t> varying_;    // by forward value
  std::vector<ValueId> gradients_;  // by forward value: the sum so far
};

}  // namespace

Result<Graph> gradient(const Graph& graph, std::span<const size_t> losses,
                       std::span<const std::string> parameters) {
  return GradientPass(graph, losses, parameters).run();
}

Result<Graph> gradient(const Graph& graph) {
  std::vector<std::string> names;
  for (const Parameter& parameter : graph.parameters()) {
    if (parameter.trainable) names.push_back(graph.value(parameter.value).name);
  }
  return gradient(graph, std::array{size_t{0}}, names);
}

}  // namespace assay
