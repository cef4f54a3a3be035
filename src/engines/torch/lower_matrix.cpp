// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>

#include "engines/torch/lowering.h"

namespace assay::torch_engine {
namespace {

void run_matmul(const Step& step, at::Tensor* registers) {
  step.out(registers) = at::matmul(step.in(registers, 0), step.in(registers, 1));
}

Result<Step> lower_matmul(const Lowering& lowering) {
  return lowering.step(run_matmul, "aten::matmul");
}

struct GemmData {
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1;
  float beta = 1;
};

void run_linear(const Step& step, at::Tensor* registers) {
  step.out(registers) =
      at::linear(step.in(registers, 0), step.in(registers, 1), step.optional_in(registers, 2));
}

void run_gemm(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<GemmData>();
  const at::Tensor a = data.transpose_a ? step.in(registers, 0).t() : step.in(registers, 0);
  const at::Tensor b = data.transpose_b ? step.in(registers, 1).t() : step.in(registers, 1);
  if (step.has(2)) {
    step.out(registers) = at::addmm(step.in(registers, 2), a, b, data.beta, data.alpha);
    return;
  }
  at::Tensor product = at::mm(a, b);
  step.out(registers) = data.alpha == 1 ? std::move(product) : at::mul(product, data.alpha);
}

Result<Step> lower_gemm(const Lowering& lowering) {
  const Attributes& attributes = lowering.attributes();
  const GemmData data{attributes.integer("transA") != 0, attributes.integer("transB") != 0,
                      attributes.number("alpha"), attributes.number("beta")};
  const bool scaled = data.alpha != 1 || (lowering.has(2) && data.beta != 1);
  bool vector_bias = !lowering.has(2);
  if (lowering.has(2)) {
    ASSAY_ASSIGN(const int64_t rank, lowering.rank(2));
    vector_bias = rank == 1 && (*lowering.type(2).shape)[0] == (*lowering.type(1).shape)[0];
  }
  if (!data.transpose_a && data.transpose_b && !scaled && vector_bias) {
    return lowering.step(run_linear, "aten::linear");
  }
  return lowering.step_with(run_gemm, "aten::addmm", data);
}

}  // namespace

void add_matrix_lowerings(LoweringTable& table) {
  table.add("MatMul", lower_matmul, OutputMemory::kOwn);
  table.add("Gemm", lower_gemm, OutputMemory::kOwn);
}

}  // namespace assay::torch_engine
