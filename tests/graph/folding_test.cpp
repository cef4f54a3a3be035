// SPDX-License-Identifier: Apache-2.0
//
// Passes that compute: constants, batch norms, weights; and another batch. Each leaves what the
// graph computes as it was, which the interpreter says.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/interpret.h"
#include "graph/passes/passes.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

size_t number_of(const Graph& graph, std::string_view type) {
  return static_cast<size_t>(
      std::ranges::count_if(graph.nodes(), [&](const Node& n) { return n.op->type == type; }));
}

Tensor ramp(std::vector<int64_t> shape) {
  Tensor tensor = Tensor::allocate(DType::kF32, std::move(shape));
  float value = -1;
  for (float& x : tensor.values<float>()) x = value += 0.25f;
  return tensor;
}

std::vector<float> run(const Graph& graph, const Tensor& x) {
  const auto outputs = interpret(graph, std::span(&x, 1));
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().text());
  if (!outputs.ok()) return {};
  const auto values = outputs->front().values<float>();
  return {values.begin(), values.end()};
}

// ---- fold_constants ----

// Too large for the builder, which folds only shape arithmetic.
Graph with_constant_part(std::string_view random = "") {
  GraphBuilder b("constants");
  const ValueId x = b.input("x", {DType::kF32, {2, 1024}});
  ValueId c = b.constant("c", ramp({2, 1024}));
  c = b.add("Exp", {b.add("Neg", {c})});
  if (!random.empty()) c = b.add(random, {c});
  b.output(b.add("Add", {x, c}), "y");
  return std::move(b).build();
}

TEST(FoldConstants, ComputesWhatIsConstant) {
  const Graph before = with_constant_part();
  ASSERT_EQ(before.nodes().size(), 3u);
  const auto after = fold_constants(before);
  ASSERT_TRUE(after.ok()) << after.error().text();
  EXPECT_EQ(after->nodes().size(), 1u);
  EXPECT_EQ(after->constants().size(), 1u);
  const Tensor x = ramp({2, 1024});
  EXPECT_EQ(run(*after, x), run(before, x));
}

TEST(FoldConstants, LeavesWhatIsTooLargeOrRandom) {
  EXPECT_EQ(fold_constants(with_constant_part(), Bytes{100})->nodes().size(), 3u);
  const auto random = fold_constants(with_constant_part("RandomNormalLike"));
  EXPECT_EQ(number_of(*random, "RandomNormalLike"), 1u);
}

TEST(FoldConstants, KeepsTheNamesOfOutputs) {
  GraphBuilder b("constants");
  b.output(b.add("Exp", {b.constant("c", ramp({2048}))}), "y");
  const auto graph = fold_constants(b.peek());
  ASSERT_TRUE(graph.ok());
  EXPECT_TRUE(graph->nodes().empty());
  EXPECT_EQ(graph->value(graph->outputs()[0]).name, "y");
}

// ---- fold_batch_norms ----

Graph normalized(bool shared, Initializer weight) {
  GraphBuilder b("norm");
  const ValueId x = b.input("x", {DType::kF32, {1, 2, 3, 3}});
  const ValueId w = b.parameter("w", {DType::kF32, {3, 2, 2, 2}}, std::move(weight));
  const ValueId bias = b.parameter("b", {DType::kF32, {3}}, Initializer::of(ramp({3})));
  const auto vector = [&](const char* name, float first) {
    const float values[] = {first, first + 1, first * 2};
    return b.parameter(name, {DType::kF32, {3}},
                       Initializer::of(Tensor::from<float>(DType::kF32, {3}, values)));
  };
  const ValueId conv = b.add("Conv", {x, w, bias});
  const ValueId norm = b.add("BatchNormalization", {conv, vector("scale", 0.5f), vector("shift", 2),
                                                    vector("mean", -1), vector("var", 0.25f)});
  b.output(shared ? b.add("Add", {norm, conv}) : b.add("Relu", {norm}), "y");
  return std::move(b).build();
}

