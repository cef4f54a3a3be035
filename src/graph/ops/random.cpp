// SPDX-License-Identifier: Apache-2.0
//
// RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial. Draws are counter-based:
// element i is a pure function of a key and i. The key is the optional last input (u32[2], a random
// key of the graph), else the bits of the attribute `seed`, else 0; so without a random key every
// run, and every pass of a loop, draws the same numbers.
#include "base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// ---- Shapes ----

Result<DType> wanted_dtype(const Attributes& attributes, std::string_view name, DType otherwise) {
  if (!attributes.has(name)) return otherwise;
  if (const auto dtype = dtype_from_onnx(attributes.integer(name))) return *dtype;
  return invalid("attribute '" + std::string(name) + "' is not the number of an element type");
}

Result<DType> floating_dtype(const Attributes& attributes, DType otherwise) {
  ASSAY_ASSIGN(const DType dtype, wanted_dtype(attributes, "dtype", otherwise));
  if (is_floating(dtype) && dtype_bits(dtype) >= 16) return dtype;
  return invalid("attribute 'dtype' must be a floating type of 16 bits or more");
}

Result<void> expect_key(const InferContext& context, size_t input) {
  ASSAY_TRY(expect_dtype(context, input, {DType::kU32}));
  return expect_vector(context, input, 2, "key");
}

Result<Types> infer_random(const InferContext& context) {
  ASSAY_TRY(expect_key(context, 0));
  ASSAY_ASSIGN(const DType dtype, floating_dtype(context.attributes, DType::kF32));
  Shape shape;
  for (const int64_t size : context.attributes.integers("shape")) {
    if (size < 0) return invalid("attribute 'shape' holds " + std::to_string(size));
    shape.append(size);
  }
  return Types{TensorType(dtype, std::move(shape))};
}

Result<Types> infer_random_like(const InferContext& context) {
  ASSAY_TRY(expect_key(context, 1));
  TensorType type = context.type(0);
  ASSAY_ASSIGN(type.dtype, floating_dtype(context.attributes, type.dtype));
  return Types{type};
}

Result<Types> infer_bernoulli(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_key(context, 1));
  TensorType type = context.type(0);
  ASSAY_ASSIGN(type.dtype, wanted_dtype(context.attributes, "dtype", type.dtype));
  if (dtype_bits(type.dtype) < 8 || is_8bit_floating(type.dtype)) {
    return Error{ErrorCode::kUnsupported, "attribute 'dtype' is a type of less than 16 bits"};
  }
  return Types{type};
}

Result<Types> infer_multinomial(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_rank(context, 0, 2));
  ASSAY_TRY(expect_key(context, 1));
  ASSAY_ASSIGN(const DType dtype, wanted_dtype(context.attributes, "dtype", DType::kI32));
  if (dtype != DType::kI32 && dtype != DType::kI64) {
    return invalid("attribute 'dtype' must be i32 or i64");
  }
  const int64_t samples = context.attributes.integer("sample_size");
  if (samples < 0) return invalid("attribute 'sample_size' is " + std::to_string(samples));
  const auto& x = context.type(0).shape;
  return Types{TensorType(dtype, Shape{x ? (*x)[0] : Dim(), samples})};
}

// ---- Kernels ----

class Draws {
 public:
  Draws(const KernelContext& context, size_t key_input) {
    if (context.has(key_input)) {
      const uint32_t* words = input_data<uint32_t>(context, key_input);
      key_ = words[0] | static_cast<uint64_t>(words[1]) << 32;
    } else if (context.attributes.has("seed")) {
      key_ = std::bit_cast<uint32_t>(context.attributes.number("seed"));
    }
  }
  // In (0, 1), from one block of Philox for each i.
  double uniform(uint64_t i) const { return fraction(block(i), 0); }
  double normal(uint64_t i) const {  // Box and Muller 1958
    const auto words = block(i);
    return std::sqrt(-2 * std::log(fraction(words, 0))) *
           std::cos(2 * std::numbers::pi * fraction(words, 2));
  }

 private:
  std::array<uint32_t, 4> block(uint64_t i) const {
    return philox4x32(key_, {static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), 0, 0});
  }
  static double fraction(const std::array<uint32_t, 4>& words, size_t first) {
    const uint64_t bits = words[first] | static_cast<uint64_t>(words[first + 1]) << 32;
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
  }
  uint64_t key_ = 0;
};

template <bool normal, size_t key_input>
Result<void> kernel_random(const KernelContext& context) {
  const Draws draws(context, key_input);
  const auto a = static_cast<double>(context.attributes.number(normal ? "mean" : "low"));
  const auto b = static_cast<double>(context.attributes.number(normal ? "scale" : "high"));
  return dispatch_floating(context.outputs[0].dtype(), [&]<class T>() {
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = static_cast<T>(normal ? a + b * draws.normal(i) : a + (b - a) * draws.uniform(i));
    }
  });
}

