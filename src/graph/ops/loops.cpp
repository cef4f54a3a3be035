// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/loops.h"

#include <algorithm>

namespace assay {

Tensor widened(const Tensor& tensor) {
  Tensor wide = Tensor::allocate(DType::kF32, tensor.shape());
  const auto from = tensor.values<uint16_t>();
  const bool brain = tensor.dtype() == DType::kBF16;
  std::ranges::transform(from, wide.values<float>().begin(), [brain](uint16_t bits) {
    return brain ? bf16_to_f32(bits) : f16_to_f32(bits);
  });
  return wide;
}

void narrow_into(const Tensor& from, Tensor& to) {
  const bool brain = to.dtype() == DType::kBF16;
  std::ranges::transform(from.values<float>(), to.values<uint16_t>().begin(), [brain](float value) {
    return brain ? f32_to_bf16(value) : f32_to_f16(value);
  });
}

Result<void> run_widened(KernelFunction kernel, const KernelContext& context) {
  const auto narrow = [](const Tensor& t) { return is_16bit_floating(t.dtype()); };
  const bool any =
      std::ranges::any_of(context.inputs, [&](const Tensor* t) { return t && narrow(*t); }) ||
      std::ranges::any_of(context.outputs, narrow);
  if (!any) return kernel(context);
  std::vector<Tensor> copies;
  copies.reserve(context.inputs.size());
  std::vector<const Tensor*> inputs;
  for (const Tensor* input : context.inputs) {
    if (input != nullptr && narrow(*input)) {
      copies.push_back(widened(*input));
      input = &copies.back();
    }
    inputs.push_back(input);
  }
  std::vector<Tensor> outputs;
  for (const Tensor& output : context.outputs) {
    outputs.push_back(narrow(output) ? Tensor::allocate(DType::kF32, output.shape()) : output);
  }
  ASSAY_TRY(kernel({inputs, outputs, context.attributes}));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (narrow(context.outputs[i])) narrow_into(outputs[i], context.outputs[i]);
  }
  return {};
}

Result<void> copy_bytes(const KernelContext& context) {
  std::memcpy(context.outputs[0].data(), context.inputs[0]->data(),
              static_cast<size_t>(context.inputs[0]->bytes()));
  return {};
}

int64_t element_count(const Sizes& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;  // however large the others are
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

Sizes packed_strides(const Sizes& shape) {
  Sizes strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) {
    // May wrap, but only where another dimension is 0 and no stride is used.
    strides[axis - 1] = static_cast<int64_t>(static_cast<uint64_t>(strides[axis]) *
                                             static_cast<uint64_t>(shape[axis]));
  }
  return strides;
}

Sizes broadcast_strides(const Sizes& from, const Sizes& to) {
  const Sizes packed = packed_strides(from);
  Sizes strides(to.size(), 0);
  const size_t lead = to.size() - from.size();
  for (size_t axis = 0; axis < from.size(); ++axis) {
    strides[lead + axis] = from[axis] == 1 ? 0 : packed[axis];
  }
  return strides;
}

AxisView view_around(const Sizes& shape, int64_t axis) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (axis < 0) axis += rank;
  AxisView view;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t size = shape[static_cast<size_t>(i)];
    (i < axis ? view.outer : i == axis ? view.size : view.inner) *= size;
  }
  return view;
}

Result<std::vector<double>> as_doubles(const Tensor& tensor) {
  if (is_16bit_floating(tensor.dtype())) return as_doubles(widened(tensor));
  std::vector<double> values;
  ASSAY_TRY(dispatch_arithmetic(tensor.dtype(), [&]<class T>() {
    for (const T value : tensor.values<T>()) values.push_back(static_cast<double>(value));
  }));
  return values;
}

Result<Sizes> as_integers(const Tensor& tensor) {
  Sizes values;
  if (tensor.dtype() == DType::kI64) {
    const auto data = tensor.values<int64_t>();
    values.assign(data.begin(), data.end());
  } else if (tensor.dtype() == DType::kI32) {
    const auto data = tensor.values<int32_t>();
    values.assign(data.begin(), data.end());
  } else {
    return no_kernel_for(tensor.dtype());
  }
  return values;
}

}  // namespace assay
