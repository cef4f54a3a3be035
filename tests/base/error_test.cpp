// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <memory>

#include <gtest/gtest.h>

namespace assay {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Error{ErrorCode::kInvalid, "odd", "value"};
  return value / 2;
}

Result<int> quarter(int value) {
  ASSAY_ASSIGN(const int once, half(value));
  ASSAY_ASSIGN(const int twice, half(once));
  return twice;
}

Result<void> check_half(int value) {
  ASSAY_TRY(half(value));
  return {};
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(*half(4), 2);
  EXPECT_EQ(half(3).error().text(), "odd (value)");
  EXPECT_EQ((Error{ErrorCode::kIo, "broken"}).text(), "broken");
}

TEST(Result, PassesErrorsOnAndValuesThrough) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_FALSE(quarter(6).ok());
  EXPECT_TRUE(check_half(2).ok());
  EXPECT_EQ(check_half(1).error().code, ErrorCode::kInvalid);
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ErrorCode, ReadsBackFromItsName) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(error_code_of(error_code_name(code)), code);
  }
  EXPECT_EQ(error_code_of("unheard-of"), std::nullopt);
}

TEST(UserError, SaysWhatWhereAndWhatToDo) {
  const UserError error("unknown engine 'torhc'", "--engine", "did you mean 'torch'?");
  EXPECT_STREQ(error.what(), "unknown engine 'torhc'");
  EXPECT_EQ(error.where(), "--engine");
  EXPECT_EQ(error.hint(), "did you mean 'torch'?");
}

TEST(Assertion, NamesTheConditionAndAborts) {
  EXPECT_DEATH(ASSAY_ASSERT(1 + 1 == 3, "sums"), "assertion failed: 1 \\+ 1 == 3: sums");
}

}  // namespace
}  // namespace assay
