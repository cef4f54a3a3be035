// SPDX-License-Identifier: Apache-2.0
//
// Shapes with symbolic dimensions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/dtype.h"

namespace assay {

// A size, a named unknown size ("batch"), or an unnamed unknown one.
class Dim {
 public:
  constexpr Dim() = default;
  Dim(int64_t size) : size_(size) {}  // NOLINT: implicit by design
  static Dim symbol(std::string name) {
    Dim d;
    d.symbol_ = std::move(name);
    return d;
  }

  bool known() const { return size_ >= 0; }
  int64_t size() const { return size_; }               // only when known()
  const std::string& name() const { return symbol_; }  // may be empty
  bool operator==(const Dim&) const = default;
  std::string text() const;  // "3", "batch", "?"

 private:
  int64_t size_ = -1;
  std::string symbol_;
};

class Shape {
 public:
  Shape() = default;  // a scalar
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static Shape of(std::span<const int64_t> sizes);

  size_t rank() const { return dims_.size(); }
  const Dim& operator[](size_t axis) const { return dims_[axis]; }
  Dim& operator[](size_t axis) { return dims_[axis]; }
  const std::vector<Dim>& dims() const { return dims_; }
  void append(Dim dim) { dims_.push_back(std::move(dim)); }
  bool known() const;  // every dimension is
  // Product of the dimensions; kInvalid when it exceeds 2^63 - 1, kUnsupported when not known().
  Result<int64_t> elements() const;
  std::vector<int64_t> sizes() const;  // only when known()
  bool operator==(const Shape&) const = default;
  std::string text() const;  // "[batch, 3, 224, 224]"

 private:
  std::vector<Dim> dims_;
};

// An element type and a shape. A value whose rank is unknown has no shape.
struct TensorType {
  DType dtype = DType::kF32;
  std::optional<Shape> shape;

  TensorType() = default;
  TensorType(DType type, Shape dims) : dtype(type), shape(std::move(dims)) {}
  static TensorType unranked(DType type) {
    TensorType t;
    t.dtype = type;
    return t;
  }
  bool operator==(const TensorType&) const = default;
  bool known() const { return shape && shape->known(); }
  Result<int64_t> bytes() const;
  std::string text() const;  // "f32[batch, 3]"
};

// NumPy broadcasting; kInvalid names both shapes.
Result<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace assay
