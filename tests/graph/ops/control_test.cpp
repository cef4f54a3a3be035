// SPDX-License-Identifier: Apache-2.0
//
// If, Loop and Scan: what they compute, what is known of it before, and what it costs.
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/interpret.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;
using Body = std::shared_ptr<const Graph>;

Tensor floats(std::vector<int64_t> shape, std::vector<float> values) {
  return Tensor::from<float>(DType::kF32, std::move(shape), std::span<const float>(values));
}
Tensor number(int64_t value) {
  return Tensor::from<int64_t>(DType::kI64, {}, std::span<const int64_t>(&value, 1));
}
Tensor truth(bool value) {
  const uint8_t byte = value ? 1 : 0;
  return Tensor::from<uint8_t>(DType::kBool, {}, std::span<const uint8_t>(&byte, 1));
}

template <class F>
Body body(F&& fill) {
  GraphBuilder b("body");
  fill(b);
  return std::make_shared<const Graph>(std::move(b).build());
}

std::vector<Tensor> run(const Graph& graph, std::vector<Tensor> inputs) {
  auto outputs = interpret(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().text());
  return outputs.ok() ? *std::move(outputs) : std::vector<Tensor>{};
}

// One output from one captured vector, by this operator.
Body branch(std::string_view type, Dim size = Dim()) {
  return body([&](GraphBuilder& b) {
    b.output(b.add(type, {b.input("x", {DType::kF32, {std::move(size)}})}), "y");
  });
}

// ---- If ----

TEST(If, RunsOneBranchOnWhatItCaptures) {
  GraphBuilder b("if");
  const ValueId condition = b.input("c", {DType::kBool, {}});
  const ValueId x = b.input("x", {DType::kF32, {3}});
  b.output(
      b.add("If", {condition, x},
            {{"then_branch", branch("Relu")}, {"else_branch", branch("Neg")}, {"captures", 1}}),
      "y");
  const Graph graph = std::move(b).build();
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "f32[3]");
  const Tensor data = floats({3}, {-1, 0, 2});
  EXPECT_THAT(run(graph, {truth(true), data})[0].values<float>(), ElementsAre(0, 0, 2));
  EXPECT_THAT(run(graph, {truth(false), data})[0].values<float>(), ElementsAre(1, 0, -2));
}

TEST(If, KnowsOnlyWhatBothBranchesAgreeOn) {
  const Body longer = body([](GraphBuilder& b) {
    const ValueId x = b.input("x", {DType::kF32, {Dim()}});
    b.output(b.add("Concat", {x, x}, {{"axis", 0}}), "y");
  });
  GraphBuilder b("if");
  const ValueId condition = b.input("c", {DType::kBool, {}});
  const ValueId x = b.input("x", {DType::kF32, {3}});
  const Attributes attributes{{"then_branch", branch("Relu")}, {"else_branch", longer}};
  EXPECT_EQ(b.type(b.add("If", {condition, x}, attributes)).text(), "f32[?]");
  const ValueId always = b.constant("yes", truth(true));
  EXPECT_EQ(b.type(b.add("If", {always, x}, attributes)).text(), "f32[3]");
}

TEST(If, IsCountedAsTheCostlierBranch) {
  GraphBuilder b("if");
  const ValueId condition = b.input("c", {DType::kBool, {}});
  const ValueId x = b.input("x", {DType::kF32, {8}});
  const Body cheap = branch("Relu");
  const Body dear = branch("Softplus");
  b.add("If", {condition, x}, {{"then_branch", cheap}, {"else_branch", dear}});
  const Cost cost = node_cost(b.peek(), b.peek().nodes()[0]);
  EXPECT_EQ(cost.transcendentals + cost.flops, 8 + (cost.transcendentals > 0 ? 16 : 0));
  EXPECT_FALSE(cost.lower_bound);
}

