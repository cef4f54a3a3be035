// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/window.h"

#include <algorithm>

namespace assay {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;
constexpr int64_t kLargestInput = int64_t{1} << 61;

// A list attribute of `count` numbers in [low, kLargest], or `count` defaults when absent.
Result<std::vector<int64_t>> list(const Attributes& attributes, const std::string& name,
                                  size_t count, int64_t low) {
  if (!attributes.has(name)) return std::vector<int64_t>(count, low);
  const std::vector<int64_t>& values = attributes.integers(name);
  if (values.size() != count) {
    return invalid("attribute '" + name + "' has " + std::to_string(values.size()) +
                   " numbers where " + std::to_string(count) + " are needed");
  }
  for (const int64_t value : values) {
    if (value < low || value > kLargest) {
      return invalid("attribute '" + name + "' holds " + std::to_string(value) + ", outside " +
                     std::to_string(low) + " to 2^31");
    }
  }
  return values;
}

}  // namespace

std::vector<AttributeSpec> window_specs(bool kernel_required) {
  return {{"auto_pad", AttributeType::kString, "NOTSET"},
          {"kernel_shape", AttributeType::kInts, {}, kernel_required},
          {"strides", AttributeType::kInts, {}},
          {"dilations", AttributeType::kInts, {}},
          {"pads", AttributeType::kInts, {}}};
}

Result<WindowAttributes> window_attributes(const Attributes& attributes, size_t rank,
                                           std::vector<int64_t> kernel) {
  WindowAttributes window;
  if (attributes.has("kernel_shape")) {
    ASSAY_ASSIGN(window.kernel, list(attributes, "kernel_shape", rank, 1));
    if (!kernel.empty() && kernel != window.kernel) {
      return invalid("attribute 'kernel_shape' differs from the weight's shape");
    }
  } else {
    window.kernel = std::move(kernel);
  }
  for (const int64_t size : window.kernel) {
    if (size < 1 || size > kLargest) {
      return invalid("a kernel of size " + std::to_string(size) + ", outside 1 to 2^31");
    }
  }
  ASSAY_ASSIGN(window.strides, list(attributes, "strides", rank, 1));
  ASSAY_ASSIGN(window.dilations, list(attributes, "dilations", rank, 1));
  ASSAY_ASSIGN(window.pads, list(attributes, "pads", 2 * rank, 0));
  window.auto_pad = attributes.has("auto_pad") ? attributes.string("auto_pad") : "NOTSET";
  const std::vector<std::string> known{"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  if (std::ranges::find(known, window.auto_pad) == known.end()) {
    return invalid("attribute 'auto_pad' is '" + window.auto_pad +
                   "', not NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  }
  window.ceil_mode = attributes.has("ceil_mode") && attributes.integer("ceil_mode") != 0;
  return window;
}

Result<WindowAxis> resolve_axis(const WindowAttributes& window, size_t axis, int64_t input) {
  WindowAxis a;
  a.input = input;
  a.kernel = window.kernel[axis];
  a.stride = window.strides[axis];
  a.dilation = window.dilations[axis];
  if (input > kLargestInput) return invalid("a dimension of " + std::to_string(input));
  const int64_t span = (a.kernel - 1) * a.dilation + 1;
  if (window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER") {
    a.output = input / a.stride + (input % a.stride != 0 ? 1 : 0);
    const int64_t total = std::max<int64_t>((a.output - 1) * a.stride + span - input, 0);
    a.pad_begin = window.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    a.pad_end = total - a.pad_begin;
    if (input == 0) return invalid("a window over a dimension of size 0");
    return a;
  }
  if (window.auto_pad == "NOTSET") {
    a.pad_begin = window.pads[axis];
    a.pad_end = window.pads[axis + window.pads.size() / 2];
  }
  const int64_t room = input + a.pad_begin + a.pad_end - span;
  if (input == 0 || room < 0) {
    return invalid("a kernel that spans " + std::to_string(span) + " does not fit a dimension of " +
                   std::to_string(input) + " padded by " + std::to_string(a.pad_begin) + " and " +
                   std::to_string(a.pad_end));
  }
  a.output = room / a.stride + 1;
  if (window.ceil_mode && room % a.stride != 0) {
    // A window that would start in the padding behind the data is dropped.
    if (a.output * a.stride < input + a.pad_begin) ++a.output;
  }
  return a;
}

Result<Dim> window_output(const WindowAttributes& window, size_t axis, const Dim& input) {
  if (input.known()) {
    ASSAY_ASSIGN(const WindowAxis a, resolve_axis(window, axis, input.size()));
    return Dim(a.output);
  }
  if (window.strides[axis] != 1) return Dim();
  const int64_t span = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
  const bool same = window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER";
  const int64_t padding = window.auto_pad == "NOTSET"
                              ? window.pads[axis] + window.pads[axis + window.pads.size() / 2]
                              : 0;
  return same || padding == span - 1 ? input : Dim();
}

Result<std::vector<WindowAxis>> resolve_window(const Attributes& attributes,
                                               const std::vector<int64_t>& input_shape,
                                               std::vector<int64_t> kernel) {
  const size_t rank = input_shape.size() - 2;
  if (rank > 3) {
    return Error{ErrorCode::kUnsupported,
                 "no reference kernel for " + std::to_string(rank) + " spatial axes"};
  }
  ASSAY_ASSIGN(const WindowAttributes window,
               window_attributes(attributes, rank, std::move(kernel)));
  std::vector<WindowAxis> axes(3 - rank);
  for (size_t i = 0; i < rank; ++i) {
    ASSAY_ASSIGN(const WindowAxis axis, resolve_axis(window, i, input_shape[i + 2]));
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace assay
