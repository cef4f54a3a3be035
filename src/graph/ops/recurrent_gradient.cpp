// SPDX-License-Identifier: Apache-2.0
//
// assay.RecurrentGradient: the gradients of RNN, LSTM and GRU, back through time. Each sequence is
// run again, its steps are kept, and then taken back from the last to the first.
#include <algorithm>

#include "graph/ops/families.h"
#include "graph/ops/recurrent_cell.h"

namespace assay {
namespace {

// The forward node's inputs, then the gradients of its outputs.
constexpr size_t kForwardInputs = 8;
constexpr size_t kGradientY = 8;
constexpr size_t kGradientH = 9;
constexpr size_t kGradientC = 10;

Result<CellKind> cell_of(const Attributes& attributes) {
  const std::string& name = attributes.string("cell");
  if (name == "rnn") return CellKind::kRnn;
  if (name == "lstm") return CellKind::kLstm;
  if (name == "gru") return CellKind::kGru;
  return invalid("attribute 'cell' is '" + name + "', not rnn, lstm or gru");
}

InferContext forward_part(const InferContext& context) {
  const auto first = [](auto span) { return span.first(std::min(span.size(), kForwardInputs)); };
  return {first(context.inputs), first(context.constants), context.attributes, 3};
}

// Outputs: of x, W, R, B, initial_h, initial_c, P.
Result<Types> infer_gradient(const InferContext& context) {
  ASSAY_ASSIGN(const CellKind cell, cell_of(context.attributes));
  ASSAY_ASSIGN(const Types forward, recurrent_types(cell, forward_part(context)));
  if (!context.has(kGradientY) && !context.has(kGradientH) && !context.has(kGradientC)) {
    return invalid("one of the inputs 8 to 10, the gradients, is needed");
  }
  for (size_t i = 0; i < 3; ++i) {
    const size_t input = kGradientY + i;
    ASSAY_TRY(expect_same_dtype(context, 0, input));
    if (!context.has(input) || !context.type(input).known() || !forward[i].known()) continue;
    if (*context.type(input).shape == *forward[i].shape) continue;
    return invalid("input " + std::to_string(input) + " has shape " +
                   context.type(input).shape->text() + ", the output " + forward[i].shape->text());
  }
  if (cell != CellKind::kLstm && (context.has(6) || context.has(7) || context.has(kGradientC))) {
    return invalid("only an LSTM has a cell state and peepholes");
  }
  const DType dtype = context.type(0).dtype;
  const auto& w = context.type(1).shape;
  const auto& r = context.type(2).shape;
  Types types{context.type(0), context.type(1), context.type(2)};
  const auto rows = [&](int64_t each) {
    Shape shape{w ? (*w)[0] : Dim(), Dim()};
    if (r && (*r)[2].known() && (*r)[2].size() < (int64_t{1} << 56)) {
      shape[1] = each * (*r)[2].size();
    }
    return TensorType(dtype, shape);
  };
  types.push_back(rows(2 * cell_gates(cell)));
  types.push_back(forward[1]);
  types.push_back(forward[1]);
  types.push_back(rows(3));
  return types;
}

// The forward pass again, and its two products' transposes: of the gates into inputs and states,
// and with them into the weights. The element-wise part likewise three times.
Cost cost_gradient(const CostContext& context) {
  const auto first = context.inputs.first(std::min(context.inputs.size(), kForwardInputs));
  const Cost forward =
      recurrent_cost(*cell_of(context.attributes), {first, {}, context.attributes, {}});
  Cost cost = context.operand_bytes();
  cost.macs = 3 * forward.macs;
  cost.flops = 3 * forward.flops;
  cost.transcendentals = 3 * forward.transcendentals;
  return cost;
}

// Where the gradients of one node are summed, in double.
struct Sums {
  Numbers x, w, r, b, h, c, p;
};

// The places of one direction in them.
struct DirectionSums {
  double *w, *r, *b, *p;
};

template <class T>
class BackwardCell {
 public:
  BackwardCell(const RecurrentAttributes& attributes, const RecurrentSizes& sizes,
               const Direction<T>& direction, DirectionSums sums)
      : attributes_(attributes), sizes_(sizes), d_(direction), sums_(sums) {}

  // Turns the gradients of the state after a step into those before it, and adds those of x.
  void step(const T* x, const CellTape& tape, CellState& gradient, double* dx) const {
    const size_t rows = tape.sums.size();
    // Of the gates' sums: as the input's product and as the state's product see them.
    Numbers from_input(rows, 0.0);
    Numbers from_state;
    Numbers before(gradient.h.size(), 0.0);  // what reaches the state not through a product
    switch (attributes_.cell) {
      case CellKind::kRnn:
        for (size_t i = 0; i < rows; ++i) from_input[i] = gradient.h[i] * slope(tape, i, 0);
        from_state = from_input;
        break;
      case CellKind::kLstm:
        lstm(tape, gradient, from_input);
        from_state = from_input;
        break;
      case CellKind::kGru:
        gru(tape, gradient, from_input, from_state, before);
        break;
    }
    into_input(x, from_input, dx);
    into_state(tape, from_state, before);
    gradient.h = std::move(before);
  }

