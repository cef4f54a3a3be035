// SPDX-License-Identifier: Apache-2.0
//
// Every reference kernel against values computed by others.
#include <algorithm>
#include <cctype>
#include <cmath>

#include <gtest/gtest.h>

#include "graph/operator.h"
#include "graph/ops/golden_case.h"

namespace assay {
namespace {

class Kernel : public testing::TestWithParam<GoldenCase> {};

std::vector<Tensor> inputs_as(const GoldenCase& golden, DType floating) {
  std::vector<Tensor> inputs;
  for (const Tensor& tensor : golden.inputs) inputs.push_back(retyped(tensor, floating));
  return inputs;
}

TEST_P(Kernel, AgreesWithOthersInEveryType) {
  const GoldenCase& golden = GetParam();
  std::vector<DType> types{DType::kF64};
  if (golden.all_types) types = {DType::kF64, DType::kF32, DType::kBF16, DType::kF16};
  for (const DType type : types) {
    const std::vector<Tensor> outputs = run_case(golden, inputs_as(golden, type));
    EXPECT_LE(worst_error(golden, outputs, type), 1) << dtype_name(type);
  }
}

std::string test_name(const testing::TestParamInfo<GoldenCase>& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, Kernel, testing::ValuesIn(golden_cases()), test_name);

// A comparison that cannot fail proves nothing: one per cent in one weight must be seen.
TEST(KernelComparison, SeesOnePerCentInOneWeight) {
  size_t checked = 0;
  for (const GoldenCase& golden : golden_cases()) {
    if (golden.weight < 0) continue;
    std::vector<Tensor> inputs = inputs_as(golden, DType::kF32);
    Tensor& weight = inputs[static_cast<size_t>(golden.weight)];
    weight = weight.clone();
    const auto values = weight.values<float>();
    const auto largest =
        std::ranges::max_element(values, {}, [](float value) { return std::abs(value); });
    *largest *= 1.01f;
    EXPECT_GT(worst_error(golden, run_case(golden, inputs), DType::kF32), 1) << golden.name;
    ++checked;
  }
  EXPECT_GT(checked, 20u);
}

TEST(OperatorTable, EveryOperatorHasAGoldenCase) {
  for (const OpEntry* op : op_table().entries()) {
    if (op->kernel == nullptr) continue;
    if (op->is_random || has_body(*op)) continue;  // they have tests of their own
    const std::string name = op->domain.empty() ? op->type : op->domain + "." + op->type;
    const bool found =
        std::ranges::find(golden_cases(), name, &GoldenCase::op) != golden_cases().end();
    EXPECT_TRUE(found) << name;
  }
}

TEST(OperatorTable, HasTheFirstFortyOperators) { EXPECT_GE(op_table().entries().size(), 40u); }

}  // namespace
}  // namespace assay
