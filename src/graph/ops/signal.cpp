// SPDX-License-Identifier: Apache-2.0
//
// DFT, STFT: discrete Fourier transforms, by the definition.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

using Complex = std::complex<double>;

// The one number of a constant scalar input; nothing when it is omitted or not constant.
Result<std::optional<int64_t>> constant_scalar(const InferContext& context, size_t input,
                                               const char* name) {
  ASSAY_TRY(expect_dtype(context, input, {DType::kI32, DType::kI64}));
  const auto values = constant_integers(context, input);
  if (!values) return std::optional<int64_t>();
  if (values->size() != 1) {
    return invalid("input " + std::to_string(input) + " (" + name + ") is not one number");
  }
  return std::optional<int64_t>(values->front());
}

Result<int64_t> scalar_of(const KernelContext& context, size_t input) {
  ASSAY_ASSIGN(const Sizes values, as_integers(*context.inputs[input]));
  if (values.size() != 1) return invalid("input " + std::to_string(input) + " is not one number");
  return values[0];
}

// Element `i` of data that is real (parts = 1) or complex (parts = 2).
template <class T>
Complex element(const T* data, int64_t i, int64_t parts) {
  if (parts == 1) return static_cast<double>(data[i]);
  return {static_cast<double>(data[2 * i]), static_cast<double>(data[2 * i + 1])};
}

// Roots of unity: exp(sign 2 pi i k / n) for k in [0, n).
std::vector<Complex> roots(int64_t n, double sign) {
  std::vector<Complex> all;
  for (int64_t k = 0; k < n; ++k) {
    const double angle =
        sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    all.emplace_back(std::cos(angle), std::sin(angle));
  }
  return all;
}

// sum over j of line[j] root^(j k); `line` may be shorter than the transform: the rest is 0.
Complex transformed(const std::vector<Complex>& line, const std::vector<Complex>& unity,
                    int64_t k) {
  Complex sum = 0;
  const size_t n = unity.size();
  size_t power = 0;
  for (const Complex& value : line) {
    sum += value * unity[power];
    power = (power + static_cast<size_t>(k)) % n;
  }
  return sum;
}

// Cooley and Tukey 1965: 5 n log2 n FLOPs for n complex numbers, half of that for real ones.
double transform_flops(double lines, double n, bool real) {
  return n < 2 ? 0 : lines * 5 * n * std::log2(n) * (real ? 0.5 : 1);
}

Result<Dim> last_dim(const Shape& shape) {
  const Dim& parts = shape[shape.rank() - 1];
  if (!parts.known() || parts.size() == 1 || parts.size() == 2) return parts;
  return invalid("input 0 has shape " + shape.text() + ", whose last dimension is not 1 or 2");
}

Dim bins_of(const Dim& length, bool onesided) {
  return onesided && length.known() ? Dim(length.size() / 2 + 1) : onesided ? Dim() : length;
}

// ---- DFT ----

Result<Types> infer_dft(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  const DType dtype = context.type(0).dtype;
  const bool onesided = context.attributes.integer("onesided") != 0;
  if (onesided && context.attributes.integer("inverse") != 0) {
    return Error{ErrorCode::kUnsupported, "attributes 'onesided' and 'inverse' together"};
  }
  ASSAY_ASSIGN(const auto length, constant_scalar(context, 1, "dft_length"));
  ASSAY_ASSIGN(const auto given_axis, constant_scalar(context, 2, "axis"));
  if (!context.type(0).shape) return Types{TensorType::unranked(dtype)};
  Shape y = *context.type(0).shape;
  if (y.rank() < 2) return invalid("input 0 has shape " + y.text());
  ASSAY_TRY(last_dim(y));
  y[y.rank() - 1] = 2;
  if (context.has(2) && !given_axis) {
    for (size_t i = 0; i + 1 < y.rank(); ++i) y[i] = Dim();
    return Types{TensorType(dtype, std::move(y))};
  }
  ASSAY_ASSIGN(const size_t axis, normalized_axis(given_axis.value_or(-2), y.rank()));
  if (axis + 1 == y.rank()) return invalid("input 2 (axis) is the last one");
  if (length && *length < 1) {
    return invalid("input 1 (dft_length) is " + std::to_string(*length));
  }
  const Dim n = length ? Dim(*length) : context.has(1) ? Dim() : y[axis];
  y[axis] = bins_of(n, onesided);
  return Types{TensorType(dtype, std::move(y))};
}

