// SPDX-License-Identifier: Apache-2.0
//
// The messages that contain each other (graph, node, attribute, tensor), decoded. Throws
// protozero's exceptions and DecodeFailure; decode.cpp turns them into errors, and is the only
// other file to include this. Remembers which node it was at, for the error's place.
#pragma once

#include <string>
#include <string_view>

#include <protozero/pbf_reader.hpp>

#include "base/error.h"
#include "onnx/records.h"

namespace assay::onnx {

struct DecodeFailure {
  ErrorCode code;
  std::string message;
};

// A field of the wrong wire type is damage, which protozero itself only asserts.
void expect(const protozero::pbf_reader& reader, protozero::pbf_wire_type type);
std::string_view text(protozero::pbf_reader& reader);
int64_t integer(protozero::pbf_reader& reader);
protozero::pbf_reader message(protozero::pbf_reader& reader);
// A repeated integer field: packed, or one at a time.
void append_integers(protozero::pbf_reader& reader, std::vector<int64_t>& values);

class Decoder {
 public:
  GraphRecord graph(protozero::pbf_reader reader);
  NodeRecord node(protozero::pbf_reader reader);
  AttributeRecord attribute(protozero::pbf_reader reader);
  TensorRecord tensor(protozero::pbf_reader reader);

  // "FILE, node 'NAME' (TYPE)", where a node was being read.
  std::string place(std::string_view file) const;

 private:
  SparseTensorRecord sparse_tensor(protozero::pbf_reader reader);

  // Frames of the C++ stack are spent on nested subgraphs only.
  static constexpr int kDeepestNesting = 64;
  int depth_ = 0;
  std::string_view node_name_;
  std::string_view node_type_;
  bool in_node_ = false;
};

}  // namespace assay::onnx
