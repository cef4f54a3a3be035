// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_data.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace assay::onnx {
namespace {

constexpr int64_t kString = 8;  // TensorProto.DataType
constexpr int64_t kComplex64 = 14;
constexpr int64_t kComplex128 = 15;

// A sparse tensor may grow this much, and a little more where it is small.
constexpr int64_t kLargestExpansion = 1024;
constexpr int64_t kSmallTensor = int64_t{1} << 20;

Error invalid(std::string message) { return Error{ErrorCode::kInvalid, std::move(message), ""}; }
Error corrupt(std::string message) { return Error{ErrorCode::kCorrupt, std::move(message), ""}; }

Result<TensorType> type_of(int64_t data_type, const std::vector<int64_t>& dims) {
  ASSAY_ASSIGN(const DType dtype, dtype_of(data_type));
  for (const int64_t dim : dims) {
    if (dim < 0) return invalid("a dimension is " + std::to_string(dim));
  }
  TensorType type(dtype, Shape::of(dims));
  ASSAY_TRY(type.bytes());
  return type;
}

// A tensor that points at `bytes`, or a copy where nobody keeps them.
Result<Tensor> view_of(const TensorType& type, std::string_view bytes,
                       const std::shared_ptr<void>& owner) {
  if (static_cast<int64_t>(bytes.size()) != *type.bytes()) {
    return corrupt(std::to_string(bytes.size()) + " bytes of data where " + type.text() +
                   " needs " + std::to_string(*type.bytes()));
  }
  if (owner == nullptr || bytes.empty()) {
    Tensor copy = Tensor::allocate(type.dtype, type.shape->sizes());
    if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
    return copy;
  }
  // Tensors that share storage are read-only by contract.
  return Tensor::wrap(type.dtype, type.shape->sizes(), const_cast<char*>(bytes.data()), owner);
}

template <class T>
Result<Tensor> narrowed(const TensorType& type, std::span<const int64_t> values) {
  Tensor tensor = Tensor::allocate(type.dtype, type.shape->sizes());
  auto* out = static_cast<T*>(tensor.data());
  for (size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<T>(values[i]);
    // 64-bit unsigned values arrive as their bit pattern; 32-bit ones may be sign-extended.
    if (sizeof(T) < 8 && static_cast<int64_t>(out[i]) != values[i] &&
        static_cast<int64_t>(static_cast<std::make_signed_t<T>>(out[i])) != values[i]) {
      return corrupt("element " + std::to_string(i) + " is " + std::to_string(values[i]) +
                     ", too large for " + std::string(dtype_name(type.dtype)));
    }
  }
  return tensor;
}

// int32_data, int64_data and uint64_data. Types narrower than a byte come as packed bytes, 8- and
// 16-bit floating ones as their bits.
Result<Tensor> integers(const TensorType& type, std::span<const int64_t> values) {
  const int bits = dtype_bits(type.dtype);
  const int64_t wanted =
      bits < 8 ? storage_bytes(type.dtype, *type.shape->elements()) : *type.shape->elements();
  if (static_cast<int64_t>(values.size()) != wanted) {
    return corrupt(std::to_string(values.size()) + " integers of data where " + type.text() +
                   " needs " + std::to_string(wanted));
  }
  const bool is_signed = type.dtype == DType::kI8 || type.dtype == DType::kI16;
  switch (bits) {
    case 4:
    case 8:
      return is_signed ? narrowed<int8_t>(type, values) : narrowed<uint8_t>(type, values);
    case 16:
      return is_signed ? narrowed<int16_t>(type, values) : narrowed<uint16_t>(type, values);
    case 32:
      if (is_floating(type.dtype)) break;
      return type.dtype == DType::kU32 ? narrowed<uint32_t>(type, values)
                                       : narrowed<int32_t>(type, values);
    default:
      if (is_floating(type.dtype)) break;
      return narrowed<int64_t>(type, values);
  }
  return corrupt("integers where " + type.text() + " needs numbers");
}

Result<Tensor> external(const TensorRecord& record, const TensorType& type,
                        const TensorOrigin& origin) {
  if (origin.files == nullptr) {
    return Error{ErrorCode::kUnsupported, "external data, which cannot be had here", ""};
  }
  ASSAY_ASSIGN(const ExternalBytes found, origin.files->find(record.external_data, *type.bytes()));
  return view_of(type, found.bytes, found.owner);
}

std::string_view field_name(TensorField field) {
  switch (field) {
    case TensorField::kFloats:
      return "float_data";
    case TensorField::kDoubles:
      return "double_data";
    default:
      return "string_data";
  }
}

// The positions in the dense tensor of a sparse tensor's values.
Result<std::vector<int64_t>> positions(const SparseTensorRecord& record, const Tensor& indices,
                                       int64_t count, int64_t elements) {
  if (indices.dtype() != DType::kI64) return invalid("the indices are not i64");
  const auto given = indices.values<int64_t>();
  const auto rank = static_cast<int64_t>(record.dims.size());
  const bool linear = indices.shape().size() == 1;
  if (indices.elements() != count * (linear ? 1 : rank)) {
    return invalid("the indices have shape " + indices.type().text() + " for " +
                   std::to_string(count) + " values");
  }
  std::vector<int64_t> result;
  result.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = linear ? given[static_cast<size_t>(i)] : 0;
    for (int64_t axis = 0; !linear && axis < rank; ++axis) {
      const int64_t index = given[static_cast<size_t>(i * rank + axis)];
      const int64_t size = record.dims[static_cast<size_t>(axis)];
      if (index < 0 || index >= size) return invalid("an index is outside the tensor");
      position = position * size + index;
    }
    if (position < 0 || position >= elements) return invalid("an index is outside the tensor");
    result.push_back(position);
  }
  return result;
}

}  // namespace

Result<DType> dtype_of(int64_t data_type) {
  if (const auto dtype = dtype_from_onnx(data_type)) return *dtype;
  if (data_type == kString) {
    return Error{ErrorCode::kUnsupported, "strings are out of scope", ""};
  }
  if (data_type == kComplex64 || data_type == kComplex128) {
    return Error{ErrorCode::kUnsupported, "complex numbers are out of scope", ""};
  }
  if (data_type == 0) return invalid("no element type is given");
  return Error{ErrorCode::kUnsupported,
               "element type " + std::to_string(data_type) + " is not known", ""};
}

Result<Tensor> tensor_of(const TensorRecord& record, const TensorOrigin& origin) {
  ASSAY_ASSIGN(const TensorType type, type_of(record.data_type, record.dims));
  if (record.external) return external(record, type, origin);
  if (record.mixed_fields) return invalid("its data is given twice, in two fields");
  const std::shared_ptr<void> owner = record.joined ? record.joined : origin.owner;
  switch (record.field) {
    case TensorField::kRaw:
      return view_of(type, record.bytes, owner);
    case TensorField::kFloats:
      if (type.dtype == DType::kF32) return view_of(type, record.bytes, owner);
      break;
    case TensorField::kDoubles:
      if (type.dtype == DType::kF64) return view_of(type, record.bytes, owner);
      break;
    case TensorField::kInts:
      return integers(type, record.ints);
    case TensorField::kNone:
      return view_of(type, {}, nullptr);
    case TensorField::kStrings:
      break;
  }
  return corrupt(std::string(field_name(record.field)) + " where the type is " + type.text());
}

Result<Tensor> tensor_of(const SparseTensorRecord& record, const TensorOrigin& origin) {
  ASSAY_ASSIGN(const Tensor values, tensor_of(record.values, origin));
  ASSAY_ASSIGN(const Tensor indices, tensor_of(record.indices, origin));
  ASSAY_ASSIGN(const TensorType type, type_of(record.values.data_type, record.dims));
  if (values.shape().size() != 1) return invalid("the values of a sparse tensor are no list");
  const int64_t described = values.bytes() + indices.bytes();
  if (*type.bytes() > kSmallTensor && *type.bytes() / kLargestExpansion > described) {
    return Error{ErrorCode::kUnsupported,
                 "a sparse tensor of type " + type.text() + " with only " +
                     std::to_string(values.elements()) + " values",
                 ""};
  }
  const int bits = dtype_bits(type.dtype);
  if (bits < 8) return Error{ErrorCode::kUnsupported, "a sparse tensor of 4-bit elements", ""};
  ASSAY_ASSIGN(const std::vector<int64_t> places,
               positions(record, indices.aligned(), values.elements(), *type.shape->elements()));
  Tensor dense = Tensor::zeros(type.dtype, type.shape->sizes());
  const auto width = static_cast<size_t>(bits / 8);
  for (size_t i = 0; i < places.size(); ++i) {
    std::memcpy(static_cast<char*>(dense.data()) + static_cast<size_t>(places[i]) * width,
                static_cast<const char*>(values.data()) + i * width, width);
  }
  return dense;
}

}  // namespace assay::onnx
