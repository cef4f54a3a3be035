// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "workload/recipe_fields.h"

namespace assay {
namespace {

std::string type_in_docs(FieldType type) {
  switch (type) {
    case FieldType::kInteger:
      return "integer";
    case FieldType::kNumber:
      return "number";
    case FieldType::kBoolean:
      return "boolean";
    case FieldType::kText:
      return "text";
    case FieldType::kNumbers:
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
