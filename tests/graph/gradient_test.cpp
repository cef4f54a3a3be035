// SPDX-License-Identifier: Apache-2.0
//
// The pass around the gradients of single operators, which tests/graph/ops/gradient_test.cpp has.
#include "graph/passes/gradient.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/count.h"
#include "graph/interpret.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::array<size_t, 1> kFirst{0};

TensorType f32(std::initializer_list<Dim> dims) { return {DType::kF32, Shape(dims)}; }

ValueId summed(GraphBuilder& builder, ValueId value) {
  return builder.add("ReduceSum", {value}, {{"keepdims", int64_t{0}}});
}

Error error_of(const Graph& graph, std::vector<std::string> names,
               std::vector<size_t> losses = {0}) {
  auto result = gradient(graph, losses, names);
  EXPECT_FALSE(result.ok());
  return result.ok() ? Error{} : result.error();
}

TEST(GradientPass, KeepsOutputsAndNamesTheGradients) {
  GraphBuilder builder("two");
  const ValueId x = builder.input("x", f32({3}));
  const ValueId w = builder.parameter("w", f32({3}), Initializer::constant(2));
  builder.output(summed(builder, builder.add("Mul", {x, w})), "loss");
  builder.output(builder.add("Relu", {x}), "side");
  const auto made = gradient(std::move(builder).build());
  ASSERT_TRUE(made.ok()) << made.error().text();
  ASSERT_EQ(made->outputs().size(), 3u);
  EXPECT_EQ(made->value(made->outputs()[0]).name, "loss");
  EXPECT_EQ(made->value(made->outputs()[1]).name, "side");
  EXPECT_EQ(made->value(made->outputs()[2]).name, "w.gradient");
  EXPECT_EQ(made->value(made->outputs()[2]).type.text(), "f32[3]");
}

TEST(GradientPass, AddsUpWhatASharedParameterGets) {
  GraphBuilder builder("shared");
  const ValueId x = builder.input("x", f32({2}));
  const ValueId square = builder.add("Mul", {x, x});
  builder.output(summed(builder, builder.add("Add", {square, x})), "loss");
  const auto made = gradient(std::move(builder).build(), kFirst, std::array{std::string("x")});
  ASSERT_TRUE(made.ok()) << made.error().text();
  const std::array<float, 2> values{3, -1};
  const auto outputs = interpret(*made, std::array{Tensor::from<float>(DType::kF32, {2}, values)});
  ASSERT_TRUE(outputs.ok()) << outputs.error().text();
  EXPECT_FLOAT_EQ((*outputs)[1].values<float>()[0], 7);  // 2 x + 1
  EXPECT_FLOAT_EQ((*outputs)[1].values<float>()[1], -1);
}

TEST(GradientPass, AddsUpSeveralLosses) {
  GraphBuilder builder("losses");
  const ValueId x = builder.input("x", f32({2}));
  builder.output(summed(builder, x), "first");
  builder.output(summed(builder, builder.add("Mul", {x, builder.scalar(3)})), "second");
  const auto made = gradient(std::move(builder).build(), std::array<size_t, 2>{0, 1},
                             std::array{std::string("x")});
  ASSERT_TRUE(made.ok()) << made.error().text();
  const auto outputs = interpret(*made, std::array{Tensor::zeros(DType::kF32, {2})});
  ASSERT_TRUE(outputs.ok()) << outputs.error().text();
  EXPECT_FLOAT_EQ((*outputs)[2].values<float>()[0], 4);
}

TEST(GradientPass, StopsAtStopGradient) {
  GraphBuilder builder("stopped");
  const ValueId x = builder.input("x", f32({2}));
  const ValueId w = builder.input("w", f32({2}));
  const ValueId stopped = builder.add("assay.StopGradient", {x});
  builder.output(summed(builder, builder.add("Mul", {stopped, w})), "loss");
  const Graph graph = std::move(builder).build();
  const Error error = error_of(graph, {"x"});
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.text(), HasSubstr("x"));
  EXPECT_THAT(error.text(), HasSubstr("does not reach the loss"));
  EXPECT_TRUE(gradient(graph, kFirst, std::array{std::string("w")}).ok());
}

