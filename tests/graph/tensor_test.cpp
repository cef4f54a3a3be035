// SPDX-License-Identifier: Apache-2.0
#include "graph/tensor.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Tensor, IsAlignedAndPacked) {
  const Tensor tensor = Tensor::zeros(DType::kF32, {3, 5});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  EXPECT_EQ(tensor.elements(), 15);
  EXPECT_EQ(tensor.bytes(), 60);
  for (const float value : tensor.values<float>()) EXPECT_EQ(value, 0.0f);
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  Tensor first = Tensor::scalar_f32(1);
  const Tensor shared = first;
  const Tensor own = first.clone();
  first.values<float>()[0] = 2;
  EXPECT_EQ(shared.values<float>()[0], 2.0f);
  EXPECT_EQ(own.values<float>()[0], 1.0f);
}

TEST(Tensor, WithoutElementsIsNotEmpty) {
  const Tensor tensor = Tensor::allocate(DType::kF32, {0, 7});
  EXPECT_FALSE(tensor.empty());
  EXPECT_EQ(tensor.bytes(), 0);
  EXPECT_TRUE(Tensor().empty());
}

TEST(Tensor, ViewSeesTheSameMemory) {
  Tensor tensor = Tensor::vector_i64(std::vector<int64_t>{4, 5});
  const TensorView view = tensor.view();
  view.as<int64_t>()[1] = 6;
  EXPECT_EQ(tensor.values<int64_t>()[1], 6);
  EXPECT_EQ(view.bytes(), 16);
}

TEST(TensorMeter, SeesWhatIsAllocatedAndWhatIsFreed) {
  const Tensor before = Tensor::allocate(DType::kF32, {1000});
  TensorMeter meter;
  Tensor first = Tensor::allocate(DType::kF32, {10});
  {
    const TensorMeter inner;
    const Tensor second = Tensor::allocate(DType::kI64, {20});
    EXPECT_EQ(inner.live_bytes(), 160);
    EXPECT_EQ(meter.live_bytes(), 200);
  }
  const Tensor view = first.reshaped({5, 2});
  first = Tensor();
  EXPECT_EQ(meter.live_bytes(), 40);  // the view keeps it
  EXPECT_EQ(meter.peak_bytes(), 200);
}

TEST(TensorMeter, MayDieBeforeWhatItCounted) {
  Tensor tensor;
  {
    const TensorMeter meter;
    tensor = Tensor::allocate(DType::kF32, {4});
    EXPECT_EQ(meter.peak_bytes(), 16);
  }
  EXPECT_EQ(tensor.bytes(), 16);
}

TEST(Device, ReadsBackWhatItPrints) {
  for (const char* text : {"cpu", "cuda:0", "cuda:7", "null:3"}) {
    const auto device = Device::parse(text);
    ASSERT_TRUE(device.ok()) << text;
    EXPECT_EQ(device->text(), text);
  }
  EXPECT_EQ(Device::parse("cuda")->text(), "cuda:0");
}

TEST(Device, RefusesWhatIsNone) {
  for (const char* text : {"", "gpu", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "null:99999999"}) {
    const auto device = Device::parse(text);
    ASSERT_FALSE(device.ok()) << text;
    EXPECT_EQ(device.error().code, ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace assay