TEST(FoldBatchNorms, LeavesOneConvolutionThatComputesTheSame) {
  const Graph before = normalized(false, Initializer::of(ramp({3, 2, 2, 2})));
  const auto after = fold_batch_norms(before);
  ASSERT_TRUE(after.ok()) << after.error().text();
  EXPECT_EQ(after->nodes().size(), 2u);
  EXPECT_EQ(number_of(*after, "BatchNormalization"), 0u);
  EXPECT_EQ(after->parameters().size(), 2u);
  const Tensor x = ramp({1, 2, 3, 3});
  const std::vector<float> wanted = run(before, x);
  const std::vector<float> found = run(*after, x);
  ASSERT_EQ(found.size(), wanted.size());
  // 9 terms, each rounded once more than before.
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], 4 * 0x1p-23 * 3 * std::max(1.0f, std::abs(wanted[i])) * 4);
  }
}

TEST(FoldBatchNorms, LeavesAConvolutionThatOthersUse) {
  const auto after = fold_batch_norms(normalized(true, Initializer::of(ramp({3, 2, 2, 2}))));
  EXPECT_EQ(number_of(*after, "BatchNormalization"), 1u);
}

TEST(FoldBatchNorms, NeedsTheWeights) {
  const Graph untrained = normalized(false, Initializer::normal(0, 1));
  EXPECT_EQ(number_of(*fold_batch_norms(untrained), "BatchNormalization"), 1u);
  const auto drawn = materialize_weights(untrained, RandomKey(3));
  ASSERT_TRUE(drawn.ok()) << drawn.error().text();
  EXPECT_EQ(number_of(*fold_batch_norms(*drawn), "BatchNormalization"), 0u);
}

// ---- materialize_weights ----

TEST(MaterializeWeights, DrawsWhatEnginesDraw) {
  const Graph graph = normalized(false, Initializer::normal(0, 1));
  const auto drawn = materialize_weights(graph, RandomKey(3));
  ASSERT_TRUE(drawn.ok());
  const Initializer& weight = drawn->parameters()[0].initializer;
  ASSERT_EQ(weight.kind, InitializerKind::kGiven);
  const auto direct =
      materialize(Initializer::normal(0, 1), graph.value(1).type, RandomKey(3), "w");
  EXPECT_TRUE(std::ranges::equal(weight.given.values<float>(), direct->values<float>()));
}

// ---- rebind_batch ----

Graph of_batch_two(bool reshaped) {
  GraphBuilder b("fixed");
  ValueId x = b.input("x", {DType::kF32, {2, 6}});
  x = b.add("Relu", {x});
  x = b.add("Reshape", {x, b.constant("shape", Tensor::vector_i64(Ints{2, 3, 2}))});
  if (!reshaped) x = b.add("ReduceSum", {x, b.constant("axes", Tensor::vector_i64(Ints{1}))});
  b.output(x, "y");
  return std::move(b).build();
}

TEST(RebindBatch, ChangesInputsAndReshapes) {
  const auto graph = rebind_batch(of_batch_two(true), 5);
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_EQ(graph->value(graph->outputs()[0]).type.text(), "f32[5, 3, 2]");
  EXPECT_EQ(run(*graph, ramp({5, 6})).size(), 30u);
  EXPECT_EQ(rebind_batch(of_batch_two(false), 1)->value(0).type.text(), "f32[1, 6]");
}

TEST(RebindBatch, NamesWhatDoesNotFollow) {
  GraphBuilder b("stuck");
  b.input("x", {DType::kF32, {2, 6}});
  b.output(b.add("Exp", {b.constant("c", ramp({2, 1000}))}), "table");
  const auto graph = rebind_batch(b.peek(), 4);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(graph.error().text(), HasSubstr("output 'table'"));
  EXPECT_EQ(rebind_batch(of_batch_two(true), 0).error().code, ErrorCode::kInvalid);
}

TEST(RebindBatch, RefusesInputsThatDisagree) {
  GraphBuilder b("two");
  const ValueId x = b.input("x", {DType::kF32, {2, 6}});
  b.input("y", {DType::kF32, {3, 6}});
  b.output(b.add("Relu", {x}), "z");
  EXPECT_THAT(rebind_batch(b.peek(), 4).error().text(), HasSubstr("input 'y'"));
}

}  // namespace
}  // namespace assay
