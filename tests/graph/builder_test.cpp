// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

class Builder : public testing::Test {
 protected:
  ValueId input(const std::string& name, Shape shape, DType dtype = DType::kF32) {
    return builder_.input(name, TensorType(dtype, std::move(shape)));
  }
  ValueId integers(const Ints& values) {
    return builder_.constant("integers", Tensor::vector_i64(values));
  }
  std::string shape_of(ValueId id) { return builder_.type(id).text(); }
  // The error of a node that must be refused.
  Error refused(std::string_view type, std::vector<ValueId> inputs, Attributes attributes = {},
                size_t outputs = 1) {
    const size_t nodes = builder_.peek().nodes().size();
    auto result =
        builder_.try_add("", type, std::move(inputs), outputs, std::move(attributes), "it");
    EXPECT_FALSE(result.ok()) << type;
    EXPECT_EQ(builder_.peek().nodes().size(), nodes) << "a refused node leaves no trace";
    return result.ok() ? Error{} : result.error();
  }
  std::string refusal(std::string_view type, std::vector<ValueId> inputs,
                      Attributes attributes = {}, size_t outputs = 1) {
    return refused(type, std::move(inputs), std::move(attributes), outputs).text();
  }

  GraphBuilder builder_{"test"};
};

TEST_F(Builder, InfersConvolutionsWithSymbols) {
  const ValueId x = input("x", {Dim::symbol("batch"), 3, 224, Dim::symbol("width")});
  const ValueId w = input("w", {64, 3, 7, 7});
  const ValueId y =
      builder_.add("Conv", {x, w}, {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}});
  EXPECT_EQ(shape_of(y), "f32[batch, 64, 112, ?]");
  const ValueId same = builder_.add("Conv", {x, w}, {{"pads", Ints{3, 3, 3, 3}}});
  EXPECT_EQ(shape_of(same), "f32[batch, 64, 224, width]");
}

TEST_F(Builder, PadsAsAutoPadSays) {
  const ValueId x = input("x", {1, 1, 5, 6});
  const ValueId w = input("w", {1, 1, 3, 2});
  const auto shape = [&](const char* pad) {
    return shape_of(builder_.add("Conv", {x, w}, {{"auto_pad", pad}, {"strides", Ints{2, 2}}}));
  };
  EXPECT_EQ(shape("SAME_UPPER"), "f32[1, 1, 3, 3]");
  EXPECT_EQ(shape("SAME_LOWER"), "f32[1, 1, 3, 3]");
  EXPECT_EQ(shape("VALID"), "f32[1, 1, 2, 3]");
}

TEST_F(Builder, FlattenKeepsTheBatchSymbol) {
  const ValueId x = input("x", {Dim::symbol("batch"), 512, 1, 1});
  EXPECT_EQ(shape_of(builder_.add("Flatten", {x})), "f32[batch, 512]");
}

TEST_F(Builder, ReshapeSolvesForTheHole) {
  const ValueId x = input("x", {Dim::symbol("batch"), 4, 6});
  EXPECT_EQ(shape_of(builder_.add("Reshape", {x, integers({0, -1})})), "f32[batch, 24]");
  EXPECT_EQ(shape_of(builder_.add("Reshape", {x, integers({-1, 4, 6})})), "f32[batch, 4, 6]");
  EXPECT_EQ(shape_of(builder_.add("Reshape", {x, integers({-1, 12})})), "f32[?, 12]");
  EXPECT_EQ(shape_of(builder_.add("Reshape", {x, integers({0, 2, -1, 3})})), "f32[batch, 2, 4, 3]");
}

TEST_F(Builder, FoldsShapeArithmetic) {
  const ValueId x = input("x", {2, 3, 4});
  const ValueId shape = builder_.add("Shape", {x});
  const ValueId last = builder_.add("Gather", {shape, integers({2})});
  const ValueId twice = builder_.add("Mul", {last, integers({2})});
  const ValueId target = builder_.add("Concat", {integers({-1}), twice}, {{"axis", 0}});
  const ValueId y = builder_.add("Reshape", {x, target});
  EXPECT_EQ(shape_of(y), "f32[3, 8]");
  EXPECT_EQ(builder_.peek().nodes().size(), 1u) << "only the Reshape is left";
}

TEST_F(Builder, LeavesShapesOfUnknownSizeToBinding) {
  const ValueId x = input("x", {Dim::symbol("batch"), 3, 4});
  const ValueId shape = builder_.add("Shape", {x});
  EXPECT_EQ(shape_of(shape), "i64[3]");
  const ValueId y = builder_.add("Reshape", {x, shape});
  EXPECT_EQ(shape_of(y), "f32[?, ?, ?]");
  const ValueId tail = builder_.add("Shape", {x}, {{"start", 1}});
  EXPECT_NE(builder_.peek().constant_data(tail), nullptr) << "the known part is a constant";
}

