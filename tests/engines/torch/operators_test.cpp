// SPDX-License-Identifier: Apache-2.0
//
// Every operator that the engine lowers, against the reference kernel of the operator table.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engines/torch/fixture.h"
#include "graph/operator.h"

namespace assay::torch_test {
namespace {

using Ints = std::vector<int64_t>;

struct OperatorCase {
  std::string type;
  std::string name;  // unique among the cases of a type
  std::vector<Tensor> inputs;
  Attributes attributes;
  std::vector<Tensor> constants = {};  // further inputs, known at compile time
  size_t outputs = 1;
};

std::string text(const OperatorCase& c) { return c.type + (c.name.empty() ? "" : "_" + c.name); }

Tensor positive(const std::string& name, Ints shape) {
  return drawn(name, std::move(shape), 0.1F, 2);
}

Tensor ints(Ints values) { return Tensor::vector_i64(values); }

std::vector<OperatorCase> unary_cases() {
  std::vector<OperatorCase> cases;
  for (const char* type : {"Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "Erf", "Identity", "Sin",
                           "Cos", "Floor", "Ceil", "Round", "Sign", "Softplus", "HardSwish"}) {
    cases.push_back({type, "", {drawn(type, {3, 5}, -3, 3)}, {}});
  }
  for (const char* type : {"Sqrt", "Log", "Reciprocal"}) {
    cases.push_back({type, "", {positive(type, {3, 5})}, {}});
  }
  cases.push_back({"Gelu", "exact", {drawn("g", {4, 7}, -3, 3)}, {}});
  cases.push_back({"Gelu", "tanh", {drawn("g", {4, 7}, -3, 3)}, {{"approximate", "tanh"}}});
  cases.push_back({"LeakyRelu", "", {drawn("l", {4, 7}, -3, 3)}, {{"alpha", 0.2F}}});
  cases.push_back({"Elu", "", {drawn("e", {4, 7}, -3, 3)}, {{"alpha", 0.7F}}});
  cases.push_back({"HardSigmoid", "", {drawn("h", {4, 7}, -4, 4)}, {}});
  cases.push_back({"Clip",
                   "",
                   {drawn("c", {4, 7}, -3, 3)},
                   {},
                   {Tensor::scalar_f32(-1), Tensor::scalar_f32(2)}});
  cases.push_back({"PRelu", "", {drawn("p", {4, 7}, -3, 3), drawn("slope", {7})}, {}});
  return cases;
}

std::vector<OperatorCase> binary_cases() {
  std::vector<OperatorCase> cases;
  for (const char* type : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum"}) {
    cases.push_back({type, "", {drawn("a", {3, 4}), positive("b", {3, 4})}, {}});
    cases.push_back({type, "broadcast", {drawn("a", {2, 3, 4}), positive("b", {3, 1})}, {}});
  }
  cases.push_back({"Pow", "", {positive("a", {3, 4}), drawn("b", {3, 4})}, {}});
  for (const char* type : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    cases.push_back({type, "", {labels({3, 4}, 3), labels({4}, 2)}, {}});
  }
  cases.push_back({"Div", "integers", {labels({9}, 9), ints({2, 2, 2, 3, 3, 3, 4, 4, 4})}, {}});
  return cases;
}

std::vector<OperatorCase> window_cases() {
  const Tensor image = drawn("image", {2, 4, 9, 8});
  std::vector<OperatorCase> cases = {
      {"Conv", "plain", {image, drawn("w", {6, 4, 3, 3})}, {}},
      {"Conv",
       "strided",
       {image, drawn("w", {6, 4, 3, 3}), drawn("b", {6})},
       {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}},
      {"Conv",
       "grouped",
       {image, drawn("w", {8, 2, 3, 3}), drawn("b", {8})},
       {{"group", int64_t{2}}}},
      {"Conv", "dilated", {image, drawn("w", {3, 4, 3, 2})}, {{"dilations", Ints{2, 3}}}},
      {"Conv", "unequal_pads", {image, drawn("w", {5, 4, 3, 3})}, {{"pads", Ints{0, 1, 2, 1}}}},
      {"Conv",
       "same_upper",
       {image, drawn("w", {5, 4, 4, 3})},
       {{"auto_pad", "SAME_UPPER"}, {"strides", Ints{2, 2}}}},
      {"Conv",
       "one_axis",
       {drawn("signal", {2, 3, 11}), drawn("w", {4, 3, 5})},
       {{"pads", Ints{2, 2}}}},
      {"MaxPool",
       "",
       {image},
       {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}},
      {"MaxPool",
       "ceil",
       {image},
       {{"kernel_shape", Ints{2, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}}},
      {"MaxPool",
       "unequal_pads",
       {image},
       {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{0, 1, 1, 0}}}},
      {"AveragePool", "", {image}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}},
      {"AveragePool",
       "with_pad",
       {image},
       {{"kernel_shape", Ints{3, 2}},
        {"pads", Ints{1, 1, 1, 1}},
        {"count_include_pad", int64_t{1}}}},
      {"GlobalAveragePool", "", {image}, {}},
      {"GlobalMaxPool", "", {image}, {}},
      {"BatchNormalization",
       "",
       {image, drawn("s", {4}), drawn("t", {4}), drawn("m", {4}), positive("v", {4})},
       {}},
      {"BatchNormalization",
       "training",
       {image, drawn("s", {4}), drawn("t", {4}), drawn("m", {4}), positive("v", {4})},
       {{"training_mode", int64_t{1}}, {"momentum", 0.8F}},
       {},
       3},
      {"LayerNormalization", "", {drawn("x", {3, 5, 7}), drawn("s", {7}), drawn("t", {7})}, {}},
      {"LayerNormalization",
       "two_axes",
       {drawn("x", {3, 5, 7}), drawn("s", {5, 7})},
       {{"axis", int64_t{1}}}},
  };
  return cases;
}

std::vector<OperatorCase> other_cases() {
  const Tensor x = drawn("x", {3, 4, 5});
  std::vector<OperatorCase> cases = {
      {"MatMul", "", {drawn("a", {3, 5}), drawn("b", {5, 4})}, {}},
      {"MatMul", "batched", {drawn("a", {2, 1, 3, 5}), drawn("b", {4, 5, 2})}, {}},
      {"MatMul", "vector", {drawn("a", {5}), drawn("b", {5, 4})}, {}},
      {"Gemm",
       "linear",
       {drawn("a", {3, 5}), drawn("b", {4, 5}), drawn("c", {4})},
       {{"transB", int64_t{1}}}},
      {"Gemm",
       "scaled",
       {drawn("a", {5, 3}), drawn("b", {5, 4}), drawn("c", {3, 1})},
       {{"transA", int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}},
      {"Gemm", "without_c", {drawn("a", {3, 5}), drawn("b", {5, 4})}, {{"alpha", 3.0F}}},
      {"Softmax", "", {x}, {{"axis", int64_t{1}}}},
      {"LogSoftmax", "", {x}, {{"axis", int64_t{-1}}}},
      {"SoftmaxCrossEntropyLoss", "", {drawn("scores", {6, 4}, -3, 3), labels({6}, 4)}, {}, {}, 2},
      {"SoftmaxCrossEntropyLoss",
       "sum",
       {drawn("scores", {6, 4}), labels({6}, 4)},
       {{"reduction", "sum"}}},
      {"SoftmaxCrossEntropyLoss",
       "each",
       {drawn("scores", {6, 4}), labels({6}, 4)},
       {{"reduction", "none"}}},
      {"SoftmaxCrossEntropyLoss",
       "ignoring",
       {drawn("scores", {6, 4}), labels({6}, 4)},
       {{"ignore_index", int64_t{2}}}},
      {"SoftmaxCrossEntropyLoss",
       "weighted",
       {drawn("scores", {6, 4}), labels({6}, 4), positive("w", {4})},
       {}},
      {"SoftmaxCrossEntropyLoss",
       "pixels",
       {drawn("scores", {2, 4, 3, 3}), labels({2, 3, 3}, 4)},
       {}},
      {"ArgMax", "", {x}, {{"axis", int64_t{2}}, {"keepdims", int64_t{0}}}},
      {"ArgMax",
       "last",
       {labels({4, 6}, 3)},
       {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}},
      {"Flatten", "", {x}, {}},
      {"Flatten", "last", {x}, {{"axis", int64_t{-1}}}},
      {"Cast", "to_bf16", {x}, {{"to", int64_t{16}}}},
      {"Cast", "to_i64", {drawn("x", {7}, -9, 9)}, {{"to", int64_t{7}}}},
  };
  for (const char* type : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                           "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSumExp"}) {
    cases.push_back({type, "all", {x}, {}});
    cases.push_back({type, "axes", {x}, {{"keepdims", int64_t{0}}}, {ints({0, -1})}});
    cases.push_back({type, "none", {x}, {{"noop_with_empty_axes", int64_t{1}}}});
  }
  return cases;
}

std::vector<OperatorCase> layout_cases() {
  const Tensor x = drawn("x", {3, 4, 5});
  const Tensor condition = Tensor::zeros(DType::kBool, {4, 5});
  return {
      {"Reshape", "", {x}, {}, {ints({0, 2, -1})}},
      {"Transpose", "", {x}, {}},
      {"Transpose", "permuted", {x}, {{"perm", Ints{1, 0, 2}}}},
      {"Squeeze", "", {drawn("s", {1, 3, 1})}, {}},
      {"Squeeze", "axes", {drawn("s", {1, 3, 1})}, {}, {ints({-1})}},
      {"Unsqueeze", "", {x}, {}, {ints({-1, 0})}},
      {"Expand", "", {drawn("e", {3, 1})}, {}, {ints({2, 1, 4})}},
      {"Concat", "", {x, drawn("y", {3, 2, 5})}, {{"axis", int64_t{1}}}},
      {"Split", "even", {x}, {{"axis", int64_t{2}}, {"num_outputs", int64_t{2}}}, {}, 2},
      {"Split", "given", {x}, {{"axis", int64_t{1}}}, {ints({1, 3})}, 2},
      {"Slice", "", {x}, {}, {ints({1, -4}), ints({9, -1}), ints({0, 2}), ints({1, 2})}},
      {"Slice", "backwards", {x}, {}, {ints({-1}), ints({-9}), ints({1}), ints({-2})}},
      {"Slice", "empty", {x}, {}, {ints({3}), ints({1}), ints({1})}},
      {"Pad", "", {x}, {}, {ints({0, 1, 2, 1, 0, 0}), Tensor::scalar_f32(2.5F)}},
      {"Pad", "negative", {x}, {}, {ints({0, -1, 2, 0, 0, -1})}},
      {"Pad", "reflect", {x}, {{"mode", "reflect"}}, {ints({0, 1, 2, 0, 2, 3})}},
      {"Pad", "edge", {x}, {{"mode", "edge"}}, {ints({0, 1, 2, 0, 2, 3})}},
      {"Pad", "wrap", {x}, {{"mode", "wrap"}}, {ints({0, 1, 2, 0, 2, 3})}},
      {"Gather", "", {x, ints({2, 0, -1})}, {{"axis", int64_t{1}}}},
      {"Gather",
       "scalar",
       {x, Tensor::from<int64_t>(DType::kI64, {}, std::array<int64_t, 1>{1})},
       {}},
      {"Gather", "square", {drawn("table", {6, 3}), labels({2, 4}, 6)}, {}},
      {"OneHot", "", {ints({1, 0, -1, 7})}, {}, {ints({4}), drawn("values", {2})}},
      {"OneHot",
       "first",
       {labels({2, 3}, 4)},
       {{"axis", int64_t{0}}},
       {ints({4}), drawn("values", {2})}},
      {"Where", "", {condition, x, drawn("y", {5})}, {}},
      {"Not", "", {condition}, {}},
      {"Shape", "", {x}, {{"start", int64_t{1}}}},
  };
}

std::vector<OperatorCase> known_cases() {
  std::vector<OperatorCase> known;
  for (auto& list :
       {unary_cases(), binary_cases(), window_cases(), other_cases(), layout_cases()}) {
    for (const OperatorCase& c : list) {
      const OpEntry* op = op_table().find("", c.type);
      if (op != nullptr && op->kernel != nullptr) known.push_back(c);
    }
  }
  return known;
}

Graph graph_of(const OperatorCase& c) {
  GraphBuilder builder(text(c));
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    inputs.push_back(builder.input("x" + std::to_string(i), c.inputs[i].type()));
  }
  for (size_t i = 0; i < c.constants.size(); ++i) {
    inputs.push_back(builder.constant("c" + std::to_string(i), c.constants[i]));
  }
  for (const ValueId id : builder.add_multi(c.type, inputs, c.outputs, c.attributes)) {
    builder.output(id);
  }
  return std::move(builder).build();
}

