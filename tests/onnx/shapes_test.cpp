// SPDX-License-Identifier: Apache-2.0
//
// Inferred shapes against those of another implementation (make_golden.py), wherever both know one.
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "onnx/read.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

struct GoldenValue {
  std::string name;
  std::string dtype;
  std::vector<int64_t> dims;  // -1: not known
};
using GoldenModels = std::map<std::string, std::vector<GoldenValue>>;

GoldenModels golden_models() {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/tests/onnx/shapes_golden.txt");
  GoldenModels models;
  std::vector<GoldenValue>* model = nullptr;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
    if (line.starts_with("#")) continue;
    if (words[0] == "model") {
      model = &models[words[1]];
      continue;
    }
    GoldenValue value{words[0], words[1], {}};
    for (size_t i = 2; i < words.size(); ++i)
      value.dims.push_back(words[i] == "?" ? -1 : *parse_int(words[i]));
    model->push_back(std::move(value));
  }
  return models;
}

std::optional<fs::path> find_model(const std::string& name) {
  for (const fs::path& root :
       {fs::path("/usr/share/libonnx-testdata/data"), assay_home() / "test/onnx"}) {
    if (fs::exists(root / name)) return root / name;
  }
  return std::nullopt;
}

// Whether nothing that both know differs. A value without elements may have any other dimensions.
bool agrees(const TensorType& type, const GoldenValue& golden) {
  if (!type.shape) return true;  // of what follows an unknown operator not even the type is known
  if (type.dtype != dtype_from_name(golden.dtype)) return false;
  if (type.shape->rank() != golden.dims.size()) return false;
  for (size_t axis = 0; axis < golden.dims.size(); ++axis) {
    const Dim& dim = (*type.shape)[axis];
    if (dim.known() && golden.dims[axis] >= 0 && dim.size() != golden.dims[axis]) return false;
  }
  return true;
}

struct Comparison {
  int models = 0;
  int values = 0;
  int read = 0;
};

void compare(const fs::path& file, const std::vector<GoldenValue>& values, Comparison& total) {
  ++total.models;
  const auto graph = read_onnx(file);
  if (!graph.ok()) return;  // what cannot be read is the concern of the conformance tests
  ++total.read;
  std::map<std::string_view, const Value*> by_name;
  for (const Value& value : graph->values()) by_name.emplace(value.name, &value);
  for (const GoldenValue& golden : values) {
    const auto found = by_name.find(golden.name);
    if (found == by_name.end()) continue;  // folded away
    ++total.values;
    EXPECT_TRUE(agrees(found->second->type, golden))
        << file << ": " << golden.name << " is " << found->second->type.text() << ", expected "
        << golden.dtype << testing::PrintToString(golden.dims);
  }
}

TEST(InferredShapes, EqualThoseOfAnotherImplementation) {
  Comparison total;
  for (const auto& [name, values] : golden_models()) {
    if (name.find("/models/") != std::string::npos || name.find("silero") == 0) continue;
    const auto file = find_model(name);
    ASSERT_TRUE(file.has_value()) << name << ": is libonnx-testdata installed?";
    compare(*file, values, total);
  }
  RecordProperty("values", total.values);
  EXPECT_GE(total.read, 900);
  EXPECT_GE(total.values, 2000);
}

TEST(InferredShapes, EqualThoseOfAnotherImplementationOnRealModels) {
  Comparison total;
  for (const auto& [name, values] : golden_models()) {
    if (name.find("/models/") == std::string::npos && name.find("silero") != 0) continue;
    const auto file = find_model(name);
    if (!file) GTEST_SKIP() << name << " is not here; ./dev test fetches it";
    compare(*file, values, total);
  }
  EXPECT_EQ(total.models, 10);
  EXPECT_EQ(total.read, 10);
  EXPECT_GE(total.values, 2000);
}

}  // namespace
}  // namespace assay
