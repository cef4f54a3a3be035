// SPDX-License-Identifier: Apache-2.0
#include "onnx/decode.h"

#include <algorithm>
#include <array>
#include <utility>

#include "onnx/decoder.h"

namespace assay::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com";
// Protobuf counts the bytes of a message in 32 bits.
constexpr size_t kLargestFile = size_t{1} << 32;

bool is_text(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 256);
  return std::ranges::all_of(
      head, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; });
}

// What stands there in place of a model, as far as the first bytes tell.
Result<void> check_nature(std::string_view bytes, std::string_view place) {
  const auto corrupt = [&](std::string message, std::string hint = "") {
    return Error{ErrorCode::kCorrupt, std::move(message), std::string(place), std::move(hint)};
  };
  if (bytes.empty()) return corrupt("the file is empty");
  if (bytes.starts_with(kLfsPointer)) {
    return corrupt("a Git LFS pointer, not the model it points to",
                   "git lfs pull, in the repository it comes from");
  }
  if (is_text(bytes)) return corrupt("text, not an ONNX model");
  if (bytes.size() >= kLargestFile) {
    return Error{ErrorCode::kUnsupported, "the file is larger than protobuf can count (4 GiB)",
                 std::string(place), "store the weights as external data"};
  }
  return {};
}

template <class Decode>
auto guarded(std::string_view place, Decoder& decoder, Decode decode)
    -> Result<decltype(decode())> {
  try {
    return decode();
  } catch (const DecodeFailure& failure) {
    return Error{failure.code, failure.message, decoder.place(place)};
  } catch (const protozero::exception& error) {
    return Error{ErrorCode::kCorrupt, std::string("damaged or truncated: ") + error.what(),
                 decoder.place(place)};
  }
}

OpsetRecord opset(pbf_reader reader) {
  OpsetRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.domain = text(reader);
        break;
      case 2:
        record.version = integer(reader);
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

FunctionRecord function(Decoder& decoder, pbf_reader reader) {
  FunctionRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.name = text(reader);
        break;
      case 4:
        record.inputs.push_back(text(reader));
        break;
      case 5:
        record.outputs.push_back(text(reader));
        break;
      case 6:
        record.attributes.push_back(text(reader));
        break;
      case 7:
        record.nodes.push_back(decoder.node(message(reader)));
        break;
      case 9:
        record.opsets.push_back(opset(message(reader)));
        break;
      case 10:
        record.domain = text(reader);
        break;
      case 11:
        record.defaults.push_back(decoder.attribute(message(reader)));
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

ModelRecord model(Decoder& decoder, pbf_reader reader) {
  ModelRecord record;
  while (reader.next()) {
    switch (reader.tag()) {
      case 1:
        record.ir_version = integer(reader);
        break;
      case 2:
        record.producer = text(reader);
        break;
      case 7:
        if (record.graph) throw DecodeFailure{ErrorCode::kCorrupt, "the model has two graphs"};
        record.graph = decoder.graph(message(reader));
        break;
      case 8:
        record.opsets.push_back(opset(message(reader)));
        break;
      case 25:
        record.functions.push_back(function(decoder, message(reader)));
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

}  // namespace

Result<ModelRecord> decode_model(std::string_view bytes, std::string_view place) {
  ASSAY_TRY(check_nature(bytes, place));
  Decoder decoder;
  ASSAY_ASSIGN(ModelRecord record, guarded(place, decoder, [&] {
                 return model(decoder, pbf_reader(bytes.data(), bytes.size()));
               }));
  if (!record.graph) {
    return Error{ErrorCode::kCorrupt, "no graph in it: not an ONNX model", std::string(place)};
  }
  return record;
}

Result<TensorRecord> decode_tensor(std::string_view bytes, std::string_view place) {
  Decoder decoder;
  return guarded(place, decoder,
                 [&] { return decoder.tensor(pbf_reader(bytes.data(), bytes.size())); });
}

}  // namespace assay::onnx
