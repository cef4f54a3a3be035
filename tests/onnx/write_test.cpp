// SPDX-License-Identifier: Apache-2.0
#include "onnx/write.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/scratch_folder.h"
#include "graph/builder.h"
#include "onnx/model_bytes.h"
#include "onnx/read.h"

namespace assay {
namespace {

using testing::HasSubstr;

Graph small_network() {
  GraphBuilder builder("small");
  const ValueId x =
      builder.input("x", TensorType(DType::kF32, Shape{Dim::symbol("batch"), 3, 8, 8}));
  const ValueId w = builder.parameter("conv.weight", TensorType(DType::kF32, Shape{4, 3, 3, 3}),
                                      Initializer::normal(0, 1));
  const ValueId scale =
      builder.parameter("norm.scale", TensorType(DType::kF32, Shape{4}), Initializer::ones());
  const ValueId bias =
      builder.parameter("norm.bias", TensorType(DType::kF32, Shape{4}), Initializer::zeros());
  const ValueId mean =
      builder.state("norm.mean", TensorType(DType::kF32, Shape{4}), Initializer::zeros());
  const ValueId variance =
      builder.state("norm.variance", TensorType(DType::kF32, Shape{4}), Initializer::ones());
  const ValueId conv = builder.add(
      "Conv", {x, w},
      {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}},
      "conv");
  const ValueId norm =
      builder.add("BatchNormalization", {conv, scale, bias, mean, variance}, {}, "norm");
  const ValueId relu = builder.add("Relu", {norm}, {}, "relu");
  builder.output(builder.add("Mul", {relu, builder.scalar(0.5F)}, {}, "half"), "y");
  return std::move(builder).build();
}

Graph again(const Graph& graph) {
  const auto bytes = onnx_bytes(graph);
  EXPECT_TRUE(bytes.ok()) << bytes.error().text();
  auto read = parse_onnx(*bytes, "again.onnx");
  EXPECT_TRUE(read.ok()) << read.error().text();
  return read.ok() ? *std::move(read) : Graph();
}

TEST(WriteOnnx, WhatIsWrittenIsReadBack) {
  const Graph graph = small_network();
  const Graph read = again(graph);
  ASSERT_EQ(read.nodes().size(), graph.nodes().size());
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    EXPECT_EQ(read.nodes()[i].op, graph.nodes()[i].op);
    EXPECT_EQ(read.nodes()[i].name, graph.nodes()[i].name);
  }
  EXPECT_EQ(read.value(read.outputs()[0]).type, graph.value(graph.outputs()[0]).type);
  EXPECT_EQ(read.parameters().size(), 3U);
  EXPECT_EQ(read.states().size(), 2U);
  // From here on nothing changes any more, values included.
  EXPECT_EQ(canonical_text(again(read)), canonical_text(read));
}

TEST(WriteOnnx, WeightsAreDrawnFromTheSeed) {
  const auto bytes = [](uint64_t seed) {
    OnnxWriteOptions options;
    options.seed = seed;
    return *onnx_bytes(small_network(), options);
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

TEST(WriteOnnx, LargeWeightsGoIntoAFileBeside) {
  ScratchFolder folder;
  OnnxWriteOptions options;
  options.inline_limit = 100;
  GraphBuilder builder("large");
  const ValueId x = builder.input("x", TensorType(DType::kF32, Shape{1, 1000}));
  const ValueId w =
      builder.parameter("w", TensorType(DType::kF32, Shape{1000, 10}), Initializer::normal(0, 1));
  builder.output(builder.add("MatMul", {x, w}), "y");
  const Graph graph = std::move(builder).build();
  ASSERT_TRUE(write_onnx(graph, folder / "m.onnx", options).ok());
  EXPECT_EQ(std::filesystem::file_size(folder / "m.onnx.data"), 40000U);
  EXPECT_EQ(folder.entries(), 2U);
  const auto read = read_onnx(folder / "m.onnx");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(canonical_text(*read), canonical_text(again(graph)));
}

TEST(WriteOnnx, TrainingGraphsAreRefused) {
  GraphBuilder builder("counter");
  const TensorType scalar(DType::kF32, Shape());
  const ValueId count = builder.state("count", scalar, Initializer::zeros());
  builder.set_next(count, builder.add("Add", {count, builder.scalar(1)}));
  const auto bytes = onnx_bytes(std::move(builder).build());
  ASSERT_FALSE(bytes.ok());
  EXPECT_THAT(bytes.error().text(), HasSubstr("state 'count'"));
}

TEST(WriteOnnx, AFilesOwnAttributeCapturesIsKeptAndMeansNothing) {
  onnx::GraphBytes graph;
  graph.input("x", 1, {2})
      .node("Apply", {"x"}, {"y"}, {onnx::text_attribute("captures", "many")}, "", "com.example")
      .node("Apply", {"y"}, {"z"}, {onnx::int_attribute("captures", 99)}, "", "com.example")
      .output("z", 1, {2});
  const auto read = parse_onnx(onnx::model_bytes(graph), "test.onnx");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(canonical_text(again(*read)), canonical_text(*read));
}

TEST(WriteOnnx, SubgraphsReferToOuterValuesAgain) {
  onnx::GraphBytes body("body");
  body.node("Add", {"x", "w"}, {"t"}).output("t", 1, {2});
  onnx::GraphBytes graph;
  graph.input("x", 1, {2})
      .initializer(onnx::tensor_bytes("w", 1, {2}, onnx::floats({1, 2})))
      .node("Apply", {}, {"y"}, {onnx::graph_attribute("body", body.bytes())}, "", "com.example")
      .output("y", 1, {2});
  const auto read = parse_onnx(onnx::model_bytes(graph), "test.onnx");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(canonical_text(again(*read)), canonical_text(*read));
}

}  // namespace
}  // namespace assay
