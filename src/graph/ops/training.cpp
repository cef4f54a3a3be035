// SPDX-License-Identifier: Apache-2.0
//
// assay.Dropout, assay.StopGradient: what only training needs.
#include "base/random.h"
#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

Result<Types> infer_dropout(const InferContext& context) {
  ASSAY_TRY(expect_floating(context, 0));
  ASSAY_TRY(expect_dtype(context, 1, {DType::kU32}));
  ASSAY_TRY(expect_vector(context, 1, 2, "key"));
  const float ratio = context.attributes.number("ratio");
  if (!(ratio >= 0 && ratio < 1)) return invalid("attribute 'ratio' is outside [0, 1)");
  return Types{context.type(0)};
}

// A comparison and a multiplication; the random bits are not counted.
Cost cost_dropout(const CostContext& context) {
  Cost cost = context.operand_bytes();
  cost.flops = 2 * context.output_elements(0);
  return cost;
}

// Element i is kept iff the upper 24 bits of word i % 4 of philox(key, {i / 4, 0, 0}), as a
// fraction of 2^24, are at least `ratio`; what is kept is multiplied by 1 / (1 - ratio).
Result<void> kernel_dropout(const KernelContext& context) {
  const uint32_t* words = input_data<uint32_t>(context, 1);
  const uint64_t key = words[0] | static_cast<uint64_t>(words[1]) << 32;
  const float ratio = context.attributes.number("ratio");
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    const auto x = context.inputs[0]->values<T>();
    const auto y = context.outputs[0].values<T>();
    const T scale = T{1} / (T{1} - static_cast<T>(ratio));
    std::array<uint32_t, 4> bits{};
    for (size_t i = 0; i < x.size(); ++i) {
      if (i % 4 == 0) {
        const uint64_t block = i / 4;
        bits = philox4x32(key,
                          {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0});
      }
      const float uniform = static_cast<float>(bits[i % 4] >> 8) * 0x1p-24f;
      y[i] = uniform >= ratio ? x[i] * scale : T{0};
    }
  });
}

}  // namespace

void add_training_ops(OpTable& table) {
  table.add({.domain = "assay",
             .type = "Dropout",
             .min_inputs = 2,
             .max_inputs = 2,
             .attributes = {{"ratio", AttributeType::kFloat, 0.5f}},
             .infer = infer_dropout,
             .cost = cost_dropout,
             .kernel = widen16<kernel_dropout>,
             .note = "inputs x and a key u32[2]; counter-based, so every engine draws one mask"});
  table.add({.domain = "assay",
             .type = "StopGradient",
             .min_inputs = 1,
             .max_inputs = 1,
             .infer = infer_same,
             .kernel = copy_bytes,
             .is_view = true,
             .note = "the identity; gradients end here"});
}

}  // namespace assay
