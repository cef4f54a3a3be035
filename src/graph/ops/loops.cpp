// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/loops.h"

#include <algorithm>

namespace assay {

namespace {

// Element `i` of a 4-bit tensor: the first of two is in the low half of their byte.
uint8_t nibble(const uint8_t* bytes, size_t i) {
  return (i % 2 == 0 ? bytes[i / 2] : bytes[i / 2] >> 4) & 0x0f;
}

Tensor unpacked(const Tensor& tensor) {
  Tensor wide = Tensor::allocate(widened(tensor.dtype()), tensor.shape());
  const auto* bytes = static_cast<const uint8_t*>(tensor.data());
  auto* out = static_cast<uint8_t*>(wide.data());
  const bool is_signed = tensor.dtype() == DType::kI4;
  for (size_t i = 0; i < static_cast<size_t>(wide.elements()); ++i) {
    const uint8_t value = nibble(bytes, i);
    out[i] = is_signed && value >= 8 ? static_cast<uint8_t>(value | 0xf0u) : value;
  }
  return wide;
}

void pack_into(const Tensor& from, Tensor& to) {
  const auto* values = static_cast<const uint8_t*>(from.data());
  auto* bytes = static_cast<uint8_t*>(to.data());
  const auto count = static_cast<size_t>(from.elements());
  for (size_t i = 0; i < count; i += 2) {
    const auto high = i + 1 < count ? values[i + 1] << 4 : 0;
    bytes[i / 2] = static_cast<uint8_t>((values[i] & 0x0f) | high);
  }
}

float to_f32(DType dtype, uint16_t bits) {
  return dtype == DType::kBF16 ? bf16_to_f32(bits) : f16_to_f32(bits);
}
uint16_t from_f32(DType dtype, float value) {
  return dtype == DType::kBF16 ? f32_to_bf16(value) : f32_to_f16(value);
}

}  // namespace

DType widened(DType dtype) {
  if (is_16bit_floating(dtype) || is_8bit_floating(dtype)) return DType::kF32;
  if (dtype == DType::kI4) return DType::kI8;
  return dtype == DType::kU4 ? DType::kU8 : dtype;
}

Tensor widened(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (is_4bit(dtype)) return unpacked(tensor);
  if (widened(dtype) == dtype) return tensor;
  Tensor wide = Tensor::allocate(DType::kF32, tensor.shape());
  const auto out = wide.values<float>();
  if (is_16bit_floating(dtype)) {
    std::ranges::transform(tensor.values<uint16_t>(), out.begin(),
                           [dtype](uint16_t bits) { return to_f32(dtype, bits); });
  } else {
    std::ranges::transform(tensor.values<uint8_t>(), out.begin(),
                           [dtype](uint8_t bits) { return f8_to_f32(dtype, bits); });
  }
  return wide;
}

void narrow_into(const Tensor& from, Tensor& to) {
  const DType dtype = to.dtype();
  if (is_4bit(dtype)) {
    pack_into(from, to);
  } else if (is_16bit_floating(dtype)) {
    std::ranges::transform(from.values<float>(), to.values<uint16_t>().begin(),
                           [dtype](float value) { return from_f32(dtype, value); });
  } else {
    std::ranges::transform(from.values<float>(), to.values<uint8_t>().begin(),
                           [dtype](float value) { return f32_to_f8(dtype, value, true); });
  }
}

Result<void> run_widened(KernelFunction kernel, const KernelContext& context,
                         bool (*narrow)(DType)) {
  const auto is_narrow = [narrow](const Tensor& t) { return narrow(t.dtype()); };
  const bool any =
      std::ranges::any_of(context.inputs, [&](const Tensor* t) { return t && is_narrow(*t); }) ||
      std::ranges::any_of(context.outputs, is_narrow);
  if (!any) return kernel(context);
  std::vector<Tensor> copies;
  copies.reserve(context.inputs.size());
  std::vector<const Tensor*> inputs;
  for (const Tensor* input : context.inputs) {
    if (input != nullptr && is_narrow(*input)) {
      copies.push_back(widened(*input));
      input = &copies.back();
    }
    inputs.push_back(input);
  }
  std::vector<Tensor> outputs;
  for (const Tensor& output : context.outputs) {
    outputs.push_back(is_narrow(output) ? Tensor::allocate(widened(output.dtype()), output.shape())
                                        : output);
  }
  ASSAY_TRY(kernel({inputs, outputs, context.attributes}));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_narrow(context.outputs[i])) {
      narrow_into(outputs[i], context.outputs[i]);
    } else {
      context.outputs[i] = std::move(outputs[i]);  // the kernel may have assigned it
    }
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
  if (widened(tensor.dtype()) != tensor.dtype()) return as_doubles(widened(tensor));
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
