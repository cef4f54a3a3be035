// SPDX-License-Identifier: Apache-2.0
#include "onnx/decoder.h"

#include <utility>

namespace assay::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

namespace {

float number(pbf_reader& reader) {
  expect(reader, pbf_wire_type::fixed32);
  return reader.get_float();
}

void append_floats(pbf_reader& reader, std::vector<float>& values) {
  if (reader.wire_type() != pbf_wire_type::length_delimited) {
    values.push_back(number(reader));
    return;
  }
  const auto range = reader.get_packed_float();
  values.insert(values.end(), range.begin(), range.end());
}

DimRecord dimension(pbf_reader reader) {
  DimRecord record;
  while (reader.next()) {
    if (reader.tag() == 1) {
      record.size = integer(reader);
      if (record.size < 0) record.size = -1;  // some exporters write -1 for "any"
    } else if (reader.tag() == 2) {
      record.symbol = text(reader);
    } else {
      reader.skip();
    }
  }
  return record;
}

void tensor_type(pbf_reader reader, TypeRecord& record) {
  while (reader.next()) {
    if (reader.tag() == 1) {
      record.data_type = integer(reader);
    } else if (reader.tag() == 2) {
      record.has_shape = true;
      pbf_reader shape = message(reader);
      while (shape.next()) {
        if (shape.tag() == 1) {
          record.dims.push_back(dimension(message(shape)));
        } else {
          shape.skip();
        }
      }
    } else {
      reader.skip();
    }
  }
}

TypeRecord type(pbf_reader reader) {
  TypeRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        tensor_type(message(reader), record);
        break;
      case 4:
        record.kind = "sequence";
        reader.skip();
        break;
      case 5:
        record.kind = "map";
        reader.skip();
        break;
      case 8:
        record.kind = "sparse tensor";
        reader.skip();
        break;
      case 9:
        record.kind = "optional";
        reader.skip();
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

ValueRecord value(pbf_reader reader) {
  ValueRecord record;
  while (reader.next()) {
    if (reader.tag() == 1) {
      record.name = text(reader);
    } else if (reader.tag() == 2) {
      record.type = type(message(reader));
    } else {
      reader.skip();
    }
  }
  return record;
}

// The list of type T that an attribute holds, begun anew if it held something else.
template <class T>
std::vector<T>& list(AttributeRecord& record) {
  if (auto* held = std::get_if<std::vector<T>>(&record.value)) return *held;
  ++record.values;
  return record.value.emplace<std::vector<T>>();
}

template <class T>
void set(AttributeRecord& record, T value) {
  ++record.values;
  record.value = std::move(value);
}

void set_other(AttributeRecord& record, pbf_reader& reader, std::string_view kind) {
  if (!std::holds_alternative<OtherAttribute>(record.value)) set(record, OtherAttribute{kind});
  reader.skip();
}

}  // namespace

void expect(const pbf_reader& reader, pbf_wire_type type) {
  if (reader.wire_type() != type) {
    throw DecodeFailure{ErrorCode::kCorrupt,
                        "damaged: field " + std::to_string(reader.tag()) + " has wire type " +
                            std::to_string(static_cast<int>(reader.wire_type()))};
  }
}

void append_integers(pbf_reader& reader, std::vector<int64_t>& values) {
  if (reader.wire_type() != pbf_wire_type::length_delimited) {
    values.push_back(integer(reader));
    return;
  }
  const protozero::data_view packed = reader.get_view();
  const char* at = packed.data();
  const char* const end = at + packed.size();
  while (at != end) values.push_back(static_cast<int64_t>(protozero::decode_varint(&at, end)));
}

std::string_view text(pbf_reader& reader) {
  expect(reader, pbf_wire_type::length_delimited);
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

int64_t integer(pbf_reader& reader) {
  expect(reader, pbf_wire_type::varint);
  return reader.get_int64();
}

pbf_reader message(pbf_reader& reader) {
  expect(reader, pbf_wire_type::length_delimited);
  return reader.get_message();
}

std::string Decoder::place(std::string_view file) const {
  std::string text(file);
  if (!in_node_) return text;
  return text + ", node '" + std::string(node_name_) + "' (" + std::string(node_type_) + ")";
}

AttributeRecord Decoder::attribute(pbf_reader reader) {
  AttributeRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.name = text(reader);
        break;
      case 2:
        set(record, number(reader));
        break;
      case 3:
        set(record, integer(reader));
        break;
      case 4:
        set(record, text(reader));
        break;
      case 5:
        set(record, std::make_shared<TensorRecord>(tensor(message(reader))));
        break;
      case 6:
        set(record, std::make_shared<GraphRecord>(graph(message(reader))));
        break;
      case 7:
        append_floats(reader, list<float>(record));
        break;
      case 8:
        append_integers(reader, list<int64_t>(record));
        break;
      case 9:
        list<std::string_view>(record).push_back(text(reader));
        break;
      case 10:
        set_other(record, reader, "tensors");
        break;
      case 11:
        set_other(record, reader, "graphs");
        break;
      case 14:
      case 15:
        set_other(record, reader, "type");
        break;
      case 20:
        record.declared_type = integer(reader);
        break;
      case 21:
        record.reference = text(reader);
        break;
      case 22:
        set(record, std::make_shared<SparseTensorRecord>(sparse_tensor(message(reader))));
        break;
      case 23:
        set_other(record, reader, "sparse tensors");
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

NodeRecord Decoder::node(pbf_reader reader) {
  NodeRecord record;
  in_node_ = true;
  node_name_ = node_type_ = {};
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.inputs.push_back(text(reader));
        break;
      case 2:
        record.outputs.push_back(text(reader));
        break;
      case 3:
        record.name = node_name_ = text(reader);
        break;
      case 4:
        record.type = node_type_ = text(reader);
        break;
      case 5:
        record.attributes.push_back(attribute(message(reader)));
        break;
      case 7:
        record.domain = text(reader);
        break;
      default:
        reader.skip();
    }
  }
  if (record.domain == "ai.onnx") record.domain = "";
  in_node_ = false;
  return record;
}

GraphRecord Decoder::graph(pbf_reader reader) {
  if (++depth_ > kDeepestNesting) {
    throw DecodeFailure{ErrorCode::kUnsupported, "subgraphs are nested more than " +
                                                     std::to_string(kDeepestNesting) + " deep"};
  }
  GraphRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.nodes.push_back(node(message(reader)));
        break;
      case 2:
        record.name = text(reader);
        break;
      case 5:
        record.initializers.push_back(tensor(message(reader)));
        break;
      case 11:
        record.inputs.push_back(value(message(reader)));
        break;
      case 12:
        record.outputs.push_back(value(message(reader)));
        break;
      case 13:
        record.values.push_back(value(message(reader)));
        break;
      case 15:
        record.sparse_initializers.push_back(sparse_tensor(message(reader)));
        break;
      default:
        reader.skip();
    }
  }
  --depth_;
  return record;
}

}  // namespace assay::onnx
