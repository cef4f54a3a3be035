// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace assay {
namespace {

struct Variation {
  std::string parameter = "w";
  std::string node = "";
  float constant = 2;
  float deviation = 1;
  bool dead_node = false;
  bool other_order = false;
  float alpha = 0.01f;
};

std::string text_of(const Variation& v) {
  GraphBuilder builder("g");
  const TensorType type(DType::kF32, Shape{3, 3});
  const ValueId x = builder.input("x", TensorType(DType::kF32, Shape{Dim::symbol("batch"), 3}));
  const ValueId w = builder.parameter(v.parameter, type, Initializer::normal(0, v.deviation));
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  const auto left = [&] { a = builder.add("MatMul", {x, w}, {}, v.node); };
  const auto right = [&] { b = builder.add("LeakyRelu", {x}, {{"alpha", v.alpha}}); };
  if (v.other_order) right();
  left();
  if (!v.other_order) right();
  if (v.dead_node) builder.add("Relu", {a});
  const ValueId scaled = builder.add("Mul", {a, builder.scalar(v.constant)});
  builder.output(builder.add("Add", {scaled, b}), "y");
  return canonical_text(std::move(builder).build());
}

TEST(CanonicalText, DoesNotDependOnNamesOfComputedValuesOrderOrDeadNodes) {
  const std::string text = text_of({});
  EXPECT_EQ(text, text_of({.node = "another name"}));
  EXPECT_EQ(text, text_of({.dead_node = true}));
  EXPECT_EQ(text, text_of({.other_order = true}));
}

TEST(CanonicalText, DependsOnWhatIsComputed) {
  const std::string text = text_of({});
  EXPECT_NE(text, text_of({.parameter = "v"}));
  EXPECT_NE(text, text_of({.constant = 2.5f}));
  EXPECT_NE(text, text_of({.deviation = 2}));
  EXPECT_NE(text, text_of({.alpha = 0.02f}));
}

TEST(CanonicalText, SeesTheNextValueOfAState) {
  const auto text = [](bool moves) {
    GraphBuilder builder("g");
    const TensorType type(DType::kF32, Shape{2});
    const ValueId x = builder.input("x", type);
    const ValueId s = builder.state("s", type, Initializer::zeros());
    const ValueId y = builder.add("Add", {x, s});
    if (moves) builder.set_next(s, y);
    builder.output(y, "y");
    return canonical_text(std::move(builder).build());
  };
  EXPECT_NE(text(true), text(false));
}

TEST(CanonicalText, IsDeepWithoutRecursion) {
  GraphBuilder builder("deep");
  ValueId x = builder.input("x", TensorType(DType::kF32, Shape{1}));
  for (int i = 0; i < 20000; ++i) x = builder.add("Relu", {x});
  builder.output(x, "y");
  EXPECT_GT(canonical_text(std::move(builder).build()).size(), 20000u);
}

TEST(Graph, FindsValuesByName) {
  GraphBuilder builder("g");
  const ValueId x = builder.input("x", TensorType(DType::kF32, Shape{1}));
  builder.output(x);
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.find_value("x"), x);
  EXPECT_EQ(graph.find_value("y"), std::nullopt);
}

}  // namespace
}  // namespace assay
