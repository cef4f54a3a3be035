// SPDX-License-Identifier: Apache-2.0
//
// Values that come from the graph itself or from a random key.
#include <algorithm>
#include <array>

#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>

#include "base/random.h"
#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

struct ShapeData {
  int64_t start = 0;
  int64_t end = 0;
};

// Shapes live on the host, where those who read them want them.
void run_shape(const Step& step, at::Tensor* registers) {
  const auto& [start, end] = step.as<ShapeData>();
  const at::IntArrayRef sizes = step.in(registers, 0).sizes();
  const auto rank = static_cast<int64_t>(sizes.size());
  const auto clamped = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  std::vector<int64_t> values;
  for (int64_t axis = clamped(start); axis < clamped(end); ++axis) {
    values.push_back(sizes[static_cast<size_t>(axis)]);
  }
  step.out(registers) = from_host(Tensor::vector_i64(values), at::kCPU, false).value();
}

Result<Step> lower_shape(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  return lowering.step_with(
      run_shape, "none",
      ShapeData{attributes.integer("start"),
                attributes.has("end") ? attributes.integer("end") : int64_t{INT32_MAX}});
}

struct FillData {
  IntegerInput shape;
  at::Scalar value;
  at::TensorOptions options;
};

void run_fill(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<FillData>();
  step.out(registers) = at::full(data.shape.values(step, registers), data.value, data.options);
}

Result<Step> lower_fill(const Lowering& lowering) {
  FillData data;
  data.shape = lowering.integer_input(0);
  const auto type = scalar_type(lowering.output_type().dtype);
  if (!type) return Lowering::unsupported("no such element type in libtorch");
  data.options = at::TensorOptions().dtype(*type).device(lowering.options().device);
  data.value = 0;
  if (lowering.attributes().has("value")) {
    ASSAY_ASSIGN(const at::Tensor value,
                 from_host(lowering.attributes().get<Tensor>("value"), at::kCPU, false));
    data.value = value.item();
  }
  return lowering.step_with(run_fill, "aten::full", std::move(data));
}

struct DropoutData {
  float ratio = 0.5F;
};

// The mask that every engine draws (the operator table's definition): element i, in row-major
// order, is kept iff the upper 24 bits of word i % 4 of philox(key, i / 4) are at least the ratio.
at::Tensor dropout_mask(const at::Tensor& key_words, at::IntArrayRef shape, float ratio) {
  const at::Tensor words = key_words.to(at::kCPU);
  const auto* word = words.const_data_ptr<uint32_t>();
  const uint64_t key = word[0] | static_cast<uint64_t>(word[1]) << 32;
  at::Tensor mask = at::zeros(shape, at::TensorOptions().dtype(at::kFloat));
  auto* values = mask.mutable_data_ptr<float>();
  const auto count = static_cast<uint64_t>(mask.numel());
  const float scale = 1.0F / (1.0F - ratio);
  for (uint64_t block = 0; 4 * block < count; ++block) {
    const auto bits =
        philox4x32(key, {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0});
    for (uint64_t i = 4 * block; i < std::min(count, 4 * block + 4); ++i) {
      const float uniform = static_cast<float>(bits[i % 4] >> 8) * 0x1p-24F;
      values[i] = uniform >= ratio ? scale : 0.0F;
    }
  }
  return mask;
}

void run_dropout(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor mask =
      dropout_mask(step.in(registers, 1), x.sizes(), step.as<DropoutData>().ratio).to(x.device());
  step.out(registers) = at::mul(x, mask).to(x.scalar_type());
}

Result<Step> lower_dropout(const Lowering& lowering) {
  return lowering.step_with(run_dropout, "aten::mul (mask drawn by Assay)",
                            DropoutData{lowering.attributes().number("ratio")});
}

}  // namespace

void add_source_lowerings(LoweringTable& table) {
  table.add("Shape", lower_shape, OutputMemory::kOwn);
  table.add("ConstantOfShape", lower_fill, OutputMemory::kOwn);
  table.add("assay.Dropout", lower_dropout);
}

}  // namespace assay::torch_engine