TEST(GradientPass, CarriesStatesOn) {
  GraphBuilder builder("norm");
  const ValueId x = builder.input("x", f32({4, 3, 2, 2}));
  const ValueId scale = builder.parameter("scale", f32({3}), Initializer::ones());
  const ValueId bias = builder.parameter("bias", f32({3}), Initializer::zeros());
  const ValueId mean = builder.state("mean", f32({3}), Initializer::zeros());
  const ValueId variance = builder.state("variance", f32({3}), Initializer::ones());
  const auto outputs = builder.add_multi("BatchNormalization", {x, scale, bias, mean, variance}, 3,
                                         {{"training_mode", int64_t{1}}});
  builder.set_next(mean, outputs[1]);
  builder.set_next(variance, outputs[2]);
  builder.output(summed(builder, builder.add("Mul", {outputs[0], outputs[0]})), "loss");
  const auto made = gradient(std::move(builder).build());
  ASSERT_TRUE(made.ok()) << made.error().text();
  ASSERT_EQ(made->states().size(), 2u);
  EXPECT_NE(made->states()[0].next, kNoValue);
  EXPECT_NE(made->states()[1].next, kNoValue);
}

TEST(GradientPass, HasExactCosts) {
  GraphBuilder builder("linear");
  const ValueId x = builder.input("x", f32({8, 5}));
  const ValueId w = builder.parameter("w", f32({5, 3}), Initializer::ones());
  builder.output(summed(builder, builder.add("MatMul", {x, w})), "loss");
  const Graph forward = std::move(builder).build();
  const auto made = gradient(forward);
  ASSERT_TRUE(made.ok()) << made.error().text();
  // Only the weight wants a gradient: one product more, of the same size.
  EXPECT_EQ(count(*made)->macs, 2 * count(forward)->macs);
}

TEST(GradientPass, RefusesALossThatIsNoScalar) {
  GraphBuilder builder("vector");
  builder.output(builder.add("Relu", {builder.input("x", f32({2}))}), "y");
  const Graph graph = std::move(builder).build();
  const Error error = error_of(graph, {"x"});
  EXPECT_THAT(error.text(), HasSubstr("f32[2]"));
  EXPECT_THAT(error.text(), HasSubstr("y"));
  EXPECT_THAT(error_of(graph, {"x"}, {4}).text(), HasSubstr("no output 4"));
}

TEST(GradientPass, NamesWhatIsNoParameterAndWhatIsNoFloat) {
  GraphBuilder builder("names");
  const ValueId x = builder.input("x", f32({2}));
  builder.input("n", {DType::kI64, Shape{2}});
  builder.output(summed(builder, x), "loss");
  const Graph graph = std::move(builder).build();
  EXPECT_THAT(error_of(graph, {"z"}).text(), HasSubstr("'z'"));
  EXPECT_THAT(error_of(graph, {"n"}).text(), HasSubstr("integer"));
}

TEST(GradientPass, NamesTheNodeWithoutGradient) {
  GraphBuilder builder("steps");
  const ValueId x = builder.input("x", f32({1, 1, 2, 2}));
  builder.output(summed(builder, builder.add("GlobalLpPool", {x}, {}, "steps")), "loss");
  const Error error = error_of(std::move(builder).build(), {"x"});
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.text(), HasSubstr("GlobalLpPool"));
  EXPECT_THAT(error.text(), HasSubstr("steps"));
}

TEST(GradientPass, PassesNothingThroughIntegers) {
  GraphBuilder builder("integers");
  const ValueId x = builder.input("x", f32({2}));
  const ValueId whole = builder.add("Cast", {x}, {{"to", dtype_to_onnx(DType::kI64)}});
  const ValueId back = builder.add("Cast", {whole}, {{"to", dtype_to_onnx(DType::kF32)}});
  builder.output(summed(builder, back), "loss");
  EXPECT_THAT(error_of(std::move(builder).build(), {"x"}).text(),
              HasSubstr("does not reach the loss"));
}

}  // namespace
}  // namespace assay
