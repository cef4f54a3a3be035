// SPDX-License-Identifier: Apache-2.0
//
// One sequence after the other, one step after the other.
#include "graph/ops/recurrent_cell.h"

namespace assay {
namespace {

// Which inputs are the initial states; kNone where the operator has none.
struct Operands {
  static constexpr size_t kNone = OpEntry::kVariadic;
  size_t initial_h, initial_c;
};

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
  CellState state{initial_state<T>(context, operands.initial_h, start, hidden),
                  initial_state<T>(context, operands.initial_c, start, hidden)};
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

template <class T>
void run_directions(const KernelContext& context, const RecurrentAttributes& attributes,
                    const Layout& layout, const Operands& operands, const Sizes& lengths,
                    const std::vector<Direction<T>>& directions) {
  for (size_t d = 0; d < directions.size(); ++d) {
    const Cell<T> cell(attributes, layout.sizes, directions[d]);
    for (int64_t n = 0; n < layout.sizes.batch; ++n) {
      run_sequence(context, cell, layout, operands, directions[d].reverse, static_cast<int64_t>(d),
                   n, lengths[static_cast<size_t>(n)]);
    }
  }
}

}  // namespace

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

Layout Layout::of(const KernelContext& context, const RecurrentAttributes& attributes) {
  const Sizes& x = input_shape(context, 0);
  const size_t batch = attributes.batch_first ? 0 : 1;
  return {attributes.batch_first,
          attributes.directions,
          {x[1 - batch], x[batch], x[2], input_shape(context, 2)[2]}};
}

// Inputs x, w, r, b, sequence_lens, initial_h; LSTM also initial_c and the peepholes.
Result<void> run_recurrent(CellKind cell, const KernelContext& context) {
  ASSAY_ASSIGN(const RecurrentAttributes attributes,
               recurrent_attributes(cell, context.attributes));
  const Layout layout = Layout::of(context, attributes);
  const Operands operands{5, cell == CellKind::kLstm ? 6 : Operands::kNone};
  ASSAY_ASSIGN(const Sizes lengths, sequence_lengths(context, 4, layout.sizes));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    std::vector<Direction<T>> directions;
    for (int64_t d = 0; d < attributes.directions; ++d) {
      directions.push_back(direction_of<T>(context, attributes, layout.sizes, d));
    }
    run_directions(context, attributes, layout, operands, lengths, directions);
  });
}

// Inputs x [steps, batch, hidden], r [gates hidden, hidden], b, initial_h, initial_c.
Result<void> run_recurrent_skip(CellKind cell, const RecurrentAttributes& attributes,
                                const KernelContext& context) {
  const Sizes& x = input_shape(context, 0);
  const Layout layout{false, 1, {x[0], x[1], x[2], x[2]}};
  const Operands operands{3, cell == CellKind::kLstm ? 4 : Operands::kNone};
  const Sizes lengths(static_cast<size_t>(x[1]), x[0]);
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    Direction<T> only;
    only.r = input_data<T>(context, 1);
    if (context.has(2)) only.b = input_data<T>(context, 2);
    only.activations = attributes.activations.data();
    run_directions<T>(context, attributes, layout, operands, lengths, {only});
  });
}

}  // namespace assay