 private:
  size_t hidden() const { return static_cast<size_t>(sizes_.hidden); }

  double slope_at(size_t which, double sum) const {
    if (attributes_.clip > 0 && std::abs(sum) > attributes_.clip) return 0;
    return d_.activations[which].slope(sum, d_.activations[which](sum));
  }
  double slope(const CellTape& tape, size_t row, size_t which) const {
    return slope_at(which, tape.sums[row]);
  }
  double peephole(size_t which, size_t unit) const {
    return d_.p == nullptr ? 0 : static_cast<double>(d_.p[which * hidden() + unit]);
  }

  void lstm(const CellTape& tape, CellState& gradient, Numbers& sums) const {
    const size_t n = hidden();
    for (size_t u = 0; u < n; ++u) {
      const double input = tape.values[u];
      const double output = tape.values[n + u];
      const double candidate = tape.values[3 * n + u];
      const double before = tape.c_before[u];
      const double after = tape.c_after[u];
      const double clipped =
          attributes_.clip > 0 ? std::clamp(after, -attributes_.clip, attributes_.clip) : after;
      const double shown = d_.activations[2](clipped);
      sums[n + u] = gradient.h[u] * shown * slope(tape, n + u, 0);
      const double dc = gradient.c[u] + gradient.h[u] * output * slope_at(2, after) +
                        sums[n + u] * peephole(1, u);
      const bool coupled = attributes_.input_forget;
      const double forget = coupled ? 1 - input : tape.values[2 * n + u];
      sums[u] = dc * (coupled ? candidate - before : candidate) * slope(tape, u, 0);
      sums[2 * n + u] = coupled ? 0 : dc * before * slope(tape, 2 * n + u, 0);
      sums[3 * n + u] = dc * input * slope(tape, 3 * n + u, 1);
      gradient.c[u] = dc * forget + sums[u] * peephole(0, u) + sums[2 * n + u] * peephole(2, u);
      if (d_.p == nullptr) continue;
      sums_.p[u] += sums[u] * before;
      sums_.p[n + u] += sums[n + u] * after;
      sums_.p[2 * n + u] += sums[2 * n + u] * before;
    }
  }

  void gru(const CellTape& tape, const CellState& gradient, Numbers& from_input,
           Numbers& from_state, Numbers& before) const {
    const size_t n = hidden();
    const bool linear = attributes_.linear_before_reset;
    for (size_t u = 0; u < n; ++u) {
      const double update = tape.values[u];
      const double candidate = tape.values[2 * n + u];
      from_input[u] = gradient.h[u] * (tape.h_before[u] - candidate) * slope(tape, u, 0);
      from_input[2 * n + u] = gradient.h[u] * (1 - update) * slope(tape, 2 * n + u, 1);
      before[u] = gradient.h[u] * update;
    }
    Numbers held(n, 0.0);  // of what the reset gate let through
    for (size_t row = 0; row < n && !linear; ++row) {
      const T* weights = d_.r + (2 * n + row) * n;
      for (size_t i = 0; i < n; ++i) {
        held[i] += from_input[2 * n + row] * static_cast<double>(weights[i]);
      }
    }
    from_state = from_input;
    for (size_t u = 0; u < n; ++u) {
      const double reset = tape.values[n + u];
      const double candidate = from_input[2 * n + u];
      const double dr = linear ? candidate * tape.seen[u] : held[u] * tape.h_before[u];
      from_input[n + u] = from_state[n + u] = dr * slope(tape, n + u, 0);
      if (linear) from_state[2 * n + u] = candidate * reset;
      if (!linear) before[u] += held[u] * reset;
    }
  }

  void into_input(const T* x, const Numbers& gradient, double* dx) const {
    const auto inputs = static_cast<size_t>(sizes_.input);
    for (size_t row = 0; row < gradient.size(); ++row) {
      sums_.b[row] += gradient[row];
      for (size_t i = 0; i < inputs; ++i) {
        sums_.w[row * inputs + i] += gradient[row] * static_cast<double>(x[i]);
        dx[i] += gradient[row] * static_cast<double>(d_.w[row * inputs + i]);
      }
    }
  }

  void into_state(const CellTape& tape, const Numbers& gradient, Numbers& before) const {
    const size_t n = hidden();
    // The candidate of a GRU whose reset comes first saw what the gate held; its way back to the
    // state is in `before` already.
    const bool reset_first = attributes_.cell == CellKind::kGru && !attributes_.linear_before_reset;
    for (size_t row = 0; row < gradient.size(); ++row) {
      const bool held = reset_first && row >= 2 * n;
      const Numbers& seen = held ? tape.seen : tape.h_before;
      sums_.b[gradient.size() + row] += gradient[row];
      for (size_t i = 0; i < n; ++i) {
        sums_.r[row * n + i] += gradient[row] * seen[i];
        if (!held) before[i] += gradient[row] * static_cast<double>(d_.r[row * n + i]);
      }
    }
  }

