// SPDX-License-Identifier: Apache-2.0
//
// assay.SparseMatMul (a matrix of compressed rows times a dense one) and assay.EmbeddingBag (sums,
// means or maxima of rows of a table): products in which most of one side is not there.
#include <algorithm>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// Inputs values [z], columns [z], row_offsets [M + 1], b [K, N].
Result<Types> infer_sparse(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 3));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  for (size_t input = 0; input < 3; ++input) ASSAY_TRY(expect_rank(context, input, 1));
  ASSAY_TRY(expect_rank(context, 3, 2));
  const auto& values = context.type(0).shape;
  ASSAY_TRY(expect_vector(context, 1, values ? (*values)[0] : Dim(), "columns"));
  Shape y(std::vector<Dim>(2));
  if (const auto& offsets = context.type(2).shape; offsets && (*offsets)[0].known()) {
    if ((*offsets)[0].size() < 1) return invalid("input 2 (row_offsets) is empty");
    y[0] = (*offsets)[0].size() - 1;
  }
  if (const auto& b = context.type(3).shape) y[1] = (*b)[1];
  return Types{TensorType(context.type(0).dtype, std::move(y))};
}

// Only what is there is multiplied.
Cost cost_sparse(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.macs =
      context.input_elements(0) * static_cast<double>((*context.outputs[0]->shape)[1].size());
  cost.flops = 2 * cost.macs;
  return cost;
}

// Offsets ascend from 0 to at most `last` (exactly, when `exact`).
Result<void> check_offsets(const Sizes& offsets, int64_t last, bool exact) {
  bool ascends = !offsets.empty() && offsets.front() == 0 && std::ranges::is_sorted(offsets);
  if (ascends) ascends = exact ? offsets.back() == last : offsets.back() <= last;
  if (ascends || (offsets.empty() && !exact)) return {};
  return invalid("input 2 does not ascend from 0 to " + std::to_string(last));
}

Result<void> check_rows(const Sizes& indices, int64_t rows) {
  for (const int64_t index : indices) {
    if (index < 0 || index >= rows) {
      return invalid("index " + std::to_string(index) + " is outside " + std::to_string(rows) +
                     " rows");
    }
  }
  return {};
}

Result<void> kernel_sparse(const KernelContext& context) {
  ASSAY_ASSIGN(const Sizes columns, as_integers(*context.inputs[1]));
  ASSAY_ASSIGN(const Sizes offsets, as_integers(*context.inputs[2]));
  const Sizes& b_shape = input_shape(context, 3);
  ASSAY_TRY(check_offsets(offsets, static_cast<int64_t>(columns.size()), true));
  ASSAY_TRY(check_rows(columns, b_shape[0]));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* values = input_data<T>(context, 0);
    const T* b = input_data<T>(context, 3);
    T* y = output_data<T>(context, 0);
    std::vector<double> sums(static_cast<size_t>(b_shape[1]));
    for (size_t row = 0; row + 1 < offsets.size(); ++row) {
      std::ranges::fill(sums, 0.0);
      for (int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
        const T* from = b + columns[static_cast<size_t>(i)] * b_shape[1];
        for (size_t j = 0; j < sums.size(); ++j) {
          sums[j] += static_cast<double>(values[i]) * static_cast<double>(from[j]);
        }
      }
      y = std::ranges::transform(sums, y, [](double sum) { return static_cast<T>(sum); }).out;
    }
  });
}

// Inputs table [V, D], indices [total], offsets [bags], weights [total] (mode sum only).
Result<Types> infer_bag(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kI64}));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kI64}));
  ASSAY_TRY(expect_same_dtype(context, 0, 3));
  ASSAY_TRY(expect_rank(context, 0, 2));
  ASSAY_TRY(expect_rank(context, 1, 1));
  ASSAY_TRY(expect_rank(context, 2, 1));
  ASSAY_TRY(expect_word(context, "mode", {"sum", "mean", "max"}));
  const auto& indices = context.type(1).shape;
  ASSAY_TRY(expect_vector(context, 3, indices ? (*indices)[0] : Dim(), "weights"));
  if (context.has(3) && context.attributes.string("mode") != "sum") {
    return invalid("attribute 'mode' is not sum, which weights are for");
  }
  const auto& table = context.type(0).shape;
  const auto& offsets = context.type(2).shape;
  return Types{TensorType(context.type(0).dtype,
                          Shape{offsets ? (*offsets)[0] : Dim(), table ? (*table)[1] : Dim()})};
}