TEST(If, RefusesBranchesOfDifferentTypes) {
  const Body integers = body([](GraphBuilder& b) {
    b.output(b.add("Shape", {b.input("x", {DType::kF32, {Dim()}})}), "y");
  });
  GraphBuilder b("if");
  const ValueId condition = b.input("c", {DType::kBool, {}});
  const ValueId x = b.input("x", {DType::kF32, {3}});
  const auto added =
      b.try_add("", "If", {condition, x}, 1,
                {{"then_branch", branch("Relu")}, {"else_branch", integers}}, "choice");
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().text(), HasSubstr("node 'choice' (If)"));
}

// ---- Loop ----

// (iteration, condition, sum, step) -> (condition, sum + step, sum + step): `step` is captured.
Body running_sum() {
  return body([](GraphBuilder& b) {
    b.input("i", {DType::kI64, {}});
    const ValueId go_on = b.input("go", {DType::kBool, {}});
    const ValueId sum = b.input("sum", {DType::kF32, {2}});
    const ValueId step = b.input("step", {DType::kF32, {2}});
    const ValueId next = b.add("Add", {sum, step});
    b.output(go_on, "go_on");
    b.output(next, "next");
    b.output(b.add("Identity", {next}), "trace");
  });
}

TEST(Loop, CarriesAndStacks) {
  GraphBuilder b("loop");
  const ValueId limit = b.input("n", {DType::kI64, {}});
  const ValueId zero = b.constant("zero", floats({2}, {0, 0}));
  const ValueId step = b.input("step", {DType::kF32, {2}});
  for (const ValueId id : b.add_multi("Loop", {limit, kNoValue, zero, step}, 2,
                                      {{"body", running_sum()}, {"captures", 1}})) {
    b.output(id);
  }
  const Graph graph = std::move(b).build();
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "f32[2]");
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.text(), "f32[?, 2]");
  const auto outputs = run(graph, {number(3), floats({2}, {1, 10})});
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(3, 30));
  EXPECT_THAT(outputs[1].shape(), ElementsAre(3, 2));
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(1, 10, 2, 20, 3, 30));
  const auto none = run(graph, {number(0), floats({2}, {1, 10})});
  EXPECT_THAT(none[0].values<float>(), ElementsAre(0, 0));
  EXPECT_THAT(none[1].shape(), ElementsAre(0, 2));
}

TEST(Loop, OfAConstantCountIsCountedExactly) {
  GraphBuilder b("loop");
  const ValueId start = b.input("start", {DType::kF32, {2}});
  const ValueId step = b.input("step", {DType::kF32, {2}});
  const ValueId limit = b.constant("n", number(5));
  const auto ids = b.add_multi("Loop", {limit, kNoValue, start, step}, 2,
                               {{"body", running_sum()}, {"captures", 1}});
  EXPECT_EQ(b.type(ids[1]).text(), "f32[5, 2]");
  const Cost cost = node_cost(b.peek(), b.peek().nodes()[0]);
  EXPECT_EQ(cost.flops, 5 * 2);
  EXPECT_FALSE(cost.lower_bound);
}

// (iteration, condition, x) -> (i < 2, concat(x, x)): three passes, and the shape grows.
Body doubling() {
  return body([](GraphBuilder& b) {
    const ValueId i = b.input("i", {DType::kI64, {}});
    b.input("go", {DType::kBool, {}});
    const ValueId x = b.input("x", {DType::kF32, {1}});
    b.output(b.add("Less", {i, b.constant("two", number(2))}), "go_on");
    b.output(b.add("Concat", {x, x}, {{"axis", 0}}), "twice");
  });
}