Result<void> kernel_bernoulli(const KernelContext& context) {
  const Draws draws(context, 1);
  ASSAY_ASSIGN(const std::vector<double> p, as_doubles(*context.inputs[0]));
  return dispatch_arithmetic(context.outputs[0].dtype(), [&]<class T>() {
    const auto y = context.outputs[0].values<T>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = draws.uniform(i) < p[i] ? T{1} : T{0};
  });
}

// The classes' unnormalised log-probabilities; a draw is where the cumulated ones pass a uniform.
Result<void> kernel_multinomial(const KernelContext& context) {
  const Draws draws(context, 1);
  ASSAY_ASSIGN(std::vector<double> weights, as_doubles(*context.inputs[0]));
  const auto classes = static_cast<size_t>(input_shape(context, 0)[1]);
  const auto samples = static_cast<size_t>(context.attributes.integer("sample_size"));
  if (classes == 0) return invalid("input 0 has no classes");
  return dispatch_arithmetic(context.outputs[0].dtype(), [&]<class T>() {
    const auto y = context.outputs[0].values<T>();
    for (size_t row = 0; row < y.size() / std::max<size_t>(samples, 1); ++row) {
      const std::span<double> row_weights(weights.data() + row * classes, classes);
      const double largest = *std::ranges::max_element(row_weights);
      double total = 0;
      for (double& weight : row_weights) weight = total += std::exp(weight - largest);
      for (size_t i = row * samples; i < (row + 1) * samples; ++i) {
        const auto at = std::ranges::upper_bound(row_weights, draws.uniform(i) * total);
        y[i] = static_cast<T>(
            std::min<ptrdiff_t>(at - row_weights.begin(), static_cast<ptrdiff_t>(classes) - 1));
      }
    }
  });
}

// Random bits are not counted; what is made of them is.
template <int flops, int transcendentals>
Cost cost_random(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = flops * context.output_elements(0);
  cost.transcendentals = transcendentals * context.output_elements(0);
  return cost;
}

// A Like form reads only the shape.
template <int flops, int transcendentals>
Cost cost_random_like(const CostContext& context) {
  Cost cost = cost_random<flops, transcendentals>(context);
  cost.read_bytes = 0;
  return cost;
}

Cost cost_multinomial(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 3 * context.input_elements(0) + context.output_elements(0);
  cost.transcendentals = context.input_elements(0);
  return cost;
}

}  // namespace

void add_random_ops(OpTable& table) {
  const auto add = [&](const char* type, int version, size_t min_inputs,
                       std::vector<AttributeSpec> attributes, InferFunction infer,
                       CostFunction cost, KernelFunction kernel) {
    attributes.push_back({"seed", AttributeType::kFloat, {}});
    table.add({.type = type,
               .since_version = version,
               .min_inputs = min_inputs,
               .max_inputs = min_inputs + 1,
               .attributes = std::move(attributes),
               .infer = infer,
               .cost = cost,
               .kernel = kernel,
               .is_random = true,
               .note = "counter-based; an extra last input u32[2] is the key"});
  };
  const AttributeSpec dtype{"dtype", AttributeType::kInt, {}};
  const AttributeSpec shape{"shape", AttributeType::kInts, {}, true};
  const std::vector<AttributeSpec> normal{
      dtype, {"mean", AttributeType::kFloat, 0.0f}, {"scale", AttributeType::kFloat, 1.0f}};
  const std::vector<AttributeSpec> uniform{
      dtype, {"low", AttributeType::kFloat, 0.0f}, {"high", AttributeType::kFloat, 1.0f}};
  const auto with_shape = [&](std::vector<AttributeSpec> specs) {
    specs.push_back(shape);
    return specs;
  };
  add("RandomNormal", 1, 0, with_shape(normal), infer_random, cost_random<5, 3>,
      widen16<kernel_random<true, 0>>);
  add("RandomUniform", 1, 0, with_shape(uniform), infer_random, cost_random<2, 0>,
      widen16<kernel_random<false, 0>>);
  add("RandomNormalLike", 1, 1, normal, infer_random_like, cost_random_like<5, 3>,
      widen16<kernel_random<true, 1>>);
  add("RandomUniformLike", 1, 1, uniform, infer_random_like, cost_random_like<2, 0>,
      widen16<kernel_random<false, 1>>);
  add("Bernoulli", 15, 1, {dtype}, infer_bernoulli, cost_random<1, 0>, widen16<kernel_bernoulli>);
  add("Multinomial", 7, 1, {dtype, {"sample_size", AttributeType::kInt, int64_t{1}}},
      infer_multinomial, cost_multinomial, kernel_multinomial);
}

}  // namespace assay
