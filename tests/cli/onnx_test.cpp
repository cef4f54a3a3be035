// SPDX-License-Identifier: Apache-2.0
//
// ONNX files as subjects: exported, counted, run, measured.
#include <array>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "cli/run_assay.h"
#include "data/npy.h"
#include "onnx/model_bytes.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kFloat = 1;

class OnnxFiles : public testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments) {
    return run_assay(folder_.path(), std::move(arguments));
  }
  Json rows(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Finished finished = run(std::move(arguments));
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto document = parse_json(finished.out, "stdout");
    return document.ok() ? (*document)["rows"] : Json::array();
  }
  void write(const std::string& name, const onnx::GraphBytes& graph) {
    EXPECT_TRUE(write_file(folder_ / name, onnx::model_bytes(graph)).ok());
  }
  void write_input(const std::string& name, const std::vector<float>& values) {
    const auto count = static_cast<int64_t>(values.size());
    const Tensor tensor = Tensor::from<float>(DType::kF32, {1, count}, values);
    EXPECT_TRUE(write_file(folder_ / name, npy_bytes(tensor)).ok());
  }
  ScratchFolder folder_;
};

// y = relu(x w), x [n, 2].
onnx::GraphBytes linear() {
  onnx::GraphBytes graph;
  graph.input("x", kFloat, {-1, 2})
      .initializer(onnx::tensor_bytes("w", kFloat, {2, 2}, onnx::floats({1, -1, 2, -2})))
      .node("MatMul", {"x", "w"}, {"a"}, {}, "product")
      .node("Relu", {"a"}, {"y"}, {}, "rectify")
      .output("y", kFloat, {-1, 2});
  return graph;
}

TEST_F(OnnxFiles, AnExportedNetworkCountsAsTheNetwork) {
  const Json written = rows({"export", "resnet", "r.onnx", "--variant", "small"}).at(0);
  EXPECT_EQ(written["file"], "r.onnx");
  EXPECT_GT(written["bytes"], 4 * written["parameters"].get<int64_t>());
  const Json model = rows({"profile", "model:resnet", "--variant", "small", "--batch", "3"}).at(0);
  const Json file = rows({"profile", "r.onnx", "--batch", "3"}).at(0);
  for (const char* field : {"parameters", "macs", "flops", "read_bytes", "write_bytes", "nodes",
                            "activation_bytes", "peak_bytes"})
    EXPECT_EQ(file[field], model[field]) << field;
}

TEST_F(OnnxFiles, ProfileNamesTheDimensionThatIsMissing) {
  onnx::GraphBytes graph;
  graph.input("x", kFloat, {2, -1}).node("Relu", {"x"}, {"y"}).output("y", kFloat, {2, -1});
  write("open.onnx", graph);
  const Finished profile = run({"profile", "open.onnx"});
  EXPECT_EQ(profile.code, 2);
  EXPECT_THAT(profile.err, HasSubstr("the size of x.1 is not known"));
  EXPECT_THAT(profile.err, HasSubstr("--bind x.1=1"));
  EXPECT_EQ(rows({"profile", "open.onnx", "--bind", "x.1=5"}).at(0)["flops"], 10);
}

TEST_F(OnnxFiles, ProfileNamesOperatorsItDoesNotKnow) {
  onnx::GraphBytes graph;
  graph.input("x", kFloat, {2, 3})
      .node("Relu", {"x"}, {"a"})
      .node("Fancy", {"a"}, {"b"}, {}, "first", "com.example")
      .node("Fancy", {"b"}, {"y"}, {}, "second", "com.example")
      .output("y", kFloat, {2, 3});
  write("fancy.onnx", graph);
  const Finished profile = run({"profile", "fancy.onnx"});
  EXPECT_EQ(profile.code, 0);
  EXPECT_THAT(profile.err, HasSubstr("com.example.Fancy (2 nodes, first 'first')"));
  const Json row = rows({"profile", "fancy.onnx"}).at(0);
  EXPECT_EQ(row["uncounted_nodes"], 2);
  EXPECT_EQ(row["flops"], 6);
  const Json nodes = rows({"profile", "fancy.onnx", "--per-node"});
  EXPECT_EQ(nodes.size(), 3U);
  EXPECT_TRUE(nodes.at(1)["flops"].is_null());
}

TEST_F(OnnxFiles, RunReadsAndWritesNumpyFiles) {
  write("linear.onnx", linear());
  write_input("in.npy", {1, 1});
  const Json row = rows({"run", "linear.onnx", "--engine", "reference", "--input", "x=in.npy",
                         "--output", "out"})
                       .at(0);
  EXPECT_EQ(row["file"], "out/y.npy");
  const auto bytes = read_file(folder_ / "out/y.npy");
  ASSERT_TRUE(bytes.ok());
  const auto y = parse_npy(*bytes, "y.npy");
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->type().text(), "f32[1, 2]");
  EXPECT_THAT(y->values<float>(), testing::ElementsAre(3, 0));
}

TEST_F(OnnxFiles, RunSaysWhichInputIsWrong) {
  write("linear.onnx", linear());
  write_input("in.npy", {1, 1, 1});
  const auto error = [&](std::vector<std::string> inputs) {
    std::vector<std::string> arguments{"run", "linear.onnx", "--engine", "reference"};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.out, IsEmpty());
    return finished.err;
  };
  EXPECT_THAT(error({}), HasSubstr("input 'x' of type f32[x.0, 2] is missing"));
  EXPECT_THAT(error({"--input", "x=in.npy"}), HasSubstr("shape [1, 3]"));
  EXPECT_THAT(error({"--input", "z=in.npy"}), HasSubstr("input 'z'"));
  EXPECT_THAT(error({"--input", "x=missing.npy"}), HasSubstr("missing.npy"));
  EXPECT_THAT(error({"--input", "x"}), HasSubstr("NAME=FILE.npy"));
}

TEST_F(OnnxFiles, InferMeasuresAFile) {
  write("linear.onnx", linear());
  const Json row =
      rows({"infer", "linear.onnx", "--engine", "reference", "--batch", "4", "--repeat", "3"})
          .at(0);
  // Three samples may be noisy.
  EXPECT_THAT(row["status"].get<std::string>(), testing::AnyOf("measured", "noisy"));
  EXPECT_EQ(row["item"], "item");
  EXPECT_GT(row["throughput_per_s"], 0);
  EXPECT_THAT(row["case"].get<std::string>(), HasSubstr("model=linear.onnx"));
}

TEST_F(OnnxFiles, ADamagedFileIsAnErrorEverywhere) {
  EXPECT_TRUE(write_file(folder_ / "page.onnx", "<html>not found</html>").ok());
  const std::vector<std::vector<std::string>> all{{"profile", "page.onnx"},
                                                  {"infer", "page.onnx", "--engine", "reference"},
                                                  {"run", "page.onnx", "--engine", "reference"}};
  for (const std::vector<std::string>& arguments : all) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 2) << arguments[0];
    EXPECT_THAT(finished.err, HasSubstr("text, not an ONNX model (page.onnx)")) << arguments[0];
  }
  EXPECT_EQ(run({"profile", "absent.onnx"}).code, 2);
}

}  // namespace
}  // namespace assay::cli
