// SPDX-License-Identifier: Apache-2.0
//
// Bad input: one clear error that names the place, whatever the bytes.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "onnx/model_bytes.h"
#include "onnx/read.h"

namespace assay {
namespace {

using namespace onnx;  // the messages
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kFloat = 1;
constexpr int64_t kInt64 = 7;

std::string error_of(const std::string& bytes) {
  const auto graph = parse_onnx(bytes, "test.onnx");
  return graph.ok() ? "no error" : graph.error().text();
}
std::string error_of(const GraphBytes& graph, int64_t opset = 21) {
  return error_of(model_bytes(graph, opset));
}

GraphBytes relu() {
  GraphBytes graph;
  graph.input("x", kFloat, {2, 3})
      .initializer(tensor_bytes("w", kFloat, {2, 3}, floats({1, 2, 3, 4, 5, 6})))
      .node("Add", {"x", "w"}, {"a"}, {}, "sum")
      .node("Relu", {"a"}, {"y"}, {}, "rectify")
      .output("y", kFloat, {2, 3});
  return graph;
}

TEST(DamagedOnnx, OtherFilesAreNamedForWhatTheyAre) {
  EXPECT_THAT(error_of(std::string()), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of(std::string("<html><body>Not found</body></html>")),
              HasSubstr("text, not an ONNX model"));
  EXPECT_THAT(error_of(std::string("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")),
              HasSubstr("a Git LFS pointer"));
  EXPECT_THAT(error_of(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)), HasSubstr("test.onnx"));
  EXPECT_THAT(error_of(std::string("\x08\x07", 2)), HasSubstr("no graph in it"));
}

TEST(DamagedOnnx, EveryTruncationIsAnErrorOrAModel) {
  const std::string whole = model_bytes(relu());
  ASSERT_EQ(error_of(whole), "no error");
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto graph = parse_onnx(whole.substr(0, size), "test.onnx");
    if (graph.ok()) continue;
    EXPECT_THAT(graph.error().text(), HasSubstr("test.onnx"));
  }
}

TEST(DamagedOnnx, EveryFlippedBitIsAnErrorOrAModel) {
  const std::string whole = model_bytes(relu());
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto graph = parse_onnx(damaged, "test.onnx");
    if (graph.ok()) continue;
    EXPECT_THAT(graph.error().text(), HasSubstr("test.onnx"));
  }
}

TEST(DamagedOnnx, DamageInsideANodeNamesTheNode) {
  GraphBytes graph;
  graph.input("x", kFloat, {2}).add([](Writer& out) {
    Writer node(out, 1);
    node.add_string(3, "broken");
    node.add_string(4, "Relu");
    node.add_string(5, "\x0a\x50 too short");  // an attribute whose name ends beyond it
  });
  EXPECT_THAT(error_of(graph), AllOf(HasSubstr("damaged"), HasSubstr("node 'broken' (Relu)")));
}

TEST(DamagedOnnx, CyclesNameANode) {
  GraphBytes graph;
  graph.input("x", kFloat, {2})
      .node("Add", {"x", "b"}, {"a"}, {}, "one")
      .node("Relu", {"a"}, {"b"}, {}, "two")
      .output("b", kFloat, {2});
  EXPECT_THAT(error_of(graph), AllOf(HasSubstr("cycle"), HasSubstr("node '")));
}

TEST(DamagedOnnx, NamesMustBeDefinedOnce) {
  EXPECT_THAT(error_of(relu().node("Abs", {"x"}, {"a"}, {}, "again")),
              AllOf(HasSubstr("'a' is defined twice"), HasSubstr("node 'again'")));
  EXPECT_THAT(error_of(relu().node("Abs", {"x"}, {"x"}, {}, "again")),
              HasSubstr("'x' is defined twice"));
  EXPECT_THAT(error_of(relu().input("x", kFloat, {2})), HasSubstr("value 'x'"));
  EXPECT_THAT(error_of(relu().initializer(tensor_bytes("w", kFloat, {1}, floats({1})))),
              HasSubstr("value 'w'"));
  EXPECT_THAT(error_of(relu().output("y", kFloat, {2, 3})), HasSubstr("listed twice"));
}

