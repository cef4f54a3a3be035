// SPDX-License-Identifier: Apache-2.0
//
// RNN, LSTM, GRU, and assay.RecurrentSkip: DeepBench's form, a cell whose input is added to every
// gate without a product of its own.
#include "graph/ops/recurrent.h"

#include "graph/ops/families.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

constexpr size_t kLengths = 4;
constexpr size_t kInitialH = 5;
constexpr size_t kInitialC = 6;
constexpr size_t kPeepholes = 7;

// The input has these dimensions, where both are known.
Result<void> expect_shape(const InferContext& context, size_t input, const Shape& wanted,
                          std::string_view name) {
  if (!context.has(input) || !context.type(input).shape) return {};
  const Shape& shape = *context.type(input).shape;
  bool fits = shape.rank() == wanted.rank();
  for (size_t i = 0; fits && i < shape.rank(); ++i) fits = may_equal(shape[i], wanted[i]);
  if (fits) return {};
  return invalid("input " + std::to_string(input) + " (" + std::string(name) + ") has shape " +
                 shape.text() + " where " + wanted.text() + " is needed");
}

Result<Dim> times(const Dim& dim, int64_t factor) {
  if (!dim.known()) return factor == 1 ? dim : Dim();
  int64_t size = 0;
  if (__builtin_mul_overflow(dim.size(), factor, &size)) {
    return invalid("a dimension of " + dim.text() + " times " + std::to_string(factor));
  }
  return Dim(size);
}

struct RecurrentDims {
  Dim steps, batch, input, hidden;
};

// Sizes from x, and the hidden size from the attribute or the weights.
Result<RecurrentDims> recurrent_dims(const InferContext& context, const RecurrentAttributes& r) {
  for (const size_t input : {size_t{0}, size_t{1}, size_t{2}}) {
    ASSAY_TRY(expect_rank(context, input, 3));
  }
  RecurrentDims d;
  if (const auto& x = context.type(0).shape) {
    d.steps = (*x)[r.batch_first ? 1 : 0];
    d.batch = (*x)[r.batch_first ? 0 : 1];
    d.input = (*x)[2];
  }
  if (context.attributes.has("hidden_size")) {
    ASSAY_TRY(expect_positive(context, "hidden_size"));
    d.hidden = context.attributes.integer("hidden_size");
  } else if (const auto& w = context.type(2).shape) {
    d.hidden = (*w)[2];
  }
  return d;
}

// MACs of one unit of one step, from the rows' lengths; the element-wise rest beside it. Sequences
// count at full length, as padded batches are computed.
Cost sequence_cost(const CostContext& context, const RecurrentAttributes& r, double units,
                   double row, bool bias, bool peepholes) {
  Cost cost = context.operand_bytes();
  const UnitCost unit = unit_cost(r, bias, peepholes);
  cost.macs = units * static_cast<double>(cell_gates(r.cell)) * row;
  cost.flops = 2 * cost.macs + units * unit.flops;
  cost.transcendentals = units * unit.transcendentals;
  return cost;
}

}  // namespace

std::vector<AttributeSpec> recurrent_specs() {
  return {{"activation_alpha", AttributeType::kFloats, {}},
          {"activation_beta", AttributeType::kFloats, {}},
          {"activations", AttributeType::kStrings, {}},
          {"clip", AttributeType::kFloat, {}},
          {"direction", AttributeType::kString, "forward"},
          {"hidden_size", AttributeType::kInt, {}},
          {"layout", AttributeType::kInt, int64_t{0}}};
}

Result<Types> recurrent_types(CellKind cell, const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  for (const size_t i : {size_t{1}, size_t{2}, size_t{3}, kInitialH, kInitialC, kPeepholes}) {
    ASSAY_TRY(expect_same_dtype(context, 0, i));
  }
  ASSAY_TRY(expect_dtype(context, kLengths, {DType::kI32}));
  ASSAY_ASSIGN(const RecurrentAttributes r, recurrent_attributes(cell, context.attributes));
  ASSAY_ASSIGN(const RecurrentDims d, recurrent_dims(context, r));
  ASSAY_ASSIGN(const Dim rows, times(d.hidden, cell_gates(cell)));
  ASSAY_ASSIGN(const Dim bias_rows, times(rows, 2));
  ASSAY_ASSIGN(const Dim peepholes, times(d.hidden, 3));
  const Dim directions = r.directions;
  ASSAY_TRY(expect_shape(context, 1, Shape{directions, rows, d.input}, "W"));
  ASSAY_TRY(expect_shape(context, 2, Shape{directions, rows, d.hidden}, "R"));
  ASSAY_TRY(expect_shape(context, 3, Shape{directions, bias_rows}, "B"));
  ASSAY_TRY(expect_shape(context, kLengths, Shape{d.batch}, "sequence_lens"));
  ASSAY_TRY(expect_shape(context, kPeepholes, Shape{directions, peepholes}, "P"));
  const Shape state =
      r.batch_first ? Shape{d.batch, directions, d.hidden} : Shape{directions, d.batch, d.hidden};
  ASSAY_TRY(expect_shape(context, kInitialH, state, "initial_h"));
  ASSAY_TRY(expect_shape(context, kInitialC, state, "initial_c"));
  const Shape y = r.batch_first ? Shape{d.batch, d.steps, directions, d.hidden}
                                : Shape{d.steps, directions, d.batch, d.hidden};
  const DType dtype = context.type(0).dtype;
  return Types{TensorType(dtype, y), TensorType(dtype, state), TensorType(dtype, state)};
}

