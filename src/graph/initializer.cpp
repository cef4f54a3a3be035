// SPDX-License-Identifier: Apache-2.0
#include "graph/initializer.h"

#include <cmath>
#include <type_traits>

#include "base/text.h"

namespace assay {

Initializer Initializer::constant(float value) {
  return {InitializerKind::kConstant, value, 0, {}};
}

Initializer Initializer::uniform(float low, float high) {
  return {InitializerKind::kUniform, low, high, {}};
}

Initializer Initializer::normal(float mean, float deviation) {
  return {InitializerKind::kNormal, mean, deviation, {}};
}

Initializer Initializer::truncated_normal(float mean, float deviation) {
  return {InitializerKind::kTruncatedNormal, mean, deviation, {}};
}

Initializer Initializer::he_normal_fan_out(const Shape& weight) {
  ASSAY_ASSERT(weight.rank() >= 2 && weight.known(), "a convolution weight has rank 2 or more");
  double fan_out = static_cast<double>(weight[0].size());
  for (size_t i = 2; i < weight.rank(); ++i) fan_out *= static_cast<double>(weight[i].size());
  return normal(0, static_cast<float>(std::sqrt(2 / fan_out)));
}

Initializer Initializer::uniform_fan_in(int64_t fan_in) {
  ASSAY_ASSERT(fan_in > 0, "fan_in must be positive");
  const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(fan_in)));
  return uniform(-bound, bound);
}

Initializer Initializer::of(Tensor values) {
  return {InitializerKind::kGiven, 0, 0, std::move(values)};
}

std::string Initializer::text() const {
  const std::string first = shortest(static_cast<double>(a));
  const std::string second = shortest(static_cast<double>(b));
  switch (kind) {
    case InitializerKind::kConstant:
      return "constant(" + first + ")";
    case InitializerKind::kUniform:
      return "uniform(" + first + ", " + second + ")";
    case InitializerKind::kNormal:
      return "normal(" + first + ", " + second + ")";
    case InitializerKind::kTruncatedNormal:
      return "truncated_normal(" + first + ", " + second + ")";
    case InitializerKind::kGiven:
      return "given";
  }
  return "";
}

namespace {

double draw(const Initializer& initializer, RandomStream& stream) {
  const auto a = static_cast<double>(initializer.a);
  const auto b = static_cast<double>(initializer.b);
  switch (initializer.kind) {
    case InitializerKind::kUniform:
      return stream.uniform(a, b);
    case InitializerKind::kNormal:
      return a + b * stream.normal();
    case InitializerKind::kTruncatedNormal: {
      double z = stream.normal();
      while (std::abs(z) > 2) z = stream.normal();
      return a + b * z;
    }
    default:
      return a;
  }
}

template <class T, class Convert>
void fill(Tensor& tensor, const Initializer& initializer, RandomStream stream, Convert convert) {
  for (T& element : tensor.values<T>()) element = convert(draw(initializer, stream));
}

template <class T>
void fill(Tensor& tensor, const Initializer& initializer, const RandomStream& stream) {
  fill<T>(tensor, initializer, stream, [](double value) { return static_cast<T>(value); });
}

Result<Tensor> given_values(const Initializer& initializer, const TensorType& type,
                            std::string_view name) {
  if (initializer.given.type() != type) {
    return Error{ErrorCode::kInvalid,
                 "given values have type " + initializer.given.type().text() +
                     " where the parameter has " + type.text(),
                 std::string(name)};
  }
  return initializer.given.aligned();
}

}  // namespace

Result<Tensor> materialize(const Initializer& initializer, const TensorType& type, RandomKey key,
                           std::string_view name) {
  if (auto bytes = type.bytes(); !bytes.ok()) return Error(bytes.error());
  if (initializer.kind == InitializerKind::kGiven) return given_values(initializer, type, name);
  Tensor tensor = Tensor::allocate(type.dtype, type.shape->sizes());
  const RandomStream stream(key.derive(name));
  switch (type.dtype) {
    case DType::kF32:
      fill<float>(tensor, initializer, stream);
      return tensor;
    case DType::kF64:
      fill<double>(tensor, initializer, stream);
      return tensor;
    case DType::kBF16:
      fill<uint16_t>(tensor, initializer, stream,
                     [](double value) { return f32_to_bf16(static_cast<float>(value)); });
      return tensor;
    case DType::kF16:
      fill<uint16_t>(tensor, initializer, stream,
                     [](double value) { return f32_to_f16(static_cast<float>(value)); });
      return tensor;
    case DType::kI64:
      fill<int64_t>(tensor, initializer, stream);
      return tensor;
    case DType::kI32:
      fill<int32_t>(tensor, initializer, stream);
      return tensor;
    default:
      return Error{ErrorCode::kUnsupported,
                   "no initialiser for element type " + std::string(dtype_name(type.dtype)),
                   std::string(name)};
  }
}

}  // namespace assay
