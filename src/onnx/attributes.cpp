// SPDX-License-Identifier: Apache-2.0
#include "onnx/attributes.h"

#include <array>
#include <string>
#include <utility>

namespace assay::onnx {
namespace {

// AttributeProto.AttributeType by the index in AttributeRecord::value.
constexpr std::array<int64_t, 11> kDeclared{0, 2, 1, 3, 7, 6, 8, 4, 5, 11, 0};
constexpr std::array<std::string_view, 15> kTypeNames{
    "nothing", "a float",         "an int",         "a string", "a tensor",
    "a graph", "floats",          "ints",           "strings",  "tensors",
    "graphs",  "a sparse tensor", "sparse tensors", "a type",   "types"};

std::string_view type_name(int64_t declared) {
  return declared >= 0 && declared < static_cast<int64_t>(kTypeNames.size())
             ? kTypeNames[static_cast<size_t>(declared)]
             : "something unknown";
}

struct Values {
  const TensorOrigin& origin;

  Result<Attribute> operator()(int64_t value) const { return Attribute(value); }
  Result<Attribute> operator()(float value) const { return Attribute(value); }
  Result<Attribute> operator()(std::string_view value) const {
    return Attribute(std::string(value));
  }
  Result<Attribute> operator()(const std::vector<int64_t>& values) const {
    return Attribute(values);
  }
  Result<Attribute> operator()(const std::vector<float>& values) const { return Attribute(values); }
  Result<Attribute> operator()(const std::vector<std::string_view>& values) const {
    return Attribute(std::vector<std::string>(values.begin(), values.end()));
  }
  template <class Record>
  Result<Attribute> tensor(const Record& record) const {
    ASSAY_ASSIGN(const Tensor tensor, tensor_of(record, origin));
    return Attribute(tensor.aligned());
  }
  Result<Attribute> operator()(const std::shared_ptr<TensorRecord>& record) const {
    return tensor(*record);
  }
  Result<Attribute> operator()(const std::shared_ptr<SparseTensorRecord>& record) const {
    return tensor(*record);
  }
  Result<Attribute> operator()(const OtherAttribute& other) const {
    return Error{ErrorCode::kUnsupported,
                 "values of kind '" + std::string(other.kind) + "' are out of scope", ""};
  }
  Result<Attribute> operator()(std::monostate) const { return Attribute(int64_t{0}); }
  Result<Attribute> operator()(const std::shared_ptr<GraphRecord>& /*graph*/) const {
    return Attribute(int64_t{0});
  }
};

// A value that a writer may have left out because it is the type's zero, or an empty list.
Result<Attribute> zero_of(int64_t declared) {
  switch (declared) {
    case 1:
      return Attribute(0.0F);
    case 2:
      return Attribute(int64_t{0});
    case 3:
      return Attribute(std::string());
    case 6:
      return Attribute(std::vector<float>());
    case 7:
      return Attribute(std::vector<int64_t>());
    case 8:
      return Attribute(std::vector<std::string>());
    default:
      return Error{ErrorCode::kInvalid, "it holds nothing", ""};
  }
}

Result<Attribute> attribute_of(const AttributeRecord& record, const TensorOrigin& origin) {
  if (record.values > 1) return Error{ErrorCode::kInvalid, "it holds several values", ""};
  const size_t held = record.value.index();
  if (held == 0) return zero_of(record.declared_type);
  if (record.declared_type != 0 && kDeclared[held] != 0 &&
      record.declared_type != kDeclared[held]) {
    return Error{ErrorCode::kInvalid,
                 "it says it is " + std::string(type_name(record.declared_type)) + " and holds " +
                     std::string(type_name(kDeclared[held])),
                 ""};
  }
  return std::visit(Values{origin}, record.value);
}

}  // namespace

Result<Attributes> attributes_of(const NodeRecord& node, const TensorOrigin& origin) {
  Attributes attributes;
  for (const AttributeRecord& record : node.attributes) {
    const std::string name(record.name);
    const auto located = [&name](Error error) {
      error.message = "attribute '" + name + "': " + error.message;
      return error;
    };
    if (!record.reference.empty()) {
      return located({ErrorCode::kInvalid, "it refers to a function's, outside of one", ""});
    }
    if (attributes.has(name)) return located({ErrorCode::kInvalid, "it is given twice", ""});
    auto value = attribute_of(record, origin);
    if (!value.ok()) return located(std::move(value).error());
    if (std::holds_alternative<std::shared_ptr<GraphRecord>>(record.value)) continue;
    attributes.set(name, *std::move(value));
  }
  return attributes;
}

}  // namespace assay::onnx
