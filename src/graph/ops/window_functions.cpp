// SPDX-License-Identifier: Apache-2.0
//
// BlackmanWindow, HammingWindow, HannWindow, MelWeightMatrix: tables that signal processing
// multiplies by.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

constexpr int64_t kLargestTable = int64_t{1} << 32;

Result<DType> table_dtype(const Attributes& attributes) {
  const auto dtype = dtype_from_onnx(attributes.integer("output_datatype"));
  if (dtype && dtype_bits(*dtype) >= 8 && *dtype != DType::kBool && !is_8bit_floating(*dtype)) {
    return *dtype;
  }
  return invalid("attribute 'output_datatype' is not the number of a numeric type");
}

// ---- Windows ----

Result<Types> infer_window(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kI32, DType::kI64}));
  ASSAY_ASSIGN(const DType dtype, table_dtype(context.attributes));
  Dim size;
  if (const auto given = constant_integers(context, 0)) {
    if (given->size() != 1 || given->front() < 0 || given->front() > kLargestTable) {
      return invalid("input 0 (size) is not one size");
    }
    size = given->front();
  }
  return Types{TensorType(dtype, Shape{size})};
}

// a0 - a1 cos(x) + a2 cos(2 x) with x = 2 pi n / N.
struct CosineSum {
  double a0, a1, a2;
};
constexpr CosineSum kBlackman{0.42, 0.5, 0.08};
constexpr CosineSum kHamming{25.0 / 46.0, 21.0 / 46.0, 0};
constexpr CosineSum kHann{0.5, 0.5, 0};

template <const CosineSum& window>
Result<void> kernel_window(const KernelContext& context) {
  return dispatch_arithmetic(context.outputs[0].dtype(), [&]<class T>() {
    const auto y = context.outputs[0].values<T>();
    const bool periodic = context.attributes.integer("periodic") != 0;
    const size_t period = std::max<size_t>(periodic ? y.size() : y.size() - 1, 1);
    for (size_t i = 0; i < y.size(); ++i) {
      const double x = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
      y[i] = from_double<T>(window.a0 - window.a1 * std::cos(x) + window.a2 * std::cos(2 * x));
    }
  });
}

// An argument (2), and for each cosine a product and a sum.
template <int cosines>
Cost cost_window(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = (2 + 2 * cosines) * context.output_elements(0);
  cost.transcendentals = cosines * context.output_elements(0);
  return cost;
}

// ---- MelWeightMatrix ----

Result<Types> infer_mel(const InferContext& context) {
  for (size_t i = 0; i < 3; ++i) ASSAY_TRY(expect_dtype(context, i, {DType::kI32, DType::kI64}));
  for (size_t i = 3; i < 5; ++i) ASSAY_TRY(expect_floating(context, i));
  ASSAY_ASSIGN(const DType dtype, table_dtype(context.attributes));
  const auto size = [&](size_t input) -> Result<Dim> {
    const auto given = constant_integers(context, input);
    if (!given) return Dim();
    if (given->size() == 1 && given->front() >= 0 && given->front() <= kLargestTable) {
      return Dim(given->front());
    }
    return invalid("input " + std::to_string(input) + " is not one size");
  };
  ASSAY_ASSIGN(const Dim mels, size(0));
  ASSAY_ASSIGN(const Dim length, size(1));
  return Types{
      TensorType(dtype, Shape{length.known() ? Dim(length.size() / 2 + 1) : length, mels})};
}

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Spectrogram bins at which the triangles begin, peak and end: equal steps on the mel scale.
Result<Sizes> mel_bins(const KernelContext& context, int64_t mels, int64_t bins) {
  ASSAY_ASSIGN(const std::vector<double> length, as_doubles(*context.inputs[1]));
  ASSAY_ASSIGN(const std::vector<double> rate, as_doubles(*context.inputs[2]));
  ASSAY_ASSIGN(const std::vector<double> lower, as_doubles(*context.inputs[3]));
  ASSAY_ASSIGN(const std::vector<double> upper, as_doubles(*context.inputs[4]));
  if (rate.size() != 1 || lower.size() != 1 || upper.size() != 1 || !(rate[0] > 0)) {
    return invalid("the sample rate and the edges must be one number each");
  }
  const double low = mel_of(lower[0]);
  const double step = (mel_of(upper[0]) - low) / static_cast<double>(mels + 2);
  Sizes edges;
  for (int64_t i = 0; i < mels + 2; ++i) {
    const double hertz = hertz_of(static_cast<double>(i) * step + low);
    const double bin = std::floor((length[0] + 1) * hertz / rate[0]);
    if (!(bin >= 0 && bin < static_cast<double>(bins))) {
      return invalid("the edges lie outside the spectrum");
    }
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

Result<void> kernel_mel(const KernelContext& context) {
  const int64_t bins = output_shape(context, 0)[0];
  const int64_t mels = output_shape(context, 0)[1];
  ASSAY_ASSIGN(const Sizes edges, mel_bins(context, mels, bins));
  std::vector<double> weights(static_cast<size_t>(bins * mels), 0.0);
  const auto at = [&](int64_t bin, int64_t mel) -> double& {
    return weights[static_cast<size_t>(bin * mels + mel)];
  };
  for (int64_t i = 0; i < mels; ++i) {
    const int64_t begin = edges[static_cast<size_t>(i)];
    const int64_t peak = edges[static_cast<size_t>(i) + 1];
    const int64_t end = edges[static_cast<size_t>(i) + 2];
    if (peak == begin) at(peak, i) = 1;
    for (int64_t j = begin; peak > begin && j <= peak; ++j) {
      at(j, i) = static_cast<double>(j - begin) / static_cast<double>(peak - begin);
    }
    for (int64_t j = peak; j < end; ++j) {
      at(j, i) = static_cast<double>(end - j) / static_cast<double>(end - peak);
    }
  }
  return dispatch_arithmetic(context.outputs[0].dtype(), [&]<class T>() {
    std::ranges::transform(weights, output_data<T>(context, 0), from_double<T>);
  });
}

}  // namespace

void add_window_function_ops(OpTable& table) {
  const AttributeSpec dtype{"output_datatype", AttributeType::kInt, int64_t{1}};
  const AttributeSpec periodic{"periodic", AttributeType::kInt, int64_t{1}};
  const auto add = [&](const char* type, CostFunction cost, KernelFunction kernel) {
    table.add({.type = type,
               .since_version = 17,
               .min_inputs = 1,
               .max_inputs = 1,
               .attributes = {dtype, periodic},
               .infer = infer_window,
               .cost = cost,
               .kernel = kernel});
  };
  add("BlackmanWindow", cost_window<2>, widen16<kernel_window<kBlackman>>);
  add("HammingWindow", cost_window<1>, widen16<kernel_window<kHamming>>);
  add("HannWindow", cost_window<1>, widen16<kernel_window<kHann>>);
  table.add({.type = "MelWeightMatrix",
             .since_version = 17,
             .min_inputs = 5,
             .max_inputs = 5,
             .attributes = {dtype},
             .infer = infer_mel,
             .kernel = widen16<kernel_mel>});
}

}  // namespace assay
