// SPDX-License-Identifier: Apache-2.0
//
// Old opsets become the internal one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/operator.h"
#include "onnx/model_bytes.h"
#include "onnx/read.h"

namespace assay {
namespace {

using namespace onnx;  // the messages
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kFloat = 1;
constexpr int64_t kInt64 = 7;

// A graph of one node of an old opset on inputs x [2, 3, 4] and b, whose output is y.
Result<Graph> upgraded(int64_t opset, const std::string& type,
                       const std::vector<Fields>& attributes, const std::vector<int64_t>& b = {},
                       size_t inputs = 1) {
  GraphBytes graph;
  graph.input("x", kFloat, {2, 3, 4});
  if (inputs > 1) graph.input("b", kFloat, b);
  graph
      .node(type, inputs > 1 ? std::vector<std::string>{"x", "b"} : std::vector<std::string>{"x"},
            {"y"}, attributes, "node")
      .output("y", kFloat, {});
  return parse_onnx(model_bytes(graph, opset), "test.onnx");
}

// The operators and the output's shape: "Flatten Softmax Reshape: f32[2, 3, 4]".
std::string text_of(const Result<Graph>& graph) {
  if (!graph.ok()) return graph.error().text();
  std::string text;
  for (const Node& node : graph->nodes()) text += (text.empty() ? "" : " ") + node.op->type;
  return text + ": " + graph->value(graph->outputs()[0]).type.text();
}

std::vector<int64_t> constant_of(const Graph& graph, size_t input) {
  const Tensor* data = graph.constant_data(graph.nodes()[0].inputs[input]);
  if (data == nullptr) return {};
  return {data->values<int64_t>().begin(), data->values<int64_t>().end()};
}

TEST(Upgrade, SoftmaxOnAFlattenedMatrix) {
  EXPECT_EQ(text_of(upgraded(11, "Softmax", {})), "Flatten Softmax Reshape: f32[2, 3, 4]");
  EXPECT_EQ(text_of(upgraded(11, "Softmax", {int_attribute("axis", 2)})), "Softmax: f32[2, 3, 4]");
  EXPECT_EQ(text_of(upgraded(13, "Softmax", {})), "Softmax: f32[2, 3, 4]");
  EXPECT_THAT(text_of(upgraded(11, "Softmax", {int_attribute("axis", 9)})),
              HasSubstr("'axis' is out of range"));
}

TEST(Upgrade, AxesBecomeAnInput) {
  const auto reduced = upgraded(11, "ReduceMean", {ints_attribute("axes", {1})});
  EXPECT_EQ(text_of(reduced), "ReduceMean: f32[2, 1, 4]");
  EXPECT_THAT(constant_of(*reduced, 1), ElementsAre(1));
  EXPECT_EQ(text_of(upgraded(11, "ReduceSum", {ints_attribute("axes", {})})),
            "ReduceSum: f32[1, 1, 1]");
  EXPECT_EQ(text_of(upgraded(11, "Unsqueeze", {ints_attribute("axes", {0})})),
            "Unsqueeze: f32[1, 2, 3, 4]");
}

TEST(Upgrade, SliceAndPadTakeTheirNumbersAsInputs) {
  EXPECT_EQ(text_of(upgraded(9, "Slice",
                             {ints_attribute("starts", {1}), ints_attribute("ends", {3}),
                              ints_attribute("axes", {2})})),
            "Slice: f32[2, 3, 2]");
  EXPECT_EQ(
      text_of(upgraded(10, "Pad",
                       {ints_attribute("pads", {0, 0, 1, 0, 0, 1}), float_attribute("value", 2)})),
      "Pad: f32[2, 3, 6]");
}

TEST(Upgrade, ClipLimitsKeepTheirValues) {
  const auto clip = upgraded(6, "Clip", {float_attribute("max", 6)});
  EXPECT_EQ(text_of(clip), "Clip: f32[2, 3, 4]");
  const Node& node = clip->nodes()[0];
  EXPECT_EQ(node.inputs[1], kNoValue);
  EXPECT_EQ(clip->constant_data(node.inputs[2])->values<float>()[0], 6);
}

TEST(Upgrade, SplitCountsItsOutputs) {
  GraphBytes graph;
  graph.input("x", kFloat, {4, 6})
      .node("Split", {"x"}, {"a", "b"}, {int_attribute("axis", 1)})
      .output("b", kFloat, {4, 3});
  EXPECT_EQ(text_of(parse_onnx(model_bytes(graph, 11), "test.onnx")), "Split: f32[4, 3]");
}

TEST(Upgrade, BroadcastingOnRequestAlignsAtTheAxis) {
  EXPECT_EQ(text_of(upgraded(6, "Add", {int_attribute("broadcast", 1), int_attribute("axis", 1)},
                             {3}, 2)),
            "Unsqueeze Add: f32[2, 3, 4]");
  EXPECT_EQ(text_of(upgraded(6, "Add", {int_attribute("broadcast", 1)}, {4}, 2)),
            "Add: f32[2, 3, 4]");
}

TEST(Upgrade, CastKnowsTypesByName) {
  GraphBytes graph;
  graph.input("x", kFloat, {2})
      .node("Cast", {"x"}, {"y"}, {text_attribute("to", "INT64")})
      .output("y", kInt64, {2});
  EXPECT_EQ(text_of(parse_onnx(model_bytes(graph, 5), "test.onnx")), "Cast: i64[2]");
}

TEST(Upgrade, BatchNormalisationOfEveryPositionIsRefusedByName) {
  GraphBytes graph;
  graph.input("x", kFloat, {1, 2, 4});
  for (const char* name : {"s", "b", "m", "v"}) {
    graph.initializer(tensor_bytes(name, kFloat, {2}, floats({1, 1})));
  }
  graph
      .node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}, {int_attribute("spatial", 0)},
            "norm")
      .output("y", kFloat, {1, 2, 4});
  const std::string text = text_of(parse_onnx(model_bytes(graph, 7), "test.onnx"));
  EXPECT_THAT(text, HasSubstr("spatial = 0"));
  EXPECT_THAT(text, HasSubstr("node 'norm' (BatchNormalization)"));
}

TEST(Upgrade, ANumberOfTheWrongTypeIsAnErrorNotACrash) {
  for (const char* type : {"ReduceMean", "Squeeze", "Split", "Slice", "Pad", "Clip", "TopK",
                           "Softmax", "Dropout", "Cast", "BatchNormalization", "Upsample"}) {
    for (const char* name : {"axes", "axis", "split", "starts", "pads", "min", "k", "ratio", "to",
                             "scales", "spatial"}) {
      for (const int64_t opset : {1, 6, 9, 11}) {
        (void)upgraded(opset, type, {text_attribute(name, "x")});
        (void)upgraded(opset, type, {float_attribute(name, 0.5F)}, {1}, 2);
      }
    }
  }
}

}  // namespace
}  // namespace assay
