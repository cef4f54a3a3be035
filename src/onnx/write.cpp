// SPDX-License-Identifier: Apache-2.0
#include "onnx/write.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "base/files.h"
#include "onnx/graph_writer.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kIrVersion = 10;  // the one of opset 21
// Maps of external data start at pages.
constexpr int64_t kAlignment = 4096;

Result<std::string> model_bytes(const Graph& graph, const OnnxWriteOptions& options,
                                onnx::ExternalSink* external) {
  std::string bytes;
  protozero::pbf_writer model(bytes);
  model.add_int64(1, kIrVersion);
  model.add_string(2, "assay");
  onnx::GraphWriter writer(options.seed, external);
  {
    protozero::pbf_writer message(model, 7);
    ASSAY_TRY(writer.graph(graph, message));
  }
  const auto import = [&model](const std::string& domain, int version) {
    protozero::pbf_writer opset(model, 8);
    opset.add_string(1, domain);
    opset.add_int64(2, version);
  };
  import("", kInternalOpset);
  for (const auto& [domain, version] : writer.domains()) import(domain, version);
  return bytes;
}

int64_t weight_bytes(const Graph& graph) {
  int64_t bytes = 0;
  const auto add = [&](ValueId id) {
    const auto size = graph.value(id).type.bytes();
    if (size.ok() && __builtin_add_overflow(bytes, *size, &bytes)) bytes = INT64_MAX / 2;
  };
  for (const Parameter& parameter : graph.parameters()) add(parameter.value);
  for (const State& state : graph.states()) add(state.value);
  for (const Constant& constant : graph.constants()) add(constant.value);
  return bytes;
}

// FILE.data, under another name until it is whole.
class DataFile final : public onnx::ExternalSink {
 public:
  explicit DataFile(const fs::path& model)
      : target_(model.string() + ".data"),
        partial_(target_.string() + ".part"),
        location_(target_.filename().string()),
        out_(partial_, std::ios::binary | std::ios::trunc) {}
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;
  ~DataFile() override {
    std::error_code ignored;
    out_.close();
    if (!done_) fs::remove(partial_, ignored);
  }

  std::string_view location() const override { return location_; }
  Result<int64_t> append(const Tensor& tensor) override {
    const int64_t offset = (size_ + kAlignment - 1) / kAlignment * kAlignment;
    const std::string gap(static_cast<size_t>(offset - size_), '\0');
    out_.write(gap.data(), static_cast<std::streamsize>(gap.size()));
    out_.write(static_cast<const char*>(tensor.data()), tensor.bytes());
    size_ = offset + tensor.bytes();
    if (!out_) return failed();
    return offset;
  }
  Result<void> finish() {
    out_.close();
    if (!out_) return failed();
    std::error_code error;
    fs::rename(partial_, target_, error);
    if (error) return Error{ErrorCode::kIo, error.message(), target_.string()};
    done_ = true;
    return {};
  }

 private:
  Error failed() const { return {ErrorCode::kIo, std::strerror(errno), partial_.string()}; }

  fs::path target_;
  fs::path partial_;
  std::string location_;
  std::ofstream out_;
  int64_t size_ = 0;
  bool done_ = false;
};

}  // namespace

Result<std::string> onnx_bytes(const Graph& graph, const OnnxWriteOptions& options) {
  return model_bytes(graph, options, nullptr);
}

Result<void> write_onnx(const Graph& graph, const fs::path& file, const OnnxWriteOptions& options) {
  if (weight_bytes(graph) <= options.inline_limit) {
    ASSAY_ASSIGN(const std::string bytes, onnx_bytes(graph, options));
    return write_file(file, bytes);
  }
  DataFile data(file);
  ASSAY_ASSIGN(const std::string bytes, model_bytes(graph, options, &data));
  ASSAY_TRY(data.finish());
  return write_file(file, bytes);
}

}  // namespace assay
