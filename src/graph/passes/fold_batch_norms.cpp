// SPDX-License-Identifier: Apache-2.0
//
// A batch normalisation that follows a convolution is an affine map of its channels:
//   y = (conv(x, W) + b - mean) f + bias,  f = scale / sqrt(var + epsilon)
// so it becomes the convolution with weights W f and bias (b - mean) f + bias.
#include <algorithm>
#include <cmath>
#include <map>

#include "graph/ops/loops.h"
#include "graph/passes/passes.h"
#include "graph/passes/replay.h"

namespace assay {
namespace {

enum BatchNormInput : size_t { kScale = 1, kBias, kMean, kVariance };

// A pair of nodes that become one.
struct Pair {
  const Node* conv;
  const Node* norm;
};

class BatchNormFold {
 public:
  explicit BatchNormFold(const Graph& graph) : graph_(graph), replay_(graph) {
    for (const Parameter& p : graph.parameters()) {
      if (p.initializer.kind == InitializerKind::kGiven) data_[p.value] = &p.initializer.given;
      if (p.trainable) trainable_.push_back(p.value);
    }
    for (const State& s : graph.states()) {
      const bool moves = s.next != kNoValue && s.next != s.value;
      if (s.initializer.kind == InitializerKind::kGiven && !moves) {
        data_[s.value] = &s.initializer.given;
      }
    }
    for (const Constant& c : graph.constants()) data_[c.value] = &c.data;
    count_uses();
  }

  Result<Graph> run() {
    std::map<const Node*, Pair> pairs;  // by either node
    for (const Node& node : graph_.nodes()) {
      const Node* conv = foldable_conv(node);
      if (conv == nullptr) continue;
      pairs[conv] = pairs[&node] = {conv, &node};
    }
    std::vector<bool> wanted(graph_.values().size(), false);
    for (const Node& node : graph_.nodes()) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != kNoValue && (!pairs.contains(&node) || i == 0)) {
          wanted[node.inputs[i]] = true;
        }
      }
    }
    for (const ValueId id : graph_.outputs()) wanted[id] = true;
    replay_.sources([](const Value& value) { return value.type; },
                    [&](ValueId id) { return wanted[id]; });
    for (const Node& node : graph_.nodes()) {
      const auto pair = pairs.find(&node);
      if (pair == pairs.end()) {
        ASSAY_TRY(replay_.node(node));
      } else if (pair->second.norm == &node) {
        ASSAY_TRY(fold(pair->second));
      }
    }
    return replay_.finish();
  }

 private:
  void count_uses() {
    uses_.resize(graph_.values().size(), 0);
    for (const Node& node : graph_.nodes()) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) ++uses_[id];
      }
    }
    for (const ValueId id : graph_.outputs()) ++uses_[id];
    for (const State& s : graph_.states()) {
      if (s.next != kNoValue) ++uses_[s.next];
    }
  }

  bool has_data(ValueId id) const { return id == kNoValue || data_.contains(id); }

  // The convolution before this node, if both can become one.
  const Node* foldable_conv(const Node& norm) const {
    if (norm.op->type != "BatchNormalization" || !norm.op->domain.empty() ||
        norm.attributes.integer("training_mode") != 0) {
      return nullptr;
    }
    const Value& between = graph_.value(norm.inputs[0]);
    if (between.kind != ValueKind::kComputed || uses_[norm.inputs[0]] != 1) return nullptr;
    const Node& conv = graph_.nodes()[between.producer];
    if (conv.op->type != "Conv" || !conv.op->domain.empty()) return nullptr;
    for (size_t i = 1; i < conv.inputs.size(); ++i) {
      if (!has_data(conv.inputs[i])) return nullptr;
    }
    for (size_t i = kScale; i <= kVariance; ++i) {
      if (!has_data(norm.inputs[i])) return nullptr;
    }
    return &conv;
  }

  Result<std::vector<double>> numbers(ValueId id) const {
    return as_doubles(data_.at(id)->aligned());
  }

  // A new parameter (or constant, where the old one is one) in place of `old`.
  ValueId declare(ValueId old, const std::string& name, Tensor values) {
    if (graph_.value(old).kind == ValueKind::kConstant) {
      return replay_.builder().constant(name, std::move(values));
    }
    std::string unique = name;
    while (replay_.builder().has_name(unique)) unique += "_";
    const TensorType type = values.type();
    const bool trains = std::ranges::find(trainable_, old) != trainable_.end();
    return replay_.builder().parameter(unique, type, Initializer::of(std::move(values)), trains);
  }

  static Tensor rounded(const std::vector<double>& values, DType dtype, Sizes shape) {
    Tensor result = Tensor::allocate(dtype, std::move(shape));
    if (dtype == DType::kF64) {
      std::ranges::copy(values, result.values<double>().begin());
      return result;
    }
    const bool narrow = widened(dtype) != dtype;
    Tensor wide = narrow ? Tensor::allocate(DType::kF32, result.shape()) : result;
    std::ranges::transform(values, wide.values<float>().begin(),
                           [](double value) { return static_cast<float>(value); });
    if (narrow) narrow_into(wide, result);
    return result;
  }

  Result<void> fold(const Pair& pair) {
    const Node& conv = *pair.conv;
    const Node& norm = *pair.norm;
    const ValueId weight = conv.inputs[1];
    ASSAY_ASSIGN(std::vector<double> w, numbers(weight));
    ASSAY_ASSIGN(const std::vector<double> scale, numbers(norm.inputs[kScale]));
    ASSAY_ASSIGN(const std::vector<double> bias, numbers(norm.inputs[kBias]));
    ASSAY_ASSIGN(const std::vector<double> mean, numbers(norm.inputs[kMean]));
    ASSAY_ASSIGN(const std::vector<double> variance, numbers(norm.inputs[kVariance]));
    std::vector<double> shift(scale.size(), 0.0);
    if (conv.inputs.size() > 2 && conv.inputs[2] != kNoValue) {
      ASSAY_ASSIGN(shift, numbers(conv.inputs[2]));
    }
    const auto epsilon = static_cast<double>(norm.attributes.number("epsilon"));
    const size_t row = w.size() / std::max<size_t>(scale.size(), 1);
    for (size_t channel = 0; channel < scale.size(); ++channel) {
      const double factor = scale[channel] / std::sqrt(variance[channel] + epsilon);
      for (size_t i = channel * row; i < (channel + 1) * row; ++i) w[i] *= factor;
      shift[channel] = (shift[channel] - mean[channel]) * factor + bias[channel];
    }
    const Tensor& old = *data_.at(weight);
    const std::string& name = graph_.value(weight).name;
    const auto channels = static_cast<int64_t>(scale.size());
    std::vector<ValueId> inputs{
        replay_.of(conv.inputs[0]),
        declare(weight, name + ".folded", rounded(w, old.dtype(), old.shape())),
        declare(weight, name + ".folded_bias", rounded(shift, old.dtype(), {channels}))};
    const std::string& result = graph_.value(norm.outputs[0]).name;
    ASSAY_ASSIGN(const std::vector<ValueId> ids,
                 replay_.builder().try_add(*conv.op, std::move(inputs), conv.attributes,
                                           {conv.name, {result}}));
    replay_.replace(norm.outputs[0], ids[0]);
    return {};
  }

  const Graph& graph_;
  Replay replay_;
  std::map<ValueId, const Tensor*> data_;
  std::vector<ValueId> trainable_;
  std::vector<size_t> uses_;
};

}  // namespace

Result<Graph> fold_batch_norms(const Graph& graph) { return BatchNormFold(graph).run(); }

}  // namespace assay
