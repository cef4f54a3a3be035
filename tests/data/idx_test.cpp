// SPDX-License-Identifier: Apache-2.0
#include "data/idx.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/idx_bytes.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_corrupt(const std::string& bytes, const std::string& words) {
  const auto array = parse_idx(bytes, "some/file.gz");
  ASSERT_FALSE(array.ok()) << words;
  EXPECT_EQ(array.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(array.error().text(), HasSubstr(words));
  EXPECT_THAT(array.error().text(), HasSubstr("some/file.gz"));
}

TEST(Idx, ReadsPlainAndCompressedBytes) {
  const std::string plain = idx_bytes({2, 3}, "abcdef");
  for (const std::string& bytes : {plain, gzip_bytes(plain)}) {
    const auto array = parse_idx(bytes, "file");
    ASSERT_TRUE(array.ok()) << array.error().text();
    EXPECT_THAT(array->shape, ElementsAre(2, 3));
    EXPECT_EQ(array->elements, "abcdef");
  }
}

TEST(Idx, RefusesAFileThatIsTooShortForItsHeader) {
  expect_corrupt("", "found 0 bytes");
  expect_corrupt(idx_bytes({2, 3}, "").substr(0, 7), "expected a header of 12 bytes");
}

TEST(Idx, RefusesAnotherMagicNumber) {
  std::string bytes = idx_bytes({1}, "a");
  bytes[1] = 'P';
  expect_corrupt(bytes, "two zero bytes, found 0x0050");
}

TEST(Idx, RefusesOtherElementTypes) {
  expect_corrupt(idx_bytes({1}, "abcd", '\x0d'), "element type 0x08 (unsigned byte), found 0x0d");
}

TEST(Idx, RefusesImpossibleDimensions) {
  expect_corrupt(idx_bytes({}, ""), "expected 1 to 4 dimensions, found 0");
  expect_corrupt(idx_bytes({1, 1, 1, 1, 1}, "a"), "expected 1 to 4 dimensions, found 5");
  expect_corrupt(idx_bytes({3, 0}, ""), "dimension 1 has size 0");
}

TEST(Idx, RefusesSizesThatAskForTooMuchBeforeAllocating) {
  expect_corrupt(idx_bytes({0xffffffff, 0xffffffff, 0xffffffff}, "a"), "ask for more than");
}

TEST(Idx, RefusesMissingAndSurplusElements) {
  expect_corrupt(idx_bytes({2, 3}, "abcde"), "expected 6 elements for sizes [2, 3], found 5");
  expect_corrupt(idx_bytes({2, 3}, "abcdefg"), "found 7");
}

TEST(Idx, RefusesADamagedCompressedStream) {
  std::string bytes = gzip_bytes(idx_bytes({6}, "abcdef"));
  EXPECT_FALSE(parse_idx(bytes.substr(0, bytes.size() - 9), "file").ok());
  bytes[bytes.size() - 6] ^= 1;  // of the checksum
  const auto array = parse_idx(bytes, "file");
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace assay