TEST(Loop, StopsOnItsConditionAndMayChangeShapes) {
  GraphBuilder b("loop");
  const ValueId x = b.input("x", {DType::kF32, {1}});
  const ValueId y =
      b.add("Loop", {kNoValue, b.constant("go", truth(true)), x}, {{"body", doubling()}});
  EXPECT_EQ(b.type(y).text(), "f32[?]");
  EXPECT_TRUE(b.peek().nodes().back().op->cost != nullptr);
  b.output(y, "y");
  const Graph graph = std::move(b).build();
  EXPECT_THAT(run(graph, {floats({1}, {7})})[0].values<float>(),
              ElementsAre(7, 7, 7, 7, 7, 7, 7, 7));
}

TEST(Loop, RefusesABodyOfAnotherArity) {
  GraphBuilder b("loop");
  const ValueId x = b.input("x", {DType::kF32, {1}});
  const auto added =
      b.try_add("", "Loop", {kNoValue, kNoValue, x, x}, 1, {{"body", doubling()}}, "l");
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().text(), HasSubstr("attribute 'body'"));
}

// ---- Scan ----

// (sum, x) -> (sum + x, sum + x).
Body cumulate() {
  return body([](GraphBuilder& b) {
    const ValueId sum = b.input("sum", {DType::kF32, {2}});
    const ValueId x = b.input("x", {DType::kF32, {2}});
    const ValueId next = b.add("Add", {sum, x});
    b.output(next, "next");
    b.output(b.add("Identity", {next}), "trace");
  });
}

TEST(Scan, WalksASequence) {
  GraphBuilder b("scan");
  const ValueId start = b.input("start", {DType::kF32, {2}});
  const ValueId x = b.input("x", {DType::kF32, {Dim::symbol("time"), 2}});
  for (const ValueId id :
       b.add_multi("Scan", {start, x}, 2, {{"body", cumulate()}, {"num_scan_inputs", 1}})) {
    b.output(id);
  }
  const Graph graph = std::move(b).build();
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.text(), "f32[time, 2]");
  const auto outputs = run(graph, {floats({2}, {0, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_THAT(outputs[0].values<float>(), ElementsAre(9, 12));
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(1, 2, 4, 6, 9, 12));
}

TEST(Scan, WalksBackwardsAlongAnyAxis) {
  GraphBuilder b("scan");
  const ValueId start = b.input("start", {DType::kF32, {2}});
  const ValueId x = b.input("x", {DType::kF32, {2, 3}});
  const auto ids = b.add_multi("Scan", {start, x}, 2,
                               {{"body", cumulate()},
                                {"num_scan_inputs", 1},
                                {"scan_input_axes", Ints{1}},
                                {"scan_input_directions", Ints{1}},
                                {"scan_output_axes", Ints{-1}},
                                {"scan_output_directions", Ints{1}}});
  EXPECT_EQ(b.type(ids[1]).text(), "f32[2, 3]");
  const Cost cost = node_cost(b.peek(), b.peek().nodes()[0]);
  EXPECT_EQ(cost.flops, 3 * 2);
  for (const ValueId id : ids) b.output(id);
  const Graph graph = std::move(b).build();
  const auto outputs = run(graph, {floats({2}, {0, 0}), floats({2, 3}, {1, 2, 3, 10, 20, 30})});
  // Columns 3, 2, 1 are summed; what is stacked is turned round again.
  EXPECT_THAT(outputs[1].values<float>(), ElementsAre(6, 5, 3, 60, 50, 30));
}

TEST(Scan, RefusesSequencesOfDifferentLengths) {
  const Body two = body([](GraphBuilder& b) {
    const ValueId x = b.input("x", {DType::kF32, {}});
    b.output(b.add("Add", {x, b.input("y", {DType::kF32, {}})}), "sum");
  });
  GraphBuilder b("scan");
  const ValueId x = b.input("x", {DType::kF32, {3}});
  const ValueId y = b.input("y", {DType::kF32, {4}});
  const auto added = b.try_add("", "Scan", {x, y}, 1, {{"body", two}, {"num_scan_inputs", 2}}, "s");
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().text(), HasSubstr("length"));
}

}  // namespace
}  // namespace assay
