// SPDX-License-Identifier: Apache-2.0
#include "engine/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "graph/operator.h"

namespace assay {
namespace {

double element(const TensorView& view, int64_t i) {
  switch (view.dtype) {
    case DType::kF32:
      return static_cast<double>(view.as<float>()[i]);
    case DType::kF64:
      return view.as<double>()[i];
    case DType::kBF16:
      return static_cast<double>(bf16_to_f32(view.as<uint16_t>()[i]));
    default:
      return static_cast<double>(f16_to_f32(view.as<uint16_t>()[i]));
  }
}

bool compares_by_value(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16 ||
         dtype == DType::kF16;
}

Result<void> check_comparable(const TensorView& expected, const TensorView& actual) {
  if (expected.dtype != actual.dtype || expected.shape != actual.shape) {
    return Error{ErrorCode::kInvalid,
                 TensorType(actual.dtype, Shape::of(actual.shape)).text() + " compared with " +
                     TensorType(expected.dtype, Shape::of(expected.shape)).text(),
                 ""};
  }
  for (const TensorView* view : {&expected, &actual}) {
    if (!view->strides.empty() || view->device.kind != DeviceKind::kCpu) {
      return Error{ErrorCode::kUnsupported, "only packed host tensors are compared", ""};
    }
  }
  return {};
}

Comparison compare_bytes(const TensorView& expected, const TensorView& actual) {
  Comparison result;
  result.elements = expected.elements();
  const auto* a = expected.as<const char>();
  const auto* b = actual.as<const char>();
  const int64_t bytes = expected.bytes();
  const int64_t width = std::max<int64_t>(1, dtype_bits(expected.dtype) / 8);
  bool varies = false;
  result.verdict = CheckVerdict::kPassed;
  for (int64_t i = 0; i < bytes; ++i) {
    varies = varies || a[i] != a[i % width];
    if (a[i] != b[i] && result.worst_index < 0) {
      result.verdict = CheckVerdict::kFailed;
      result.worst_index = i / width;
      result.max_abs_error = std::numeric_limits<double>::infinity();
      result.max_rel_error = std::numeric_limits<double>::infinity();
    }
  }
  if (result.verdict == CheckVerdict::kPassed && !varies) result.verdict = CheckVerdict::kUntrusted;
  return result;
}

}  // namespace

std::string_view check_verdict_name(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kPassed:
      return "passed";
    case CheckVerdict::kFailed:
      return "failed";
    case CheckVerdict::kUntrusted:
      break;
  }
  return "untrusted";
}

double Tolerance::relative() const { return c * eps * std::sqrt(n); }

std::string Comparison::text() const {
  if (verdict == CheckVerdict::kUntrusted) {
    return "untrusted: a constant output would have passed too";
  }
  return fmt::format("{}: largest error {:.3g} at element {} of {}, allowed {:.3g}",
                     check_verdict_name(verdict), max_abs_error, worst_index, elements, allowed);
}

Result<Comparison> compare(const TensorView& expected, const TensorView& actual,
                           const Tolerance& tolerance) {
  ASSAY_TRY(check_comparable(expected, actual));
  if (!compares_by_value(expected.dtype)) return compare_bytes(expected, actual);
  Comparison result;
  result.elements = expected.elements();
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (int64_t i = 0; i < result.elements; ++i) {
    const double a = element(expected, i);
    const double b = element(actual, i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      result.verdict = CheckVerdict::kFailed;
      result.max_abs_error = std::numeric_limits<double>::quiet_NaN();
      result.max_rel_error = result.max_abs_error;
      result.worst_index = i;
      return result;
    }
    low = std::min(low, a);
    high = std::max(high, a);
    if (std::abs(a - b) > result.max_abs_error || result.worst_index < 0) {
      result.max_abs_error = std::abs(a - b);
      result.worst_index = i;
    }
  }
  if (result.elements == 0) return result;
  const double scale = std::max(std::abs(low), std::abs(high));
  result.allowed = tolerance.relative() * scale;
  result.max_rel_error = scale > 0 ? result.max_abs_error / scale : result.max_abs_error;
  if (result.max_abs_error > result.allowed) {
    result.verdict = CheckVerdict::kFailed;
  } else {
    // Had the other side written the middle of the range everywhere, would it have failed?
    const bool constant_passes = (high - low) / 2 <= result.allowed;
    result.verdict = constant_passes ? CheckVerdict::kUntrusted : CheckVerdict::kPassed;
  }
  return result;
}

double precision_eps(Precision precision) {
  switch (precision) {
    case Precision::kTF32:
    case Precision::kF16:
      return 0x1p-10;
    case Precision::kBF16:
      return 0x1p-7;
    case Precision::kInt8:
      return 0x1p-7;
    case Precision::kF32:
      break;
  }
  return 0x1p-23;
}

Result<Tolerance> graph_tolerance(const Graph& graph, Precision precision) {
  Tolerance tolerance;
  tolerance.eps = precision_eps(precision);
  double roundings = 0;
  for (const Node& node : graph.nodes()) {
    const TensorType& output = graph.value(node.outputs.front()).type;
    if (!output.known()) {
      return Error{ErrorCode::kUnsupported, "no tolerance without known shapes", node.name};
    }
    ASSAY_ASSIGN(const int64_t elements, output.shape->elements());
    const double reduced =
        node_cost(graph, node).macs / static_cast<double>(std::max<int64_t>(1, elements));
    roundings += precision == Precision::kF32 ? std::max(1.0, reduced) : 1.0;
  }
  tolerance.n = std::max(1.0, roundings);
  return tolerance;
}

}  // namespace assay
