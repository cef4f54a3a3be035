// SPDX-License-Identifier: Apache-2.0
#include "data/resample.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"

namespace assay {
namespace {

// Sums of at most 40 products of values up to 255 in f32: 255 * 40 * eps / 2 is 6e-4.
constexpr float kTolerance = 6e-4F;

TEST(Resampler, EqualsTorchInterpolateWithAntialiasing) {
  const Json cases = Json::parse(*read_file(ASSAY_SOURCE_DIR "/tests/data/resample_golden.json"));
  ASSERT_EQ(cases.size(), 6U);
  Resampler resampler;
  for (const Json& golden : cases) {
    const Image image{golden["height"], golden["width"],
                      golden["pixels"].get<std::vector<uint8_t>>()};
    const int64_t height = golden["to_height"];
    const int64_t width = golden["to_width"];
    const auto expected = golden["expected"].get<std::vector<float>>();
    const auto& found = resampler.resize(image, {0, 0, image.height, image.width}, height, width,
                                         {0, 0, height, width});
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], kTolerance);
  }
}

TEST(Resampler, AWindowIsTheSamePartOfTheWholeResult) {
  Image image{10, 12, std::vector<uint8_t>(360)};
  for (size_t i = 0; i < 360; ++i) image.pixels[i] = static_cast<uint8_t>(i * 37 % 251);
  const Box from{1, 2, 8, 9};
  Resampler whole_resampler;
  const auto& whole = whole_resampler.resize(image, from, 6, 5, {0, 0, 6, 5});
  Resampler part_resampler;
  const auto& part = part_resampler.resize(image, from, 6, 5, {2, 1, 3, 2});
  ASSERT_EQ(part.size(), 18U);
  for (size_t y = 0; y < 3; ++y) {
    for (size_t x = 0; x < 6; ++x) EXPECT_EQ(part[y * 6 + x], whole[(y + 2) * 15 + x + 3]);
  }
}

}  // namespace
}  // namespace assay