Cost recurrent_cost(CellKind cell, const CostContext& context) {
  const RecurrentAttributes r = *recurrent_attributes(cell, context.attributes);
  const Shape& x = *context.inputs[0]->shape;
  const Shape& w = *context.inputs[2]->shape;
  const auto size = [](const Dim& dim) { return static_cast<double>(dim.size()); };
  const double units = size(x[0]) * size(x[1]) * static_cast<double>(r.directions) * size(w[2]);
  return sequence_cost(context, r, units, size(x[2]) + size(w[2]), context.has(3),
                       context.has(kPeepholes));
}

namespace {

template <CellKind cell>
Result<Types> infer_recurrent(const InferContext& context) {
  return recurrent_types(cell, context);
}

template <CellKind cell>
Cost cost_recurrent(const CostContext& context) {
  return recurrent_cost(cell, context);
}

template <CellKind cell>
Result<void> kernel_recurrent(const KernelContext& context) {
  return run_recurrent(cell, context);
}

// The cell that attribute `cell` of RecurrentSkip names.
Result<RecurrentAttributes> skip_attributes(const Attributes& attributes) {
  const std::string& name = attributes.string("cell");
  RecurrentAttributes r;
  std::vector<std::string_view> activations;
  if (name == "relu") {
    activations = {"Relu"};
  } else if (name == "tanh") {
    activations = {"Tanh"};
  } else if (name == "lstm") {
    r.cell = CellKind::kLstm;
    activations = {"Sigmoid", "Tanh", "Tanh"};
  } else if (name == "gru") {
    r.cell = CellKind::kGru;
    r.linear_before_reset = true;
    activations = {"Sigmoid", "Tanh"};
  } else {
    return invalid("attribute 'cell' is '" + name + "', not relu, tanh, lstm or gru");
  }
  for (const std::string_view activation : activations) {
    r.activations.push_back(*Activation::named(activation));
  }
  return r;
}

// Inputs x [steps, batch, hidden], R [gates hidden, hidden], B [2 gates hidden], initial_h and
// initial_c [batch, hidden]; outputs Y [steps, batch, hidden], Y_h, Y_c.
Result<Types> infer_skip(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  for (size_t i = 1; i < 5; ++i) ASSAY_TRY(expect_same_dtype(context, 0, i));
  ASSAY_TRY(expect_rank(context, 0, 3));
  ASSAY_TRY(expect_rank(context, 1, 2));
  ASSAY_ASSIGN(const RecurrentAttributes r, skip_attributes(context.attributes));
  const DType dtype = context.type(0).dtype;
  if (!context.type(0).shape) {
    return Types(3, TensorType::unranked(dtype));
  }
  const Shape& x = *context.type(0).shape;
  ASSAY_ASSIGN(const Dim rows, times(x[2], cell_gates(r.cell)));
  ASSAY_ASSIGN(const Dim bias_rows, times(rows, 2));
  const Shape state{x[1], x[2]};
  ASSAY_TRY(expect_shape(context, 1, Shape{rows, x[2]}, "R"));
  ASSAY_TRY(expect_shape(context, 2, Shape{bias_rows}, "B"));
  ASSAY_TRY(expect_shape(context, 3, state, "initial_h"));
  ASSAY_TRY(expect_shape(context, 4, state, "initial_c"));
  return Types{context.type(0), TensorType(dtype, state), TensorType(dtype, state)};
}

Cost cost_skip(const CostContext& context) {
  const double hidden = static_cast<double>((*context.inputs[0]->shape)[2].size());
  return sequence_cost(context, *skip_attributes(context.attributes), context.input_elements(0),
                       hidden, context.has(2), false);
}

Result<void> kernel_skip(const KernelContext& context) {
  ASSAY_ASSIGN(const RecurrentAttributes r, skip_attributes(context.attributes));
  return run_recurrent_skip(r.cell, r, context);
}

template <CellKind cell>
OpEntry recurrent_entry(std::string type, size_t inputs, size_t outputs,
                        const std::optional<std::string>& flag) {
  OpEntry entry{.type = std::move(type),
                .since_version = 14,
                .min_inputs = 3,
                .max_inputs = inputs,
                .max_outputs = outputs,
                .attributes = recurrent_specs(),
                .infer = infer_recurrent<cell>,
                .cost = cost_recurrent<cell>,
                .kernel = widen16<kernel_recurrent<cell>>};
  if (flag) entry.attributes.push_back({*flag, AttributeType::kInt, int64_t{0}});
  return entry;
}

}  // namespace

void add_recurrent_ops(OpTable& table) {
  table.add(recurrent_entry<CellKind::kRnn>("RNN", 6, 2, {}));
  table.add(recurrent_entry<CellKind::kLstm>("LSTM", 8, 3, "input_forget"));
  table.add(recurrent_entry<CellKind::kGru>("GRU", 6, 2, "linear_before_reset"));
  table.add({.domain = "assay",
             .type = "RecurrentSkip",
             .min_inputs = 2,
             .max_inputs = 5,
             .min_outputs = 1,
             .max_outputs = 3,
             .attributes = {{"cell", AttributeType::kString, {}, true}},
             .infer = infer_skip,
             .cost = cost_skip,
             .kernel = widen16<kernel_skip>,
             .note = "an RNN whose input, as wide as its state, is added to every gate without a "
                     "product: the form that DeepBench times. Cells relu, tanh, lstm, gru (linear "
                     "before reset); gates and biases in ONNX's order"});
}

}  // namespace assay
