// SPDX-License-Identifier: Apache-2.0
#include "record/digest.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Digest, ChangesWithEveryPart) {
  const std::string digest = digest_of("graph", "{}", "abc");
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(digest, digest_of("graph", "{}", "abc"));
  EXPECT_NE(digest, digest_of("grapH", "{}", "abc"));
  EXPECT_NE(digest, digest_of("graph", "{ }", "abc"));
  EXPECT_NE(digest, digest_of("graph", "{}", "abd"));
}

TEST(Digest, DoesNotConfuseWhereOnePartEnds) {
  EXPECT_NE(digest_of("ab", "c", ""), digest_of("a", "bc", ""));
  EXPECT_NE(digest_of("", "", "x"), digest_of("x", "", ""));
  EXPECT_NE(digest_of("a\nrecipe 0\n", "", ""), digest_of("a", "", ""));
}

TEST(Digest, IsTheSha256OfItsDocumentedForm) {
  // printf 'assay-digest-1\ngraph 1\ng\nrecipe 2\n{}\ndata 0\n\n' | sha256sum
  EXPECT_EQ(digest_of("g", "{}", ""),
            "ca7932cce6863af84d6ec65a0dd5611cd5a0cfbf9298868de5534d3534f8777b");
}

TEST(Digest, IsShownShort) {
  EXPECT_EQ(short_digest("0123456789abcdef0123456789abcdef"), "0123456789abcdef");
  EXPECT_EQ(short_digest(""), "");
}

}  // namespace
}  // namespace assay
