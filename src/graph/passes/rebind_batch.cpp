// SPDX-License-Identifier: Apache-2.0
//
// Files are often exported for one batch size: their inputs say 1, and Reshapes have it in a
// constant. Both are changed, every shape is inferred again, and what does not follow is an error.
#include <optional>
#include <string>
#include <utility>

#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {
namespace {

// The leading dimension that all inputs have in common.
Result<Dim> old_batch(const Graph& graph) {
  std::optional<Dim> batch;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    if (!value.type.shape || value.type.shape->rank() == 0) continue;
    const Dim& first = (*value.type.shape)[0];
    if (!batch) batch = first;
    if (*batch != first) {
      return Error{ErrorCode::kUnsupported,
                   "inputs begin with dimensions " + batch->text() + " and " + first.text() +
                       ": which is the batch is not known",
                   "input '" + value.name + "'"};
    }
  }
  if (batch) return *batch;
  return Error{ErrorCode::kUnsupported, "no input has a batch dimension", graph.name()};
}

class BatchRebinding {
 public:
  BatchRebinding(const Graph& graph, Dim from, int64_t to)
      : graph_(graph), from_(std::move(from)), to_(to), replay_(graph) {}

  Result<Graph> run() {
    replay_.sources([&](const Value& value) { return retyped(value); },
                    [](ValueId) { return true; });
    for (const Node& node : graph_.nodes()) ASSAY_TRY(replay_.node(node, inputs_of(node)));
    for (const ValueId id : graph_.outputs()) {
      const TensorType& before = graph_.value(id).type;
      const TensorType& after = replay_.builder().type(replay_.of(id));
      if (!begins(before, from_) || begins(after, to_)) continue;
      return Error{ErrorCode::kUnsupported,
                   "the batch does not reach it: its type stays " + after.text(),
                   "output '" + graph_.value(id).name + "'"};
    }
    return replay_.finish();
  }

 private:
  static bool begins(const TensorType& type, const Dim& dim) {
    return type.shape && type.shape->rank() > 0 && (*type.shape)[0] == dim;
  }

  TensorType retyped(const Value& value) const {
    TensorType type = value.type;
    if (value.kind == ValueKind::kInput && begins(type, from_)) (*type.shape)[0] = to_;
    return type;
  }

  // A Reshape whose data has the new batch and whose constant shape begins with the old one.
  std::vector<ValueId> inputs_of(const Node& node) {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(replay_.of(id));
    if (node.op->type != "Reshape" || !from_.known()) return inputs;
    const Tensor* shape = graph_.constant_data(node.inputs[1]);
    if (shape == nullptr || shape->elements() == 0 ||
        !begins(graph_.value(node.inputs[0]).type, from_) ||
        !begins(replay_.builder().type(inputs[0]), to_)) {
      return inputs;
    }
    Tensor changed = shape->clone();
    int64_t& first = changed.values<int64_t>()[0];
    if (first != from_.size()) return inputs;
    first = to_;
    inputs[1] = replay_.builder().constant(graph_.value(node.inputs[1]).name, std::move(changed));
    return inputs;
  }

  const Graph& graph_;
  Dim from_;
  int64_t to_;
  Replay replay_;
};

}  // namespace

Result<Graph> rebind_batch(const Graph& graph, int64_t batch) {
  if (batch < 1) {
    return Error{ErrorCode::kInvalid, "the batch " + std::to_string(batch) + " is not positive",
                 graph.name()};
  }
  ASSAY_ASSIGN(Dim from, old_batch(graph));
  if (from == Dim(batch)) return graph;
  return BatchRebinding(graph, std::move(from), batch).run();
}

}  // namespace assay