// An addition or comparison for each number of each row taken, a product where it is weighted, a
// division for each mean. Only the rows taken are read.
Cost cost_bag(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const double row = static_cast<double>((*context.inputs[0]->shape)[1].size());
  const double taken = context.input_elements(1) * row;
  const double bits = dtype_bits(context.inputs[0]->dtype);
  cost.read_bytes += (taken - context.input_elements(0)) * bits / 8;
  cost.flops = taken * (context.has(3) ? 2 : 1);
  if (context.attributes.string("mode") == "mean") cost.flops += context.output_elements(0);
  return cost;
}

// One bag of rows into `sums`; a bag without rows is zero.
template <class T>
void fill_bag(const KernelContext& context, const Sizes& indices, int64_t begin, int64_t end,
              std::vector<double>& sums) {
  const std::string& mode = context.attributes.string("mode");
  const T* weights = context.has(3) ? input_data<T>(context, 3) : nullptr;
  const bool largest = mode == "max" && begin < end;
  std::ranges::fill(sums, largest ? -std::numeric_limits<double>::infinity() : 0.0);
  for (int64_t i = begin; i < end; ++i) {
    const T* row = input_data<T>(context, 0) +
                   indices[static_cast<size_t>(i)] * static_cast<int64_t>(sums.size());
    const double weight = weights == nullptr ? 1 : static_cast<double>(weights[i]);
    for (size_t j = 0; j < sums.size(); ++j) {
      const double value = weight * static_cast<double>(row[j]);
      sums[j] = largest ? std::max(sums[j], value) : sums[j] + value;
    }
  }
  if (mode != "mean" || begin == end) return;
  for (double& sum : sums) sum /= static_cast<double>(end - begin);
}

Result<void> kernel_bag(const KernelContext& context) {
  ASSAY_ASSIGN(const Sizes indices, as_integers(*context.inputs[1]));
  ASSAY_ASSIGN(Sizes offsets, as_integers(*context.inputs[2]));
  const auto total = static_cast<int64_t>(indices.size());
  ASSAY_TRY(check_offsets(offsets, total, false));
  ASSAY_TRY(check_rows(indices, input_shape(context, 0)[0]));
  offsets.push_back(total);
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    std::vector<double> sums(static_cast<size_t>(input_shape(context, 0)[1]));
    T* y = output_data<T>(context, 0);
    for (size_t bag = 0; bag + 1 < offsets.size(); ++bag) {
      fill_bag<T>(context, indices, offsets[bag], offsets[bag + 1], sums);
      y = std::ranges::transform(sums, y, [](double sum) { return static_cast<T>(sum); }).out;
    }
  });
}

}  // namespace

void add_sparse_ops(OpTable& table) {
  table.add({.domain = "assay",
             .type = "SparseMatMul",
             .min_inputs = 4,
             .max_inputs = 4,
             .infer = infer_sparse,
             .cost = cost_sparse,
             .kernel = widen16<kernel_sparse>,
             .note = "inputs values, columns and row_offsets of a matrix of compressed rows, and a "
                     "dense matrix"});
  table.add({.domain = "assay",
             .type = "EmbeddingBag",
             .min_inputs = 3,
             .max_inputs = 4,
             .attributes = {{"mode", AttributeType::kString, "sum"}},
             .infer = infer_bag,
             .cost = cost_bag,
             .kernel = widen16<kernel_bag>,
             .note =
                 "inputs table, indices, where each bag begins in them, and weights; modes sum, "
                 "mean, max"});
}

}  // namespace assay
