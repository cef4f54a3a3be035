// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/gradient_hook.h"

#include <memory>
#include <utility>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace assay::torch_engine {
namespace {

struct Hook final : torch::autograd::PostAccumulateGradHook {
  explicit Hook(std::function<void(const at::Tensor&)> function) : call(std::move(function)) {}
  void operator()(const at::Tensor& leaf) override { call(leaf); }
  std::function<void(const at::Tensor&)> call;
};

}  // namespace

void set_gradient_hook(const at::Tensor& leaf, std::function<void(const at::Tensor& leaf)> hook) {
  std::unique_ptr<torch::autograd::PostAccumulateGradHook> made;
  if (hook) made = std::make_unique<Hook>(std::move(hook));
  torch::autograd::impl::set_post_acc_grad_hooks(leaf, std::move(made));
}

}  // namespace assay::torch_engine
