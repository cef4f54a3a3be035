// SPDX-License-Identifier: Apache-2.0
//
// An ONNX file as it was written: plain structs whose texts and weights are views of the file's
// bytes, which must outlive them. Names and numbers are those of onnx.proto. Nothing here has been
// checked against anything but the wire format.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::onnx {

// Which field of a TensorProto holds its elements.
enum class TensorField : uint8_t { kNone, kRaw, kFloats, kDoubles, kInts, kStrings };

struct TensorRecord {
  std::string_view name;
  int64_t data_type = 0;
  std::vector<int64_t> dims;
  TensorField field = TensorField::kNone;
  bool mixed_fields = false;            // more than one field holds elements
  std::string_view bytes;               // kRaw, kFloats, kDoubles: little-endian elements
  std::shared_ptr<std::string> joined;  // what `bytes` views when the file held it in pieces
  std::vector<int64_t> ints;            // int32_data, int64_data or uint64_data
  bool external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external_data;
};

// Values are given at `indices`: [n] linear positions or [n, rank] coordinates; the rest is zero.
struct SparseTensorRecord {
  TensorRecord values;
  TensorRecord indices;
  std::vector<int64_t> dims;
};

struct GraphRecord;

// An attribute of a kind that has no place here: "tensors", "graphs", "type".
struct OtherAttribute {
  std::string_view kind;
};

struct AttributeRecord {
  std::string_view name;
  std::string_view reference;  // in a function: the attribute of the call that gives the value
  int64_t declared_type = 0;   // AttributeProto.AttributeType; 0 in the oldest files
  int values = 0;              // how many kinds of value are there
  std::variant<std::monostate, int64_t, float, std::string_view, std::vector<int64_t>,
               std::vector<float>, std::vector<std::string_view>, std::shared_ptr<TensorRecord>,
               std::shared_ptr<GraphRecord>, std::shared_ptr<SparseTensorRecord>, OtherAttribute>
      value;
};

struct OpsetRecord {
  std::string_view domain;
  int64_t version = 0;
};

struct NodeRecord {
  std::string_view name;
  std::string_view domain;
  std::string_view type;
  std::vector<std::string_view> inputs;  // empty where omitted
  std::vector<std::string_view> outputs;
  std::vector<AttributeRecord> attributes;
  const std::vector<OpsetRecord>* opsets =
      nullptr;  // of the function it came from; null: the model's
};

struct DimRecord {
  int64_t size = -1;        // -1: not given
  std::string_view symbol;  // may be empty
};

// The type of a value. `kind` is empty for tensors, else what it is instead ("sequence").
struct TypeRecord {
  std::string_view kind;
  int64_t data_type = 0;
  bool has_shape = false;
  std::vector<DimRecord> dims;
};

struct ValueRecord {
  std::string_view name;
  std::optional<TypeRecord> type;
};

struct GraphRecord {
  std::string_view name;
  std::vector<NodeRecord> nodes;
  std::vector<ValueRecord> inputs;
  std::vector<ValueRecord> outputs;
  std::vector<ValueRecord> values;  // value_info
  std::vector<TensorRecord> initializers;
  std::vector<SparseTensorRecord> sparse_initializers;
};

struct FunctionRecord {
  std::string_view name;
  std::string_view domain;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // names without a default
  std::vector<AttributeRecord> defaults;
  std::vector<NodeRecord> nodes;
  std::vector<OpsetRecord> opsets;
};

struct ModelRecord {
  int64_t ir_version = 0;
  std::string_view producer;
  std::vector<OpsetRecord> opsets;
  std::optional<GraphRecord> graph;
  std::vector<FunctionRecord> functions;
  std::deque<std::string> names;  // made while reading; views of them stay valid
};

}  // namespace assay::onnx
