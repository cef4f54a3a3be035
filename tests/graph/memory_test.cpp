// SPDX-License-Identifier: Apache-2.0
#include "graph/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/interpret.h"
#include "graph/passes/passes.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

TensorType f32(Shape shape) { return {DType::kF32, std::move(shape)}; }

// A parameter that is there, so that the graph can run.
ValueId filled(GraphBuilder& b, const std::string& name, Ints shape) {
  Tensor data = Tensor::zeros(DType::kF32, shape);
  return b.parameter(name, f32(Shape::of(shape)), Initializer::of(std::move(data)));
}

TEST(MemoryPlan, AddsUpByPurposeAtTheWorstNode) {
  GraphBuilder b("purposes");
  const ValueId x = b.input("x", f32({2, 8}));
  const ValueId wide = b.add("MatMul", {x, filled(b, "w", {8, 64})});
  const ValueId relu = b.add("Relu", {wide}, {}, "both alive");
  b.output(b.add("MatMul", {relu, filled(b, "v", {64, 3})}), "y");
  const Graph graph = std::move(b).build();
  const auto plan = plan_memory(graph);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  EXPECT_EQ(plan->peak.parameters, 4 * (8 * 64 + 64 * 3));
  EXPECT_EQ(plan->peak.inputs, 4 * 2 * 8);
  EXPECT_EQ(plan->peak.activations, 4 * 2 * (2 * 64));
  EXPECT_EQ(plan->peak.workspace, 0);
  EXPECT_EQ(graph.nodes()[plan->peak_node].name, "both alive");
  EXPECT_EQ(plan->activation_bytes, 4 * 2 * (64 + 64 + 3));
  EXPECT_EQ(plan->peak.total(), 4 * (704 + 16 + 256));
}

TEST(MemoryPlan, AViewKeepsItsSourceAlive) {
  GraphBuilder b("view");
  const ValueId x = b.add("Relu", {b.input("x", f32({4, 4}))});
  const ValueId view = b.add("Flatten", {x});
  const ValueId sum = b.add("Add", {b.add("Tanh", {view}), view});
  b.output(sum, "y");
  const auto plan = plan_memory(std::move(b).build());
  EXPECT_EQ(plan->peak.activations, 4 * 3 * 16);  // source, tanh, sum
}

TEST(MemoryPlan, NamesTheValueOfUnknownShape) {
  GraphBuilder b("unknown");
  b.output(b.add("Relu", {b.input("x", f32({Dim::symbol("n")}))}), "y");
  const auto plan = plan_memory(std::move(b).build());
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(plan.error().text(), HasSubstr("'x'"));
}

// What the interpreter took beside what was there before.
int64_t measured(const Graph& graph) {
  std::vector<Tensor> values(graph.values().size());
  for (const Parameter& p : graph.parameters()) values[p.value] = p.initializer.given;
  for (const ValueId id : graph.inputs()) {
    const TensorType& type = graph.value(id).type;
    values[id] = Tensor::zeros(type.dtype, type.shape->sizes());
  }
  const TensorMeter meter;
  const auto ran = Interpreter(graph).run(values);
  EXPECT_TRUE(ran.ok()) << ran.error().text();
  return meter.peak_bytes();
}

int64_t planned(const Graph& graph) {
  const auto plan = plan_memory(graph);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan->peak.activations + plan->peak.workspace;
}

TEST(MemoryPlan, IsWhatTheReferenceKernelsTakeOfAConvolutionNet) {
  GraphBuilder b("net");
  const ValueId image = b.input("image", f32({Dim::symbol("batch"), 3, 9, 9}));
  const Attributes same{{"pads", Ints{1, 1, 1, 1}}};
  const ValueId stem =
      b.add("Relu", {b.add("Conv", {image, filled(b, "stem", {8, 3, 3, 3})}, same)});
  const ValueId branch = b.add("Conv", {stem, filled(b, "branch", {8, 8, 3, 3})}, same);
  const ValueId sum = b.add("Add", {branch, stem});
  const auto pooled = b.add_multi("MaxPool", {sum}, 2, {{"kernel_shape", Ints{3, 3}}});
  const ValueId flat = b.add("Flatten", {b.add("GlobalAveragePool", {pooled[0]})});
  b.output(b.add("Gemm", {flat, filled(b, "head", {8, 5})}), "scores");
  const Graph graph = std::move(b).build();
  for (const int64_t batch : {1, 3}) {
    const auto bound = bind_dimensions(graph, {{"batch", batch}});
    ASSERT_TRUE(bound.ok());
    EXPECT_EQ(planned(*bound), measured(*bound));
  }
}

TEST(MemoryPlan, CountsOutputsThatNobodyTakes) {
  GraphBuilder b("last");
  const ValueId x = b.input("x", f32({6, 2, 3}));
  const auto outputs = b.add_multi(
      "LSTM", {x, filled(b, "w", {1, 16, 3}), filled(b, "r", {1, 16, 4})}, 3, {{"hidden_size", 4}});
  b.output(outputs[1], "last");
  const Graph graph = std::move(b).build();
  EXPECT_EQ(planned(graph), 4 * (6 * 2 * 4 + 2 * 4 + 2 * 4));
  EXPECT_EQ(planned(graph), measured(graph));
}

TEST(MemoryPlan, CountsAKernelsWorkspace) {
  GraphBuilder b("loss");
  const ValueId scores = b.input("scores", f32({6, 10}));
  const ValueId labels = b.input("labels", {DType::kI64, Shape{6}});
  b.output(b.add("SoftmaxCrossEntropyLoss", {b.add("Relu", {scores}), labels}), "loss");
  const Graph graph = std::move(b).build();
  EXPECT_EQ(plan_memory(graph)->peak.workspace, 4 * 60);
  EXPECT_EQ(planned(graph), measured(graph));
}

// x [batch, 1000] and two values of that size at a time.
Result<Graph> chain(int64_t batch) {
  GraphBuilder b("chain");
  ValueId x = b.input("x", f32({batch, 1000}));
  for (int i = 0; i < 5; ++i) x = b.add("Relu", {x});
  b.output(x, "y");
  return std::move(b).build();
}

TEST(LargestBatch, IsTheLastThatFits) {
  const int64_t each = 4 * 3000;
  for (const int64_t batch : {1, 2, 3, 77, 4096}) {
    const auto fit = largest_batch(chain, batch * each + each / 2);
    ASSERT_TRUE(fit.ok());
    EXPECT_EQ(fit->batch, batch);
    EXPECT_EQ(fit->plan.peak.total(), batch * each);
  }
}

TEST(LargestBatch, IsThatOfTheDocumentedExample) {
  EXPECT_EQ(largest_batch(chain, 1'000'000)->batch, 83);
}

TEST(LargestBatch, SaysWhatOneItemNeedsWhereNoneFits) {
  const auto fit = largest_batch(chain, 11'999);
  EXPECT_EQ(fit->batch, 0);
  EXPECT_EQ(fit->plan.peak.total(), 12'000);
}

TEST(LargestBatch, EndsAtItsLimit) {
  EXPECT_EQ(largest_batch(chain, int64_t{1} << 62, 1000)->batch, 1000);
}

}  // namespace
}  // namespace assay
