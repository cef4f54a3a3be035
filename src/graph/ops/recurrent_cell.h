// SPDX-License-Identifier: Apache-2.0
//
// One step of a recurrent cell in double, and where sequences and states lie in memory: what the
// kernels of the cells and of their gradients share. Source: ONNX operators RNN, LSTM and GRU 14.
#pragma once

#include <algorithm>

#include "graph/ops/loops.h"
#include "graph/ops/recurrent.h"

namespace assay {

using Numbers = std::vector<double>;

// The operands of one direction. Null where omitted.
template <class T>
struct Direction {
  const T* w = nullptr;  // [gates hidden, input]; null: the input is added as it is
  const T* r = nullptr;  // [gates hidden, hidden]
  const T* b = nullptr;  // [2 gates hidden]: of the input, of the state
  const T* p = nullptr;  // [3 hidden]: peepholes i, o, f
  const Activation* activations = nullptr;
  bool reverse = false;
};

struct CellState {
  Numbers h, c;
};

// What a gradient needs of one step. Gates follow each other, `hidden` numbers each.
struct CellTape {
  Numbers h_before, c_before, c_after;
  Numbers sums;    // what the activations of the gates saw, before clipping
  Numbers values;  // what they gave
  Numbers seen;    // GRU: what the candidate's recurrent product was taken of, or (linear before
                   // reset) that product
};

template <class T>
class Cell {
 public:
  Cell(const RecurrentAttributes& attributes, const RecurrentSizes& sizes,
       const Direction<T>& direction)
      : attributes_(attributes), sizes_(sizes), d_(direction) {}

  // The state after one more element x; what happened goes to `tape` where one is given.
  void step(const T* x, CellState& state, CellTape* tape = nullptr) const {
    CellTape unused;
    CellTape& t = tape == nullptr ? unused : *tape;
    const auto rows = static_cast<size_t>(cell_gates(attributes_.cell) * hidden());
    t.h_before = state.h;
    t.c_before = state.c;
    t.sums.assign(rows, 0.0);
    t.values.assign(rows, 0.0);
    switch (attributes_.cell) {
      case CellKind::kRnn:
        rnn(x, state, t);
        break;
      case CellKind::kLstm:
        lstm(x, state, t);
        break;
      case CellKind::kGru:
        gru(x, state, t);
        break;
    }
    t.c_after = state.c;
  }

 private:
  int64_t hidden() const { return sizes_.hidden; }
  double bias(int64_t row) const { return d_.b == nullptr ? 0 : static_cast<double>(d_.b[row]); }

  double from_input(const T* x, int64_t gate, int64_t unit) const {
    const int64_t row = gate * hidden() + unit;
    double sum = bias(row);
    if (d_.w == nullptr) return sum + static_cast<double>(x[unit]);
    for (int64_t i = 0; i < sizes_.input; ++i) {
      sum += static_cast<double>(x[i]) * static_cast<double>(d_.w[row * sizes_.input + i]);
    }
    return sum;
  }
  double from_state(const Numbers& h, int64_t gate, int64_t unit) const {
    const int64_t row = gate * hidden() + unit;
    double sum = bias(cell_gates(attributes_.cell) * hidden() + row);
    for (int64_t i = 0; i < hidden(); ++i) {
      sum += h[static_cast<size_t>(i)] * static_cast<double>(d_.r[row * hidden() + i]);
    }
    return sum;
  }
  // The value of a gate, by activation `which`, from its sum.
  double gate(CellTape& tape, int64_t gate, int64_t unit, size_t which, double sum) const {
    const auto at = static_cast<size_t>(gate * hidden() + unit);
    tape.sums[at] = sum;
    if (attributes_.clip > 0) sum = std::clamp(sum, -attributes_.clip, attributes_.clip);
    return tape.values[at] = d_.activations[which](sum);
  }
  // LSTM: what the output gate lets out of the cell.
  double shown(double c) const {
    if (attributes_.clip > 0) c = std::clamp(c, -attributes_.clip, attributes_.clip);
    return d_.activations[2](c);
  }
  double peephole(int64_t which, int64_t unit, double c) const {
    return d_.p == nullptr ? 0 : static_cast<double>(d_.p[which * hidden() + unit]) * c;
  }

  void rnn(const T* x, CellState& state, CellTape& tape) const {
    for (int64_t u = 0; u < hidden(); ++u) {
      gate(tape, 0, u, 0, from_input(x, 0, u) + from_state(tape.h_before, 0, u));
    }
    state.h = tape.values;
  }