TEST(DamagedOnnx, NamesMustBeDefinedAtAll) {
  EXPECT_THAT(error_of(relu().node("Abs", {"missing"}, {"z"}, {}, "lost")),
              AllOf(HasSubstr("nothing defines its input 'missing'"), HasSubstr("node 'lost'")));
  EXPECT_THAT(error_of(relu().output("z", kFloat, {1})),
              AllOf(HasSubstr("nothing defines it"), HasSubstr("output 'z'")));
  EXPECT_THAT(error_of(relu().input("", kFloat, {1})), HasSubstr("without a name"));
}

TEST(DamagedOnnx, AttributesOfTheWrongTypeNameNodeAndAttribute) {
  EXPECT_THAT(error_of(relu().node("Softmax", {"x"}, {"z"}, {float_attribute("axis", 1)}, "soft")),
              AllOf(HasSubstr("'axis' must be int"), HasSubstr("node 'soft' (Softmax)")));
  const Fields lying = [](Writer& node) {
    Writer out(node, 5);
    out.add_string(1, "axis");
    out.add_float(2, 1);
    out.add_int64(20, 2);
  };
  EXPECT_THAT(error_of(relu().node("Softmax", {"x"}, {"z"}, {lying}, "soft")),
              AllOf(HasSubstr("attribute 'axis': it says it is an int and holds a float"),
                    HasSubstr("node 'soft'")));
  EXPECT_THAT(error_of(relu().node("Softmax", {"x"}, {"z"},
                                   {int_attribute("axis", 1), int_attribute("axis", 0)}, "soft")),
              HasSubstr("'axis': it is given twice"));
  EXPECT_THAT(error_of(relu().node("Softmax", {"x"}, {"z"}, {int_attribute("axes", 1)}, "soft")),
              HasSubstr("no attribute 'axes'"));
}

TEST(DamagedOnnx, DimensionProductsBeyondSixtyThreeBitsAreErrors) {
  GraphBytes graph;
  graph.input("x", kFloat, {int64_t{1} << 40, int64_t{1} << 40}).output("x", kFloat, {1});
  EXPECT_THAT(error_of(graph), AllOf(HasSubstr("too large"), HasSubstr("'x'")));
  EXPECT_THAT(
      error_of(relu().initializer(tensor_bytes("v", kFloat, {int64_t{1} << 62, 16}, floats({1})))),
      AllOf(HasSubstr("too large"), HasSubstr("tensor 'v'")));
  EXPECT_THAT(
      error_of(relu().initializer(tensor_bytes("v", kFloat, {int64_t{1} << 40}, floats({1})))),
      AllOf(HasSubstr("4 bytes of data"), HasSubstr("tensor 'v'")));
}

TEST(DamagedOnnx, NegativeDimensionsOfTensorsAreErrorsAndZeroOnesAreNot) {
  EXPECT_THAT(error_of(relu().initializer(tensor_bytes("v", kFloat, {-1}, floats({1})))),
              AllOf(HasSubstr("a dimension is -1"), HasSubstr("tensor 'v'")));
  EXPECT_EQ(error_of(relu().initializer(tensor_bytes("v", kFloat, {0, 5}, floats({})))),
            "no error");
}

TEST(DamagedOnnx, StridesOfZeroNameNodeAndAttribute) {
  GraphBytes graph;
  graph.input("x", kFloat, {1, 1, 8, 8})
      .initializer(tensor_bytes("w", kFloat, {1, 1, 1, 1}, floats({1})))
      .node("Conv", {"x", "w"}, {"y"}, {ints_attribute("strides", {0, 0})}, "conv")
      .output("y", kFloat, {1, 1, 8, 8});
  EXPECT_THAT(error_of(graph), AllOf(HasSubstr("strides"), HasSubstr("node 'conv' (Conv)")));
}

