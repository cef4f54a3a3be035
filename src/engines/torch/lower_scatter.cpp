// SPDX-License-Identifier: Apache-2.0
//
// Elements picked from and put to places that other tensors name.
#include <algorithm>
#include <numeric>

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/index_put.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "engines/torch/lowering.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

// Places as i64, counted from the start of a dimension of `size`.
at::Tensor wrapped(const at::Tensor& indices, int64_t size) {
  const at::Tensor wide = indices.to(at::kLong);
  return at::where(at::lt(wide, 0), at::add(wide, size), wide);
}

void run_gather_elements(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  const auto axis = step.as<int64_t>();
  step.out(registers) = x.gather(axis, wrapped(step.in(registers, 1), x.size(axis)));
}

Result<Step> lower_gather_elements(const Lowering& lowering) {
  return lowering.step_with(run_gather_elements, "aten::gather",
                            lowering.attributes().integer("axis"));
}

struct ScatterData {
  int64_t axis = 0;
  std::string reduction;  // libtorch's name; empty: replace
};

Result<std::string> reduction_of(const Lowering& lowering) {
  const std::string& name = lowering.attributes().string("reduction");
  if (name == "none") return std::string();
  if (name == "add") return std::string("sum");
  if (name == "mul") return std::string("prod");
  if (name == "max") return std::string("amax");
  if (name == "min") return std::string("amin");
  return Lowering::unsupported("attribute 'reduction' is '" + name + "'");
}

at::Tensor scattered(const at::Tensor& x, int64_t axis, const at::Tensor& places,
                     const at::Tensor& updates, const std::string& reduction) {
  if (reduction.empty()) return at::scatter(x, axis, places, updates);
  return at::scatter_reduce(x, axis, places, updates, reduction, /*include_self=*/true);
}

void run_scatter_elements(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ScatterData>();
  const at::Tensor& x = step.in(registers, 0);
  step.out(registers) = scattered(x, data.axis, wrapped(step.in(registers, 1), x.size(data.axis)),
                                  step.in(registers, 2), data.reduction);
}

Result<Step> lower_scatter_elements(const Lowering& lowering) {
  ASSAY_ASSIGN(std::string reduction, reduction_of(lowering));
  return lowering.step_with(run_scatter_elements, "aten::scatter",
                            ScatterData{lowering.attributes().integer("axis"), reduction});
}

// Tuples of places in the first axes of x after `batch` become places in one flattened axis.
at::Tensor flat_places(const at::Tensor& x, const at::Tensor& indices, int64_t batch) {
  const int64_t depth = indices.size(-1);
  at::Tensor place = at::zeros_like(indices.select(-1, 0), indices.options().dtype(at::kLong));
  for (int64_t i = 0; i < depth; ++i) {
    const int64_t size = x.size(batch + i);
    place = at::add(at::mul(place, size), wrapped(indices.select(-1, i), size));
  }
  return place;
}

std::vector<int64_t> sizes_from(const at::Tensor& x, int64_t first, int64_t last) {
  return {x.sizes().begin() + first, x.sizes().begin() + last};
}

int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

void run_gather_nd(const Step& step, at::Tensor* registers) {
  const auto batch = step.as<int64_t>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor& indices = step.in(registers, 1);
  const int64_t depth = indices.size(-1);
  const std::vector<int64_t> outer = sizes_from(x, 0, batch);
  const int64_t picked = product(sizes_from(x, batch, batch + depth));
  const std::vector<int64_t> inner = sizes_from(x, batch + depth, x.dim());
  const int64_t batches = product(outer);
  const at::Tensor rows = x.reshape({batches * picked, product(inner)});
  at::Tensor place = flat_places(x, indices, batch).reshape({batches, -1});
  const at::Tensor start = at::mul(at::arange(batches, place.options()), picked);
  place = at::add(place, start.unsqueeze(1));
  std::vector<int64_t> shape(indices.sizes().begin(), indices.sizes().end() - 1);
  shape.insert(shape.end(), inner.begin(), inner.end());
  step.out(registers) = at::index_select(rows, 0, place.reshape({-1})).reshape(shape);
}

Result<Step> lower_gather_nd(const Lowering& lowering) {
  return lowering.step_with(run_gather_nd, "aten::index_select",
                            lowering.attributes().integer("batch_dims"));
}