class Operators : public testing::TestWithParam<OperatorCase> {};

TEST_P(Operators, AgreeWithTheReference) {
  const Graph graph = graph_of(GetParam());
  const auto wanted = infer(reference(), graph, GetParam().inputs, one_thread());
  ASSERT_TRUE(wanted.ok()) << wanted.error().text();
  for (const int level : {0, 2}) {
    const auto found = infer(torch(), graph, GetParam().inputs, one_thread(Precision::kF32, level));
    ASSERT_TRUE(found.ok()) << found.error().text();
    for (size_t i = 0; i < wanted->size(); ++i) {
      // Sums have at most 90 terms here; sqrt(90) < 10.
      EXPECT_LE(error_in_eps((*found)[i], (*wanted)[i]), 2 * 10.0) << "output " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Torch, Operators, testing::ValuesIn(known_cases()),
                         [](const auto& test) { return text(test.param); });

TEST(Operators, ShapesAndPositionsMayBeComputed) {
  GraphBuilder builder("computed");
  const ValueId x = builder.input("x", {DType::kF32, Shape{Dim::symbol("batch"), 6}});
  const ValueId shape = builder.input("shape", {DType::kI64, Shape{2}});
  const ValueId end = builder.input("end", {DType::kI64, Shape{1}});
  const ValueId start = builder.constant("start", ints({1}));
  builder.output(builder.add("Slice", {builder.add("Reshape", {x, shape}), start, end}));
  const Graph graph = std::move(builder).build();
  const auto program = compiled(torch(), graph, one_thread());
  const Tensor data = drawn("x", {2, 6});
  const std::vector<Tensor> inputs = {data, ints({4, 3}), ints({3})};
  const Tensor out = Tensor::zeros(DType::kF32, {2, 3});
  const auto done = program->run(views(inputs), std::vector{out.view()});
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_TRUE(std::ranges::equal(out.values<float>(), data.values<float>().subspan(3, 6)));
}

TEST(Operators, ConstantOfShapeFollowsTheBatch) {
  GraphBuilder builder("filled");
  const ValueId x = builder.input("x", {DType::kF32, Shape{Dim::symbol("batch"), 3}});
  const Tensor value = Tensor::from<float>(DType::kF32, {1}, std::array<float, 1>{1.5F});
  builder.output(builder.add("ConstantOfShape", {builder.add("Shape", {x})}, {{"value", value}}));
  const Graph graph = std::move(builder).build();
  const auto found = infer(torch(), graph, {drawn("x", {2, 3})}, one_thread());
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(floats((*found)[0]), std::vector<float>(6, 1.5F));
}

TEST(Operators, DropoutDrawsTheMaskOfEveryEngine) {
  GraphBuilder builder("dropout");
  const ValueId x = builder.input("x", {DType::kF32, Shape{7, 11}});
  const ValueId key = builder.random_key("key");
  builder.output(builder.add("assay.Dropout", {x, key}, {{"ratio", 0.3F}}));
  const Graph graph = std::move(builder).build();
  const std::vector<Tensor> inputs = {drawn("x", {7, 11})};
  const auto wanted = compiled(reference(), graph, one_thread());
  const auto found = compiled(torch(), graph, one_thread());
  std::vector<float> before;
  for (int call = 0; call < 3; ++call) {
    const auto a = run(*found, graph, inputs);
    const auto b = run(*wanted, graph, inputs);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(floats((*a)[0]), floats((*b)[0]));
    EXPECT_NE(floats((*a)[0]), before);
    before = floats((*a)[0]);
  }
}

}  // namespace
}  // namespace assay::torch_test
