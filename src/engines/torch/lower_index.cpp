// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

// Index tensors take part in a backward pass only as themselves.
at::Tensor wide(const at::Tensor& indices) {
  return indices.scalar_type() == at::kLong ? indices : indices.to(at::kLong);
}

struct GatherData {
  int64_t axis = 0;
};

void run_gather(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  const int64_t axis = step.as<GatherData>().axis;
  const int64_t size = x.size(axis);
  at::Tensor indices = wide(step.in(registers, 1));
  indices = at::where(at::lt(indices, 0), at::add(indices, size), indices);
  const at::Tensor rows = at::index_select(x, axis, indices.reshape({-1}));
  std::vector<int64_t> shape = x.sizes().vec();
  const auto at_axis = shape.begin() + (axis < 0 ? axis + x.dim() : axis);
  const auto position = shape.erase(at_axis);
  shape.insert(position, indices.sizes().begin(), indices.sizes().end());
  step.out(registers) = rows.reshape(shape);
}

Result<Step> lower_gather(const Lowering& lowering) {
  return lowering.step_with(run_gather, "aten::index_select",
                            GatherData{lowering.attributes().integer("axis")});
}

void run_one_hot(const Step& step, at::Tensor* registers) {
  const at::Tensor indices = wide(step.in(registers, 0));
  const int64_t depth = integers(step.in(registers, 1)).at(0);
  const at::Tensor& values = step.in(registers, 2);
  int64_t axis = step.as<GatherData>().axis;
  if (axis < 0) axis += indices.dim() + 1;
  std::vector<int64_t> shape(static_cast<size_t>(indices.dim()) + 1, 1);
  shape[static_cast<size_t>(axis)] = depth;
  const at::Tensor positions = at::arange(depth, indices.options()).reshape(shape);
  const at::Tensor wrapped = at::where(at::lt(indices, 0), at::add(indices, depth), indices);
  step.out(registers) = at::where(at::eq(wrapped.unsqueeze(axis), positions), values.select(0, 1),
                                  values.select(0, 0));
}

Result<Step> lower_one_hot(const Lowering& lowering) {
  return lowering.step_with(run_one_hot, "aten::eq, aten::where",
                            GatherData{lowering.attributes().integer("axis")});
}

struct SliceData {
  IntegerInput starts, ends, axes, steps;
};

// NumPy's rules: a negative position counts from the end, then everything is clamped. A negative
// step takes the same elements in ascending order: the caller flips.
at::Tensor sliced_axis(const at::Tensor& x, int64_t axis, int64_t start, int64_t end,
                       int64_t step) {
  const int64_t size = x.size(axis);
  if (start < 0) start += size;
  if (end < 0) end += size;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, start, std::max(start, size));
    return x.slice(axis, start, end, step);
  }
  start = std::clamp<int64_t>(start, -1, size - 1);
  end = std::clamp<int64_t>(end, -1, size - 1);
  if (start <= end) return x.slice(axis, 0, 0, 1);
  const int64_t count = (start - end - 1) / -step + 1;
  return x.slice(axis, start + (count - 1) * step, start + 1, -step);
}

at::Tensor slice_axis(const at::Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const at::Tensor part = sliced_axis(x, axis, start, end, step);
  return step > 0 ? part : at::flip(part, axis);
}

void run_slice(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<SliceData>();
  const auto starts = data.starts.values(step, registers);
  const auto ends = data.ends.values(step, registers);
  const auto axes = data.axes.values(step, registers);
  const auto steps = data.steps.values(step, registers);
  at::Tensor value = step.in(registers, 0);
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    value = slice_axis(value, axis, starts[i], ends.at(i), steps.empty() ? 1 : steps[i]);
  }
  step.out(registers) = std::move(value);
}

Result<Step> lower_slice(const Lowering& lowering) {
  return lowering.step_with(run_slice, "aten::slice",
                            SliceData{lowering.integer_input(1), lowering.integer_input(2),
                                      lowering.integer_input(3), lowering.integer_input(4)});
}

struct SliceGradientData {
  SliceData slice;
  std::vector<int64_t> shape;
};

// dy written into the part of zeros that the slice took. Inputs: dy, a shape, then Slice's.
void run_slice_gradient(const Step& step, at::Tensor* registers) {
  const auto& [slice, shape] = step.as<SliceGradientData>();
  const auto starts = slice.starts.values(step, registers);
  const auto ends = slice.ends.values(step, registers);
  const auto axes = slice.axes.values(step, registers);
  const auto steps = slice.steps.values(step, registers);
  at::Tensor dy = step.in(registers, 0);
  at::Tensor whole = at::zeros(shape, dy.options());
  at::Tensor part = whole;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    const int64_t stride = steps.empty() ? 1 : steps[i];
    if (stride < 0) dy = at::flip(dy, axis);  // slice_axis() would flip a copy
    part = sliced_axis(part, axis, starts[i], ends.at(i), stride);
  }
  part.copy_(dy);
  step.out(registers) = std::move(whole);
}

