// SPDX-License-Identifier: Apache-2.0
//
// The worked examples of docs/method/cost.md for transposed, deformable and quantised convolutions,
// recurrent cells and interpolation, by hand.
#include <array>

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/operator.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

class OperatorCost : public testing::Test {
 protected:
  ValueId value(Shape shape, DType dtype = DType::kF32) {
    return builder_.input("x" + std::to_string(inputs_++), TensorType(dtype, std::move(shape)));
  }
  Cost of(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    builder_.add(type, std::move(inputs), std::move(attributes));
    return node_cost(builder_.peek(), builder_.peek().nodes().back());
  }

  GraphBuilder builder_{"cost"};
  int inputs_ = 0;
};

TEST_F(OperatorCost, TransposedConvolutionCountsFromItsInput) {
  const Cost cost = of("ConvTranspose", {value({1, 320, 8, 8, 8}), value({320, 256, 2, 2, 2})},
                       {{"strides", Ints{2, 2, 2}}});
  EXPECT_EQ(cost.macs, 335'544'320);
  EXPECT_EQ(cost.macs, 256.0 * 16 * 16 * 16 * 320);
}

TEST_F(OperatorCost, GradientsOfAConvolutionCostWhatItCosts) {
  const Attributes window{{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}};
  const Cost forward = of("Conv", {value({1, 3, 224, 224}), value({64, 3, 7, 7})}, window);
  const ValueId sizes = builder_.constant("sizes", Tensor::vector_i64(Ints{224, 224}));
  const Cost input = of("assay.ConvInputGradient",
                        {value({1, 64, 112, 112}), value({64, 3, 7, 7}), sizes}, window);
  Attributes with_kernel = window;
  with_kernel.set("kernel_shape", Ints{7, 7});
  const Cost weight = of("assay.ConvWeightGradient",
                         {value({1, 3, 224, 224}), value({1, 64, 112, 112})}, with_kernel);
  EXPECT_EQ(input.macs, forward.macs);
  EXPECT_EQ(weight.macs, forward.macs);
}

TEST_F(OperatorCost, DeformableConvolutionReadsEverySampleOnce) {
  const Cost cost = of("DeformConv",
                       {value({1, 32, 56, 56}), value({64, 32, 3, 3}), value({1, 18, 56, 56}),
                        kNoValue, value({1, 9, 56, 56})},
                       {{"pads", Ints{1, 1, 1, 1}}});
  EXPECT_EQ(cost.macs, 57'802'752);
  EXPECT_EQ(cost.flops, 2 * 57'802'752.0 + 7'225'344);
}

TEST_F(OperatorCost, IntegerProductsAreMacsAndNoFlops) {
  const Cost conv =
      of("ConvInteger", {value({1, 2, 8, 8}, DType::kU8), value({4, 2, 3, 3}, DType::kI8)});
  EXPECT_EQ(conv.macs, 4 * 36 * 18);
  EXPECT_EQ(conv.flops, 0);
  const Cost product = of("MatMulInteger", {value({3, 4}, DType::kU8), value({4, 5}, DType::kI8)});
  EXPECT_EQ(product.macs, 60);
  EXPECT_EQ(product.flops, 0);
}

TEST_F(OperatorCost, LstmByHand) {
  const Cost cost =
      of("LSTM",
         {value({25, 16, 512}), value({1, 2048, 512}), value({1, 2048, 512}), value({1, 4096})},
         {{"hidden_size", 512}});
  EXPECT_EQ(cost.macs, 838'860'800);
  EXPECT_EQ(cost.flops, 2 * 838'860'800.0 + 3'686'400);
  EXPECT_EQ(cost.transcendentals, 8 * 204'800);
}

TEST_F(OperatorCost, RecurrentSkipIsDeepBenchsCount) {
  const auto products = [this](const char* cell, int64_t gates) {
    return 2 * of("assay.RecurrentSkip", {value({25, 16, 512}), value({gates * 512, 512})},
                  {{"cell", cell}})
                   .macs;
  };
  EXPECT_EQ(products("relu", 1), 2.0 * 512 * 512 * 16 * 25);
  EXPECT_EQ(products("lstm", 4), 838'860'800);
  EXPECT_EQ(products("gru", 3), 6.0 * 512 * 512 * 16 * 25);
}

TEST_F(OperatorCost, BothDirectionsCostTwiceAsMuch) {
  const auto macs = [this](int64_t directions, const char* direction) {
    return of("GRU", {value({7, 2, 8}), value({directions, 48, 8}), value({directions, 48, 16})},
              {{"direction", direction}})
        .macs;
  };
  EXPECT_EQ(macs(1, "reverse"), 7 * 2 * 16 * 3 * 24);
  EXPECT_EQ(macs(2, "bidirectional"), 2 * macs(1, "forward"));
}

TEST_F(OperatorCost, ResizeCountsItsTaps) {
  const ValueId scales = builder_.constant(
      "scales", Tensor::from<float>(DType::kF32, {4}, std::array<float, 4>{1, 1, 2, 2}));
  const ValueId x = value({1, 3, 8, 8});
  const double outputs = 3 * 16 * 16;
  EXPECT_EQ(of("Resize", {x, kNoValue, scales}).flops, 0);
  EXPECT_EQ(of("Resize", {x, kNoValue, scales}, {{"mode", "linear"}}).flops, outputs * 7);
  EXPECT_EQ(of("Resize", {x, kNoValue, scales}, {{"mode", "cubic"}}).flops, outputs * 31);
}

TEST_F(OperatorCost, SuppressionComparesEveryBoxWithEachPlace) {
  const ValueId boxes = value({1, 101, 4});
  const ValueId scores = value({1, 2, 101});
  const Cost fixed = of("assay.FixedNms", {boxes, scores}, {{"boxes", 10}});
  EXPECT_EQ(fixed.flops, 10.0 * 2 * 101 * 10);
}

}  // namespace
}  // namespace assay
