// SPDX-License-Identifier: Apache-2.0
//
// Scan: a body run for every element of sequences, with states carried from one to the next.
// Inputs: states, sequences, captures; the body's: states, one element of each sequence, captures;
// its outputs: states, and what is stacked up.
#include <algorithm>

#include "graph/interpret.h"
#include "graph/ops/body.h"

namespace assay {
namespace {

struct ScanForm {
  size_t states = 0;
  size_t sequences = 0;
  size_t stacked = 0;
  Sizes input_axes, output_axes;  // one each; may be negative
  std::vector<bool> input_reversed, output_reversed;
};

Result<Sizes> one_each(const Attributes& attributes, std::string_view name, size_t count) {
  if (!attributes.has(name)) return Sizes(count, 0);
  Sizes values = attributes.integers(name);
  if (values.size() == count) return values;
  return invalid("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
                 " numbers where " + std::to_string(count) + " are needed");
}

Result<std::vector<bool>> directions(const Attributes& attributes, std::string_view name,
                                     size_t count) {
  ASSAY_ASSIGN(const Sizes values, one_each(attributes, name, count));
  std::vector<bool> reversed;
  for (const int64_t value : values) {
    if (value != 0 && value != 1)
      return invalid("attribute '" + std::string(name) + "' holds " + std::to_string(value));
    reversed.push_back(value == 1);
  }
  return reversed;
}

Result<ScanForm> scan_form(const Attributes& attributes, size_t inputs, size_t outputs) {
  const Graph& body = body_of(attributes, "body");
  const int64_t captures = attributes.integer("captures");
  const int64_t sequences = attributes.integer("num_scan_inputs");
  const auto total = static_cast<int64_t>(inputs);
  if (captures < 0 || captures > total || sequences < 1 || sequences > total - captures) {
    return invalid("attributes 'num_scan_inputs' = " + std::to_string(sequences) +
                   " and 'captures' = " + std::to_string(captures) + " for " +
                   std::to_string(inputs) + " inputs");
  }
  ScanForm form;
  form.sequences = static_cast<size_t>(sequences);
  form.states = static_cast<size_t>(total - captures - sequences);
  if (body.inputs().size() != inputs || body.outputs().size() < form.states ||
      outputs > body.outputs().size()) {
    return invalid("attribute 'body' has " + std::to_string(body.inputs().size()) + " inputs and " +
                   std::to_string(body.outputs().size()) + " outputs, the node " +
                   std::to_string(inputs) + " and " + std::to_string(outputs));
  }
  form.stacked = body.outputs().size() - form.states;
  ASSAY_ASSIGN(form.input_axes, one_each(attributes, "scan_input_axes", form.sequences));
  ASSAY_ASSIGN(form.output_axes, one_each(attributes, "scan_output_axes", form.stacked));
  ASSAY_ASSIGN(form.input_reversed,
               directions(attributes, "scan_input_directions", form.sequences));
  ASSAY_ASSIGN(form.output_reversed,
               directions(attributes, "scan_output_directions", form.stacked));
  return form;
}

// One element of a sequence, and the sequences' common length.
Result<TensorType> element_type(const TensorType& sequence, int64_t axis, Dim& length) {
  if (!sequence.shape) return sequence;
  ASSAY_ASSIGN(const size_t normal,
               normalized_axis(axis, sequence.shape->rank(), "scan_input_axes"));
  std::vector<Dim> dims = sequence.shape->dims();
  if (!may_equal(length, dims[normal])) {
    return invalid("sequences of length " + length.text() + " and " + dims[normal].text());
  }
  if (!length.known()) length = dims[normal];
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(normal));
  return TensorType(sequence.dtype, Shape(std::move(dims)));
}

struct ScanTypes {
  Types states;
  Dim length;
  std::optional<Graph> body;
};

// As in a Loop, a state's dimension that changes is unknown.
Result<ScanTypes> scan_types(const ScanForm& form, const Attributes& attributes,
                             std::span<const TensorType* const> inputs,
                             std::span<const Tensor* const> constants) {
  for (const TensorType* input : inputs) {
    if (input == nullptr) return invalid("an input is omitted");
  }
  ScanTypes result;
  BodyInputs all = body_inputs(inputs, constants);
  for (size_t i = 0; i < form.states + form.sequences; ++i) all.data[i] = nullptr;
  for (size_t i = 0; i < form.sequences; ++i) {
    TensorType& type = all.types[form.states + i];
    ASSAY_ASSIGN(type, element_type(type, form.input_axes[i], result.length));
  }
  for (int pass = 0; pass < 3; ++pass) {
    ASSAY_ASSIGN(result.body, specialized(attributes, "body", all));
    const Types out = output_types(*result.body);
    bool stable = true;
    for (size_t i = 0; i < form.states; ++i) {
      ASSAY_ASSIGN(TensorType merged, common_type(all.types[i], out[i]));
      if (merged == all.types[i]) continue;
      stable = false;
      if (pass > 0) merged.shape.reset();
      all.types[i] = std::move(merged);
    }
    if (stable) break;
  }
  all.types.resize(form.states);
  result.states = std::move(all.types);
  return result;
}

Result<Types> infer_scan(const InferContext& context) {
  ASSAY_ASSIGN(const ScanForm form,
               scan_form(context.attributes, context.inputs.size(), context.output_count));
  ASSAY_ASSIGN(ScanTypes types,
               scan_types(form, context.attributes, context.inputs, context.constants));
  Types result = std::move(types.states);
  const Types out = output_types(*types.body);
  for (size_t i = 0; i < form.stacked; ++i) {
    const TensorType& element = out[form.states + i];
    if (element.shape) {
      ASSAY_TRY(
          normalized_axis(form.output_axes[i], element.shape->rank() + 1, "scan_output_axes"));
    }
    result.push_back(stacked_type(element, types.length, form.output_axes[i]));
  }
  return result;
}

// The sequences' length times the body.
Cost cost_scan(const CostContext& context) {
  const auto form = scan_form(context.attributes, context.inputs.size(), context.outputs.size());
  if (!form.ok()) return {.lower_bound = true};
  const auto types = scan_types(*form, context.attributes, context.inputs, context.constants);
  if (!types.ok()) return {.lower_bound = true};
  return repeated(graph_cost(*types->body), types->length.size());
}

// The length of the sequences; kInvalid when they differ.
Result<int64_t> common_length(const KernelContext& context, const ScanForm& form, Sizes& axes) {
  Dim length;
  for (size_t i = 0; i < form.sequences; ++i) {
    const TensorType type = context.inputs[form.states + i]->type();
    ASSAY_TRY(element_type(type, form.input_axes[i], length));
    axes.push_back(static_cast<int64_t>(*normalized_axis(form.input_axes[i], type.shape->rank())));
  }
  return length.size();
}

Result<void> kernel_scan(const KernelContext& context) {
  ASSAY_ASSIGN(const ScanForm form,
               scan_form(context.attributes, context.inputs.size(), context.outputs.size()));
  Sizes axes;
  ASSAY_ASSIGN(const int64_t length, common_length(context, form, axes));
  const Interpreter body(body_of(context.attributes, "body"));
  std::vector<Tensor> inputs;
  for (const Tensor* input : context.inputs) inputs.push_back(*input);
  std::vector<std::vector<Tensor>> stacks(form.stacked);
  for (int64_t step = 0; step < length; ++step) {
    for (size_t i = 0; i < form.sequences; ++i) {
      const int64_t at = form.input_reversed[i] ? length - 1 - step : step;
      ASSAY_ASSIGN(inputs[form.states + i],
                   part(*context.inputs[form.states + i], static_cast<size_t>(axes[i]), at));
    }
    ASSAY_ASSIGN(std::vector<Tensor> outputs, body.body_outputs(inputs));
    for (size_t i = 0; i < form.states; ++i) inputs[i] = std::move(outputs[i]);
    for (size_t i = 0; i < form.stacked; ++i) {
      stacks[i].push_back(std::move(outputs[form.states + i]));
    }
  }
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (i < form.states) {
      context.outputs[i] = std::move(inputs[i]);
      continue;
    }
    const size_t j = i - form.states;
    if (form.output_reversed[j]) std::ranges::reverse(stacks[j]);
    const TensorType& element = body.graph().value(body.graph().outputs()[i]).type;
    const size_t rank = stacks[j].empty() ? (element.shape ? element.shape->rank() : 0)
                                          : stacks[j][0].shape().size();
    ASSAY_TRY(normalized_axis(form.output_axes[j], rank + 1, "scan_output_axes"));
    ASSAY_ASSIGN(context.outputs[i], stacked(stacks[j], form.output_axes[j], element));
  }
  return {};
}

}  // namespace

void add_scan_op(OpTable& table) {
  table.add({.type = "Scan",
             .since_version = 21,
             .min_inputs = 1,
             .max_inputs = OpEntry::kVariadic,
             .max_outputs = OpEntry::kVariadic,
             .attributes = {{"body", AttributeType::kGraph, {}, true},
                            {"num_scan_inputs", AttributeType::kInt, {}, true},
                            {"scan_input_axes", AttributeType::kInts, {}},
                            {"scan_input_directions", AttributeType::kInts, {}},
                            {"scan_output_axes", AttributeType::kInts, {}},
                            {"scan_output_directions", AttributeType::kInts, {}},
                            {"captures", AttributeType::kInt, int64_t{0}}},
             .infer = infer_scan,
             .cost = cost_scan,
             .kernel = kernel_scan,
             .sizes_outputs = true,
             .note = "counted as length times body"});
}

}  // namespace assay