Cost cost_dft(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Tensor* given = context.constants.size() > 2 ? context.constants[2] : nullptr;
  const Shape& x = *context.inputs[0]->shape;
  int64_t axis = static_cast<int64_t>(x.rank()) - 2;
  if (given != nullptr) {
    const auto values = as_integers(*given);
    if (values.ok() && values->size() == 1) axis = (*values)[0];
  }
  const auto normal = normalized_axis(axis, x.rank());
  if (!normal.ok()) return cost;
  const bool onesided = context.attributes.integer("onesided") != 0;
  const auto bins = static_cast<double>((*context.outputs[0]->shape)[*normal].size());
  // A one-sided transform of n has n / 2 + 1 bins; n is taken as even.
  const double n = onesided ? 2 * (bins - 1) : bins;
  const double lines = bins == 0 ? 0 : context.output_elements(0) / 2 / bins;
  cost.flops = transform_flops(lines, n, x[x.rank() - 1].size() == 1);
  return cost;
}

Result<void> kernel_dft(const KernelContext& context) {
  const Sizes& in = input_shape(context, 0);
  const Sizes& out = output_shape(context, 0);
  int64_t given_axis = -2;
  if (context.has(2)) {
    ASSAY_ASSIGN(given_axis, scalar_of(context, 2));
  }
  ASSAY_ASSIGN(const size_t axis, normalized_axis(given_axis, in.size()));
  int64_t n = in[axis];
  if (context.has(1)) {
    ASSAY_ASSIGN(n, scalar_of(context, 1));
  }
  const int64_t parts = in.back();
  AxisView view = view_around(in, static_cast<int64_t>(axis));
  view.inner /= parts;  // counted in numbers, real or complex
  const int64_t bins = out[axis];
  const bool inverse = context.attributes.integer("inverse") != 0;
  const std::vector<Complex> unity = roots(n, inverse ? 1 : -1);
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    T* y = output_data<T>(context, 0);
    std::vector<Complex> line(static_cast<size_t>(std::min(n, view.size)));
    for (int64_t i = 0; i < view.outer * view.inner; ++i) {
      const int64_t outer = i / view.inner;
      const int64_t inner = i % view.inner;
      for (size_t j = 0; j < line.size(); ++j) {
        const int64_t row = outer * view.size + static_cast<int64_t>(j);
        line[j] = element(x, row * view.inner + inner, parts);
      }
      for (int64_t k = 0; k < bins; ++k) {
        const Complex value = transformed(line, unity, k) * scale;
        T* to = y + 2 * ((outer * bins + k) * view.inner + inner);
        to[0] = static_cast<T>(value.real());
        to[1] = static_cast<T>(value.imag());
      }
    }
  });
}

// ---- STFT ----

