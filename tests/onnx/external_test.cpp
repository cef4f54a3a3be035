// SPDX-License-Identifier: Apache-2.0
//
// Weights in files beside the model.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/scratch_folder.h"
#include "onnx/model_bytes.h"
#include "onnx/read.h"

namespace assay {
namespace {

using namespace onnx;  // the messages
using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kFloat = 1;

class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    std::filesystem::create_directory(folder_ / "model");
    const std::array<float, 4> values{1, 2, 3, 4};
    EXPECT_TRUE(write_file(folder_ / "model/w.bin",
                           {reinterpret_cast<const char*>(values.data()), sizeof(values)})
                    .ok());
    EXPECT_TRUE(write_file(folder_ / "secret.bin", "0123456789abcdef").ok());
  }

  // Reads a model whose weight of two elements lies there.
  Result<Graph> read(const std::string& location, const std::string& offset = "",
                     const std::string& length = "") {
    const std::string tensor = tensor_bytes("w", kFloat, {2}, [&](Writer& out) {
      const auto entry = [&out](const char* key, const std::string& value) {
        Writer pair(out, 13);
        pair.add_string(1, key);
        pair.add_string(2, value);
      };
      entry("location", location);
      if (!offset.empty()) entry("offset", offset);
      if (!length.empty()) entry("length", length);
      out.add_int64(14, 1);
    });
    GraphBytes graph;
    graph.input("x", kFloat, {2})
        .initializer(tensor)
        .node("Add", {"x", "w"}, {"y"})
        .output("y", kFloat, {2});
    const auto file = folder_ / "model/test.onnx";
    EXPECT_TRUE(write_file(file, model_bytes(graph)).ok());
    return read_onnx(file);
  }
  std::string error_of(const std::string& location, const std::string& offset = "",
                       const std::string& length = "") {
    const auto graph = read(location, offset, length);
    return graph.ok() ? "no error" : graph.error().text();
  }

  ScratchFolder folder_;
};

TEST_F(ExternalData, IsReadFromItsOffset) {
  const auto graph = read("w.bin", "8", "8");
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_THAT(graph->parameters()[0].initializer.given.values<float>(), testing::ElementsAre(3, 4));
}

TEST_F(ExternalData, MayNotLeaveTheFolder) {
  EXPECT_THAT(error_of("../secret.bin"),
              AllOf(HasSubstr("outside the model's folder"), HasSubstr("tensor 'w'")));
  EXPECT_THAT(error_of((folder_ / "secret.bin").string()), HasSubstr("outside"));
  EXPECT_THAT(error_of("a/../../secret.bin"), HasSubstr("outside"));
}

TEST_F(ExternalData, MayNotLeaveTheFolderThroughASymbolicLink) {
  std::filesystem::create_symlink(folder_ / "secret.bin", folder_ / "model/link.bin");
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "model/up");
  EXPECT_THAT(error_of("link.bin"), HasSubstr("outside"));
  EXPECT_THAT(error_of("up/secret.bin"), HasSubstr("outside"));
}

TEST_F(ExternalData, MayNotEndBeyondTheFile) {
  EXPECT_THAT(error_of("w.bin", "12"), AllOf(HasSubstr("ends at byte"), HasSubstr("tensor 'w'")));
  EXPECT_THAT(error_of("w.bin", "18446744073709551615"), HasSubstr("ends at byte"));
  EXPECT_THAT(error_of("w.bin", "0", "4"), HasSubstr("4 bytes where the tensor needs 8"));
  EXPECT_THAT(error_of("w.bin", "-1"), HasSubstr("offset '-1'"));
}

TEST_F(ExternalData, MustBeAFileThatIsThere) {
  EXPECT_THAT(error_of("missing.bin"), HasSubstr("'missing.bin' is missing"));
  EXPECT_THAT(error_of(""), HasSubstr("names no file"));
  std::filesystem::create_directory(folder_ / "model/sub");
  EXPECT_THAT(error_of("sub"), HasSubstr("not a regular file"));
}

TEST_F(ExternalData, IsRefusedWithoutAFolder) {
  ASSERT_TRUE(read("w.bin").ok());
  const auto bytes = read_file(folder_ / "model/test.onnx");
  const auto graph = parse_onnx(*bytes, "memory");
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.error().text(), HasSubstr("external data"));
}

}  // namespace
}  // namespace assay
