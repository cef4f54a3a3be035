// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/tensors.h"

#include <array>
#include <string>
#include <utility>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

namespace assay::torch_engine {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 17> kTypes{{
    {DType::kF32, at::ScalarType::Float},
    {DType::kF64, at::ScalarType::Double},
    {DType::kF16, at::ScalarType::Half},
    {DType::kBF16, at::ScalarType::BFloat16},
    {DType::kI8, at::ScalarType::Char},
    {DType::kU8, at::ScalarType::Byte},
    {DType::kI16, at::ScalarType::Short},
    {DType::kU16, at::ScalarType::UInt16},
    {DType::kI32, at::ScalarType::Int},
    {DType::kU32, at::ScalarType::UInt32},
    {DType::kI64, at::ScalarType::Long},
    {DType::kU64, at::ScalarType::UInt64},
    {DType::kBool, at::ScalarType::Bool},
    {DType::kF8E4M3FN, at::ScalarType::Float8_e4m3fn},
    {DType::kF8E4M3FNUZ, at::ScalarType::Float8_e4m3fnuz},
    {DType::kF8E5M2, at::ScalarType::Float8_e5m2},
    {DType::kF8E5M2FNUZ, at::ScalarType::Float8_e5m2fnuz},
}};

}  // namespace

std::optional<at::ScalarType> scalar_type(DType dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  return std::nullopt;
}

std::optional<DType> dtype_of(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

Result<at::Tensor> alias(const TensorView& view, at::Device device) {
  const auto type = scalar_type(view.dtype);
  if (!type) {
    return Error{ErrorCode::kUnsupported,
                 "libtorch has no element type " + std::string(dtype_name(view.dtype)), ""};
  }
  const auto options = at::TensorOptions().dtype(*type).device(device);
  if (view.strides.empty()) return at::from_blob(view.data, view.shape, options);
  return at::from_blob(view.data, view.shape, view.strides, options);
}

TensorView view_of(const at::Tensor& tensor, const Device& device) {
  TensorView view;
  view.data = tensor.data_ptr();
  const auto dtype = dtype_of(tensor.scalar_type());
  ASSAY_ASSERT(dtype.has_value(), "a type that no graph can ask for");
  view.dtype = *dtype;
  view.shape = tensor.sizes().vec();
  view.strides = tensor.strides().vec();
  view.device = device;
  return view;
}

Tensor to_host(const at::Tensor& tensor) {
  const auto dtype = dtype_of(tensor.scalar_type());
  ASSAY_ASSERT(dtype.has_value(), "a type that no graph can ask for");
  Tensor host = Tensor::allocate(*dtype, tensor.sizes().vec());
  if (tensor.numel() == 0) return host;
  at::from_blob(host.data(), tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()))
      .copy_(tensor.detach());
  return host;
}

Result<at::Tensor> from_host(const Tensor& tensor, at::Device device, bool channels_last) {
  ASSAY_ASSIGN(const at::Tensor source, alias(tensor.view(), at::kCPU));
  const bool last = channels_last && source.dim() == 4;
  at::Tensor own = at::empty(source.sizes(), source.options().device(device),
                             last ? std::optional(at::MemoryFormat::ChannelsLast) : std::nullopt);
  own.copy_(source);
  return own;
}

std::vector<int64_t> integers(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.detach().to(at::kCPU, at::ScalarType::Long).contiguous();
  const int64_t* data = wide.const_data_ptr<int64_t>();
  return {data, data + wide.numel()};
}

std::vector<int64_t> integers(const Tensor& tensor) {
  const auto source = alias(tensor.view(), at::kCPU);
  ASSAY_ASSERT(source.ok(), "an integer tensor");
  return integers(source.value());
}

}  // namespace assay::torch_engine