Result<Types> infer_stft(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_same_dtype(context, 0, 2));
  ASSAY_TRY(expect_rank(context, 0, 3));
  ASSAY_TRY(expect_rank(context, 2, 1));
  const DType dtype = context.type(0).dtype;
  ASSAY_ASSIGN(const auto step, constant_scalar(context, 1, "frame_step"));
  ASSAY_ASSIGN(const auto given, constant_scalar(context, 3, "frame_length"));
  if (!context.has(2) && !context.has(3)) return invalid("neither window nor frame_length given");
  if (step && *step < 1) return invalid("input 1 (frame_step) is " + std::to_string(*step));
  if (!context.type(0).shape) {
    return Types{TensorType(dtype, Shape{Dim(), Dim(), Dim(), 2})};
  }
  const Shape& x = *context.type(0).shape;
  ASSAY_TRY(last_dim(x));
  Dim length = given ? Dim(*given) : Dim();
  if (context.has(2) && context.type(2).shape) {
    const Dim& window = (*context.type(2).shape)[0];
    if (!may_equal(window, length)) {
      return invalid("a window of " + window.text() + " for frames of " + length.text());
    }
    if (!length.known()) length = window;
  }
  if (length.known() && length.size() < 1) {
    return invalid("input 3 (frame_length) is " + length.text());
  }
  Dim frames;
  if (step && length.known() && x[1].known()) {
    if (x[1].size() < length.size()) {
      return invalid("a signal of " + x[1].text() + " for frames of " + length.text());
    }
    frames = (x[1].size() - length.size()) / *step + 1;
  }
  const bool onesided = context.attributes.integer("onesided") != 0;
  return Types{TensorType(dtype, Shape{x[0], frames, bins_of(length, onesided), 2})};
}

// One transform a frame, and a multiplication with the window.
Cost cost_stft(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Shape& y = *context.outputs[0]->shape;
  const bool onesided = context.attributes.integer("onesided") != 0;
  const auto bins = static_cast<double>(y[2].size());
  const double n = onesided ? 2 * (bins - 1) : bins;
  const auto parts = static_cast<double>((*context.inputs[0]->shape)[2].size());
  const double frames = static_cast<double>(y[0].size()) * static_cast<double>(y[1].size());
  cost.flops = transform_flops(frames, n, parts == 1);
  if (context.has(2)) cost.flops += frames * n * parts;
  return cost;
}

Result<void> kernel_stft(const KernelContext& context) {
  const Sizes& in = input_shape(context, 0);
  const Sizes& out = output_shape(context, 0);
  ASSAY_ASSIGN(const int64_t step, scalar_of(context, 1));
  int64_t n = context.has(2) ? input_shape(context, 2)[0] : 0;
  if (context.has(3)) {
    ASSAY_ASSIGN(n, scalar_of(context, 3));
  }
  const std::vector<Complex> unity = roots(n, -1);
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const T* x = input_data<T>(context, 0);
    const T* window = context.has(2) ? input_data<T>(context, 2) : nullptr;
    T* y = output_data<T>(context, 0);
    std::vector<Complex> frame(static_cast<size_t>(n));
    for (int64_t i = 0; i < out[0] * out[1]; ++i) {
      const int64_t start = i / out[1] * in[1] + i % out[1] * step;
      for (int64_t j = 0; j < n; ++j) {
        const double weight = window == nullptr ? 1 : static_cast<double>(window[j]);
        frame[static_cast<size_t>(j)] = element(x, start + j, in[2]) * weight;
      }
      for (int64_t k = 0; k < out[2]; ++k) {
        const Complex value = transformed(frame, unity, k);
        *y++ = static_cast<T>(value.real());
        *y++ = static_cast<T>(value.imag());
      }
    }
  });
}

}  // namespace

void add_signal_ops(OpTable& table) {
  table.add({.type = "DFT",
             .since_version = 20,
             .min_inputs = 1,
             .max_inputs = 3,
             .attributes = {{"inverse", AttributeType::kInt, int64_t{0}},
                            {"onesided", AttributeType::kInt, int64_t{0}}},
             .infer = infer_dft,
             .cost = cost_dft,
             .kernel = widen16<kernel_dft>});
  table.add({.type = "STFT",
             .since_version = 17,
             .min_inputs = 2,
             .max_inputs = 4,
             .attributes = {{"onesided", AttributeType::kInt, int64_t{1}}},
             .infer = infer_stft,
             .cost = cost_stft,
             .kernel = widen16<kernel_stft>});
}

}  // namespace assay
