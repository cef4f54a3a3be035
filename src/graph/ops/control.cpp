// SPDX-License-Identifier: Apache-2.0
//
// If, Loop, Scan. Their bodies are closed: values of the surrounding graph that a body needs are
// the last `captures` inputs of the node, and stand at the end of every body's inputs in the same
// order.
#include <algorithm>
#include <limits>

#include "graph/interpret.h"
#include "graph/ops/body.h"
#include "graph/ops/families.h"

namespace assay {
namespace {

constexpr size_t kCondition = 0;

std::optional<bool> constant_bool(const Tensor* tensor) {
  if (tensor == nullptr || tensor->dtype() != DType::kBool || tensor->elements() != 1) {
    return std::nullopt;
  }
  return tensor->values<uint8_t>()[0] != 0;
}

Result<void> expect_one_bool(const InferContext& context, size_t input) {
  ASSAY_TRY(expect_dtype(context, input, {DType::kBool}));
  if (!context.has(input) || !context.type(input).known()) return {};
  if (*context.type(input).shape->elements() == 1) return {};
  return invalid("input " + std::to_string(input) + " (cond) is not one bool");
}

// ---- If ----

Result<Types> infer_if(const InferContext& context) {
  ASSAY_TRY(expect_one_bool(context, kCondition));
  const BodyInputs inputs = body_inputs(context.inputs.subspan(1), context.constants.subspan(1));
  const std::optional<bool> known = constant_bool(context.constant(kCondition));
  Types merged;
  for (const bool branch : {true, false}) {
    if (known && *known != branch) continue;
    ASSAY_ASSIGN(const Graph body,
                 specialized(context.attributes, branch ? "then_branch" : "else_branch", inputs));
    Types types = output_types(body);
    if (types.size() < context.output_count) {
      return invalid("a branch has " + std::to_string(types.size()) + " outputs, the node " +
                     std::to_string(context.output_count));
    }
    if (merged.empty()) {
      merged = std::move(types);
      continue;
    }
    for (size_t i = 0; i < context.output_count; ++i) {
      ASSAY_ASSIGN(merged[i], common_type(merged[i], types[i]));
    }
  }
  return merged;
}

// The costlier branch.
Cost cost_if(const CostContext& context) {
  const auto constants =
      context.constants.empty() ? context.constants : context.constants.subspan(1);
  const BodyInputs inputs = body_inputs(context.inputs.subspan(1), constants);
  const Cost yes = body_cost(context.attributes, "then_branch", inputs);
  const Cost no = body_cost(context.attributes, "else_branch", inputs);
  const double yes_bytes = yes.read_bytes + yes.write_bytes;
  const double no_bytes = no.read_bytes + no.write_bytes;
  const bool then = yes.flops != no.flops ? yes.flops > no.flops : yes_bytes >= no_bytes;
  Cost cost = then ? yes : no;
  cost.lower_bound = yes.lower_bound || no.lower_bound;
  return cost;
}

Result<void> kernel_if(const KernelContext& context) {
  const auto condition = constant_bool(context.inputs[kCondition]);
  if (!condition) return invalid("input 0 (cond) is not one bool");
  const Graph& body = body_of(context.attributes, *condition ? "then_branch" : "else_branch");
  std::vector<Tensor> inputs;
  for (const Tensor* input : context.inputs.subspan(1)) inputs.push_back(*input);
  ASSAY_ASSIGN(std::vector<Tensor> outputs, Interpreter(body).body_outputs(inputs));
  if (outputs.size() < context.outputs.size()) return invalid("a branch has too few outputs");
  std::move(outputs.begin(), outputs.begin() + static_cast<ptrdiff_t>(context.outputs.size()),
            context.outputs.begin());
  return {};
}

// ---- Loop ----

// Inputs: trip count, condition, carried values, captures. The body's: iteration, condition,
// carried values, captures; its outputs: condition, carried values, and what is stacked up.
struct LoopForm {
  size_t carried = 0;
  size_t stacked = 0;
};

Result<LoopForm> loop_form(const Attributes& attributes, size_t inputs, size_t outputs) {
  const Graph& body = body_of(attributes, "body");
  const int64_t captures = attributes.integer("captures");
  if (captures < 0 || captures > static_cast<int64_t>(inputs) - 2) {
    return invalid("attribute 'captures' is " + std::to_string(captures));
  }
  LoopForm form;
  form.carried = inputs - 2 - static_cast<size_t>(captures);
  if (body.inputs().size() != inputs || body.outputs().size() < 1 + form.carried ||
      outputs > body.outputs().size() - 1) {
    return invalid("attribute 'body' has " + std::to_string(body.inputs().size()) + " inputs and " +
                   std::to_string(body.outputs().size()) + " outputs, the node " +
                   std::to_string(inputs) + " and " + std::to_string(outputs));
  }
  form.stacked = body.outputs().size() - 1 - form.carried;
  return form;
}

// How often the body runs, when that does not depend on what it computes.
std::optional<int64_t> trip_count(const Tensor* limit, const Graph& body, bool starts) {
  if (limit == nullptr || limit->dtype() != DType::kI64 || limit->elements() != 1 || !starts) {
    return std::nullopt;
  }
  const auto continues = constant_bool(body.constant_data(body.outputs()[0]));
  if (!continues || !*continues) return std::nullopt;
  return std::max<int64_t>(limit->values<int64_t>()[0], 0);
}

// The body for inputs of these types; `carried` are those of the carried values, which change from
// one pass to the next and are never constants.
Result<Graph> loop_body(const Attributes& attributes, std::span<const TensorType* const> inputs,
                        std::span<const Tensor* const> constants, const Types& carried,
                        bool starts) {
  static const Tensor kTrue = Tensor::from<uint8_t>(DType::kBool, {}, std::array<uint8_t, 1>{1});
  BodyInputs all = body_inputs(inputs, constants);
  all.types[0] = TensorType(DType::kI64, Shape());
  all.types[1] = TensorType(DType::kBool, Shape());
  all.data[0] = nullptr;
  all.data[1] = starts ? &kTrue : nullptr;
  for (size_t i = 0; i < carried.size(); ++i) {
    all.types[2 + i] = carried[i];
    all.data[2 + i] = nullptr;
  }
  return specialized(attributes, "body", all);
}

// A first condition that holds: what is left out counts as true.
bool starts_true(std::span<const TensorType* const> inputs,
                 std::span<const Tensor* const> constants) {
  return inputs[1] == nullptr || (constants.size() > 1 && constant_bool(constants[1]) == true);
}

struct LoopTypes {
  Types carried;
  std::optional<Graph> body;  // for those
};

// What the carried values are like in every pass: where a pass changes a dimension it is unknown,
// and if that changes more, so is the rank.
Result<LoopTypes> loop_types(const Attributes& attributes,
                             std::span<const TensorType* const> inputs,
                             std::span<const Tensor* const> constants, size_t count) {
  LoopTypes result;
  for (size_t i = 0; i < count; ++i) result.carried.push_back(*inputs[2 + i]);
  const bool starts = starts_true(inputs, constants);
  for (int pass = 0; pass < 3; ++pass) {
    ASSAY_ASSIGN(result.body, loop_body(attributes, inputs, constants, result.carried, starts));
    const Types out = output_types(*result.body);
    Types merged = result.carried;
    for (size_t i = 0; i < count; ++i) {
      ASSAY_ASSIGN(merged[i], common_type(merged[i], out[1 + i]));
      if (pass > 0 && merged[i] != result.carried[i]) merged[i].shape.reset();
    }
    if (merged == result.carried) break;
    result.carried = std::move(merged);
  }
  return result;
}

Result<void> expect_all(std::span<const TensorType* const> inputs, size_t from) {
  for (size_t i = from; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) return invalid("input " + std::to_string(i) + " is required");
  }
  return {};
}

Result<Types> infer_loop(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kI64}));
  ASSAY_TRY(expect_one_bool(context, 1));
  ASSAY_TRY(expect_all(context.inputs, 2));
  ASSAY_ASSIGN(const LoopForm form,
               loop_form(context.attributes, context.inputs.size(), context.output_count));
  ASSAY_ASSIGN(LoopTypes types,
               loop_types(context.attributes, context.inputs, context.constants, form.carried));
  const auto trips =
      trip_count(context.constant(0), *types.body, starts_true(context.inputs, context.constants));
  Types result = std::move(types.carried);
  const Types out = output_types(*types.body);
  for (size_t i = 0; i < form.stacked; ++i) {
    result.push_back(stacked_type(out[1 + form.carried + i], trips ? Dim(*trips) : Dim(), 0));
  }
  return result;
}

// Trip count times the body, or the body once where the count is not known.
Cost cost_loop(const CostContext& context) {
  const auto form = loop_form(context.attributes, context.inputs.size(), context.outputs.size());
  if (!form.ok()) return {.lower_bound = true};
  const auto types =
      loop_types(context.attributes, context.inputs, context.constants, form->carried);
  if (!types.ok()) return {.lower_bound = true};
  const Tensor* limit = context.constants.empty() ? nullptr : context.constants[0];
  const auto trips =
      trip_count(limit, *types->body, starts_true(context.inputs, context.constants));
  return repeated(graph_cost(*types->body), trips);
}

Tensor scalar_i64(int64_t value) {
  return Tensor::from<int64_t>(DType::kI64, {}, std::span(&value, 1));
}

Result<void> kernel_loop(const KernelContext& context) {
  ASSAY_ASSIGN(const LoopForm form,
               loop_form(context.attributes, context.inputs.size(), context.outputs.size()));
  const Interpreter body(body_of(context.attributes, "body"));
  if (context.has(0) && context.inputs[0]->elements() != 1) {
    return invalid("input 0 (M) is not one number");
  }
  const int64_t limit =
      context.has(0) ? input_data<int64_t>(context, 0)[0] : std::numeric_limits<int64_t>::max();
  Tensor condition = context.has(1)
                         ? *context.inputs[1]
                         : Tensor::from<uint8_t>(DType::kBool, {}, std::array<uint8_t, 1>{1});
  std::vector<Tensor> inputs{Tensor(), Tensor()};
  for (const Tensor* input : context.inputs.subspan(2)) inputs.push_back(*input);
  std::vector<std::vector<Tensor>> stacks(form.stacked);
  for (int64_t i = 0; i < limit; ++i) {
    const auto go_on = constant_bool(&condition);
    if (!go_on) return invalid("the condition is not one bool");
    if (!*go_on) break;
    inputs[0] = scalar_i64(i);
    inputs[1] = condition;
    ASSAY_ASSIGN(std::vector<Tensor> outputs, body.body_outputs(inputs));
    condition = std::move(outputs[0]);
    for (size_t j = 0; j < form.carried; ++j) inputs[2 + j] = std::move(outputs[1 + j]);
    for (size_t j = 0; j < form.stacked; ++j) {
      stacks[j].push_back(std::move(outputs[1 + form.carried + j]));
    }
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (i < form.carried) {
      context.outputs[i] = std::move(inputs[2 + i]);
      continue;
    }
    const size_t j = i - form.carried;
    const Value& element = body.graph().value(body.graph().outputs()[1 + i]);
    ASSAY_ASSIGN(context.outputs[i], stacked(stacks[j], 0, element.type));
  }
  return {};
}

AttributeSpec body_spec(const char* name) { return {name, AttributeType::kGraph, {}, true}; }

}  // namespace

void add_control_ops(OpTable& table) {
  const AttributeSpec captures{"captures", AttributeType::kInt, int64_t{0}};
  table.add({.type = "If",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = OpEntry::kVariadic,
             .max_outputs = OpEntry::kVariadic,
             .attributes = {body_spec("then_branch"), body_spec("else_branch"), captures},
             .infer = infer_if,
             .cost = cost_if,
             .kernel = kernel_if,
             .sizes_outputs = true,
             .note = "counted as its costlier branch"});
  table.add({.type = "Loop",
             .since_version = 21,
             .min_inputs = 0,  // both of the first two may be omitted
             .max_inputs = OpEntry::kVariadic,
             .max_outputs = OpEntry::kVariadic,
             .attributes = {body_spec("body"), captures},
             .infer = infer_loop,
             .cost = cost_loop,
             .kernel = kernel_loop,
             .sizes_outputs = true,
             .note = "counted as trip count times body; once where the count depends on data"});
  add_scan_op(table);
}

}  // namespace assay
