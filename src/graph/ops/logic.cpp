// SPDX-License-Identifier: Apache-2.0
//
// Comparisons, logic of bools, operations on bits, and Where.
#include <algorithm>
#include <limits>

#include "graph/ops/families.h"
#include "graph/ops/pointwise.h"

namespace assay {
namespace {

// ---- Shapes ----

Result<Types> infer_equal(const InferContext& context) {
  if (context.type(0).dtype != DType::kBool) return infer_comparison(context);
  ASSAY_TRY(expect_same_dtype(context, 0, 1));
  return infer_broadcast(context, DType::kBool);
}

Result<Types> infer_bools(const InferContext& context) {
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    ASSAY_TRY(expect_dtype(context, i, {DType::kBool}));
  }
  return infer_broadcast(context, DType::kBool);
}

Result<Types> infer_integers(const InferContext& context) {
  if (!is_integer(context.type(0).dtype)) {
    ASSAY_TRY(expect_dtype(context, 0, {DType::kI8, DType::kI16, DType::kI32, DType::kI64}));
  }
  return infer_arithmetic(context);
}

Result<Types> infer_shift(const InferContext& context) {
  const std::string& direction = context.attributes.string("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    return invalid("attribute 'direction' is '" + direction + "', not LEFT or RIGHT");
  }
  ASSAY_TRY(expect_dtype(context, 0, {DType::kU8, DType::kU16, DType::kU32, DType::kU64}));
  return infer_arithmetic(context);
}

Result<Types> infer_where(const InferContext& context) {
  ASSAY_TRY(expect_dtype(context, 0, {DType::kBool}));
  ASSAY_TRY(expect_same_dtype(context, 1, 2));
  return infer_broadcast(context, context.type(1).dtype);
}

// ---- Kernels ----

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

// Bools are 0 or 1, so one functor serves logic and bits.
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

// All bits are alike in signed and unsigned integers of one width.
template <class F>
Result<void> kernel_bits(const KernelContext& context) {
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    combine<F, T, T>(*context.inputs[0], *context.inputs[1], context.outputs[0]);
  });
}

Result<void> kernel_not(const KernelContext& context) {
  const auto x = context.inputs[0]->values<uint8_t>();
  std::ranges::transform(x, context.outputs[0].values<uint8_t>().begin(),
                         [](uint8_t value) { return static_cast<uint8_t>(value == 0); });
  return {};
}

Result<void> kernel_bitwise_not(const KernelContext& context) {
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    std::ranges::transform(context.inputs[0]->values<T>(), output_data<T>(context, 0),
                           [](T value) { return static_cast<T>(~value); });
  });
}

// Bits that are shifted out are gone, all of them where the shift is as wide as the type.
struct Shift {
  bool left;
  template <class T>
  T operator()(T a, T b) const {
    if (b >= std::numeric_limits<T>::digits) return T{0};
    return left ? static_cast<T>(a << b) : static_cast<T>(a >> b);
  }
};

Result<void> kernel_shift(const KernelContext& context) {
  const Shift shift{context.attributes.string("direction") == "LEFT"};
  return dispatch_width(context.inputs[0]->dtype(), [&]<class T>() {
    combine<Shift, T, T>(*context.inputs[0], *context.inputs[1], context.outputs[0], shift);
  });
}

Result<void> kernel_where(const KernelContext& context) {
  const Sizes& shape = output_shape(context, 0);
  const uint8_t* condition = input_data<uint8_t>(context, 0);
  return dispatch_width(context.inputs[1]->dtype(), [&]<class T>() {
    const T* yes = input_data<T>(context, 1);
    const T* no = input_data<T>(context, 2);
    T* out = output_data<T>(context, 0);
    walk<3>(shape,
            {broadcast_strides(input_shape(context, 0), shape),
             broadcast_strides(input_shape(context, 1), shape),
             broadcast_strides(input_shape(context, 2), shape)},
            [&](int64_t i, const std::array<int64_t, 3>& at) {
              out[i] = condition[at[0]] != 0 ? yes[at[1]] : no[at[2]];
            });
  });
}

struct Logic {
  const char* type;
  int version;
  size_t inputs;
  InferFunction infer;
  CostFunction cost;
  KernelFunction kernel;
  std::vector<AttributeSpec> attributes = {};
};

template <class F>
Logic comparison(const char* type, int version, InferFunction infer = infer_comparison) {
  return {type, version, 2, infer, cost_operands, widen16<kernel_comparison<F>>};
}

}  // namespace

void add_logic_ops(OpTable& table) {
  const std::vector<Logic> entries{
      comparison<Equal>("Equal", 19, infer_equal),
      comparison<Greater>("Greater", 13),
      comparison<GreaterOrEqual>("GreaterOrEqual", 16),
      comparison<Less>("Less", 13),
      comparison<LessOrEqual>("LessOrEqual", 16),
      {"And", 7, 2, infer_bools, nullptr, kernel_bits<And>},
      {"Or", 7, 2, infer_bools, nullptr, kernel_bits<Or>},
      {"Xor", 7, 2, infer_bools, nullptr, kernel_bits<Xor>},
      {"Not", 1, 1, infer_bools, nullptr, kernel_not},
      {"BitwiseAnd", 18, 2, infer_integers, nullptr, kernel_bits<And>},
      {"BitwiseOr", 18, 2, infer_integers, nullptr, kernel_bits<Or>},
      {"BitwiseXor", 18, 2, infer_integers, nullptr, kernel_bits<Xor>},
      {"BitwiseNot", 18, 1, infer_integers, nullptr, kernel_bitwise_not},
      {"BitShift",
       11,
       2,
       infer_shift,
       nullptr,
       kernel_shift,
       {{"direction", AttributeType::kString, {}, true}}},
      {"Where", 16, 3, infer_where, nullptr, kernel_where},
  };
  for (const Logic& e : entries) {
    table.add({.type = e.type,
               .since_version = e.version,
               .min_inputs = e.inputs,
               .max_inputs = e.inputs,
               .attributes = e.attributes,
               .infer = e.infer,
               .cost = e.cost,
               .kernel = e.kernel});
  }
}

}  // namespace assay
