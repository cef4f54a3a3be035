// SPDX-License-Identifier: Apache-2.0
//
// RNN, LSTM, GRU through libtorch's own layers. ONNX orders the gates of an LSTM i o f c and those
// of a GRU z r h, libtorch i f c o and r z h: the rows of the weights are reordered at every run,
// which autograd undoes for their gradients. What libtorch's layers cannot do (peepholes, other
// activations, sequence lengths, a reset gate before the product) is unsupported.
#include <algorithm>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rnn_relu.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/zeros.h>

#include "engines/torch/lowering.h"
#include "graph/ops/recurrent.h"

namespace assay::torch_engine {
namespace {

enum Operand : size_t { kX, kW, kR, kB, kLengths, kHidden, kCell, kPeepholes };

struct RecurrentData {
  CellKind cell = CellKind::kRnn;
  int64_t directions = 1;
  bool reverse = false;
  bool batch_first = false;
  bool relu = false;
};

// The gates of one direction in libtorch's order, along axis 0.
at::Tensor reordered(const at::Tensor& rows, CellKind cell) {
  if (cell == CellKind::kRnn) return rows;
  const std::vector<at::Tensor> gates = rows.chunk(cell_gates(cell), 0);
  if (cell == CellKind::kGru) return at::cat({gates[1], gates[0], gates[2]}, 0);
  return at::cat({gates[0], gates[2], gates[3], gates[1]}, 0);
}

std::vector<at::Tensor> weights(const Step& step, const at::Tensor* registers,
                                const RecurrentData& data) {
  std::vector<at::Tensor> all;
  for (int64_t d = 0; d < data.directions; ++d) {
    all.push_back(reordered(step.in(registers, kW).select(0, d), data.cell));
    all.push_back(reordered(step.in(registers, kR).select(0, d), data.cell));
    if (!step.has(kB)) continue;
    for (const at::Tensor& half : step.in(registers, kB).select(0, d).chunk(2, 0)) {
      all.push_back(reordered(half, data.cell));
    }
  }
  return all;
}

// The state before the first step, [directions, batch, hidden].
at::Tensor initial(const Step& step, const at::Tensor* registers, size_t input, const at::Tensor& x,
                   const RecurrentData& data) {
  if (step.has(input)) {
    const at::Tensor& given = step.in(registers, input);
    return data.batch_first ? given.transpose(0, 1).contiguous() : given;
  }
  return at::zeros({data.directions, x.size(1), step.in(registers, kR).size(2)}, x.options());
}

void deliver(const Step& step, at::Tensor* registers, const RecurrentData& data, at::Tensor y,
             at::Tensor hidden) {
  if (data.reverse) y = at::flip(y, 0);
  // [steps, batch, directions * hidden] to ONNX's [steps, directions, batch, hidden].
  y = y.reshape({y.size(0), y.size(1), data.directions, -1});
  step.set(registers, 0, data.batch_first ? y.permute({1, 0, 2, 3}) : y.permute({0, 2, 1, 3}));
  step.set(registers, 1, data.batch_first ? hidden.transpose(0, 1) : hidden);
}

void run_recurrent(const Step& step, at::Tensor* registers) {
  const auto& data = step.as<RecurrentData>();
  at::Tensor x = step.in(registers, kX);
  if (data.batch_first) x = x.transpose(0, 1);
  const at::Tensor hidden = initial(step, registers, kHidden, x, data);
  if (data.reverse) x = at::flip(x, 0);
  const std::vector<at::Tensor> all = weights(step, registers, data);
  const bool biased = step.has(kB);
  const bool both = data.directions == 2;
  if (data.cell == CellKind::kLstm) {
    const at::Tensor cell = initial(step, registers, kCell, x, data);
    auto [y, last, last_cell] =
        at::lstm(x, {hidden, cell}, all, biased, 1, 0.0, false, both, false);
    deliver(step, registers, data, std::move(y), std::move(last));
    step.set(registers, 2, data.batch_first ? last_cell.transpose(0, 1) : last_cell);
    return;
  }
  auto [y, last] = data.cell == CellKind::kGru
                       ? at::gru(x, hidden, all, biased, 1, 0.0, false, both, false)
                   : data.relu ? at::rnn_relu(x, hidden, all, biased, 1, 0.0, false, both, false)
                               : at::rnn_tanh(x, hidden, all, biased, 1, 0.0, false, both, false);
  deliver(step, registers, data, std::move(y), std::move(last));
}

bool has_default_activations(const Lowering& lowering, CellKind cell, int64_t directions) {
  if (!lowering.attributes().has("activations")) return true;
  const auto& given = lowering.attributes().get<std::vector<std::string>>("activations");
  std::vector<std::string> wanted;
  for (int64_t d = 0; d < directions; ++d) {
    if (cell != CellKind::kRnn) wanted.emplace_back("Sigmoid");
    wanted.emplace_back("Tanh");
    if (cell == CellKind::kLstm) wanted.emplace_back("Tanh");
  }
  return given.empty() || given == wanted;
}

template <CellKind kCell>
Result<Step> lower_recurrent(const Lowering& lowering) {
  ASSAY_ASSIGN(const RecurrentAttributes given, recurrent_attributes(kCell, lowering.attributes()));
  RecurrentData data{kCell, given.directions, given.directions == 1 && given.first_is_reverse,
                     given.batch_first, false};
  if (!has_default_activations(lowering, kCell, given.directions)) {
    const auto& names = lowering.attributes().get<std::vector<std::string>>("activations");
    data.relu = kCell == CellKind::kRnn &&
                std::ranges::all_of(names, [](const std::string& n) { return n == "Relu"; });
    if (!data.relu) return Lowering::unsupported("attribute 'activations'");
  }
  if (given.clip > 0) return Lowering::unsupported("attribute 'clip'");
  if (given.input_forget) return Lowering::unsupported("attribute 'input_forget'");
  if (kCell == CellKind::kGru && !given.linear_before_reset) {
    return Lowering::unsupported("attribute 'linear_before_reset' 0");
  }
  if (lowering.has(kLengths)) return Lowering::unsupported("input 4 (sequence_lens)");
  if (lowering.has(kPeepholes)) return Lowering::unsupported("input 7 (P, peepholes)");
  const char* kernel = kCell == CellKind::kLstm  ? "aten::lstm"
                       : kCell == CellKind::kGru ? "aten::gru"
                                                 : "aten::rnn";
  return lowering.step_with(run_recurrent, kernel, data);
}

}  // namespace

void add_recurrent_lowerings(LoweringTable& table) {
  table.add("RNN", lower_recurrent<CellKind::kRnn>);
  table.add("LSTM", lower_recurrent<CellKind::kLstm>);
  table.add("GRU", lower_recurrent<CellKind::kGru>);
}

}  // namespace assay::torch_engine