TEST_F(Builder, LargeConstantsStayNodes) {
  const ValueId big = builder_.constant("big", Tensor::zeros(DType::kF32, {64, 64}));
  const ValueId y = builder_.add("Transpose", {big});
  EXPECT_EQ(builder_.peek().value(y).kind, ValueKind::kComputed);
}

TEST_F(Builder, NamesAreUnique) {
  const ValueId x = input("x", {2});
  const ValueId a = builder_.add("Relu", {x});
  const ValueId b = builder_.add("Relu", {a});
  const ValueId c = builder_.add("Relu", {b}, {}, "x");
  const Graph& graph = builder_.peek();
  EXPECT_EQ(graph.value(a).name, "Relu");
  EXPECT_EQ(graph.value(b).name, "Relu_2");
  EXPECT_EQ(graph.value(c).name, "x_2");
}

TEST_F(Builder, OutputsGetTheNameAskedFor) {
  const ValueId x = input("x", {2});
  const ValueId a = builder_.add("Relu", {x}, {}, "y");
  const ValueId b = builder_.add("Relu", {a});
  builder_.output(b, "y");
  builder_.output(b, "z");
  builder_.output(x, "same");
  const Graph graph = std::move(builder_).build();
  ASSERT_EQ(graph.outputs().size(), 3u);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
  EXPECT_EQ(graph.value(graph.outputs()[1]).name, "z");
  EXPECT_EQ(graph.value(graph.outputs()[2]).name, "same");
}

TEST_F(Builder, ScalarsAreShared) {
  EXPECT_EQ(builder_.scalar(0.5f), builder_.scalar(0.5f));
  EXPECT_NE(builder_.scalar(0.5f), builder_.scalar(0.25f));
}

// ---- Bad input ----

TEST_F(Builder, UnknownOperatorGetsTheNearest) {
  const ValueId x = input("x", {2});
  const Error error = refused("Rellu", {x});
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(error.message, "operator 'Rellu' is not known");
  EXPECT_EQ(error.place, "node 'it' (Rellu)");
  EXPECT_EQ(error.hint, "did you mean 'Relu'?");
}

TEST_F(Builder, UnknownAttributeGetsTheNearest) {
  const ValueId x = input("x", {1, 1, 4, 4});
  const Error error = refused("Conv", {x, x}, {{"stride", Ints{1, 1}}});
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_EQ(error.text(), "Conv has no attribute 'stride' (node 'it' (Conv))");
  EXPECT_EQ(error.hint, "did you mean 'strides'?");
}

TEST_F(Builder, WrongAttributeTypeIsNamed) {
  const ValueId x = input("x", {1, 1, 4, 4});
  EXPECT_EQ(refusal("Conv", {x, x}, {{"group", 1.0f}}),
            "attribute 'group' must be int, not float (node 'it' (Conv))");
}

TEST_F(Builder, MissingAttributeIsNamed) {
  const ValueId x = input("x", {1, 1, 4, 4});
  EXPECT_EQ(refusal("MaxPool", {x}), "attribute 'kernel_shape' is required (node 'it' (MaxPool))");
}

TEST_F(Builder, WrongNumberOfInputsOrOutputsIsNamed) {
  const ValueId x = input("x", {2, 2});
  EXPECT_EQ(refusal("Conv", {x}), "Conv takes 2 to 3 inputs, not 1 (node 'it' (Conv))");
  EXPECT_EQ(refusal("Relu", {x, x}), "Relu takes 1 inputs, not 2 (node 'it' (Relu))");
  EXPECT_EQ(refusal("MatMul", {x, kNoValue}), "input 1 is required (node 'it' (MatMul))");
  EXPECT_EQ(refusal("Relu", {x}, {}, 2), "Relu takes 1 outputs, not 2 (node 'it' (Relu))");
}

TEST_F(Builder, WrongElementTypesAreNamed) {
  const ValueId f = input("f", {2, 2});
  const ValueId i = input("i", {2, 2}, DType::kI64);
  EXPECT_EQ(refusal("MatMul", {f, i}),
            "input 0 and input 1 have different element types, f32 and i64 (node 'it' (MatMul))");
  EXPECT_EQ(refusal("Tanh", {i}),
            "input 0 has element type i64 where f32 or f64 or f16 or bf16 is needed (node 'it' "
            "(Tanh))");
}

