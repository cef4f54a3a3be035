// SPDX-License-Identifier: Apache-2.0
#include "data/image_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "data/base64.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Json golden_images() {
  return Json::parse(*read_file(ASSAY_SOURCE_DIR "/tests/data/images_golden.json"));
}

std::string golden_file(const std::string& name) {
  for (const Json& golden : golden_images()) {
    if (golden["name"] == name) return base64_decoded(golden["file"].get<std::string>());
  }
  return "";
}

TEST(ImageDecoder, EqualsPillowOnColourGreyCmykAndPng) {
  Image image;  // reused on purpose
  int seen = 0;
  for (const Json& golden : golden_images()) {
    const auto name = golden["name"].get<std::string>();
    const std::string file = base64_decoded(golden["file"].get<std::string>());
    const auto decoded = decode_image(file, name, image);
    ASSERT_TRUE(decoded.ok()) << decoded.error().text();
    EXPECT_EQ(image.height, golden["height"].get<int64_t>());
    EXPECT_EQ(image.width, golden["width"].get<int64_t>());
    const std::string expected = base64_decoded(golden["pixels"].get<std::string>());
    ASSERT_EQ(image.pixels.size(), expected.size()) << name;
    int worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, std::abs(image.pixels[i] - static_cast<uint8_t>(expected[i])));
    }
    EXPECT_LE(worst, name.ends_with("png") ? 0 : 1) << name;
    ++seen;
  }
  EXPECT_EQ(seen, 6);
}

TEST(ImageDecoder, NamesTheFileThatIsTruncated) {
  for (const std::string name : {"rgb.jpeg", "progressive.jpeg", "cmyk.jpeg", "rgb.png"}) {
    const std::string whole = golden_file(name);
    ASSERT_FALSE(whole.empty());
    for (const size_t size : {whole.size() - 60, whole.size() / 2, size_t{6}}) {
      Image image;
      const auto decoded = decode_image(whole.substr(0, size), "photos/" + name, image);
      ASSERT_FALSE(decoded.ok()) << name << " cut to " << size;
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
      EXPECT_THAT(decoded.error().text(), HasSubstr("photos/" + name));
    }
  }
}

TEST(ImageDecoder, RefusesOtherFormatsAndEmptyFiles) {
  Image image;
  const auto gif = decode_image("GIF89a", "a.JPEG", image);
  ASSERT_FALSE(gif.ok());
  EXPECT_EQ(gif.error().code, ErrorCode::kUnsupported);
  const auto empty = decode_image("", "a.JPEG", image);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, ErrorCode::kCorrupt);
}

TEST(ImageDecoder, RefusesAnImageTooLargeBeforeAllocating) {
  std::string bytes = golden_file("rgb.jpeg");
  const size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  for (size_t i = 5; i < 9; ++i) bytes[frame + i] = '\xff';  // 65,535 x 65,535 pixels
  Image image;
  const auto decoded = decode_image(bytes, "bomb.jpeg", image);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(image.pixels.empty());
}

}  // namespace
}  // namespace assay