  const RecurrentAttributes& attributes_;
  const RecurrentSizes& sizes_;
  const Direction<T>& d_;
  DirectionSums sums_;
};

// One direction of one sequence, forwards with a tape and back.
template <class T>
void take_back(const KernelContext& context, const RecurrentAttributes& attributes,
               const Layout& layout, const Direction<T>& direction, DirectionSums places, int64_t d,
               int64_t batch, int64_t length, Sums& sums) {
  const int64_t n = layout.sizes.hidden;
  const int64_t start = layout.state(d, batch);
  const Cell<T> cell(attributes, layout.sizes, direction);
  const BackwardCell<T> back(attributes, layout.sizes, direction, places);
  const auto place = [&](int64_t i) { return direction.reverse ? length - 1 - i : i; };
  CellState state{initial_state<T>(context, 5, start, n), initial_state<T>(context, 6, start, n)};
  std::vector<CellTape> tapes(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    cell.step(input_data<T>(context, 0) + layout.x(place(i), batch), state,
              &tapes[static_cast<size_t>(i)]);
  }
  CellState gradient{initial_state<T>(context, kGradientH, start, n),
                     initial_state<T>(context, kGradientC, start, n)};
  for (int64_t i = length; i-- > 0;) {
    const int64_t at = layout.x(place(i), batch);
    const Numbers dy = initial_state<T>(context, kGradientY, layout.y(place(i), d, batch), n);
    std::ranges::transform(gradient.h, dy, gradient.h.begin(), std::plus<>());
    back.step(input_data<T>(context, 0) + at, tapes[static_cast<size_t>(i)], gradient,
              sums.x.data() + at);
  }
  std::ranges::copy(gradient.h, sums.h.begin() + start);
  std::ranges::copy(gradient.c, sums.c.begin() + start);
}

template <class T>
void take_back_all(const KernelContext& context, const RecurrentAttributes& attributes,
                   const Layout& layout, const Sizes& lengths) {
  const RecurrentSizes& s = layout.sizes;
  const int64_t rows = cell_gates(attributes.cell) * s.hidden;
  const auto zeros = [](int64_t count) { return Numbers(static_cast<size_t>(count), 0.0); };
  const int64_t directions = attributes.directions;
  Sums sums{zeros(s.steps * s.batch * s.input),     zeros(directions * rows * s.input),
            zeros(directions * rows * s.hidden),    zeros(directions * 2 * rows),
            zeros(directions * s.batch * s.hidden), zeros(directions * s.batch * s.hidden),
            zeros(directions * 3 * s.hidden)};
  for (int64_t d = 0; d < directions; ++d) {
    const Direction<T> direction = direction_of<T>(context, attributes, s, d);
    const DirectionSums places{sums.w.data() + d * rows * s.input,
                               sums.r.data() + d * rows * s.hidden, sums.b.data() + d * 2 * rows,
                               sums.p.data() + d * 3 * s.hidden};
    for (int64_t n = 0; n < s.batch; ++n) {
      take_back(context, attributes, layout, direction, places, d, n,
                lengths[static_cast<size_t>(n)], sums);
    }
  }
  const Numbers* const all[] = {&sums.x, &sums.w, &sums.r, &sums.b, &sums.h, &sums.c, &sums.p};
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    std::ranges::transform(*all[i], output_data<T>(context, i),
                           [](double value) { return static_cast<T>(value); });
  }
}

Result<void> kernel_gradient(const KernelContext& context) {
  ASSAY_ASSIGN(const CellKind cell, cell_of(context.attributes));
  ASSAY_ASSIGN(const RecurrentAttributes attributes,
               recurrent_attributes(cell, context.attributes));
  const Layout layout = Layout::of(context, attributes);
  ASSAY_ASSIGN(const Sizes lengths, sequence_lengths(context, 4, layout.sizes));
  return dispatch_floating(context.inputs[0]->dtype(), [&]<class T>() {
    take_back_all<T>(context, attributes, layout, lengths);
  });
}

}  // namespace

void add_recurrent_gradient_ops(OpTable& table) {
  std::vector<AttributeSpec> attributes = recurrent_specs();
  attributes.push_back({"cell", AttributeType::kString, {}, true});
  attributes.push_back({"input_forget", AttributeType::kInt, int64_t{0}});
  attributes.push_back({"linear_before_reset", AttributeType::kInt, int64_t{0}});
  table.add({.domain = "assay",
             .type = "RecurrentGradient",
             .min_inputs = 3,
             .max_inputs = 11,
             .max_outputs = 7,
             .attributes = std::move(attributes),
             .infer = infer_gradient,
             .cost = cost_gradient,
             .kernel = widen16<kernel_gradient>,
             .note = "of RNN, LSTM or GRU (attribute cell) with these attributes; inputs: its 8 "
                     "(omitted where it has none), then the gradients of Y, Y_h, Y_c; outputs: of "
                     "X, W, R, B, initial_h, initial_c, P"});
}

}  // namespace assay