void run_scatter_nd(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<ScatterData>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor& indices = step.in(registers, 1);
  const int64_t depth = indices.size(-1);
  const int64_t inner = product(sizes_from(x, depth, x.dim()));
  const at::Tensor rows = x.reshape({product(sizes_from(x, 0, depth)), inner});
  const at::Tensor place = flat_places(x, indices, 0).reshape({-1, 1}).expand({-1, inner});
  const at::Tensor updates = step.in(registers, 2).reshape({-1, inner});
  step.out(registers) = scattered(rows, 0, place, updates, data.reduction).reshape(x.sizes());
}

Result<Step> lower_scatter_nd(const Lowering& lowering) {
  ASSAY_ASSIGN(std::string reduction, reduction_of(lowering));
  return lowering.step_with(run_scatter_nd, "aten::scatter", ScatterData{0, reduction});
}

void run_non_zero(const Step& step, at::Tensor* registers) {
  const at::Tensor& x = step.in(registers, 0);
  step.out(registers) = at::nonzero(x).t().contiguous();
}

Result<Step> lower_non_zero(const Lowering& lowering) {
  return lowering.step(run_non_zero, "aten::nonzero");
}

void run_compress(const Step& step, at::Tensor* registers) {
  const auto& axis = step.as<std::optional<int64_t>>();
  const at::Tensor& x = step.in(registers, 0);
  const at::Tensor places = at::nonzero(step.in(registers, 1)).reshape({-1});
  step.out(registers) =
      axis ? at::index_select(x, *axis, places) : at::index_select(x.reshape({-1}), 0, places);
}

Result<Step> lower_compress(const Lowering& lowering) {
  std::optional<int64_t> axis;
  if (lowering.attributes().has("axis")) axis = lowering.attributes().integer("axis");
  return lowering.step_with(run_compress, "aten::nonzero, aten::index_select", axis);
}

struct TopKData {
  IntegerInput count;
  int64_t axis = -1;
  bool largest = true;
};

void run_top_k(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<TopKData>();
  const int64_t count = data.count.values(step, registers).at(0);
  // at::topk leaves open which of equal elements it takes; ONNX takes the first.
  auto [values, places] =
      at::sort(step.in(registers, 0), /*stable=*/true, data.axis, /*descending=*/data.largest);
  step.set(registers, 0, values.narrow(data.axis, 0, count));
  step.set(registers, 1, places.narrow(data.axis, 0, count));
}

Result<Step> lower_top_k(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  return lowering.step_with(run_top_k, "aten::sort",
                            TopKData{lowering.integer_input(1), attributes.integer("axis"),
                                     attributes.integer("largest") != 0});
}

// Position t of a sequence of length n shows position n - 1 - t, beyond n itself.
void run_reverse_sequence(const Step& step, at::Tensor* registers) {
  const bool time_first = step.as<bool>();
  const at::Tensor& given = step.in(registers, 0);
  const at::Tensor x = time_first ? given.transpose(0, 1) : given;
  const at::Tensor lengths = step.in(registers, 1).to(at::kLong).unsqueeze(1);
  const at::Tensor time = at::arange(x.size(1), lengths.options()).unsqueeze(0);
  at::Tensor place = at::where(at::lt(time, lengths), at::sub(at::sub(lengths, 1), time), time);
  for (int64_t i = 2; i < x.dim(); ++i) place = place.unsqueeze(-1);
  const at::Tensor turned = x.gather(1, place.expand(x.sizes()));
  step.out(registers) = time_first ? turned.transpose(0, 1).contiguous() : turned;
}

Result<Step> lower_reverse_sequence(const Lowering& lowering) {
  const int64_t batch = lowering.attributes().integer("batch_axis");
  const int64_t time = lowering.attributes().integer("time_axis");
  if (batch + time != 1) return Lowering::unsupported("sequence axes beyond 0 and 1");
  return lowering.step_with(run_reverse_sequence, "aten::gather", time == 0);
}

}  // namespace

void add_scatter_lowerings(LoweringTable& table) {
  table.add("GatherElements", lower_gather_elements, OutputMemory::kOwn);
  table.add("ScatterElements", lower_scatter_elements, OutputMemory::kOwn);
  table.add("GatherND", lower_gather_nd);
  table.add("ScatterND", lower_scatter_nd);
  table.add("NonZero", lower_non_zero, OutputMemory::kOwn);
  table.add("Compress", lower_compress, OutputMemory::kOwn);
  table.add("TopK", lower_top_k);
  table.add("ReverseSequence", lower_reverse_sequence, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine
