// SPDX-License-Identifier: Apache-2.0
//
// Subgraphs become closed graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/operator.h"
#include "onnx/model_bytes.h"
#include "onnx/read.h"

namespace assay {
namespace {

using namespace onnx;  // the messages

constexpr int64_t kFloat = 1;
constexpr int64_t kBool = 9;

std::vector<std::string> inputs_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs()) names.push_back(graph.value(id).name);
  return names;
}

// Unknown operators keep their subgraphs as well: the form does not depend on the table.
Graph read_branches() {
  GraphBytes then_branch("then");
  then_branch.node("Add", {"x", "w"}, {"t"}).output("t", kFloat, {2});
  GraphBytes else_branch("else");
  else_branch.initializer(tensor_bytes("own", kFloat, {2}, floats({3, 4})))
      .node("Mul", {"own", "k"}, {"e"})
      .output("e", kFloat, {2});
  GraphBytes graph;
  graph.input("c", kBool, {})
      .input("x", kFloat, {2})
      .initializer(tensor_bytes("w", kFloat, {2}, floats({1, 2})))
      .initializer(tensor_bytes("k", kFloat, {}, floats({2})))
      .node("Choose", {"c"}, {"y"},
            {graph_attribute("then_branch", then_branch.bytes()),
             graph_attribute("else_branch", else_branch.bytes())},
            "choice", "com.example")
      .output("y", kFloat, {2});
  auto read = parse_onnx(model_bytes(graph), "test.onnx");
  EXPECT_TRUE(read.ok()) << read.error().text();
  return read.ok() ? *std::move(read) : Graph();
}

const Graph& branch(const Graph& graph, std::string_view name) {
  return *graph.nodes()[0].attributes.get<std::shared_ptr<const Graph>>(name);
}

TEST(Subgraphs, CapturedValuesBecomeInputsOfTheNodeAndOfEverySubgraph) {
  const Graph graph = read_branches();
  const Node& node = graph.nodes()[0];
  EXPECT_EQ(node.attributes.integer("captures"), 3);
  ASSERT_EQ(node.inputs.size(), 4U);  // c; x, w and the hoisted weight
  EXPECT_EQ(graph.value(node.inputs[1]).name, "x");
  EXPECT_EQ(graph.value(node.inputs[2]).name, "w");
  // The weight that the else branch holds itself has another name there.
  EXPECT_THAT(inputs_of(branch(graph, "then_branch")), testing::ElementsAre("x", "w", "own"));
  EXPECT_THAT(inputs_of(branch(graph, "else_branch")), testing::ElementsAre("x", "w", "own_"));
}

TEST(Subgraphs, OuterConstantsAreCopiedIn) {
  const Graph graph = read_branches();
  EXPECT_TRUE(branch(graph, "else_branch").find_value("k").has_value());
  EXPECT_EQ(branch(graph, "else_branch").constants().size(), 1U);
}

TEST(Subgraphs, TheirWeightsAreParametersOfTheWholeGraph) {
  const Graph graph = read_branches();
  ASSERT_EQ(graph.parameters().size(), 2U);
  EXPECT_EQ(graph.value(graph.parameters()[1].value).name, "own");
  EXPECT_TRUE(branch(graph, "else_branch").parameters().empty());
}

TEST(Subgraphs, ShapesInsideFollowFromOutside) {
  const Graph graph = read_branches();
  const Graph& body = branch(graph, "then_branch");
  EXPECT_EQ(body.value(body.outputs()[0]).type.text(), "f32[2]");
}

// Names inside and outside a subgraph may be the same without meaning the same.
TEST(Subgraphs, WeightsInsideMayHaveTheNamesOfValuesOutside) {
  for (const char* name : {"x", "y", "c", "o"}) {
    GraphBytes body("body");
    body.initializer(tensor_bytes(name, kFloat, {2}, floats({3, 4})))
        .node("Mul", {name, name}, {"b"})
        .output("b", kFloat, {2});
    GraphBytes graph;
    graph.input("c", kBool, {})
        .input("x", kFloat, {2})
        .node("Choose", {"c"}, {"o"}, {graph_attribute("body", body.bytes())}, "", "com.example")
        .node("Add", {"o", "x"}, {"y"})
        .output("y", kFloat, {2});
    const auto read = parse_onnx(model_bytes(graph), "test.onnx");
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(inputs_of(*read), (std::vector<std::string>{"c", "x"}));
    EXPECT_EQ(read->value(read->outputs()[0]).name, "y");
    ASSERT_EQ(read->parameters().size(), 1U);
    EXPECT_EQ(read->value(read->parameters()[0].value).name, std::string(name) + "_");
  }
}

TEST(Subgraphs, AWeightInsideWithoutANameIsAnError) {
  GraphBytes body("body");
  body.initializer(tensor_bytes("", kFloat, {2}, floats({3, 4}))).output("x", kFloat, {2});
  GraphBytes graph;
  graph.input("x", kFloat, {2})
      .node("Choose", {"x"}, {"y"}, {graph_attribute("body", body.bytes())}, "", "com.example")
      .output("y", kFloat, {2});
  EXPECT_FALSE(parse_onnx(model_bytes(graph), "test.onnx").ok());
}

TEST(Subgraphs, NestedOnesPassValuesThrough) {
  GraphBytes inner("inner");
  inner.node("Add", {"x", "x"}, {"i"}).output("i", kFloat, {2});
  GraphBytes outer("outer");
  outer.node("Choose", {"c"}, {"o"}, {graph_attribute("body", inner.bytes())}, "", "com.example")
      .output("o", kFloat, {2});
  GraphBytes graph;
  graph.input("c", kBool, {})
      .input("x", kFloat, {2})
      .node("Choose", {"c"}, {"y"}, {graph_attribute("body", outer.bytes())}, "", "com.example")
      .output("y", kFloat, {2});
  const auto read = parse_onnx(model_bytes(graph), "test.onnx");
  ASSERT_TRUE(read.ok()) << read.error().text();
  const Graph& body = branch(*read, "body");
  EXPECT_THAT(inputs_of(body), testing::UnorderedElementsAre("c", "x"));
  EXPECT_THAT(inputs_of(branch(body, "body")), testing::ElementsAre("x"));
}

}  // namespace
}  // namespace assay
