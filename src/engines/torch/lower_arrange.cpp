// SPDX-License-Identifier: Apache-2.0
//
// Tensors made from sizes, rearranged in blocks, or summed along an axis.
#include <algorithm>

#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/det.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>
#include <ATen/ops/zeros.h>

#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

void run_size(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::full({}, step.in(registers, 0).numel(), at::kLong);
}
Result<Step> lower_size(const Lowering& lowering) { return lowering.step(run_size, "none"); }

void run_tile(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      step.in(registers, 0).repeat(step.as<IntegerInput>().values(step, registers));
}
Result<Step> lower_tile(const Lowering& lowering) {
  return lowering.step_with(run_tile, "aten::repeat", lowering.integer_input(1));
}

struct TriangleData {
  IntegerInput diagonal;
  bool upper = true;
};

void run_triangle(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<TriangleData>();
  const std::vector<int64_t> given = data.diagonal.values(step, registers);
  const int64_t diagonal = given.empty() ? 0 : given.front();
  const at::Tensor& x = step.in(registers, 0);
  step.out(registers) = data.upper ? at::triu(x, diagonal) : at::tril(x, diagonal);
}
Result<Step> lower_triangle(const Lowering& lowering) {
  const bool upper = lowering.attributes().integer("upper") != 0;
  return lowering.step_with(run_triangle, upper ? "aten::triu" : "aten::tril",
                            TriangleData{lowering.integer_input(1), upper});
}

void run_range(const Step& step, at::Tensor* registers) {
  const at::Tensor& start = step.in(registers, 0);
  step.out(registers) = at::arange(start.item(), step.in(registers, 1).item(),
                                   step.in(registers, 2).item(), start.options());
}
Result<Step> lower_range(const Lowering& lowering) {
  return lowering.step(run_range, "aten::arange");
}

struct EyeData {
  int64_t diagonal = 0;
  at::ScalarType type = at::kFloat;
};

void run_eye(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<EyeData>();
  const at::Tensor& x = step.in(registers, 0);
  at::Tensor y = at::zeros(x.sizes(), x.options().dtype(data.type));
  if (data.diagonal > -x.size(0) && data.diagonal < x.size(1)) {
    y.diagonal(data.diagonal).fill_(1);
  }
  step.out(registers) = std::move(y);
}
Result<Step> lower_eye(const Lowering& lowering) {
  const auto type = scalar_type(lowering.output_type().dtype);
  if (!type) return Lowering::unsupported("this element type");
  return lowering.step_with(run_eye, "aten::zeros, aten::fill_",
                            EyeData{lowering.attributes().integer("k"), *type});
}

// Blocks of channels to blocks of pixels. DCR: [N, b, b, C, H, W] to [N, C, H, b, W, b]; CRD has
// the channels first.
struct BlockData {
  int64_t block = 1;
  bool channels_last = true;  // DCR
};

void run_depth_to_space(const Step& step, at::Tensor* registers) {
  const auto& [b, channels_last] = step.as<BlockData>();
  const at::Tensor& x = step.in(registers, 0);
  const int64_t n = x.size(0);
  const int64_t c = x.size(1) / (b * b);
  const int64_t h = x.size(2);
  const int64_t w = x.size(3);
  const at::Tensor blocks = channels_last
                                ? x.reshape({n, b, b, c, h, w}).permute({0, 3, 4, 1, 5, 2})
                                : x.reshape({n, c, b, b, h, w}).permute({0, 1, 4, 2, 5, 3});
  step.out(registers) = blocks.reshape({n, c, h * b, w * b});
}
Result<Step> lower_depth_to_space(const Lowering& lowering) {
  return lowering.step_with(run_depth_to_space, "aten::permute",
                            BlockData{lowering.attributes().integer("blocksize"),
                                      lowering.attributes().string("mode") == "DCR"});
}

void run_space_to_depth(const Step& step, at::Tensor* registers) {
  const auto b = step.as<int64_t>();
  const at::Tensor& x = step.in(registers, 0);
  const int64_t h = x.size(2) / b;
  const int64_t w = x.size(3) / b;
  const at::Tensor blocks =
      x.reshape({x.size(0), x.size(1), h, b, w, b}).permute({0, 3, 5, 1, 2, 4});
  step.out(registers) = blocks.reshape({x.size(0), x.size(1) * b * b, h, w});
}
Result<Step> lower_space_to_depth(const Lowering& lowering) {
  return lowering.step_with(run_space_to_depth, "aten::permute",
                            lowering.attributes().integer("blocksize"));
}

struct CumulativeData {
  IntegerInput axis;
  bool exclusive = false;
  bool reverse = false;
};

void run_cumulative(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<CumulativeData>();
  const int64_t axis = data.axis.values(step, registers).at(0);
  const at::Tensor& given = step.in(registers, 0);
  const at::Tensor x = data.reverse ? at::flip(given, axis) : given;
  at::Tensor sum = at::cumsum(x, axis, x.scalar_type());
  if (data.exclusive) sum = at::sub(sum, x);
  step.out(registers) = data.reverse ? at::flip(sum, axis) : sum;
}
Result<Step> lower_cumulative(const Lowering& lowering) {
  return lowering.step_with(
      run_cumulative, "aten::cumsum",
      CumulativeData{lowering.integer_input(1), lowering.attributes().integer("exclusive") != 0,
                     lowering.attributes().integer("reverse") != 0});
}

void run_einsum(const Step& step, at::Tensor* registers) {
  std::vector<at::Tensor> operands;
  operands.reserve(step.inputs.size());
  for (size_t i = 0; i < step.inputs.size(); ++i) operands.push_back(step.in(registers, i));
  step.out(registers) = at::einsum(step.as<std::string>(), operands);
}
Result<Step> lower_einsum(const Lowering& lowering) {
  return lowering.step_with(run_einsum, "aten::einsum",
                            std::string(lowering.attributes().string("equation")));
}

void run_det(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::det(step.in(registers, 0));
}
Result<Step> lower_det(const Lowering& lowering) { return lowering.step(run_det, "aten::det"); }

void run_cast_like(const Step& step, at::Tensor* registers) {
  step.out(registers) = step.in(registers, 0).to(step.in(registers, 1).scalar_type());
}
Result<Step> lower_cast_like(const Lowering& lowering) {
  const DType target = lowering.output_type().dtype;
  if (!scalar_type(target) || (dtype_bits(target) == 8 && is_floating(target))) {
    return Lowering::unsupported("libtorch has no element type " + std::string(dtype_name(target)) +
                                 " that rounds as ONNX does");
  }
  return lowering.step(run_cast_like, "aten::_to_copy");
}

}  // namespace

void add_arrange_lowerings(LoweringTable& table) {
  table.add("Size", lower_size, OutputMemory::kOwn);
  table.add("Tile", lower_tile, OutputMemory::kOwn);
  table.add("Trilu", lower_triangle, OutputMemory::kOwn);
  table.add("Range", lower_range, OutputMemory::kOwn);
  table.add("EyeLike", lower_eye, OutputMemory::kOwn);
  table.add("DepthToSpace", lower_depth_to_space);
  table.add("SpaceToDepth", lower_space_to_depth);
  table.add("CumSum", lower_cumulative);
  table.add("Einsum", lower_einsum);
  table.add("Det", lower_det, OutputMemory::kOwn);
  table.add("CastLike", lower_cast_like);
}

}  // namespace assay::torch_engine
