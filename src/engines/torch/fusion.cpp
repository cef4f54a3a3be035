// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/fusion.h"

#include <algorithm>
#include <string_view>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>

#include "engines/torch/tensors.h"
#include "engines/torch/window.h"

namespace assay::torch_engine {
namespace {

using Scalars = at::List<std::optional<at::Scalar>>;
using Text = std::string_view;
using Optional = std::optional<at::Tensor>;
using Pointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const Optional&, at::IntArrayRef,
                             at::IntArrayRef, at::IntArrayRef, int64_t, Text, Scalars,
                             std::optional<Text>);
using Binary = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const Optional&,
                          at::IntArrayRef, at::IntArrayRef, at::IntArrayRef, int64_t, Text,
                          std::optional<at::Scalar>, std::optional<Text>, Scalars,
                          std::optional<Text>);
using BinaryInPlace = at::Tensor&(at::Tensor&, const at::Tensor&, const at::Tensor&,
                                  const Optional&, at::IntArrayRef, at::IntArrayRef,
                                  at::IntArrayRef, int64_t, Text, std::optional<at::Scalar>,
                                  std::optional<Text>, Scalars, std::optional<Text>);
using Reorder = at::Tensor(const at::Tensor&, at::IntArrayRef, at::IntArrayRef, at::IntArrayRef,
                           int64_t, at::OptionalIntArrayRef);

struct Operators {
  c10::TypedOperatorHandle<Pointwise> pointwise;
  c10::TypedOperatorHandle<Binary> binary;
  c10::TypedOperatorHandle<BinaryInPlace> binary_in_place;
  c10::TypedOperatorHandle<Reorder> reorder;
};

template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

// Nothing where this libtorch was built without oneDNN or gives the operators other signatures.
const std::optional<Operators>& operators() {
  static const std::optional<Operators> kOperators = []() -> std::optional<Operators> {
    try {
      return Operators{find<Pointwise>("mkldnn::_convolution_pointwise", ""),
                       find<Binary>("mkldnn::_convolution_pointwise", "binary"),
                       find<BinaryInPlace>("mkldnn::_convolution_pointwise_", "binary"),
                       find<Reorder>("mkldnn::_reorder_convolution_weight", "")};
    } catch (const c10::Error&) {
      return std::nullopt;
    }
  }();
  return kOperators;
}

// Inputs of the step: x, other (or omitted), weight, bias, then scale, shift, mean, variance of the
// batch norm (or omitted).
enum Operand : size_t { kX, kOther, kWeight, kBias, kScale, kShift, kMean, kVariance, kOperands };

struct FusedConv {
  Window window;
  int64_t groups = 1;
  double epsilon = 0;
  bool relu = false;
  bool other_in_place = false;
  at::ScalarType type = at::kFloat;
  at::Tensor weight;  // folded, in oneDNN's layout
  Optional bias;
};

void prepare_fused(const Step& step, at::Tensor* registers) {
  auto& data = step.as<FusedConv>();
  at::Tensor weight = step.in(registers, kWeight).detach();
  at::Tensor bias = step.optional_in(registers, kBias);
  if (bias.defined()) bias = bias.detach();
  if (step.has(kScale)) {
    const at::Tensor scale =
        at::mul(step.in(registers, kScale).detach(),
                at::rsqrt(at::add(step.in(registers, kVariance).detach(), data.epsilon)));
    weight = at::mul(weight, scale.reshape({-1, 1, 1, 1}));
    const at::Tensor mean = step.in(registers, kMean).detach();
    const at::Tensor centred = bias.defined() ? at::sub(bias, mean) : mean.neg();
    bias = at::add(at::mul(centred, scale), step.in(registers, kShift).detach());
  }
  data.weight = operators()->reorder.call(
      weight.to(data.type).contiguous(at::MemoryFormat::ChannelsLast), data.window.pads,
      data.window.strides, data.window.dilations, data.groups, std::nullopt);
  data.bias = bias.defined() ? Optional(bias.to(data.type)) : std::nullopt;
}

void run_fused(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<FusedConv>();
  step.out(registers) = operators()->pointwise.call(
      step.in(registers, kX), data.weight, data.bias, data.window.pads, data.window.strides,
      data.window.dilations, data.groups, data.relu ? "relu" : "none", Scalars(), std::nullopt);
}

void run_fused_add(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<FusedConv>();
  const std::optional<Text> activation = data.relu ? std::optional<Text>("relu") : std::nullopt;
  if (data.other_in_place) {
    at::Tensor sum = step.in(registers, kOther);
    operators()->binary_in_place.call(sum, step.in(registers, kX), data.weight, data.bias,
                                      data.window.pads, data.window.strides, data.window.dilations,
                                      data.groups, "add", at::Scalar(1.0), activation, Scalars(),
                                      std::nullopt);
    step.out(registers) = std::move(sum);
    return;
  }
  step.out(registers) = operators()->binary.call(
      step.in(registers, kX), step.in(registers, kOther), data.weight, data.bias, data.window.pads,
      data.window.strides, data.window.dilations, data.groups, "add", at::Scalar(1.0), activation,
      Scalars(), std::nullopt);
}

// Grows one chain from a convolution.
class Chain {
 public:
  Chain(const Graph& graph, uint32_t node, const std::vector<ValueUse>& uses,
        const LowerOptions& options)
      : graph_(graph), uses_(uses), options_(options), start_(node) {}

  std::optional<Step> grow(const std::vector<bool>& taken) {
    if (!start()) return std::nullopt;
    while (extend(taken)) {
    }
    return finish();
  }

 private:
  const Node& node(uint32_t n) const { return graph_.nodes()[n]; }

  // The f32 value behind a weight, through the Cast that a precision policy puts there; nothing
  // unless it is a weight, a constant or a state that running does not change.
  std::optional<ValueId> fixed_source(ValueId id) const {
    const Value& value = graph_.value(id);
    if (value.kind == ValueKind::kComputed) {
      const Node& producer = node(value.producer);
      if (producer.op->type != "Cast") return std::nullopt;
      return fixed_source(producer.inputs[0]);
    }
    if (value.kind == ValueKind::kState) {
      for (const State& state : graph_.states()) {
        if (state.value == id && state.next != kNoValue) return std::nullopt;
      }
      return id;
    }
    const bool fixed = value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant;
    return fixed ? std::optional(id) : std::nullopt;
  }

  bool set_fixed(Operand operand, ValueId id) {
    const auto source = fixed_source(id);
    if (source) inputs_[operand] = *source;
    return source.has_value();
  }

  bool start() {
    const Node& conv = node(start_);
    const TensorType& x = graph_.value(conv.inputs[0]).type;
    if (conv.op->type != "Conv" || !conv.op->domain.empty()) return false;
    if (!x.shape || x.shape->rank() != 4) return false;
    if (x.dtype != DType::kF32 && x.dtype != DType::kBF16) return false;
    const Lowering lowering(graph_, start_, uses_, options_);
    const Shape& weight = *lowering.type(1).shape;
    Result<Window> window = decode_window(lowering, {weight[2].size(), weight[3].size()});
    if (!window.ok() || window->padded()) return false;
    if (!set_fixed(kWeight, conv.inputs[1])) return false;
    if (lowering.has(2) && !set_fixed(kBias, conv.inputs[2])) return false;
    data_.window = std::move(window).value();
    data_.groups = lowering.attributes().integer("group");
    data_.type = *scalar_type(x.dtype);
    inputs_[kX] = conv.inputs[0];
    nodes_ = {start_};
    end_ = conv.outputs[0];
    return true;
  }