Result<Step> lower_slice_gradient(const Lowering& lowering) {
  if (!lowering.output_type().known()) return Lowering::unsupported("an unknown size");
  return lowering.step_with(
      run_slice_gradient, "aten::slice, aten::copy_",
      SliceGradientData{{lowering.integer_input(2), lowering.integer_input(3),
                         lowering.integer_input(4), lowering.integer_input(5)},
                        lowering.output_type().shape->sizes()});
}

struct PadData {
  IntegerInput pads, axes;
  std::string mode;
};

// The input position that each output position of one axis shows.
std::vector<int64_t> shown(int64_t size, int64_t before, int64_t after, const std::string& mode) {
  std::vector<int64_t> positions;
  for (int64_t out = 0; out < size + before + after; ++out) {
    int64_t position = out - before;
    if (mode == "edge") {
      position = std::clamp<int64_t>(position, 0, size - 1);
    } else if (mode == "wrap") {
      position = (position % size + size) % size;
    } else {  // reflect, without repeating the edge
      const int64_t period = std::max<int64_t>(2 * (size - 1), 1);
      position = (position % period + period) % period;
      position = std::min(position, period - position) % size;
    }
    positions.push_back(position);
  }
  return positions;
}

void run_pad(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<PadData>();
  at::Tensor x = step.in(registers, 0);
  const auto pads = data.pads.values(step, registers);
  const auto axes = data.axes.values(step, registers);
  const size_t count = pads.size() / 2;
  const auto rank = static_cast<size_t>(x.dim());
  std::vector<int64_t> last_first(2 * rank, 0);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    if (axis < 0) axis += x.dim();
    if (data.mode == "constant") {
      const size_t pair = 2 * (rank - 1 - static_cast<size_t>(axis));
      last_first[pair] = pads[i];
      last_first[pair + 1] = pads[i + count];
      continue;
    }
    const auto positions = shown(x.size(axis), pads[i], pads[i + count], data.mode);
    const at::Tensor index = from_host(Tensor::vector_i64(positions), x.device(), false).value();
    x = at::index_select(x, axis, index);
  }
  if (data.mode != "constant") {
    step.out(registers) = std::move(x);
    return;
  }
  const at::Scalar fill = step.has(2) ? step.in(registers, 2).detach().item() : at::Scalar(0);
  step.out(registers) = at::constant_pad_nd(x, last_first, fill);
}

Result<Step> lower_pad(const Lowering& lowering) {
  const std::string& mode = lowering.attributes().string("mode");
  return lowering.step_with(run_pad,
                            mode == "constant" ? "aten::constant_pad_nd" : "aten::index_select",
                            PadData{lowering.integer_input(1), lowering.integer_input(3), mode});
}

struct SplitData {
  IntegerInput sizes;
  int64_t axis = 0;
};

void run_split(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<SplitData>();
  const at::Tensor& x = step.in(registers, 0);
  const auto parts = static_cast<int64_t>(step.outputs.size());
  std::vector<int64_t> sizes = data.sizes.values(step, registers);
  if (sizes.empty()) {
    // Even parts; the last may be smaller.
    const int64_t whole = x.size(data.axis);
    const int64_t each = (whole + parts - 1) / parts;
    sizes.assign(step.outputs.size(), each);
    sizes.back() = whole - each * (parts - 1);
  }
  int64_t first = 0;
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    step.set(registers, i, x.narrow(data.axis, first, sizes.at(i)));
    first += sizes[i];
  }
}

Result<Step> lower_split(const Lowering& lowering) {
  return lowering.step_with(
      run_split, "aten::narrow",
      SplitData{lowering.integer_input(1), lowering.attributes().integer("axis")});
}

}  // namespace

void add_index_lowerings(LoweringTable& table) {
  table.add("Gather", lower_gather);
  table.add("OneHot", lower_one_hot, OutputMemory::kOwn);
  table.add("assay.SliceGradient", lower_slice_gradient, OutputMemory::kOwn);
  table.add("Slice", lower_slice);
  table.add("Pad", lower_pad);
  table.add("Split", lower_split);
}

}  // namespace assay::torch_engine
