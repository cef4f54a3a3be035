// SPDX-License-Identifier: Apache-2.0
#include "graph/shape.h"

#include <algorithm>

namespace assay {

std::string Dim::text() const {
  if (known()) return std::to_string(size_);
  return symbol_.empty() ? "?" : symbol_;
}

Shape Shape::of(std::span<const int64_t> sizes) {
  return Shape(std::vector<Dim>(sizes.begin(), sizes.end()));
}

bool Shape::known() const {
  return std::ranges::all_of(dims_, [](const Dim& dim) { return dim.known(); });
}

Result<int64_t> Shape::elements() const {
  bool empty = false;
  for (const Dim& dim : dims_) {
    if (!dim.known()) {
      return Error{ErrorCode::kUnsupported, "dimension " + dim.text() + " is not known", text()};
    }
    empty = empty || dim.size() == 0;
  }
  if (empty) return int64_t{0};
  int64_t product = 1;
  for (const Dim& dim : dims_) {
    if (__builtin_mul_overflow(product, dim.size(), &product)) {
      return Error{ErrorCode::kInvalid, "a tensor of shape " + text() + " is too large", ""};
    }
  }
  return product;
}

std::vector<int64_t> Shape::sizes() const {
  std::vector<int64_t> sizes;
  sizes.reserve(dims_.size());
  for (const Dim& dim : dims_) {
    ASSAY_ASSERT(dim.known(), "sizes() of a shape with unknown dimensions");
    sizes.push_back(dim.size());
  }
  return sizes;
}

std::string Shape::text() const {
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ", ";
    text += dims_[i].text();
  }
  return text + "]";
}

Result<int64_t> TensorType::bytes() const {
  if (!shape) return Error{ErrorCode::kUnsupported, "the rank is not known", text()};
  ASSAY_ASSIGN(const int64_t count, shape->elements());
  int64_t bits = 0;
  if (__builtin_mul_overflow(count, int64_t{dtype_bits(dtype)}, &bits)) {
    return Error{ErrorCode::kInvalid, "a tensor of type " + text() + " is too large", ""};
  }
  return storage_bytes(dtype, count);
}

std::string TensorType::text() const {
  return std::string(dtype_name(dtype)) + (shape ? shape->text() : "[...]");
}

namespace {

// The broadcast of two dimensions; false when they cannot be.
bool broadcast_dim(const Dim& a, const Dim& b, Dim& out) {
  if (a.known() && b.known()) {
    if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return false;
    out = a.size() == 1 ? b : a;
    return true;
  }
  if (a.known() || b.known()) {
    // 1 stretches to the unknown; any other known size is what the unknown must be (or 1).
    const Dim& known = a.known() ? a : b;
    out = known.size() == 1 ? (a.known() ? b : a) : known;
    return true;
  }
  out = a.name() == b.name() ? a : Dim();
  return true;
}

}  // namespace

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the last axis
    const Dim one = 1;
    const Dim& x = i < a.rank() ? a[a.rank() - 1 - i] : one;
    const Dim& y = i < b.rank() ? b[b.rank() - 1 - i] : one;
    if (!broadcast_dim(x, y, dims[rank - 1 - i])) {
      return Error{ErrorCode::kInvalid,
                   "shapes " + a.text() + " and " + b.text() + " cannot be broadcast together", ""};
    }
  }
  return Shape(std::move(dims));
}

}  // namespace assay
