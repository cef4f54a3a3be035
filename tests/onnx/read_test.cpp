// SPDX-License-Identifier: Apache-2.0
#include "onnx/read.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>

#include "graph/operator.h"
#include "onnx/model_bytes.h"

namespace assay {
namespace {

using namespace onnx;  // the messages
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kFloat = 1;
constexpr int64_t kInt64 = 7;

Graph read(const std::string& bytes, const OnnxOptions& options = {}) {
  auto graph = parse_onnx(bytes, "test.onnx", options);
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  return graph.ok() ? *std::move(graph) : Graph();
}

std::string types_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) text += (text.empty() ? "" : " ") + node.op->type;
  return text;
}

const Value& output(const Graph& graph) { return graph.value(graph.outputs()[0]); }

GraphBytes linear() {
  GraphBytes graph;
  graph.input("x", kFloat, {-1, 2})
      .initializer(tensor_bytes("w", kFloat, {2, 3}, floats({1, 2, 3, 4, 5, 6})))
      .node("MatMul", {"x", "w"}, {"y"}, {}, "product")
      .output("y", kFloat, {-1, 3});
  return graph;
}

TEST(ReadOnnx, KeepsNamesAndInfersShapes) {
  const Graph graph = read(model_bytes(linear()));
  EXPECT_EQ(types_of(graph), "MatMul");
  EXPECT_EQ(graph.nodes()[0].name, "product");
  EXPECT_EQ(output(graph).name, "y");
  EXPECT_EQ(output(graph).type.text(), "f32[x.0, 3]");
}

TEST(ReadOnnx, WeightsAreParametersWithTheFilesValues) {
  const Graph graph = read(model_bytes(linear()));
  ASSERT_EQ(graph.parameters().size(), 1U);
  const Parameter& w = graph.parameters()[0];
  EXPECT_EQ(graph.value(w.value).name, "w");
  const auto values = materialize(w.initializer, graph.value(w.value).type, RandomKey(1), "w");
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(values->values<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ReadOnnx, InputsTakeGivenShapes) {
  OnnxOptions options;
  options.input_shapes["x"] = Shape{5, 2};
  EXPECT_EQ(output(read(model_bytes(linear()), options)).type.text(), "f32[5, 3]");
}

TEST(ReadOnnx, AGivenShapeThatContradictsTheFileIsAnError) {
  OnnxOptions options;
  options.input_shapes["x"] = Shape{5, 4};
  const auto graph = parse_onnx(model_bytes(linear()), "test.onnx", options);
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.error().text(), HasSubstr("shape [5, 4] where the file has"));
  EXPECT_THAT(graph.error().text(), HasSubstr("input 'x'"));
}

TEST(ReadOnnx, AnInputWithAnInitialiserIsNotAnInput) {
  GraphBytes graph = linear();
  graph.input("w", kFloat, {2, 3});
  EXPECT_EQ(read(model_bytes(graph)).inputs().size(), 1U);
}

TEST(ReadOnnx, NodesMayComeInAnyOrder) {
  GraphBytes graph;
  graph.input("x", kFloat, {2})
      .node("Neg", {"b"}, {"y"})
      .node("Abs", {"a"}, {"b"})
      .node("Exp", {"x"}, {"a"})
      .output("y", kFloat, {2});
  EXPECT_EQ(types_of(read(model_bytes(graph))), "Exp Abs Neg");
}

TEST(ReadOnnx, IntegersAreFoldedIntoShapes) {
  GraphBytes graph;
  graph.input("x", kFloat, {4, 6})
      .node("Shape", {"x"}, {"s"})
      .initializer(tensor_bytes("i", kInt64, {1}, int64s({0})))
      .node("Gather", {"s", "i"}, {"rows"})
      .initializer(tensor_bytes("rest", kInt64, {1}, int64s({-1})))
      .node("Concat", {"rest", "rows"}, {"shape"}, {int_attribute("axis", 0)})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y", kFloat, {6, 4});
  const Graph read_graph = read(model_bytes(graph));
  EXPECT_EQ(types_of(read_graph), "Reshape");
  EXPECT_EQ(output(read_graph).type.text(), "f32[6, 4]");
  EXPECT_TRUE(read_graph.parameters().empty());
}

TEST(ReadOnnx, BatchNormalisationKeepsItsStatisticsAsStates) {
  GraphBytes graph;
  graph.input("x", kFloat, {1, 2, 4, 4});
  for (const char* name : {"scale", "bias", "mean", "variance"}) {
    graph.initializer(tensor_bytes(name, kFloat, {2}, floats({1, 1})));
  }
  graph.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"})
      .output("y", kFloat, {1, 2, 4, 4});
  const Graph read_graph = read(model_bytes(graph));
  EXPECT_EQ(read_graph.parameters().size(), 2U);
  ASSERT_EQ(read_graph.states().size(), 2U);
  EXPECT_EQ(read_graph.states()[0].next, kNoValue);
}

TEST(ReadOnnx, UnknownOperatorsAreKeptWithTheTypesTheFileStates) {
  GraphBytes graph;
  graph.input("x", kFloat, {2, 3})
      .node("Fancy", {"x"}, {"a"}, {int_attribute("level", 3)}, "fancy", "com.example")
      .node("Relu", {"a"}, {"y"})
      .output("y", kFloat, {2, 3})
      .add([](Writer& out) {
        GraphBytes value;
        value.output("a", kFloat, {2, 3});
        // The value_info of the same type.
        protozero::pbf_reader reader(value.bytes());
        reader.next(12);
        out.add_message(13, std::string(reader.get_view()));
      });
  const Graph read_graph = read(model_bytes(graph));
  EXPECT_EQ(types_of(read_graph), "Fancy Relu");
  EXPECT_EQ(output(read_graph).type.text(), "f32[2, 3]");
  ASSERT_EQ(read_graph.unknown_ops().size(), 1U);
  EXPECT_EQ(read_graph.unknown_ops()[0]->domain, "com.example");
  EXPECT_EQ(read_graph.nodes()[0].attributes.integer("level"), 3);
  EXPECT_EQ(read_graph.nodes()[0].op->kernel, nullptr);
}

