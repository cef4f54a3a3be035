// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "workload/recipe_fields.h"

namespace assay {
namespace {

std::string type_in_docs(RecipeFieldType type) {
  switch (type) {
    case RecipeFieldType::kInteger:
      return "integer";
    case RecipeFieldType::kNumber:
      return "number";
    case RecipeFieldType::kBoolean:
      return "boolean";
    case RecipeFieldType::kText:
      return "text";
    case RecipeFieldType::kNumbers:
      break;
  }
  return "numbers";
}

TEST(WorkloadDocs, HaveTheLineOfEveryRecipeKey) {
  const std::string docs = read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/workloads.md").value();
  for (const RecipeField& field : recipe_fields()) {
    const std::string line = "| `" + field.name + "` | " + type_in_docs(field.type) + " | " +
                             field.range + " | " + field.doc + " |\n";
    EXPECT_THAT(docs, ::testing::HasSubstr(line));
  }
}

}  // namespace
}  // namespace assay
