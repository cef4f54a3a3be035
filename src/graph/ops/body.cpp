// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/body.h"

#include <algorithm>
#include <memory>

#include "graph/passes/passes.h"

namespace assay {

BodyInputs body_inputs(std::span<const TensorType* const> types,
                       std::span<const Tensor* const> constants) {
  BodyInputs inputs;
  for (size_t i = 0; i < types.size(); ++i) {
    inputs.types.push_back(types[i] == nullptr ? TensorType() : *types[i]);
    inputs.data.push_back(i < constants.size() ? constants[i] : nullptr);
  }
  return inputs;
}

const Graph& body_of(const Attributes& attributes, std::string_view name) {
  return *attributes.get<std::shared_ptr<const Graph>>(name);
}

Result<Graph> specialized(const Attributes& attributes, std::string_view name,
                          const BodyInputs& inputs) {
  const auto& body = attributes.get<std::shared_ptr<const Graph>>(name);
  if (body == nullptr) return invalid("attribute '" + std::string(name) + "' holds no graph");
  return specialize(*body, inputs.types, inputs.data);
}

Types output_types(const Graph& graph) {
  Types types;
  for (const ValueId id : graph.outputs()) types.push_back(graph.value(id).type);
  return types;
}

Cost graph_cost(const Graph& graph) {
  const auto known = [&](ValueId id) { return id == kNoValue || graph.value(id).type.known(); };
  Cost total;
  for (const Node& node : graph.nodes()) {
    if (!std::ranges::all_of(node.inputs, known) || !std::ranges::all_of(node.outputs, known)) {
      total.lower_bound = true;
      continue;
    }
    const Cost cost = node_cost(graph, node);
    total.macs += cost.macs;
    total.flops += cost.flops;
    total.transcendentals += cost.transcendentals;
    total.read_bytes += cost.read_bytes;
    total.write_bytes += cost.write_bytes;
    total.lower_bound = total.lower_bound || cost.lower_bound;
  }
  return total;
}

Cost body_cost(const Attributes& attributes, std::string_view name, const BodyInputs& inputs) {
  const auto body = specialized(attributes, name, inputs);
  return body.ok() ? graph_cost(*body) : Cost{.lower_bound = true};
}

Cost repeated(Cost cost, std::optional<int64_t> times) {
  if (!times) {
    cost.lower_bound = true;
    return cost;
  }
  const auto n = static_cast<double>(*times);
  cost.macs *= n;
  cost.flops *= n;
  cost.transcendentals *= n;
  cost.read_bytes *= n;
  cost.write_bytes *= n;
  return cost;
}

Result<TensorType> common_type(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) {
    return invalid("one value is " + a.text() + " here and " + b.text() + " there");
  }
  if (!a.shape || !b.shape || a.shape->rank() != b.shape->rank()) {
    return TensorType::unranked(a.dtype);
  }
  TensorType common = a;
  for (size_t i = 0; i < a.shape->rank(); ++i) {
    if ((*a.shape)[i] != (*b.shape)[i]) (*common.shape)[i] = Dim();
  }
  return common;
}

TensorType stacked_type(const TensorType& element, const Dim& count, int64_t axis) {
  if (!element.shape) return element;
  std::vector<Dim> dims = element.shape->dims();
  const auto rank = static_cast<int64_t>(dims.size()) + 1;
  dims.insert(dims.begin() + (axis < 0 ? axis + rank : axis), count);
  return {element.dtype, Shape(std::move(dims))};
}

Result<Tensor> stacked(std::span<const Tensor> tensors, int64_t axis, const TensorType& element) {
  Sizes shape;
  if (!tensors.empty()) {
    shape = tensors[0].shape();
  } else if (element.shape) {  // what is not known is nothing
    for (const Dim& dim : element.shape->dims()) shape.push_back(dim.known() ? dim.size() : 0);
  }
  const DType dtype = tensors.empty() ? element.dtype : tensors[0].dtype();
  for (const Tensor& tensor : tensors) {
    if (tensor.shape() == shape && tensor.dtype() == dtype) continue;
    return invalid("a pass gives " + tensor.type().text() + ", one before gave " +
                   tensors[0].type().text());
  }
  const auto rank = static_cast<int64_t>(shape.size()) + 1;
  if (axis < 0) axis += rank;
  const auto count = static_cast<int64_t>(tensors.size());
  shape.insert(shape.begin() + axis, count);
  Tensor result = Tensor::allocate(dtype, shape);
  const AxisView view = view_around(shape, axis);
  ASSAY_TRY(dispatch_width(dtype, [&]<class T>() {
    for (int64_t i = 0; i < count; ++i) {
      const T* from = tensors[static_cast<size_t>(i)].values<T>().data();
      for (int64_t outer = 0; outer < view.outer; ++outer) {
        std::copy_n(from + outer * view.inner, view.inner,
                    result.values<T>().data() + (outer * count + i) * view.inner);
      }
    }
  }));
  return result;
}

Result<Tensor> part(const Tensor& tensor, size_t axis, int64_t index) {
  Sizes shape = tensor.shape();
  const AxisView view = view_around(shape, static_cast<int64_t>(axis));
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  Tensor result = Tensor::allocate(tensor.dtype(), shape);
  ASSAY_TRY(dispatch_width(tensor.dtype(), [&]<class T>() {
    const T* from = tensor.values<T>().data() + index * view.inner;
    T* to = result.values<T>().data();
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      to = std::copy_n(from + outer * view.size * view.inner, view.inner, to);
    }
  }));
  return result;
}

}  // namespace assay