TEST(ReadOnnx, WhatFollowsAnUnknownOperatorIsKeptToo) {
  GraphBytes graph;
  graph.input("x", kFloat, {2, 3})
      .initializer(tensor_bytes("w", kFloat, {2, 3}, floats({1, 2, 3, 4, 5, 6})))
      .node("Fancy", {"x"}, {"a"}, {}, "fancy", "com.example")
      .node("Gather", {"w", "a"}, {"y"})  // indices must be integers: nobody says what `a` is
      .output("y", kFloat, {2, 3});
  EXPECT_EQ(types_of(read(model_bytes(graph))), "Fancy Gather");
}

TEST(ReadOnnx, FunctionsAreInlinedWithTheirAttributes) {
  GraphBytes graph;
  graph.input("x", kFloat, {2, 3})
      .node("Twice", {"x"}, {"a"}, {int_attribute("where", 1)}, "first", "local")
      .node("Twice", {"a"}, {"y"}, {int_attribute("where", 0)}, "second", "local")
      .output("y", kFloat, {2, 3});
  const Fields function = [](Writer& model) {
    Writer out(model, 25);
    out.add_string(1, "Twice");
    out.add_string(4, "in");
    out.add_string(5, "out");
    out.add_string(6, "where");
    const auto node = [&out](const char* type, const char* from, const char* to) {
      Writer body(out, 7);
      body.add_string(1, from);
      body.add_string(2, to);
      body.add_string(4, type);
      if (std::string_view(type) != "Softmax") return;
      Writer attribute(body, 5);
      attribute.add_string(1, "axis");
      attribute.add_int64(20, 2);
      attribute.add_string(21, "where");
    };
    node("Relu", "in", "inner");
    node("Softmax", "inner", "out");
    {
      Writer import(out, 9);
      import.add_int64(2, 21);
    }
    out.add_string(10, "local");
  };
  const Graph read_graph = read(model_bytes(graph, 21, function));
  EXPECT_EQ(types_of(read_graph), "Relu Softmax Relu Softmax");
  EXPECT_EQ(read_graph.nodes()[1].attributes.integer("axis"), 1);
  EXPECT_EQ(read_graph.nodes()[3].attributes.integer("axis"), 0);
  EXPECT_EQ(output(read_graph).name, "y");
}

TEST(ReadOnnx, EveryEncodingOfATensorGivesTheSame) {
  const std::string raw_bytes(reinterpret_cast<const char*>(std::array<float, 2>{1.5F, -2}.data()),
                              8);
  const std::string bf16_bits("\xc0\x3f\x00\xc0", 4);
  const auto check = [](const std::string& tensor, const std::string& type,
                        std::string_view bytes) {
    const auto read_tensor = parse_onnx_tensor(tensor, "t.pb");
    ASSERT_TRUE(read_tensor.ok()) << read_tensor.error().text();
    EXPECT_EQ(read_tensor->type().text(), type);
    EXPECT_EQ(std::string_view(static_cast<const char*>(read_tensor->data()),
                               static_cast<size_t>(read_tensor->bytes())),
              bytes);
  };
  check(tensor_bytes("t", 1, {2}, raw(raw_bytes)), "f32[2]", raw_bytes);
  check(tensor_bytes("t", 1, {2}, floats({1.5F, -2})), "f32[2]", raw_bytes);
  check(tensor_bytes("t", 1, {2},
                     [](Writer& out) {  // one at a time
                       out.add_float(4, 1.5F);
                       out.add_float(4, -2);
                     }),
        "f32[2]", raw_bytes);
  check(tensor_bytes("t", 16, {2}, int32s({0x3fc0, 0xc000})), "bf16[2]", bf16_bits);
  check(tensor_bytes("t", 10, {2}, raw(bf16_bits)), "f16[2]", bf16_bits);
  check(tensor_bytes("t", 3, {3}, int32s({-1, 0, 127})), "i8[3]",
        std::string_view("\xff\x00\x7f", 3));
  check(tensor_bytes("t", 22, {3}, int32s({0x21, 0x03})), "i4[3]", "\x21\x03");
  check(tensor_bytes("t", 17, {2}, int32s({0x38, 0x40})), "f8e4m3fn[2]", "\x38\x40");
  check(tensor_bytes("t", 9, {2}, int32s({1, 0})), "bool[2]", std::string_view("\x01\x00", 2));
}

TEST(ReadOnnx, SparseTensorsBecomeDense) {
  GraphBytes graph;
  graph.input("x", kFloat, {2, 3})
      .add([](Writer& out) {
        Writer sparse(out, 15);
        sparse.add_message(1, tensor_bytes("w", kFloat, {2}, floats({5, 7})));
        sparse.add_message(2, tensor_bytes("", kInt64, {2, 2}, int64s({0, 1, 1, 2})));
        sparse.add_int64(3, 2);
        sparse.add_int64(3, 3);
      })
      .node("Add", {"x", "w"}, {"y"})
      .output("y", kFloat, {2, 3});
  const Graph read_graph = read(model_bytes(graph));
  ASSERT_EQ(read_graph.parameters().size(), 1U);
  EXPECT_THAT(read_graph.parameters()[0].initializer.given.values<float>(),
              ElementsAre(0, 5, 0, 0, 0, 7));
}

}  // namespace
}  // namespace assay
