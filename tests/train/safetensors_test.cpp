// SPDX-License-Identifier: Apache-2.0
#include "train/safetensors.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

// A file by hand: header length, header, data.
std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string why_refused(const std::string& bytes) {
  const auto file = parse_safetensors(bytes, "f");
  EXPECT_FALSE(file.ok());
  if (file.ok()) return "";
  EXPECT_EQ(file.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(file.error().place, "f");
  return file.error().message;
}

constexpr const char* kOne = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

TEST(Safetensors, GiveBackWhatWasWritten) {
  SafetensorsFile file;
  file.metadata = {{"name", "caf\u00e9 \"quoted\""}};
  file.tensors["b"] = Tensor::from<float>(DType::kF32, {2, 2}, std::array<float, 4>{1, 2, 3, 4});
  file.tensors["a"] = Tensor::vector_i64(std::array<int64_t, 2>{-1, 1});
  file.tensors["empty"] = Tensor::zeros(DType::kBF16, {0, 3});
  file.tensors["scalar"] = Tensor::scalar_f32(2.5F);
  const auto bytes = safetensors_bytes(file);
  ASSERT_TRUE(bytes.ok());
  const auto again = parse_safetensors(*bytes, "f");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->metadata, file.metadata);
  ASSERT_EQ(again->tensors.size(), 4U);
  for (const auto& [name, tensor] : file.tensors) {
    const Tensor& other = again->tensors.at(name);
    EXPECT_EQ(other.type(), tensor.type()) << name;
    EXPECT_EQ(std::memcmp(other.data(), tensor.data(), static_cast<size_t>(tensor.bytes())), 0);
  }
}

TEST(Safetensors, AlignTheDataInTheFile) {
  SafetensorsFile file;
  file.tensors["x"] = Tensor::scalar_f32(1);
  const std::string bytes = safetensors_bytes(file).value();
  EXPECT_EQ(bytes.size() % 64, 4U);
}

TEST(Safetensors, ReadAFileWrittenByHand) {
  const std::string data("\0\0\x80\x3f\0\0\0\x40", 8);
  const auto file = parse_safetensors(file_of(kOne, data), "f");
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file->tensors.at("a").values<float>()[0], 1.0F);
  EXPECT_EQ(file->tensors.at("a").values<float>()[1], 2.0F);
}

TEST(Safetensors, RefuseTruncatedFiles) {
  const std::string whole = file_of(kOne, std::string(8, 'x'));
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_safetensors(whole.substr(0, length), "f").ok()) << length;
  }
}

TEST(Safetensors, RefuseHeadersThatAreNoObject) {
  EXPECT_THAT(why_refused(file_of("[1]", "")), HasSubstr("no header"));
  EXPECT_THAT(why_refused(file_of("{\"a\": ", "")), HasSubstr("not a JSON object"));
  EXPECT_THAT(why_refused(std::string(8, '\xff')), HasSubstr("a header of"));
}

TEST(Safetensors, RefuseNamesThatAppearTwice) {
  const std::string twice = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                            R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  EXPECT_THAT(why_refused(file_of(twice, "xy")), HasSubstr("twice"));
}

TEST(Safetensors, RefuseEntriesThatDoNotFit) {
  const auto entry = [](const std::string& body, const std::string& data) {
    return why_refused(file_of("{\"a\":" + body + "}", data));
  };
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[2]})", ""), HasSubstr("unexpected fields"));
  EXPECT_THAT(entry(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", "wxyz"),
              HasSubstr("unknown type"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", "wxyz"),
              HasSubstr("bad shape"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})", "wxyz"),
              HasSubstr("bad shape"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "wxyzwxyz"),
              HasSubstr("do not fit"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", "wxyz"),
              HasSubstr("do not fit"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0,-4]})", "wxyz"),
              HasSubstr("bad offsets"));
  EXPECT_THAT(entry(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]})", ""),
              HasSubstr("too large"));
}

TEST(Safetensors, RefuseGapsAndOverlapsAndLeftovers) {
  const auto two = [](int b0, int e0, int b1, int e1, const std::string& data) {
    const auto one = [](const char* name, int b, int e) {
      return std::string("\"") + name + R"(":{"dtype":"U8","shape":[)" + std::to_string(e - b) +
             R"(],"data_offsets":[)" + std::to_string(b) + "," + std::to_string(e) + "]}";
    };
    return why_refused(file_of("{" + one("a", b0, e0) + "," + one("b", b1, e1) + "}", data));
  };
  EXPECT_THAT(two(0, 2, 3, 4, "wxyz"), HasSubstr("a gap or an overlap"));
  EXPECT_THAT(two(0, 3, 2, 4, "wxyz"), HasSubstr("a gap or an overlap"));
  EXPECT_THAT(two(0, 1, 1, 3, "wxyz"), HasSubstr("no tensor"));
}

TEST(Safetensors, HaveNo4BitTypes) {
  SafetensorsFile file;
  file.tensors["x"] = Tensor::zeros(DType::kI4, {2});
  const auto bytes = safetensors_bytes(file);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace assay
