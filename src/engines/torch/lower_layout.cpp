// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/ops/cat.h>
#include <ATen/ops/reshape.h>

#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

void run_identity(const Step& step, at::Tensor* registers) {
  step.out(registers) = step.in(registers, 0);
}

Result<Step> lower_identity(const Lowering& lowering) {
  return lowering.step(run_identity, "none");
}

void run_stop_gradient(const Step& step, at::Tensor* registers) {
  step.out(registers) = step.in(registers, 0).detach();
}

Result<Step> lower_stop_gradient(const Lowering& lowering) {
  return lowering.step(run_stop_gradient, "aten::detach");
}

void run_cast(const Step& step, at::Tensor* registers) {
  step.out(registers) = step.in(registers, 0).to(step.as<at::ScalarType>());
}

Result<Step> lower_cast(const Lowering& lowering) {
  const DType target = lowering.output_type().dtype;
  const auto type = scalar_type(target);
  if (dtype_bits(target) == 8 && is_floating(target)) {
    return Lowering::unsupported("libtorch's casts to " + std::string(dtype_name(target)) +
                                 " do not saturate as ONNX's do");
  }
  if (!type) {
    return Lowering::unsupported("libtorch has no element type " + std::string(dtype_name(target)));
  }
  return lowering.step_with(run_cast, "aten::_to_copy", *type);
}

void run_flatten(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  const int64_t axis = step.as<int64_t>();
  int64_t rows = 1;
  for (int64_t i = 0; i < axis; ++i) rows *= x.size(i);
  step.out(registers) = at::reshape(x, {rows, rows == 0 ? 0 : x.numel() / rows});
}

Result<Step> lower_flatten(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
  int64_t axis = lowering.attributes().integer("axis");
  if (axis < 0) axis += rank;
  return lowering.step_with(run_flatten, "aten::reshape", axis);
}

struct ReshapeData {
  IntegerInput shape;
  bool allow_zero = false;
};

void run_reshape(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ReshapeData>();
  const at::Tensor& x = step.in(registers, 0);
  std::vector<int64_t> shape = data.shape.values(step, registers);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !data.allow_zero) shape[i] = x.size(static_cast<int64_t>(i));
  }
  step.out(registers) = at::reshape(x, shape);
}

Result<Step> lower_reshape(const Lowering& lowering) {
  ReshapeData data;
  data.allow_zero = lowering.attributes().integer("allowzero") != 0;
  data.shape = lowering.integer_input(1);
  return lowering.step_with(run_reshape, "aten::reshape", std::move(data));
}

using Axes = std::vector<int64_t>;

void run_transpose(const Step& step, at::Tensor* registers) {
  step.out(registers) = step.in(registers, 0).permute(step.as<Axes>());
}

Result<Step> lower_transpose(const Lowering& lowering) {
  Axes order;
  if (lowering.attributes().has("perm")) order = lowering.attributes().integers("perm");
  if (order.empty()) {
    ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
    for (int64_t axis = rank; axis-- > 0;) order.push_back(axis);
  }
  return lowering.step_with(run_transpose, "aten::permute", std::move(order));
}

// Removes axes whose size is 1. Sorted descending, so that the earlier ones keep their number.
void run_squeeze(const Step& step, at::Tensor* registers) {
  at::Tensor value = step.in(registers, 0);
  for (const int64_t axis : step.as<Axes>()) value = value.squeeze(axis);
  step.out(registers) = std::move(value);
}

Result<Step> lower_squeeze(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
  Axes axes;
  if (lowering.has(1)) {
    ASSAY_ASSIGN(axes, lowering.require_integers(1, "axes"));
  } else {
    const Shape& shape = *lowering.type(0).shape;
    for (int64_t axis = 0; axis < rank; ++axis) {
      const Dim& dim = shape[static_cast<size_t>(axis)];
      if (!dim.known()) return Lowering::unsupported("Squeeze of an axis of unknown size");
      if (dim.size() == 1) axes.push_back(axis);
    }
  }
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.rbegin(), axes.rend());
  return lowering.step_with(run_squeeze, "aten::squeeze", std::move(axes));
}

// Inserts axes of size 1, in ascending order of the output's numbering.
void run_unsqueeze(const Step& step, at::Tensor* registers) {
  at::Tensor value = step.in(registers, 0);
  for (const int64_t axis : step.as<Axes>()) value = value.unsqueeze(axis);
  step.out(registers) = std::move(value);
}

Result<Step> lower_unsqueeze(const Lowering& lowering) {
  ASSAY_ASSIGN(const int64_t rank, lowering.rank(0));
  ASSAY_ASSIGN(Axes axes, lowering.require_integers(1, "axes"));
  const int64_t output_rank = rank + static_cast<int64_t>(axes.size());
  for (int64_t& axis : axes) axis = axis < 0 ? axis + output_rank : axis;
  std::sort(axes.begin(), axes.end());
  return lowering.step_with(run_unsqueeze, "aten::unsqueeze", std::move(axes));
}

void run_concat(const Step& step, at::Tensor* registers) {
  std::vector<at::Tensor> parts;
  parts.reserve(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) parts.push_back(step.in(registers, i));
  step.out(registers) = at::cat(parts, step.as<int64_t>());
}

Result<Step> lower_concat(const Lowering& lowering) {
  return lowering.step_with(run_concat, "aten::cat", lowering.attributes().integer("axis"));
}

void run_expand(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  std::vector<int64_t> shape = step.as<IntegerInput>().values(step, registers);
  // ONNX broadcasts both ways: a size of 1 in the shape keeps the tensor's.
  const auto rank = static_cast<size_t>(x.dim());
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t& size = shape[shape.size() - rank + i];
    if (size == 1) size = x.size(static_cast<int64_t>(i));
  }
  step.out(registers) = x.expand(shape);
}

Result<Step> lower_expand(const Lowering& lowering) {
  return lowering.step_with(run_expand, "aten::expand", lowering.integer_input(1));
}

}  // namespace

void add_layout_lowerings(LoweringTable& table) {
  table.add("Identity", lower_identity);
  table.add("assay.StopGradient", lower_stop_gradient);
  table.add("Cast", lower_cast);
  table.add("Flatten", lower_flatten);
  table.add("Reshape", lower_reshape);
  table.add("Transpose", lower_transpose);
  table.add("Squeeze", lower_squeeze);
  table.add("Unsqueeze", lower_unsqueeze);
  table.add("Expand", lower_expand);
  table.add("Concat", lower_concat, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine
