// SPDX-License-Identifier: Apache-2.0
#include "onnx/value_type.h"

#include <map>
#include <string>
#include <utility>

#include "onnx/tensor_data.h"

namespace assay::onnx {

Result<TensorType> tensor_type_of(const ValueRecord& value) {
  const auto failed = [&value](ErrorCode code, std::string message) {
    return Error{code, std::move(message), "value '" + std::string(value.name) + "'"};
  };
  if (!value.type) return failed(ErrorCode::kInvalid, "no type is given");
  const TypeRecord& type = *value.type;
  if (!type.kind.empty()) {
    return failed(ErrorCode::kUnsupported, std::string(type.kind) + "s are out of scope");
  }
  auto dtype = dtype_of(type.data_type);
  if (!dtype.ok()) return failed(dtype.error().code, dtype.error().message);
  if (!type.has_shape) return TensorType::unranked(*dtype);
  Shape shape;
  for (const DimRecord& dim : type.dims) {
    shape.append(dim.size >= 0 ? Dim(dim.size) : Dim::symbol(std::string(dim.symbol)));
  }
  TensorType result(*dtype, std::move(shape));
  if (result.known()) {
    const auto bytes = result.bytes();
    if (!bytes.ok()) return failed(bytes.error().code, bytes.error().message);
  }
  return result;
}

void name_dimensions(TensorType& type, std::string_view input) {
  if (!type.shape) return;
  for (size_t axis = 0; axis < type.shape->rank(); ++axis) {
    Dim& dim = (*type.shape)[axis];
    if (dim.known() || !dim.name().empty()) continue;
    dim = Dim::symbol(std::string(input) + "." + std::to_string(axis));
  }
}

Result<TensorType> with_shape(const TensorType& declared, const Shape& shape) {
  const auto contradiction = [&] {
    return Error{ErrorCode::kInvalid,
                 "shape " + shape.text() + " where the file has " + declared.text(), ""};
  };
  TensorType type = declared;
  type.shape = shape;
  if (!declared.shape) return type;
  if (declared.shape->rank() != shape.rank()) return contradiction();
  std::map<std::string, Dim> symbols;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = (*declared.shape)[axis];
    if (dim.known()) {
      if (dim != shape[axis]) return contradiction();
    } else if (!dim.name().empty() &&
               symbols.try_emplace(dim.name(), shape[axis]).first->second != shape[axis]) {
      return contradiction();
    }
  }
  return type;
}

}  // namespace assay::onnx
