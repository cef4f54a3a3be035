// SPDX-License-Identifier: Apache-2.0
#include "onnx/read.h"

#include <utility>

#include "base/files.h"
#include "onnx/decode.h"
#include "onnx/functions.h"
#include "onnx/graph_reader.h"
#include "onnx/tensor_data.h"

namespace assay {

Result<Graph> read_onnx(const std::filesystem::path& file, const OnnxOptions& options) {
  ASSAY_ASSIGN(MappedFile mapped, MappedFile::open(file));
  const auto owner = std::make_shared<MappedFile>(std::move(mapped));
  const auto bytes = owner->bytes();
  std::filesystem::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  return parse_onnx({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                    options, folder, owner);
}

Result<Graph> parse_onnx(std::string_view bytes, const std::string& place,
                         const OnnxOptions& options, const std::filesystem::path& folder,
                         const std::shared_ptr<void>& owner) {
  ASSAY_ASSIGN(onnx::ModelRecord model, onnx::decode_model(bytes, place));
  const auto located = [&place](Error error) {
    error.place = error.place.empty() ? place : place + ", " + error.place;
    return error;
  };
  if (auto inlined = onnx::inline_functions(model); !inlined.ok()) {
    return located(std::move(inlined).error());
  }
  onnx::ExternalFiles files(folder);
  const onnx::TensorOrigin origin{owner, folder.empty() ? nullptr : &files};
  auto graph = onnx::read_graph(model, origin, options);
  if (!graph.ok()) return located(std::move(graph).error());
  return graph;
}

Result<Tensor> parse_onnx_tensor(std::string_view bytes, const std::string& place) {
  ASSAY_ASSIGN(const onnx::TensorRecord record, onnx::decode_tensor(bytes, place));
  auto tensor = onnx::tensor_of(record, {});
  if (!tensor.ok()) {
    Error error = std::move(tensor).error();
    error.place = place;
    return error;
  }
  return tensor;
}

}  // namespace assay
