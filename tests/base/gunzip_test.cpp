// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr Bytes kPlenty{int64_t{1} << 30};

std::string gzip(const std::string& content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

std::string noise(size_t size) {
  RandomStream random(RandomKey(5));
  std::string content(size, '\0');
  for (char& c : content) c = static_cast<char>(random.below(200));
  return content;
}

TEST(Gunzip, UnpacksWhatGzipPacked) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{300001}}) {
    const std::string content = noise(size);
    const auto unpacked = gunzip(gzip(content), "x.gz", kPlenty);
    ASSERT_TRUE(unpacked.ok()) << size;
    EXPECT_EQ(*unpacked, content);
  }
}

TEST(Gunzip, UnpacksMembersThatFollowOneAnother) {
  const std::string packed = gzip("one ") + gzip("") + gzip("two");
  EXPECT_EQ(*gunzip(packed, "x.gz", kPlenty), "one two");
  EXPECT_EQ(*gunzip(packed + std::string(512, '\0'), "x.gz", kPlenty), "one two");
}

TEST(Gunzip, SaysWhereTruncatedDataWas) {
  const std::string packed = gzip(noise(5000));
  for (size_t size = 2; size < packed.size(); size += 7) {
    const auto unpacked = gunzip(packed.substr(0, size), "x.gz", kPlenty);
    ASSERT_FALSE(unpacked.ok()) << size;
    EXPECT_EQ(unpacked.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(unpacked.error().text(), "truncated gzip data (x.gz)");
  }
}

// A few bits may change without harm (a time stamp, padding); none may change the content.
TEST(Gunzip, NeverReturnsDamagedContent) {
  const std::string content = noise(300) + std::string(300, 'a');
  const std::string packed = gzip(content);
  size_t noticed = 0;
  for (size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string damaged = packed;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    const auto unpacked = gunzip(damaged, "x.gz", kPlenty);
    if (unpacked.ok()) {
      ASSERT_EQ(*unpacked, content) << bit;
    } else {
      ASSERT_EQ(unpacked.error().code, ErrorCode::kCorrupt) << bit;
      ++noticed;
    }
  }
  EXPECT_GT(noticed, 8 * (packed.size() - 10) * 9 / 10);
}

TEST(Gunzip, RefusesWhatIsNotGzip) {
  for (const std::string& bad : {std::string(), std::string("\x1f"), std::string("PK\3\4 zip")}) {
    EXPECT_THAT(gunzip(bad, "x.gz", kPlenty).error().message, HasSubstr("not a gzip file"));
  }
  EXPECT_FALSE(gunzip(gzip("a") + "tail", "x.gz", kPlenty).ok());
  EXPECT_FALSE(gunzip(gzip("a") + gzip("b").substr(0, 9), "x.gz", kPlenty).ok());
}

TEST(Gunzip, StopsAtTheLimit) {
  const std::string bomb = gzip(std::string(10'000'000, 'a'));
  EXPECT_TRUE(gunzip(bomb, "x.gz", {10'000'000}).ok());
  EXPECT_THAT(gunzip(bomb, "x.gz", {9'999'999}).error().message, HasSubstr("larger than"));
  EXPECT_THAT(gunzip(gzip("a"), "x.gz", {0}).error().message, HasSubstr("larger than 0 B"));
  EXPECT_EQ(*gunzip(gzip(""), "x.gz", {0}), "");
}

}  // namespace
}  // namespace assay
