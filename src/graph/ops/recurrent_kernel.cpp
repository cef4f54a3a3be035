// SPDX-License-Identifier: Apache-2.0
//
// One sequence after the other, one step after the other, in double.
#include <algorithm>

#include "graph/ops/loops.h"
#include "graph/ops/recurrent.h"

namespace assay {
namespace {

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

template <class T>
class Cell {
 public:
  Cell(const RecurrentAttributes& attributes, const RecurrentSizes& sizes,
       const Direction<T>& direction)
      : attributes_(attributes), sizes_(sizes), d_(direction) {}

  // The state after one more element x.
  void step(const T* x, CellState& state) const {
    switch (attributes_.cell) {
      case CellKind::kRnn:
        return rnn(x, state);
      case CellKind::kLstm:
        return lstm(x, state);
      case CellKind::kGru:
        return gru(x, state);
    }
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
  double activated(size_t which, double x) const {
    if (attributes_.clip > 0) x = std::clamp(x, -attributes_.clip, attributes_.clip);
    return d_.activations[which](x);
  }
  double peephole(int64_t which, int64_t unit, double c) const {
    return d_.p == nullptr ? 0 : static_cast<double>(d_.p[which * hidden() + unit]) * c;
  }

  void rnn(const T* x, CellState& state) const {
    Numbers next(state.h.size());
    for (int64_t u = 0; u < hidden(); ++u) {
      next[static_cast<size_t>(u)] = activated(0, from_input(x, 0, u) + from_state(state.h, 0, u));
    }
    state.h = std::move(next);
  }

  void lstm(const T* x, CellState& state) const {
    Numbers next(state.h.size());
    for (int64_t u = 0; u < hidden(); ++u) {
      const auto at = static_cast<size_t>(u);
      const auto sum = [&](int64_t gate) {
        return from_input(x, gate, u) + from_state(state.h, gate, u);
      };
      const double before = state.c[at];
      const double input = activated(0, sum(0) + peephole(0, u, before));
      const double forget =
          attributes_.input_forget ? 1 - input : activated(0, sum(2) + peephole(2, u, before));
      state.c[at] = forget * before + input * activated(1, sum(3));
      const double output = activated(0, sum(1) + peephole(1, u, state.c[at]));
      next[at] = output * activated(2, state.c[at]);
    }
    state.h = std::move(next);
  }

  void gru(const T* x, CellState& state) const {
    Numbers update(state.h.size());
    Numbers reset(state.h.size());
    Numbers held(state.h.size());  // what the candidate sees of the state
    for (int64_t u = 0; u < hidden(); ++u) {
      const auto at = static_cast<size_t>(u);
      update[at] = activated(0, from_input(x, 0, u) + from_state(state.h, 0, u));
      reset[at] = activated(0, from_input(x, 1, u) + from_state(state.h, 1, u));
      held[at] = reset[at] * state.h[at];
    }
    Numbers next(state.h.size());
    for (int64_t u = 0; u < hidden(); ++u) {
      const auto at = static_cast<size_t>(u);
      const double seen = attributes_.linear_before_reset ? reset[at] * from_state(state.h, 2, u)
                                                          : from_state(held, 2, u);
      const double candidate = activated(1, from_input(x, 2, u) + seen);
      next[at] = (1 - update[at]) * candidate + update[at] * state.h[at];
    }
    state.h = std::move(next);
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

// Which input or output of the node is what; kNone where the operator has none.
struct Operands {
  static constexpr size_t kNone = OpEntry::kVariadic;
  size_t lengths, initial_h, initial_c;
};

template <class T>
Numbers initial(const KernelContext& context, size_t input, int64_t start, int64_t hidden) {
  Numbers values(static_cast<size_t>(hidden), 0.0);
  if (!context.has(input)) return values;
  const T* from = input_data<T>(context, input) + start;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(from[i]);
  return values;
}

template <class T>
void store(const KernelContext& context, size_t output, int64_t start, const Numbers& values) {
  if (output >= context.outputs.size() || context.outputs[output].empty()) return;
  T* to = output_data<T>(context, output) + start;
  std::ranges::transform(values, to, [](double value) { return static_cast<T>(value); });
}

// One direction of one sequence of `length` elements; the rest of its outputs is zero.
template <class T>
void run_sequence(const KernelContext& context, const Cell<T>& cell, const Layout& layout,
                  const Operands& operands, bool reverse, int64_t direction, int64_t batch,
                  int64_t length) {
  const int64_t hidden = layout.sizes.hidden;
  const int64_t start = layout.state(direction, batch);
  CellState state{initial<T>(context, operands.initial_h, start, hidden),
                  initial<T>(context, operands.initial_c, start, hidden)};
  for (int64_t i = 0; i < length; ++i) {
    const int64_t step = reverse ? length - 1 - i : i;
    cell.step(input_data<T>(context, 0) + layout.x(step, batch), state);
    store<T>(context, 0, layout.y(step, direction, batch), state.h);
  }
  const Numbers zeros(static_cast<size_t>(hidden), 0.0);
  for (int64_t step = length; step < layout.sizes.steps; ++step) {
    store<T>(context, 0, layout.y(step, direction, batch), zeros);
  }
  store<T>(context, 1, start, state.h);
  store<T>(context, 2, start, state.c);
}

Result<Sizes> sequence_lengths(const KernelContext& context, size_t input,
                               const RecurrentSizes& sizes) {
  if (!context.has(input)) return Sizes(static_cast<size_t>(sizes.batch), sizes.steps);
  ASSAY_ASSIGN(Sizes lengths, as_integers(*context.inputs[input]));
  for (const int64_t length : lengths) {
    if (length < 0 || length > sizes.steps) {
      return invalid("input 4 (sequence_lens) holds " + std::to_string(length) + ", outside 0 to " +
                     std::to_string(sizes.steps));
    }
  }
  return lengths;
}

template <class T>
void run_directions(const KernelContext& context, const RecurrentAttributes& attributes,
                    const Layout& layout, const Operands& operands, const Sizes& lengths,
                    const Direction<T>& first) {
  const RecurrentSizes& sizes = layout.sizes;
  const int64_t rows = cell_gates(attributes.cell) * sizes.hidden;
  for (int64_t d = 0; d < attributes.directions; ++d) {
    Direction<T> direction = first;
    if (direction.w != nullptr) direction.w += d * rows * sizes.input;
    direction.r += d * rows * sizes.hidden;
    if (direction.b != nullptr) direction.b += d * 2 * rows;
    if (direction.p != nullptr) direction.p += d * 3 * sizes.hidden;
    direction.activations =
        attributes.activations.data() + static_cast<size_t>(d) * cell_activations(attributes.cell);
    const Cell<T> cell(attributes, sizes, direction);
    const bool reverse = d == 1 || attributes.first_is_reverse;
    for (int64_t n = 0; n < sizes.batch; ++n) {
      run_sequence(context, cell, layout, operands, reverse, d, n, lengths[static_cast<size_t>(n)]);
    }
  }
}

}  // namespace

// Inputs x, w, r, b, sequence_lens, initial_h; LSTM also initial_c and the peepholes.
Result<void> run_recurrent(CellKind cell, const KernelContext& context) {
  ASSAY_ASSIGN(const RecurrentAttributes attributes,
               recurrent_attributes(cell, context.attributes));
  const Sizes& x = input_shape(context, 0);
  const Sizes& r = input_shape(context, 2);
  const size_t batch = attributes.batch_first ? 0 : 1;
  const Layout layout{
      attributes.batch_first, attributes.directions, {x[1 - batch], x[batch], x[2], r[2]}};
  const Operands operands{4, 5, cell == CellKind::kLstm ? 6 : Operands::kNone};
  ASSAY_ASSIGN(const Sizes lengths, sequence_lengths(context, operands.lengths, layout.sizes));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    Direction<T> first;
    first.w = input_data<T>(context, 1);
    first.r = input_data<T>(context, 2);
    if (context.has(3)) first.b = input_data<T>(context, 3);
    if (cell == CellKind::kLstm && context.has(7)) first.p = input_data<T>(context, 7);
    run_directions(context, attributes, layout, operands, lengths, first);
  });
}

// Inputs x [steps, batch, hidden], r [gates hidden, hidden], b, initial_h, initial_c.
Result<void> run_recurrent_skip(CellKind cell, const RecurrentAttributes& attributes,
                                const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  const Layout layout{false, 1, {x[0], x[1], x[2], x[2]}};
  const Operands operands{Operands::kNone, 3, cell == CellKind::kLstm ? 4 : Operands::kNone};
  const Sizes lengths(static_cast<size_t>(x[1]), x[0]);
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    Direction<T> first;
    first.r = input_data<T>(context, 1);
    if (context.has(2)) first.b = input_data<T>(context, 2);
    run_directions(context, attributes, layout, operands, lengths, first);
  });
}

}  // namespace assay
