// SPDX-License-Identifier: Apache-2.0
#include "data/npy.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An array as NumPy writes it, with this header.
std::string npy(std::string header, std::string_view elements, char version = 1) {
  header += std::string((64 - (10 + header.size() + 1) % 64) % 64, ' ') + "\n";
  std::string bytes("\x93NUMPY");
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + std::string(elements);
}

std::string error_of(const std::string& bytes) {
  const auto tensor = parse_npy(bytes, "x.npy");
  return tensor.ok() ? "no error" : tensor.error().text();
}

TEST(Npy, ReadsWhatNumpyWrites) {
  // numpy.array([[1, 2], [3, -4]], dtype=numpy.int16)
  const auto tensor = parse_npy(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }",
                                    std::string_view("\1\0\2\0\3\0\xfc\xff", 8)),
                                "x.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.error().text();
  EXPECT_EQ(tensor->type().text(), "i16[2, 2]");
  EXPECT_THAT(tensor->values<int16_t>(), ElementsAre(1, 2, 3, -4));
}

TEST(Npy, ReadsScalarsAndEmptyArrays) {
  EXPECT_EQ(parse_npy(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "\x07"), "x")
                ->type()
                .text(),
            "u8[]");
  EXPECT_EQ(parse_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", ""), "x")
                ->type()
                .text(),
            "f32[0, 3]");
}

TEST(Npy, WritesWhatItReads) {
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const Tensor tensor = Tensor::from<float>(DType::kF32, {2, 3}, values);
  const std::string bytes = npy_bytes(tensor);
  EXPECT_EQ((bytes.size() - sizeof(values)) % 64, 0U);
  const auto read = parse_npy(bytes, "x.npy");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->type(), tensor.type());
  EXPECT_THAT(read->values<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, TypesThatNumpyLacksAreWidened) {
  const std::array<uint16_t, 2> bf16{0x3fc0, 0xc000};
  const auto wide = parse_npy(npy_bytes(Tensor::from<uint16_t>(DType::kBF16, {2}, bf16)), "x");
  EXPECT_THAT(wide->values<float>(), ElementsAre(1.5F, -2));
  Tensor nibbles = Tensor::zeros(DType::kI4, {3});
  static_cast<uint8_t*>(nibbles.data())[0] = 0xf1;
  static_cast<uint8_t*>(nibbles.data())[1] = 0x07;
  EXPECT_THAT(parse_npy(npy_bytes(nibbles), "x")->values<int8_t>(), ElementsAre(1, -1, 7));
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcd");
  ASSERT_EQ(error_of(whole), "no error");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(error_of(whole.substr(0, size)), HasSubstr("x.npy")) << size;
}

TEST(Npy, WhatItCannotReadIsSaidByName) {
  EXPECT_THAT(error_of("hello"), HasSubstr("not an NPY file"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "abcd")),
              HasSubstr("column-major"));
  EXPECT_THAT(error_of(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd")),
              HasSubstr("'>f4'"));
  EXPECT_THAT(error_of(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "abcd")),
              HasSubstr("'|O'"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "abcd")),
              HasSubstr("'-1'"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcde")),
              HasSubstr("5 bytes"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'fortran_order': False, "
                           "'shape': (4294967296, 4294967296), }",
                           "")),
              HasSubstr("too large"));
  EXPECT_THAT(error_of(npy("{}", "", 9)), HasSubstr("version"));
}

}  // namespace
}  // namespace assay