TEST_F(Builder, ShapesThatDoNotFitAreNamed) {
  const ValueId a = input("a", {2, 3});
  const ValueId b = input("b", {4, 5});
  EXPECT_EQ(refusal("MatMul", {a, b}),
            "shapes [2, 3] and [4, 5] cannot be multiplied (node 'it' (MatMul))");
  EXPECT_EQ(refusal("Add", {a, b}),
            "shapes [2, 3] and [4, 5] cannot be broadcast together (node 'it' (Add))");
  EXPECT_EQ(refusal("Reshape", {a, integers({4, 2})}),
            "shape [2, 3] cannot become [4, 2] (node 'it' (Reshape))");
  EXPECT_EQ(refusal("Transpose", {a}, {{"perm", Ints{0, 0}}}),
            "attribute 'perm' is not a permutation of the 2 axes (node 'it' (Transpose))");
  EXPECT_EQ(refusal("Softmax", {a}, {{"axis", 2}}),
            "attribute 'axis' is 2, outside a tensor of rank 2 (node 'it' (Softmax))");
}

TEST_F(Builder, ConvolutionsThatCannotBeAreRefused) {
  const ValueId x = input("x", {1, 4, 5, 5});
  const ValueId w = input("w", {6, 2, 3, 3});
  EXPECT_NE(refusal("Conv", {x, w}).find("4 channels"), std::string::npos);
  EXPECT_NE(refusal("Conv", {x, w}, {{"group", 0}}).find("'group'"), std::string::npos);
  EXPECT_NE(refusal("Conv", {x, w}, {{"group", 4}}).find("'group' 4"), std::string::npos);
  const Attributes bad[] = {
      {{"group", 2}, {"strides", Ints{0, 1}}},
      {{"group", 2}, {"strides", Ints{1}}},
      {{"group", 2}, {"dilations", Ints{-1, 1}}},
      {{"group", 2}, {"pads", Ints{-1, 0, 0, 0}}},
      {{"group", 2}, {"pads", Ints{std::numeric_limits<int64_t>::max(), 0, 0, 0}}},
      {{"group", 2}, {"kernel_shape", Ints{3, 2}}},
      {{"group", 2}, {"auto_pad", "SAME"}},
      {{"group", 2}, {"dilations", Ints{9, 9}}}};
  for (const Attributes& attributes : bad) {
    EXPECT_EQ(refused("Conv", {x, w}, attributes).code, ErrorCode::kInvalid);
  }
}

TEST_F(Builder, SizesThatOverflowAreRefused) {
  const int64_t huge = int64_t{1} << 40;
  const ValueId a = input("a", {huge, 1});
  const ValueId b = input("b", {1, huge});
  EXPECT_NE(refusal("Add", {a, b}).find("too large"), std::string::npos);
  EXPECT_NE(refusal("Expand", {a, integers({huge, huge})}).find("too large"), std::string::npos);
}

TEST_F(Builder, ShapeInputsThatMakeNoSenseAreRefused) {
  const ValueId x = input("x", {2, 3});
  EXPECT_EQ(refused("Reshape", {x, integers({-1, -1})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("Reshape", {x, integers({-2, 3})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("Expand", {x, integers({-1, 3})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("ConstantOfShape", {integers({-1})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("Slice", {x, integers({0}), integers({1}), integers({0}), integers({0})}).code,
            ErrorCode::kInvalid);
  EXPECT_EQ(refused("Unsqueeze", {x, integers({0, 0})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("Squeeze", {x, integers({1})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("Pad", {x, integers({1})}).code, ErrorCode::kInvalid);
  EXPECT_EQ(refused("Constant", {}).code, ErrorCode::kInvalid);
}

TEST_F(Builder, BatchNormInferenceHasOneOutput) {
  const ValueId x = input("x", {2, 3, 4, 4});
  const ValueId c = input("c", {3});
  EXPECT_NE(refusal("BatchNormalization", {x, c, c, c, c}, {}, 3).find("'training_mode'"),
            std::string::npos);
  const ValueId wrong = input("wrong", {4});
  EXPECT_NE(refusal("BatchNormalization", {x, c, wrong, c, c}).find("(B)"), std::string::npos);
}

TEST_F(Builder, KernelsRefuseDataThatMakesNoSense) {
  const ValueId row = builder_.constant("row", Tensor::vector_i64(Ints{1, 2, 3}));
  const ValueId y = builder_.add("Gather", {row, integers({3})});
  EXPECT_EQ(builder_.peek().value(y).kind, ValueKind::kComputed)
      << "an index out of range must not fold";
  const ValueId z = builder_.add("Div", {row, integers({0})});
  EXPECT_EQ(builder_.peek().value(z).kind, ValueKind::kComputed);
}

}  // namespace
}  // namespace assay
