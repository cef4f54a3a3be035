// SPDX-License-Identifier: Apache-2.0
#include "study/model_subject.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "graph/passes/passes.h"
#include "onnx/read.h"
#include "record/digest.h"
#include "workload/workload.h"

namespace assay {
namespace {

Result<std::vector<Tensor>> buffers(const Graph& graph, std::span<const ValueId> values,
                                    int64_t batch) {
  std::vector<Tensor> tensors;
  for (const ValueId id : values) {
    const Value& value = graph.value(id);
    if (!value.type.shape)
      return Error{ErrorCode::kUnsupported, "its rank is not known", value.name};
    std::vector<int64_t> sizes;
    for (const Dim& dim : value.type.shape->dims()) {
      if (!dim.known() && dim.name() != "batch")
        return Error{ErrorCode::kUnsupported, "its shape is not known: " + value.type.shape->text(),
                     value.name};
      sizes.push_back(dim.known() ? dim.size() : batch);
    }
    tensors.push_back(Tensor::zeros(value.type.dtype, std::move(sizes)));
  }
  return tensors;
}

}  // namespace

Result<ModelConfig> model_config(const std::string& model, const std::string& variant) {
  if (variant == "reference") return ModelConfig();
  ASSAY_ASSIGN(const std::vector<Workload> workloads, load_workloads(share_folder() / "workloads"));
  std::vector<std::string> names{"reference"};
  for (const Workload& workload : workloads)
    for (const WorkloadVariant& one : workload.variants) {
      if (one.model != model) continue;
      if (one.name == variant) return one.model_config;
      if (one.name != "reference") names.push_back(one.name);
    }
  return Error{ErrorCode::kInvalid, fmt::format("model '{}' has no variant '{}'", model, variant),
               "", fmt::format("there are: {}", join(names, ", "))};
}

bool is_onnx_file(const std::string& name) { return name.ends_with(".onnx"); }

namespace {

// The name of the dimension that every input whose first dimension is unknown begins with; empty if
// they begin differently.
std::string batch_dimension(const Graph& graph) {
  std::string name;
  for (const ValueId id : graph.inputs()) {
    const auto& shape = graph.value(id).type.shape;
    if (!shape || shape->rank() == 0 || (*shape)[0].known()) continue;
    const std::string& first = (*shape)[0].name();
    if (first.empty() || (!name.empty() && name != first)) return "";
    name = first;
  }
  return name;
}

constexpr std::string_view kBind = "bind.";

Result<ModelSubject> open_file(const Case& wanted) {
  const std::string& name = wanted.get("model");
  ASSAY_ASSIGN(const Graph read, read_onnx(name));
  std::map<std::string, int64_t> sizes;
  for (const auto& [key, value] : wanted.overrides()) {
    const auto size = parse_int(value);
    if (!key.starts_with(kBind) || !size.ok())
      return Error{ErrorCode::kInvalid, fmt::format("'set.{}' is nothing of a file", key), name,
                   "set.bind.DIM=SIZE gives a dimension its size"};
    sizes[key.substr(kBind.size())] = *size;
  }
  const std::string batch = batch_dimension(read);
  const bool batched = !batch.empty() && !sizes.contains(batch);
  ASSAY_ASSIGN(Graph graph,
               bind_file(read, std::move(sizes), std::max<int64_t>(1, wanted.integer("batch"))));
  std::string digest = digest_of(canonical_text(graph), "", "");
  return ModelSubject{std::move(graph), batched ? "item" : "call", std::move(digest)};
}

}  // namespace

Result<Graph> bind_file(const Graph& graph, std::map<std::string, int64_t> given, int64_t batch) {
  const std::string name = batch_dimension(graph);
  if (!name.empty()) given.emplace(name, batch);
  if (given.empty()) return graph;
  return bind_dimensions(graph, given);
}

Result<ModelSubject> open_model(const Case& wanted) {
  const std::string& name = wanted.get("model");
  if (is_onnx_file(name)) return open_file(wanted);
  ASSAY_ASSIGN(ModelConfig config, model_config(name, wanted.get("variant")));
  for (const auto& [key, value] : wanted.overrides()) config[key] = value;
  ASSAY_ASSIGN(Graph graph, build_model(name, config, Phase::kInference));
  const ModelEntry* entry = find_model(name);
  ASSAY_ASSERT(entry != nullptr, "a model that was built has an entry");
  std::string digest = digest_of(canonical_text(graph), "", "");
  return ModelSubject{std::move(graph), entry->item, std::move(digest)};
}

Result<std::vector<Tensor>> input_buffers(const Graph& graph, int64_t batch) {
  return buffers(graph, graph.inputs(), batch);
}

Result<std::vector<Tensor>> output_buffers(const Graph& graph, int64_t batch) {
  return buffers(graph, graph.outputs(), batch);
}

void fill_random(Tensor& tensor, RandomKey key) {
  RandomStream stream(key);
  switch (tensor.dtype()) {
    case DType::kF32:
      for (float& value : tensor.values<float>()) value = static_cast<float>(stream.normal());
      break;
    case DType::kI64:
      for (int64_t& value : tensor.values<int64_t>()) value = stream.bernoulli(0.5) ? 1 : 0;
      break;
    case DType::kI32:
      for (int32_t& value : tensor.values<int32_t>()) value = stream.bernoulli(0.5) ? 1 : 0;
      break;
    default:
      break;  // zeros are values of every type
  }
}

}  // namespace assay
