// SPDX-License-Identifier: Apache-2.0
#include "graph/tensor.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/text.h"

namespace assay {
namespace {

constexpr size_t kAlignment = 64;

int64_t product(std::span<const int64_t> sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;  // however large the others are
  int64_t count = 1;
  for (const int64_t size : sizes) {
    ASSAY_ASSERT(size >= 0 && !__builtin_mul_overflow(count, size, &count),
                 "negative or overflowing tensor size");
  }
  return count;
}

}  // namespace

struct TensorMeter::Count {
  std::shared_ptr<Count> outer;
  std::atomic<int64_t> live = 0;
  std::atomic<int64_t> peak = 0;

  void add(int64_t bytes) {
    for (Count* count = this; count != nullptr; count = count->outer.get()) {
      const int64_t now = count->live += bytes;
      int64_t before = count->peak;
      while (now > before && !count->peak.compare_exchange_weak(before, now)) {
      }
    }
  }
};

namespace {
thread_local std::shared_ptr<TensorMeter::Count> innermost_meter;
}  // namespace

TensorMeter::TensorMeter() : count_(std::make_shared<Count>()) {
  count_->outer = innermost_meter;
  innermost_meter = count_;
}

TensorMeter::~TensorMeter() { innermost_meter = count_->outer; }

int64_t TensorMeter::live_bytes() const { return count_->live; }
int64_t TensorMeter::peak_bytes() const { return count_->peak; }

std::string Device::text() const {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      return "cuda:" + std::to_string(index);
    case DeviceKind::kNull:
      return "null:" + std::to_string(index);
  }
  return "";
}

Result<Device> Device::parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  Device device;
  if (kind == "cpu") {
    if (colon != std::string_view::npos) {
      return Error{ErrorCode::kInvalid, "the device cpu takes no number", std::string(text)};
    }
    return device;
  }
  if (kind == "cuda") {
    device.kind = DeviceKind::kCuda;
  } else if (kind == "null") {
    device.kind = DeviceKind::kNull;
  } else {
    return Error{ErrorCode::kInvalid,
                 "unknown device '" + std::string(text) + "' (known: cpu, cuda:N, null:N)", ""};
  }
  if (colon == std::string_view::npos) return device;
  const auto index = parse_int(text.substr(colon + 1));
  if (!index.ok() || *index < 0 || *index > 65535) {
    return Error{ErrorCode::kInvalid, "bad device number", std::string(text)};
  }
  device.index = static_cast<int>(*index);
  return device;
}

int64_t TensorView::elements() const { return product(shape); }

Tensor Tensor::allocate(DType dtype, std::vector<int64_t> shape) {
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  const auto bytes = static_cast<size_t>(storage_bytes(dtype, product(t.shape_)));
  // Never null, so that a tensor without elements is still not empty().
  const size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  t.data_ = std::aligned_alloc(kAlignment, rounded);
  if (t.data_ == nullptr) throw std::bad_alloc();
  if (innermost_meter == nullptr) {
    t.owner_ = std::shared_ptr<void>(t.data_, [](void* p) { std::free(p); });
    return t;
  }
  const int64_t metered = t.bytes();
  innermost_meter->add(metered);
  t.owner_ = std::shared_ptr<void>(t.data_, [metered, meter = innermost_meter](void* p) {
    std::free(p);
    meter->add(-metered);
  });
  return t;
}

Tensor Tensor::zeros(DType dtype, std::vector<int64_t> shape) {
  Tensor t = allocate(dtype, std::move(shape));
  std::memset(t.data_, 0, static_cast<size_t>(t.bytes()));
  return t;
}

Tensor Tensor::wrap(DType dtype, std::vector<int64_t> shape, void* data,
                    std::shared_ptr<void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  t.data_ = data;
  t.owner_ = std::move(owner);
  return t;
}

Tensor Tensor::scalar_f32(float value) {
  return from<float>(DType::kF32, {}, std::span<const float>(&value, 1));
}

Tensor Tensor::vector_i64(std::span<const int64_t> values) {
  return from<int64_t>(DType::kI64, {static_cast<int64_t>(values.size())}, values);
}

int64_t Tensor::elements() const { return product(shape_); }

TensorView Tensor::view() const { return {data_, dtype_, shape_, {}, Device{}}; }

Tensor Tensor::clone() const {
  if (empty()) return {};
  Tensor t = allocate(dtype_, shape_);
  std::memcpy(t.data_, data_, static_cast<size_t>(bytes()));
  return t;
}

Tensor Tensor::reshaped(std::vector<int64_t> shape) const {
  Tensor t = *this;
  t.shape_ = std::move(shape);
  ASSAY_ASSERT(t.elements() == elements(), "a view with another number of elements");
  return t;
}

Tensor Tensor::aligned() const {
  const int width = std::max(8, dtype_bits(dtype_)) / 8;
  return reinterpret_cast<uintptr_t>(data_) % static_cast<uintptr_t>(width) == 0 ? *this : clone();
}

}  // namespace assay