TEST(DamagedOnnx, DataOfTheWrongSizeNamesTheTensor) {
  const auto with = [](const std::string& tensor) { return error_of(relu().initializer(tensor)); };
  EXPECT_THAT(with(tensor_bytes("v", kFloat, {2}, raw("123"))), HasSubstr("3 bytes of data"));
  EXPECT_THAT(with(tensor_bytes("v", kFloat, {2}, int64s({1, 2}))), HasSubstr("tensor 'v'"));
  EXPECT_THAT(with(tensor_bytes("v", kInt64, {2}, int64s({1}))), HasSubstr("1 integers of data"));
  EXPECT_THAT(with(tensor_bytes("v", 2, {1}, int32s({256}))), HasSubstr("too large for u8"));
  EXPECT_THAT(with(tensor_bytes("v", kFloat, {1},
                                [](Writer& out) {
                                  floats({1})(out);
                                  raw("1234")(out);
                                })),
              HasSubstr("given twice"));
  EXPECT_THAT(with(tensor_bytes("v", 99, {1}, raw("1"))), HasSubstr("element type 99"));
}

TEST(DamagedOnnx, DeepNestingIsAnError) {
  std::string inner = GraphBytes().bytes();
  for (int i = 0; i < 1000; ++i) {
    inner = GraphBytes().node("If", {"c"}, {"y"}, {graph_attribute("then_branch", inner)}).bytes();
  }
  EXPECT_THAT(error_of(model_bytes(inner)), HasSubstr("nested more than"));
}

TEST(DamagedOnnx, AMillionInputsTakeNoMoreThanTheyAreWorth) {
  GraphBytes graph;
  for (int i = 0; i < 1'000'000; ++i) {
    graph.add([](Writer& out) { out.add_string(11, ""); });
  }
  EXPECT_THAT(error_of(graph), HasSubstr("value ''"));
}

TEST(DamagedOnnx, FunctionsThatCallThemselvesAreAnError) {
  const Fields function = [](Writer& model) {
    Writer out(model, 25);
    out.add_string(1, "Loopy");
    out.add_string(4, "in");
    out.add_string(5, "out");
    {
      Writer body(out, 7);
      body.add_string(1, "in");
      body.add_string(2, "out");
      body.add_string(4, "Loopy");
      body.add_string(7, "local");
    }
    out.add_string(10, "local");
  };
  GraphBytes graph;
  graph.input("x", kFloat, {2})
      .node("Loopy", {"x"}, {"y"}, {}, "call", "local")
      .output("y", kFloat, {2});
  EXPECT_THAT(error_of(model_bytes(graph, 21, function)), HasSubstr("without end"));
}

TEST(DamagedOnnx, SparseTensorsMayNotGrowWithoutMeasure) {
  GraphBytes graph;
  graph.add([](Writer& out) {
    Writer sparse(out, 15);
    sparse.add_message(1, tensor_bytes("w", kFloat, {1}, floats({5})));
    sparse.add_message(2, tensor_bytes("", kInt64, {1}, int64s({0})));
    sparse.add_int64(3, int64_t{1} << 40);
  });
  EXPECT_THAT(error_of(graph), AllOf(HasSubstr("sparse"), HasSubstr("tensor 'w'")));
}

TEST(DamagedOnnx, WhatIsOutOfScopeIsSaidByName) {
  GraphBytes strings;
  strings.input("x", 8, {2}).output("x", 8, {2});
  EXPECT_THAT(error_of(strings), HasSubstr("strings are out of scope"));
  EXPECT_THAT(error_of(relu().node("SequenceConstruct", {"x"}, {"s"}, {}, "list")),
              AllOf(HasSubstr("sequences are out of scope"), HasSubstr("node 'list'")));
  GraphBytes sequence;
  sequence.add([](Writer& out) {
    Writer value(out, 11);
    value.add_string(1, "s");
    Writer type(value, 2);
    type.add_string(4, "");
  });
  EXPECT_THAT(error_of(sequence), HasSubstr("sequences are out of scope"));
}

TEST(DamagedOnnx, OpsetsOutsideTheKnownOnesAreNamed) {
  EXPECT_THAT(error_of(relu(), 99), HasSubstr("opset 99 is not one of 1 to 25"));
  EXPECT_THAT(error_of(relu(), 0), HasSubstr("opset 0 is not one of"));
}

TEST(DamagedOnnx, RandomBytesNeverDoMoreThanFail) {
  RandomStream random(RandomKey(7));
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = "\x08\x07\x3a";
    for (int i = 0; i < 60; ++i) bytes += static_cast<char>(random.below(256));
    EXPECT_FALSE(parse_onnx(bytes, "test.onnx").ok());
  }
}

}  // namespace
}  // namespace assay
