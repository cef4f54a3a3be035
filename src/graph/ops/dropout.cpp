// SPDX-License-Identifier: Apache-2.0
//
// Dropout of ONNX models: the identity unless its input training_mode is true. Our own networks use
// assay.Dropout, whose mask every engine draws alike. Source: ONNX operator Dropout 13.
#include <cstring>

#include "base/random.h"
#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"
#include "graph/ops/quantized.h"

namespace assay {
namespace {

// Inputs x, ratio (0.5 when omitted), training_mode (false when omitted); output 1 is the mask.
Result<Types> infer_dropout(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_floating(context, 1));
  ASSAY_TRY(expect_dtype(context, 2, {DType::kBool}));
  ASSAY_TRY(expect_one(context, 1, "ratio"));
  ASSAY_TRY(expect_one(context, 2, "training_mode"));
  TensorType mask = context.type(0);
  mask.dtype = DType::kBool;
  return Types{context.type(0), mask};
}

// In training a comparison and a product; the random bits are not counted. Whether it trains is
// data: counted unless it is a constant that says otherwise.
Cost cost_dropout(const CostContext& context) {
  Cost cost = context.operand_bytes();
  const Tensor* mode = context.constants.size() > 2 ? context.constants[2] : nullptr;
  const bool trains = context.has(2) && (mode == nullptr || mode->values<uint8_t>()[0] != 0);
  cost.flops = trains ? 2 * context.output_elements(0) : 0;
  return cost;
}

// Element i is kept iff a uniform number of word i % 4 of philox(seed, i / 4) is at least `ratio`.
bool is_kept(uint64_t seed, size_t i, double ratio) {
  const uint64_t block = i / 4;
  const auto bits =
      philox4x32(seed, {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0});
  return static_cast<double>(bits[i % 4] >> 8) * 0x1p-24 >= ratio;
}

Result<void> kernel_dropout(const KernelContext& context) {
  const bool trains = context.has(2) && context.inputs[2]->values<uint8_t>()[0] != 0;
  double ratio = 0.5;
  if (context.has(1)) {
    ASSAY_ASSIGN(const std::vector<double> given, as_doubles(*context.inputs[1]));
    ratio = given.front();
  }
  if (!(ratio >= 0 && ratio < 1)) return invalid("input 1 (ratio) is outside [0, 1)");
  const uint64_t seed = context.attributes.has("seed")
                            ? static_cast<uint64_t>(context.attributes.integer("seed"))
                            : 0;
  const bool draws = trains && ratio > 0;
  uint8_t* mask = context.outputs.size() > 1 ? output_data<uint8_t>(context, 1) : nullptr;
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    T* y = output_data<T>(context, 0);
    for (size_t i = 0; i < x.size(); ++i) {
      const bool kept = !draws || is_kept(seed, i, ratio);
      if (mask != nullptr) mask[i] = kept ? 1 : 0;
      y[i] = !draws ? x[i] : kept ? static_cast<T>(static_cast<double>(x[i]) / (1 - ratio)) : T{0};
    }
  });
}

}  // namespace

void add_dropout_ops(OpTable& table) {
  table.add({.type = "Dropout",
             .since_version = 13,
             .min_inputs = 1,
             .max_inputs = 3,
             .max_outputs = 2,
             .attributes = {{"seed", AttributeType::kInt, {}}},
             .infer = infer_dropout,
             .cost = cost_dropout,
             .kernel = widen16<kernel_dropout>,
             .is_random = true,
             .note = "in training the mask comes from a counter-based generator and attribute seed "
                     "(0 when absent)"});
}

}  // namespace assay
