// SPDX-License-Identifier: Apache-2.0
//
// Costs by hand, and the cases in which other counters went wrong (numbers U0xx are reports of
// their users). docs/method/cost.md derives them.
#include "graph/count.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/passes/passes.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

class Counting : public testing::Test {
 protected:
  ValueId input(Shape shape, DType dtype = DType::kF32) {
    return builder_.input("x" + std::to_string(inputs_++), TensorType(dtype, std::move(shape)));
  }
  ValueId weight(Shape shape) {
    return builder_.parameter("w" + std::to_string(inputs_++),
                              TensorType(DType::kF32, std::move(shape)), Initializer::zeros());
  }
  GraphCount counted() {
    const auto result = count(builder_.peek());
    EXPECT_TRUE(result.ok()) << result.error().text();
    return result.ok() ? *result : GraphCount{};
  }
  Cost last_cost() { return node_cost(builder_.peek(), builder_.peek().nodes().back()); }
  Cost cost_of(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    builder_.add(type, std::move(inputs), std::move(attributes));
    return last_cost();
  }
  // x -> x W (+ b), W stored as Gemm's [out, in].
  ValueId linear(ValueId x, int64_t in, int64_t out, bool bias) {
    std::vector<ValueId> inputs{x, weight({out, in})};
    if (bias) inputs.push_back(weight({out}));
    return builder_.add("Gemm", inputs, {{"transB", 1}});
  }

  GraphBuilder builder_{"count"};
  int inputs_ = 0;
};

TEST_F(Counting, ResNetStemByHand) {
  // 112 x 112 x 64 outputs, each 3 x 7 x 7 = 147 multiply-adds.
  const Cost cost = cost_of("Conv", {input({1, 3, 224, 224}), weight({64, 3, 7, 7})},
                            {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}});
  EXPECT_EQ(cost.macs, 118'013'952);
  EXPECT_EQ(cost.flops, 2 * 118'013'952.0);
  EXPECT_EQ(cost.read_bytes, 4 * (3 * 224 * 224 + 64 * 147));
  EXPECT_EQ(cost.write_bytes, 4 * 64 * 112 * 112);
}