  bool extend(const std::vector<bool>& taken) {
    const ValueUse& use = uses_[end_];
    if (use.readers != 1 || use.is_output || data_.relu || taken[use.last_reader]) return false;
    const Node& next = node(use.last_reader);
    const bool plain = next.op->domain.empty();
    const bool grown = plain && ((next.op->type == "BatchNormalization" && add_batch_norm(next)) ||
                                 (next.op->type == "Add" && add_other(next)) ||
                                 (next.op->type == "Relu" && add_relu()));
    if (!grown) return false;
    nodes_.push_back(use.last_reader);
    end_ = next.outputs[0];
    return true;
  }

  bool add_batch_norm(const Node& norm) {
    if (nodes_.size() != 1 || norm.inputs[0] != end_) return false;
    if (norm.attributes.integer("training_mode") != 0) return false;
    const bool fixed = set_fixed(kScale, norm.inputs[1]) && set_fixed(kShift, norm.inputs[2]) &&
                       set_fixed(kMean, norm.inputs[3]) && set_fixed(kVariance, norm.inputs[4]);
    if (!fixed) {
      inputs_[kScale] = inputs_[kShift] = inputs_[kMean] = inputs_[kVariance] = kNoValue;
      return false;
    }
    data_.epsilon = norm.attributes.number("epsilon");
    return true;
  }

  bool add_other(const Node& sum) {
    const ValueId other = sum.inputs[sum.inputs[0] == end_ ? 1 : 0];
    const TensorType& type = graph_.value(end_).type;
    if (inputs_[kOther] != kNoValue || !type.shape || type != graph_.value(other).type)
      return false;
    inputs_[kOther] = other;
    return true;
  }

  bool add_relu() {
    data_.relu = true;
    return true;
  }

  Step finish() {
    Step step;
    step.run = inputs_[kOther] == kNoValue ? run_fused : run_fused_add;
    step.prepare = prepare_fused;
    step.kernel = inputs_[kOther] == kNoValue ? "mkldnn::_convolution_pointwise"
                                              : "mkldnn::_convolution_pointwise.binary";
    step.note = "weights in oneDNN's layout";
    if (inputs_[kScale] != kNoValue) step.note += ", batch norm folded";
    if (inputs_[kOther] != kNoValue) step.note += ", addition fused";
    if (data_.relu) step.note += ", relu fused";
    step.inputs = inputs_;
    step.run_inputs = kWeight;
    step.outputs = {end_};
    step.nodes = nodes_;
    step.data = std::make_shared<FusedConv>(std::move(data_));
    return step;
  }

  const Graph& graph_;
  const std::vector<ValueUse>& uses_;
  const LowerOptions& options_;
  uint32_t start_;
  FusedConv data_;
  std::vector<ValueId> inputs_ = std::vector<ValueId>(kOperands, kNoValue);
  std::vector<uint32_t> nodes_;
  ValueId end_ = kNoValue;
};

}  // namespace

bool has_fused_convolution() { return operators().has_value(); }

std::vector<Step> fuse_convolutions(const Graph& graph, std::vector<ValueUse>& uses,
                                    const LowerOptions& options, std::vector<bool>& taken) {
  std::vector<Step> steps;
  for (uint32_t n = 0; n < graph.nodes().size(); ++n) {
    if (taken[n]) continue;
    std::optional<Step> step = Chain(graph, n, uses, options).grow(taken);
    if (!step) continue;
    for (const uint32_t member : step->nodes) taken[member] = true;
    steps.push_back(std::move(*step));
  }
  // A fused step reads its inputs at the place of its last node, later than its first node did.
  for (const Step& step : steps) {
    for (const ValueId id : step.inputs) {
      if (id != kNoValue) uses[id].last_reader = std::max(uses[id].last_reader, step.nodes.back());
    }
  }
  for (Step& step : steps) {
    if (!step.has(kOther)) continue;
    const ValueId other = step.inputs[kOther];
    const ValueUse& use = uses[other];
    if (use.fresh && !use.viewed && !use.is_output && other != step.inputs[kX] &&
        use.last_reader == step.nodes.back()) {
      step.as<FusedConv>().other_in_place = true;
      step.note += ", in place";
    }
  }
  return steps;
}

}  // namespace assay::torch_engine
