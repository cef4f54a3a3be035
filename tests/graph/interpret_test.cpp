// SPDX-License-Identifier: Apache-2.0
#include "graph/interpret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/count.h"
#include "graph/passes/passes.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

Tensor floats(std::vector<int64_t> shape, std::vector<float> values) {
  return Tensor::from<float>(DType::kF32, std::move(shape), std::span<const float>(values));
}

TEST(Interpreter, KnowsShapesThatTheGraphDoesNot) {
  GraphBuilder b("free");
  const ValueId x = b.input("x", TensorType::unranked(DType::kF32));
  const ValueId shape = b.input("shape", {DType::kI64, {Dim()}});
  b.output(b.add("Reshape", {b.add("Relu", {x}), shape}), "y");
  const Graph graph = std::move(b).build();
  const Tensor inputs[] = {floats({2, 3}, {-1, 2, -3, 4, -5, 6}), Tensor::vector_i64(Ints{3, -1})};
  const auto outputs = interpret(graph, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().text();
  EXPECT_THAT(outputs->front().shape(), ElementsAre(3, 2));
  EXPECT_THAT(outputs->front().values<float>(), ElementsAre(0, 2, 0, 4, 0, 6));
}

TEST(Interpreter, RefusesInputsThatDoNotFit) {
  GraphBuilder b("square");
  const ValueId x = b.input("x", {DType::kF32, {Dim::symbol("n"), Dim::symbol("n")}});
  b.output(b.add("Relu", {x}), "y");
  const Graph graph = std::move(b).build();
  const Tensor wide[] = {floats({1, 2}, {1, 2})};
  EXPECT_THAT(interpret(graph, wide).error().text(), HasSubstr("f32[n, n]"));
  const Tensor integers[] = {Tensor::vector_i64(Ints{1})};
  EXPECT_EQ(interpret(graph, integers).error().code, ErrorCode::kInvalid);
  EXPECT_THAT(interpret(graph, {}).error().text(), HasSubstr("0 inputs given"));
}

TEST(Interpreter, NamesTheNodeThatFails) {
  GraphBuilder b("broken");
  const ValueId x = b.input("x", {DType::kI32, {2}});
  b.output(b.add("Div", {x, x}, {}, "ratio"), "y");
  const Graph graph = std::move(b).build();
  const Tensor inputs[] = {Tensor::zeros(DType::kI32, {2})};
  EXPECT_THAT(interpret(graph, inputs).error().text(), HasSubstr("node 'ratio' (Div)"));
}

TEST(Interpreter, RefusesAParameterWithoutData) {
  GraphBuilder b("untrained");
  const ValueId w = b.parameter("w", {DType::kF32, {2}}, Initializer::normal(0, 1));
  b.output(b.add("Relu", {w}), "y");
  const Graph graph = std::move(b).build();
  EXPECT_THAT(interpret(graph, {}).error().text(), HasSubstr("parameter 'w'"));
}

// A chain with a view, a branch and values of several sizes.
Graph branching() {
  GraphBuilder b("branching");
  const ValueId x = b.input("x", {DType::kF32, {Dim::symbol("batch"), 8}});
  const ValueId w = b.parameter("w", {DType::kF32, {8, 32}},
                                Initializer::of(Tensor::zeros(DType::kF32, {8, 32})));
  const ValueId wide = b.add("MatMul", {x, w});
  const ValueId view = b.add("Flatten", {wide}, {{"axis", 0}});
  const ValueId back = b.add("Reshape", {view, b.constant("s", Tensor::vector_i64(Ints{-1, 32}))});
  const ValueId sum = b.add("Add", {b.add("Relu", {back}), b.add("Tanh", {wide})});
  b.output(b.add("ReduceSum", {sum, b.constant("a", Tensor::vector_i64(Ints{1}))}), "y");
  b.output(wide, "wide");
  return std::move(b).build();
}

// count() promises a peak; the allocator is asked what it was.
TEST(Interpreter, TakesExactlyThePredictedMemory) {
  for (const int64_t batch : {1, 7}) {
    const auto graph = bind_dimensions(branching(), {{"batch", batch}});
    ASSERT_TRUE(graph.ok());
    int64_t resident = 0;
    for (const Value& value : graph->values()) {
      if (value.kind != ValueKind::kComputed) resident += *value.type.bytes();
    }
    const Tensor inputs[] = {Tensor::zeros(DType::kF32, {batch, 8})};
    const Interpreter interpreter(*graph);
    const TensorMeter meter;
    const auto outputs = interpreter.outputs(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.error().text();
    EXPECT_EQ(meter.peak_bytes(), count(*graph)->peak_bytes - resident);
    EXPECT_EQ(meter.live_bytes(), batch * 33 * 4);  // the outputs
  }
}

}  // namespace
}  // namespace assay