TEST_F(Counting, PerceptronIsCountedOnce) {  // U061
  ValueId x = input({1, 784});
  x = builder_.add("MatMul", {x, weight({784, 512})});
  x = builder_.add("MatMul", {x, weight({512, 512})});
  builder_.add("MatMul", {x, weight({512, 10})});
  EXPECT_EQ(counted().macs, 668'672);
  EXPECT_EQ(counted().flops, 1'337'344);
}

TEST_F(Counting, AttentionCostsTheSameForAnyNumberOfHeads) {  // U062
  const auto macs = [](int64_t heads) {
    GraphBuilder b("attention");
    const Shape split{2, heads, 16, 64 / heads};
    const Shape turned{2, heads, 64 / heads, 16};
    const ValueId q = b.input("q", TensorType(DType::kF32, split));
    const ValueId k = b.input("k", TensorType(DType::kF32, turned));
    const ValueId scores = b.add("Softmax", {b.add("MatMul", {q, k})});
    b.add("MatMul", {scores, b.input("v", TensorType(DType::kF32, split))});
    return count(b.peek())->macs;
  };
  EXPECT_EQ(macs(4), macs(8));
  EXPECT_EQ(macs(4), 2 * 2 * 16 * 16 * 64);
}

TEST_F(Counting, TotalIsTheSumOfTheNodes) {  // U063, U064, U070, U083: nothing skipped or doubled
  ValueId x = input({2, 3, 16, 16});
  x = builder_.add("Conv", {x, weight({4, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  x = builder_.add("Sigmoid", {builder_.add("Relu", {x})});
  x = builder_.add("Flatten", {builder_.add("GlobalAveragePool", {x})});
  linear(x, 4, 5, true);
  Cost sum;
  for (const Node& node : builder_.peek().nodes()) {
    const Cost cost = node_cost(builder_.peek(), node);
    sum.flops += cost.flops;
    sum.macs += cost.macs;
    sum.read_bytes += cost.read_bytes;
  }
  EXPECT_EQ(counted().flops, sum.flops);
  EXPECT_EQ(counted().macs, sum.macs);
  EXPECT_EQ(counted().read_bytes, sum.read_bytes);
}

TEST_F(Counting, LinearLayerHasItsParameters) {  // U067, U079
  linear(input({1, 10}), 10, 11, true);
  EXPECT_EQ(counted().parameters, 121);
  EXPECT_EQ(counted().macs, 110);
}

TEST_F(Counting, StridesAreAppliedOnce) {  // U071, U095
  const Cost cost = cost_of("Conv", {input({1, 8, 32, 32}), weight({16, 8, 3, 3})},
                            {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  EXPECT_EQ(cost.macs, 16 * 16 * 16 * 8 * 9);
}

TEST_F(Counting, PointwiseConvolution) {  // U072
  const Cost cost = cost_of("Conv", {input({1, 128, 16, 16}), weight({128, 128, 1, 1})});
  EXPECT_EQ(cost.macs, 4'194'304);
}

TEST_F(Counting, GroupsDivideTheMacs) {
  const Cost cost = cost_of("Conv", {input({1, 32, 8, 8}), weight({32, 1, 3, 3})}, {{"group", 32}});
  EXPECT_EQ(cost.macs, 32 * 6 * 6 * 9);
}

TEST_F(Counting, BatchNormInInferenceIsOneMultiplyAndOneAdd) {  // U073
  const ValueId c = weight({8});
  const Cost cost = cost_of("BatchNormalization", {input({2, 8, 4, 4}), c, c, c, c});
  EXPECT_EQ(cost.flops, 2 * (2 * 8 * 16));
  EXPECT_EQ(cost.macs, 0);
}

TEST_F(Counting, MatMulOfMoreDimensions) {  // U075, U088
  EXPECT_EQ(cost_of("MatMul", {input({2, 3, 4}), input({4, 5})}).macs, 2 * 3 * 4 * 5);
  EXPECT_EQ(cost_of("MatMul", {input({8}), input({8})}).macs, 8);
  EXPECT_EQ(cost_of("MatMul", {input({4, 8}), input({8})}).macs, 32);
  EXPECT_EQ(cost_of("MatMul", {input({2, 1, 4, 8}), input({3, 8, 5})}).macs, 960);
}

TEST_F(Counting, BiasIsOneAddition) {  // U088: n4 k8 m16
  linear(input({4, 8}), 8, 16, true);
  EXPECT_EQ(last_cost().flops, 1088);
  EXPECT_EQ(last_cost().macs, 512);
}

TEST_F(Counting, BatchScalesTheWork) {  // U077, U082
  const auto flops = [](int64_t batch) {
    GraphBuilder b("batch");
    const ValueId x = b.input("x", TensorType(DType::kF32, Shape{Dim::symbol("batch"), 6}));
    const ValueId w = b.parameter("w", TensorType(DType::kF32, Shape{6, 7}), Initializer::zeros());
    b.output(b.add("MatMul", {x, w}), "y");
    return count(*bind_dimensions(b.peek(), {{"batch", batch}}))->flops;
  };
  EXPECT_EQ(flops(8), 8 * flops(1));
  EXPECT_EQ(flops(1), 2 * 6 * 7);
}

TEST_F(Counting, ReusedLayerKeepsOneWeightAndAllItsActivations) {  // U081
  const ValueId w = weight({10, 10});
  ValueId x = input({1, 10});
  for (int i = 0; i < 100; ++i) x = builder_.add("MatMul", {x, w});
  EXPECT_EQ(counted().parameters, 100);
  EXPECT_EQ(counted().activation_bytes, 100 * 40);
  EXPECT_EQ(counted().macs, 100 * 100);
}

TEST_F(Counting, SamePaddingIsHandled) {  // U085
  const Cost cost = cost_of("Conv", {input({1, 1, 7, 7}), weight({1, 1, 3, 3})},
                            {{"auto_pad", "SAME_UPPER"}, {"strides", Ints{2, 2}}});
  EXPECT_EQ(cost.macs, 4 * 4 * 9);
}

TEST_F(Counting, CountingTwiceGivesTheSame) {  // U069, U086, U096
  builder_.add("LayerNormalization", {input({1, 256}), weight({256}), weight({256})});
  const GraphCount first = counted();
  EXPECT_EQ(first.flops, 7 * 256);
  EXPECT_EQ(counted().flops, first.flops);
}

TEST_F(Counting, ElementwiseBroadcastsFromTheRight) {  // U089
  EXPECT_EQ(cost_of("Mul", {input({2, 3, 4}), input({4})}).flops, 24);
  EXPECT_EQ(cost_of("Mul", {input({8}), input({2, 8})}).flops, 16);
  EXPECT_EQ(cost_of("Mul", {input({3, 4}), input({4})}).flops, 12);
}

TEST_F(Counting, TranscendentalFunctionsAreCountedApart) {  // U087, U090
  for (const char* type : {"Exp", "Log", "Tanh", "Erf", "Sqrt"}) {
    const Cost cost = cost_of(type, {input({5, 5})});
    EXPECT_EQ(cost.transcendentals, 25) << type;
    EXPECT_EQ(cost.flops, 0) << type;
  }
  EXPECT_EQ(cost_of("Sigmoid", {input({5})}).transcendentals, 10);  // exponential and reciprocal
  EXPECT_EQ(cost_of("Div", {input({5}), input({5})}).transcendentals, 5);
  EXPECT_GT(cost_of("Gelu", {input({5})}).flops, 0);
}

TEST_F(Counting, Subtraction) {  // U097
  EXPECT_EQ(cost_of("Sub", {input({2, 3}), input({2, 3})}).flops, 6);
}

TEST_F(Counting, ThreeDimensionalConvolution) {  // U098
  const Cost cost = cost_of("Conv", {input({1, 3, 5, 32, 32}), weight({6, 3, 3, 3, 3})});
  EXPECT_EQ(cost.macs, 1'312'200);
}

TEST_F(Counting, UnknownShapesAreAnErrorAndNeverZero) {  // U099
  builder_.add("Relu", {input({Dim::symbol("batch"), 3})});
  const auto result = count(builder_.peek());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(result.error().text(), "the shape f32[batch, 3] is not known (value 'x0')");
}

TEST_F(Counting, IntegersAreNotFloatingPointOperations) {
  EXPECT_EQ(cost_of("Add", {input({4}, DType::kI64), input({4}, DType::kI64)}).flops, 0);
}

TEST_F(Counting, ReductionsAndPoolings) {
  EXPECT_EQ(cost_of("ReduceSum", {input({4, 5})}).flops, 19);
  EXPECT_EQ(cost_of("ReduceMean", {input({4, 5})}).flops, 20);
  EXPECT_EQ(cost_of("GlobalAveragePool", {input({1, 2, 3, 3})}).flops, 18);
  EXPECT_EQ(cost_of("MaxPool", {input({1, 1, 4, 4})},
                    {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}})
                .flops,
            4 * 3);
}

TEST_F(Counting, ViewsMoveNothing) {
  const ValueId x = input({4, 6});
  const Cost cost = cost_of("Flatten", {x}, {{"axis", 0}});
  EXPECT_EQ(cost.read_bytes + cost.write_bytes, 0);
  EXPECT_EQ(counted().activation_bytes, 0);
}

TEST_F(Counting, GatherReadsTheRowsItTakes) {
  const Cost cost = cost_of("Gather", {weight({1'000'000, 64}), input({8}, DType::kI64)});
  EXPECT_EQ(cost.read_bytes, 8 * 64 * 4 + 8 * 8);
  EXPECT_EQ(cost.write_bytes, 8 * 64 * 4);
}

TEST_F(Counting, PeakIsTheWorstMoment) {
  // x (40) -> a (40) -> b (40) -> c = a + b (40): at c, a, b and c are alive.
  const ValueId x = input({10});
  const ValueId a = builder_.add("Relu", {x});
  const ValueId b = builder_.add("Relu", {a});
  const ValueId c = builder_.add("Add", {a, b});
  const ValueId d = builder_.add("Relu", {c});
  builder_.output(d, "y");
  EXPECT_EQ(counted().peak_bytes, 40 + 3 * 40);
  EXPECT_EQ(counted().activation_bytes, 4 * 40);
}

TEST_F(Counting, ViewKeepsItsSourceAlive) {
  const ValueId x = input({10});
  const ValueId a = builder_.add("Relu", {x});
  const ValueId view = builder_.add("Identity", {a});
  const ValueId b = builder_.add("Relu", {x});
  const ValueId c = builder_.add("Relu", {b});
  builder_.output(builder_.add("Add", {view, c}), "y");
  // When the sum is made: a (through its view), c and the sum.
  EXPECT_EQ(counted().peak_bytes, 40 + 3 * 40);
}

TEST_F(Counting, IntensityIsFlopsOverBytes) {
  builder_.add("Add", {input({6}), input({6})});
  EXPECT_DOUBLE_EQ(counted().intensity_flop_per_byte(), 6.0 / (3 * 24));
}

}  // namespace
}  // namespace assay