  void lstm(const T* x, CellState& state, CellTape& tape) const {
    for (int64_t u = 0; u < hidden(); ++u) {
      const auto at = static_cast<size_t>(u);
      const auto sum = [&](int64_t which) {
        return from_input(x, which, u) + from_state(tape.h_before, which, u);
      };
      const double before = state.c[at];
      const double input = gate(tape, 0, u, 0, sum(0) + peephole(0, u, before));
      const double forget = attributes_.input_forget
                                ? 1 - input
                                : gate(tape, 2, u, 0, sum(2) + peephole(2, u, before));
      state.c[at] = forget * before + input * gate(tape, 3, u, 1, sum(3));
      const double output = gate(tape, 1, u, 0, sum(1) + peephole(1, u, state.c[at]));
      state.h[at] = output * shown(state.c[at]);
    }
  }

  void gru(const T* x, CellState& state, CellTape& tape) const {
    const Numbers& h = tape.h_before;
    const bool linear = attributes_.linear_before_reset;
    tape.seen.assign(h.size(), 0.0);
    Numbers reset(h.size());
    for (int64_t u = 0; u < hidden(); ++u) {
      const auto at = static_cast<size_t>(u);
      gate(tape, 0, u, 0, from_input(x, 0, u) + from_state(h, 0, u));
      reset[at] = gate(tape, 1, u, 0, from_input(x, 1, u) + from_state(h, 1, u));
      tape.seen[at] = linear ? from_state(h, 2, u) : reset[at] * h[at];
    }
    for (int64_t u = 0; u < hidden(); ++u) {
      const auto at = static_cast<size_t>(u);
      const double held = linear ? reset[at] * tape.seen[at] : from_state(tape.seen, 2, u);
      const double candidate = gate(tape, 2, u, 1, from_input(x, 2, u) + held);
      state.h[at] = (1 - tape.values[at]) * candidate + tape.values[at] * h[at];
    }
  }

  const RecurrentAttributes& attributes_;
  const RecurrentSizes& sizes_;
  const Direction<T>& d_;
};

// Where element (step, direction, batch) of a sequence, and (direction, batch) of a state, begins.
struct Layout {
  bool batch_first;
  int64_t directions;
  RecurrentSizes sizes;

  // Of a node with the inputs of RNN, LSTM or GRU.
  static Layout of(const KernelContext& context, const RecurrentAttributes& attributes);

  int64_t x(int64_t step, int64_t batch) const {
    return (batch_first ? batch * sizes.steps + step : step * sizes.batch + batch) * sizes.input;
  }
  int64_t y(int64_t step, int64_t direction, int64_t batch) const {
    const int64_t row = batch_first ? (batch * sizes.steps + step) * directions + direction
                                    : (step * directions + direction) * sizes.batch + batch;
    return row * sizes.hidden;
  }
  int64_t state(int64_t direction, int64_t batch) const {
    return (batch_first ? batch * directions + direction : direction * sizes.batch + batch) *
           sizes.hidden;
  }
};

// `hidden` numbers of an input from `start` on; zeros where it is omitted.
template <class T>
Numbers initial_state(const KernelContext& context, size_t input, int64_t start, int64_t hidden) {
  Numbers values(static_cast<size_t>(hidden), 0.0);
  if (!context.has(input)) return values;
  const T* from = input_data<T>(context, input) + start;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(from[i]);
  return values;
}

// The operands of direction d of a node with the inputs of RNN, LSTM or GRU.
template <class T>
Direction<T> direction_of(const KernelContext& context, const RecurrentAttributes& attributes,
                          const RecurrentSizes& sizes, int64_t d) {
  const int64_t rows = cell_gates(attributes.cell) * sizes.hidden;
  Direction<T> direction;
  direction.w = input_data<T>(context, 1) + d * rows * sizes.input;
  direction.r = input_data<T>(context, 2) + d * rows * sizes.hidden;
  if (context.has(3)) direction.b = input_data<T>(context, 3) + d * 2 * rows;
  if (attributes.cell == CellKind::kLstm && context.has(7)) {
    direction.p = input_data<T>(context, 7) + d * 3 * sizes.hidden;
  }
  direction.activations =
      attributes.activations.data() + static_cast<size_t>(d) * cell_activations(attributes.cell);
  direction.reverse = d == 1 || attributes.first_is_reverse;
  return direction;
}

// Input `input` (one a sequence), or every sequence at full length where it is omitted.
Result<Sizes> sequence_lengths(const KernelContext& context, size_t input,
                               const RecurrentSizes& sizes);

}  // namespace assay
