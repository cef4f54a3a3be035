// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <utility>

#include "onnx/decoder.h"

namespace assay::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

namespace {

// A repeated field of numbers of fixed width: packed in one piece it stays where it is.
void append_fixed(pbf_reader& reader, size_t width, TensorRecord& record) {
  std::string_view piece;
  std::array<char, 8> one{};
  if (reader.wire_type() == pbf_wire_type::length_delimited) {
    piece = text(reader);
    if (piece.size() % width != 0) {
      throw DecodeFailure{ErrorCode::kCorrupt, "damaged: a list of numbers ends within one"};
    }
  } else if (width == 4) {
    expect(reader, pbf_wire_type::fixed32);
    one = std::bit_cast<std::array<char, 8>>(static_cast<uint64_t>(reader.get_fixed32()));
    piece = {one.data(), width};
  } else {
    expect(reader, pbf_wire_type::fixed64);
    one = std::bit_cast<std::array<char, 8>>(reader.get_fixed64());
    piece = {one.data(), width};
  }
  const bool in_file = piece.data() != one.data();
  if (record.bytes.empty() && in_file) {
    record.bytes = piece;
    return;
  }
  if (!record.joined) record.joined = std::make_shared<std::string>(record.bytes);
  record.joined->append(piece);
  record.bytes = *record.joined;
}

void use_field(TensorRecord& record, TensorField field) {
  record.mixed_fields =
      record.mixed_fields || (record.field != TensorField::kNone && record.field != field);
  record.field = field;
}

std::pair<std::string_view, std::string_view> string_entry(pbf_reader reader) {
  std::pair<std::string_view, std::string_view> entry;
  while (reader.next()) {
    if (reader.tag() == 1) {
      entry.first = text(reader);
    } else if (reader.tag() == 2) {
      entry.second = text(reader);
    } else {
      reader.skip();
    }
  }
  return entry;
}

}  // namespace

TensorRecord Decoder::tensor(pbf_reader reader) {
  TensorRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        append_integers(reader, record.dims);
        break;
      case 2:
        record.data_type = integer(reader);
        break;
      case 4:
        use_field(record, TensorField::kFloats);
        append_fixed(reader, 4, record);
        break;
      case 5:
      case 7:
      case 11:
        use_field(record, TensorField::kInts);
        append_integers(reader, record.ints);
        break;
      case 6:
        use_field(record, TensorField::kStrings);
        reader.skip();
        break;
      case 8:
        record.name = text(reader);
        break;
      case 9:
        use_field(record, TensorField::kRaw);
        record.bytes = text(reader);
        break;
      case 10:
        use_field(record, TensorField::kDoubles);
        append_fixed(reader, 8, record);
        break;
      case 13:
        record.external_data.push_back(string_entry(message(reader)));
        break;
      case 14:
        record.external = integer(reader) == 1;
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

SparseTensorRecord Decoder::sparse_tensor(pbf_reader reader) {
  SparseTensorRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.values = tensor(message(reader));
        break;
      case 2:
        record.indices = tensor(message(reader));
        break;
      case 3:
        append_integers(reader, record.dims);
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

}  // namespace assay::onnx
