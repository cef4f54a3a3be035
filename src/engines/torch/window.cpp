// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/window.h"

#include <algorithm>
#include <string>

namespace assay::torch_engine {
namespace {

std::vector<int64_t> ints_or(const Attributes& attributes, std::string_view name, size_t count,
                             int64_t value) {
  if (attributes.has(name) && !attributes.integers(name).empty()) return attributes.integers(name);
  return std::vector<int64_t>(count, value);
}

// Begin and end pads of every axis under SAME_UPPER or SAME_LOWER (ONNX, Conv).
Result<std::vector<int64_t>> same_pads(const Lowering& lowering, const Window& window, bool upper) {
  const size_t axes = window.kernel.size();
  const auto& shape = lowering.type(0).shape;
  std::vector<int64_t> pads(2 * axes, 0);
  for (size_t axis = 0; axis < axes; ++axis) {
    if (!shape || !(*shape)[axis + 2].known()) {
      return Lowering::unsupported("auto_pad SAME with an unknown spatial size");
    }
    const int64_t size = (*shape)[axis + 2].size();
    const int64_t stride = window.strides[axis];
    const int64_t output = (size + stride - 1) / stride;
    const int64_t reach = window.dilations[axis] * (window.kernel[axis] - 1) + 1;
    const int64_t total = std::max<int64_t>(0, (output - 1) * stride + reach - size);
    const int64_t small = total / 2;
    pads[axis] = upper ? small : total - small;
    pads[axes + axis] = upper ? total - small : small;
  }
  return pads;
}

}  // namespace

Result<Window> decode_window(const Lowering& lowering, std::vector<int64_t> kernel) {
  const Attributes& attributes = lowering.attributes();
  const size_t axes = kernel.size();
  Window window;
  window.kernel = std::move(kernel);
  window.strides = ints_or(attributes, "strides", axes, 1);
  window.dilations = ints_or(attributes, "dilations", axes, 1);
  std::vector<int64_t> pads = ints_or(attributes, "pads", 2 * axes, 0);
  const std::string mode =
      attributes.has("auto_pad") ? attributes.string("auto_pad") : std::string("NOTSET");
  if (mode == "VALID") {
    pads.assign(2 * axes, 0);
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    ASSAY_ASSIGN(pads, same_pads(lowering, window, mode == "SAME_UPPER"));
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    window.pads.push_back(std::min(pads[axis], pads[axes + axis]));
  }
  if (!std::equal(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes),
                  pads.begin() + static_cast<std::ptrdiff_t>(axes))) {
    for (size_t axis = axes; axis-- > 0;) {
      window.extra.push_back(pads[axis] - window.pads[axis]);
      window.extra.push_back(pads[axes + axis] - window.pads[axis]);
    }
  }
  return window;
}

}  // namespace assay::torch_engine
