// SPDX-License-Identifier: Apache-2.0
//
// Adjoint: how gradient functions are written. It names the operands of one forward node, adds
// backward nodes and hands gradients in, reduced to the shape that broadcasting started from. A
// gradient function computes only what is wanted; the formulas are those of reverse-mode
// differentiation (Griewank and Walther, "Evaluating Derivatives", chapter 3).
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/operator.h"

namespace assay {

class Adjoint {
 public:
  explicit Adjoint(const GradientContext& context)
      : context_(context), node_(context.builder.peek().nodes()[context.node]) {}

  const Attributes& attributes() const { return node_.attributes; }
  size_t input_count() const { return node_.inputs.size(); }
  bool has(size_t input) const {
    return input < node_.inputs.size() && node_.inputs[input] != kNoValue;
  }
  bool wants(size_t input) const { return has(input) && context_.wanted[input] != 0; }
  ValueId x(size_t input = 0) const { return node_.inputs[input]; }
  // An output of the forward node; one that was omitted is asked for.
  ValueId y(size_t output = 0) const {
    return context_.builder.demand_output(context_.node, output);
  }
  // The gradient of an output; kNoValue where none arrives.
  ValueId dy(size_t output = 0) const {
    return output < context_.output_gradients.size() ? context_.output_gradients[output] : kNoValue;
  }

  const TensorType& type(ValueId value) const { return context_.builder.type(value); }
  // Shape of a value whose rank must be known.
  Result<Shape> shape(ValueId value) const;
  ValueId add(std::string_view type, std::vector<ValueId> inputs,
              Attributes attributes = {}) const {
    return context_.builder.add(type, std::move(inputs), std::move(attributes));
  }
  std::vector<ValueId> add_multi(std::string_view type, std::vector<ValueId> inputs, size_t outputs,
                                 Attributes attributes = {}) const {
    return context_.builder.add_multi(type, std::move(inputs), outputs, std::move(attributes));
  }
  // The values of an input that must be constant.
  Result<std::vector<int64_t>> constant_integers(size_t input, std::string_view name) const;
  ValueId integers(const std::vector<int64_t>& values) const;
  // A constant scalar of the element type of `like`.
  ValueId number(double value, ValueId like) const;
  // The value in the element type of `like`: itself, or a Cast.
  ValueId cast(ValueId value, ValueId like) const;
  // `value` with the shape of `like` (the same elements): itself, or a Reshape.
  ValueId reshaped(ValueId value, ValueId like) const;
  // Where `condition` holds `value`, else 0.
  ValueId masked(ValueId condition, ValueId value) const {
    return add("Where", {condition, value, number(0, value)});
  }

  // Hands in the gradient of an input: summed over the axes along which the input was broadcast,
  // in the input's element type. kUnsupported when unknown sizes leave open which those are.
  Result<void> give(size_t input, ValueId gradient) const;

 private:
  GradientContext context_;
  Node node_;  // a copy: adding nodes moves the others
};

// The gradients of all operators, one call a family.
void add_gradients(OpTable& table);
void add_elementwise_gradients(OpTable& table);
void add_activation_gradients(OpTable& table);
void add_layout_gradients(OpTable& table);
void add_reduction_gradients(OpTable& table);
void add_matrix_gradients(OpTable& table);
void add_network_gradients(OpTable& table);

}  // namespace assay
