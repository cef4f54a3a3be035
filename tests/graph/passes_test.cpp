// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/passes.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace assay {
namespace {

size_t number_of(const Graph& graph, std::string_view type) {
  return static_cast<size_t>(
      std::ranges::count_if(graph.nodes(), [&](const Node& n) { return n.op->type == type; }));
}

// x[batch, 4] -> Gemm -> Relu -> LayerNormalization -> (Softmax, logits), twice through one weight.
Graph network() {
  GraphBuilder b("net");
  const TensorType square(DType::kF32, Shape{4, 4});
  const TensorType row(DType::kF32, Shape{4});
  const ValueId w = b.parameter("w", square, Initializer::normal(0, 1));
  const ValueId scale = b.parameter("scale", row, Initializer::ones());
  ValueId x = b.input("x", TensorType(DType::kF32, Shape{Dim::symbol("batch"), 4}));
  x = b.add("Relu", {b.add("MatMul", {x, w})});
  x = b.add("LayerNormalization", {x, scale});
  x = b.add("MatMul", {x, w});
  b.output(b.add("Softmax", {x}), "probabilities");
  b.output(x, "logits");
  return std::move(b).build();
}

TEST(BindDimensions, GivesSizesEverywhere) {
  const auto graph = bind_dimensions(network(), {{"batch", 5}});
  ASSERT_TRUE(graph.ok());
  for (const Value& value : graph->values()) EXPECT_TRUE(value.type.known()) << value.name;
  EXPECT_EQ(graph->value(graph->outputs()[0]).name, "probabilities");
  EXPECT_EQ(graph->value(graph->outputs()[1]).type.text(), "f32[5, 4]");
}

TEST(BindDimensions, FoldsShapesThatBecomeKnown) {
  GraphBuilder b("net");
  const ValueId x =
      b.input("x", TensorType(DType::kF32, Shape{Dim::symbol("batch"), Dim::symbol("length")}));
  const ValueId shape = b.add("Shape", {x});
  b.output(b.add("Reshape", {b.add("Relu", {x}), shape}), "y");
  const Graph graph = std::move(b).build();
  const auto part = bind_dimensions(graph, {{"batch", 2}});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(number_of(*part, "Shape"), 1u);
  const auto whole = bind_dimensions(*part, {{"length", 3}});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(number_of(*whole, "Shape"), 0u);
  EXPECT_EQ(whole->value(whole->outputs()[0]).type.text(), "f32[2, 3]");
}

TEST(BindDimensions, RefusesUnknownNamesAndSizesThatDoNotFit) {
  const auto unknown = bind_dimensions(network(), {{"bacth", 5}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().hint, "did you mean 'batch'?");
  EXPECT_EQ(bind_dimensions(network(), {{"batch", -1}}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(bind_dimensions(network(), {{"batch", int64_t{1} << 62}}).error().code,
            ErrorCode::kInvalid);
  GraphBuilder b("net");
  const ValueId x = b.input("x", TensorType(DType::kF32, Shape{Dim::symbol("n"), 4}));
  const ValueId y = b.input("y", TensorType(DType::kF32, Shape{3, 4}));
  b.output(b.add("Add", {x, y}));
  const auto clash = bind_dimensions(b.peek(), {{"n", 2}});
  ASSERT_FALSE(clash.ok());
  EXPECT_NE(clash.error().text().find("node 'Add' (Add)"), std::string::npos);
}

TEST(ApplyPrecision, CastsEachWeightOnce) {
  const auto graph = apply_precision(network(), Precision::kBF16);
  ASSERT_TRUE(graph.ok());
  // x, w (used twice), the logits back to f32 (for the Softmax and the output).
  EXPECT_EQ(number_of(*graph, "Cast"), 3u);
  for (const Node& node : graph->nodes()) {
    const DType out = graph->value(node.outputs[0]).type.dtype;
    if (node.op->type == "MatMul" || node.op->type == "Relu" ||
        node.op->type == "LayerNormalization") {
      EXPECT_EQ(out, DType::kBF16) << node.name;
    }
    if (node.op->type == "Softmax") {
      EXPECT_EQ(out, DType::kF32);
    }
    if (node.op->type == "LayerNormalization") {
      EXPECT_EQ(graph->value(node.inputs[1]).type.dtype, DType::kF32);
    }
  }
}

TEST(ApplyPrecision, KeepsInterfaceAndNames) {
  const Graph before = network();
  const auto after = apply_precision(before, Precision::kF16);
  ASSERT_TRUE(after.ok());
  ASSERT_EQ(after->outputs().size(), before.outputs().size());
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    EXPECT_EQ(after->value(after->outputs()[i]).name, before.value(before.outputs()[i]).name);
    EXPECT_EQ(after->value(after->outputs()[i]).type, before.value(before.outputs()[i]).type);
  }
  EXPECT_EQ(after->value(after->inputs()[0]).type, before.value(before.inputs()[0]).type);
}

TEST(ApplyPrecision, F32AndTf32ChangeNothing) {
  const std::string text = canonical_text(network());
  EXPECT_EQ(canonical_text(*apply_precision(network(), Precision::kF32)), text);
  EXPECT_EQ(canonical_text(*apply_precision(network(), Precision::kTF32)), text);
  EXPECT_NE(canonical_text(*apply_precision(network(), Precision::kBF16)), text);
}

TEST(ApplyPrecision, LeavesF64Alone) {
  GraphBuilder b("net");
  const ValueId x = b.input("x", TensorType(DType::kF64, Shape{2, 2}));
  b.output(b.add("MatMul", {x, x}));
  EXPECT_EQ(number_of(*apply_precision(b.peek(), Precision::kBF16), "Cast"), 0u);
}

TEST(ApplyPrecision, Int8NeedsAQuantisedGraph) {
  EXPECT_EQ(apply_precision(network(), Precision::kInt8).error().code, ErrorCode::kUnsupported);
}

TEST(Precision, ReadsBackItsName) {
  for (const char* name : {"f32", "tf32", "bf16", "f16", "int8"}) {
    EXPECT_EQ(precision_name(*parse_precision(name)), name);
  }
  EXPECT_EQ(parse_precision("bf61").error().hint, "did you mean 'bf16'?");
  EXPECT_FALSE(parse_precision("").ok());
}

TEST(RemoveDeadNodes, KeepsWhatOutputsAndStatesNeed) {
  GraphBuilder b("net");
  const TensorType type(DType::kF32, Shape{2});
  const ValueId x = b.input("x", type);
  const ValueId unused_constant = b.constant("unused", Tensor::zeros(DType::kF32, {2}));
  const ValueId s = b.state("s", type, Initializer::zeros());
  b.add("Add", {b.add("Relu", {x}), unused_constant});
  b.set_next(s, b.add("Tanh", {x}));
  b.output(b.add("Exp", {x}), "y");
  const Graph graph = remove_dead_nodes(b.peek());
  EXPECT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(number_of(graph, "Tanh"), 1u);
  EXPECT_EQ(number_of(graph, "Exp"), 1u);
  EXPECT_TRUE(graph.constants().empty());
  EXPECT_EQ(canonical_text(graph), canonical_text(b.peek()));
}

}  // namespace
}  // namespace assay
