// SPDX-License-Identifier: Apache-2.0
//
// Tensors in host memory (Tensor owns, TensorView points) and views of tensors anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/dtype.h"
#include "graph/shape.h"

namespace assay {

enum class DeviceKind : uint8_t { kCpu, kCuda, kNull };

// "cpu", "cuda:1", "null:0".
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  bool operator==(const Device&) const = default;
  std::string text() const;
  static Result<Device> parse(std::string_view text);
};

// What crosses every border: who owns the memory is the caller's affair. Strides are in elements;
// an empty strides vector means row-major and packed.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  Device device;

  int64_t elements() const;
  int64_t bytes() const { return storage_bytes(dtype, elements()); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// A packed row-major tensor in host memory, 64-byte aligned unless it wraps somebody else's. Copies
// share the storage: treat a shared tensor as read-only. Uninitialised after allocate().
class Tensor {
 public:
  Tensor() = default;
  static Tensor allocate(DType dtype, std::vector<int64_t> shape);
  static Tensor zeros(DType dtype, std::vector<int64_t> shape);
  // Wraps memory that `owner` keeps alive (a memory map, another tensor), at any address.
  static Tensor wrap(DType dtype, std::vector<int64_t> shape, void* data,
                     std::shared_ptr<void> owner);
  template <class T>
  static Tensor from(DType dtype, std::vector<int64_t> shape, std::span<const T> values);
  static Tensor scalar_f32(float value);
  static Tensor vector_i64(std::span<const int64_t> values);

  bool empty() const { return data_ == nullptr; }
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t elements() const;
  int64_t bytes() const { return storage_bytes(dtype_, elements()); }
  void* data() { return data_; }
  const void* data() const { return data_; }
  template <class T>
  std::span<T> values() {
    return {static_cast<T*>(data_), static_cast<size_t>(elements())};
  }
  template <class T>
  std::span<const T> values() const {
    return {static_cast<const T*>(data_), static_cast<size_t>(elements())};
  }
  TensorView view() const;
  TensorType type() const { return {dtype_, Shape::of(shape_)}; }
  Tensor clone() const;
  // The same storage seen with another shape of as many elements.
  Tensor reshaped(std::vector<int64_t> shape) const;
  // Itself where values<T>() may be read, else a copy: what lies in a file may lie anywhere in it.
  Tensor aligned() const;

 private:
  DType dtype_ = DType::kF32;
  std::vector<int64_t> shape_;
  void* data_ = nullptr;
  std::shared_ptr<void> owner_;
};

// Counts the bytes of tensors that this thread allocates while the meter lives, until they are
// freed (by whatever thread, even after the meter is gone). Sizes are those of the packed elements,
// without the allocator's rounding. Meters nest: an inner one's bytes count in the outer one too.
class TensorMeter {
 public:
  TensorMeter();
  ~TensorMeter();
  TensorMeter(const TensorMeter&) = delete;
  TensorMeter& operator=(const TensorMeter&) = delete;
  int64_t live_bytes() const;
  int64_t peak_bytes() const;

  struct Count;  // shared with the tensors it has counted

 private:
  std::shared_ptr<Count> count_;
};

template <class T>
Tensor Tensor::from(DType dtype, std::vector<int64_t> shape, std::span<const T> values) {
  Tensor t = allocate(dtype, std::move(shape));
  ASSAY_ASSERT(static_cast<size_t>(t.elements()) == values.size(),
               "value count differs from shape");
  std::copy(values.begin(), values.end(), t.values<T>().begin());
  return t;
}

}  // namespace assay
