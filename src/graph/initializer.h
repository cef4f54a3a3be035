// SPDX-License-Identifier: Apache-2.0
//
// How a parameter gets its first value. Weights need not exist to be counted; when they are wanted,
// materialize() draws them from a key derived from the seed and the parameter's name, so the same
// seed gives the same weights in every engine.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace assay {

enum class InitializerKind : uint8_t { kConstant, kUniform, kNormal, kTruncatedNormal, kGiven };

struct Initializer {
  InitializerKind kind = InitializerKind::kConstant;
  float a = 0;   // constant: the value; uniform: low; normal: mean
  float b = 0;   // uniform: high; normal: standard deviation (truncated at two of them)
  Tensor given;  // kGiven: trained weights read from a file, perhaps not aligned

  static Initializer constant(float value);
  static Initializer zeros() { return constant(0); }
  static Initializer ones() { return constant(1); }
  static Initializer uniform(float low, float high);
  static Initializer normal(float mean, float deviation);
  static Initializer truncated_normal(float mean, float deviation);
  // He et al. 2015, "Delving deep into rectifiers": normal with variance 2 / fan_out of a
  // convolution weight [out, in/groups, kernel...].
  static Initializer he_normal_fan_out(const Shape& weight);
  // Uniform within 1 / sqrt(fan_in), what PyTorch's Linear and Conv do by default.
  static Initializer uniform_fan_in(int64_t fan_in);
  static Initializer of(Tensor values);

  std::string text() const;  // "normal(0, 0.05)"
};

// A tensor of `type` (which must be known), drawn with key.derive(name).
Result<Tensor> materialize(const Initializer& initializer, const TensorType& type, RandomKey key,
                           std::string_view name);

}  // namespace assay
