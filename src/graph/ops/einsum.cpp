// SPDX-License-Identifier: Apache-2.0
//
// Einsum: sums of products over labelled axes. Labels are letters; "..." stands for leading axes
// that broadcast; without "->" the labels that occur once come out in alphabetical order.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "graph/ops/families.h"
#include "graph/ops/infer.h"
#include "graph/ops/loops.h"

namespace assay {
namespace {

// An axis label: a letter, or one of the axes that "..." stands for, counted from the last.
using Label = int;
constexpr Label kEllipsis = 1000;

struct Terms {
  std::vector<std::string> inputs;  // '.' for the ellipsis
  std::optional<std::string> output;
};

Error bad_equation(const std::string& equation, const std::string& why) {
  return invalid("attribute 'equation' is '" + equation + "': " + why);
}

Result<Terms> split_terms(const std::string& equation) {
  Terms terms{{""}, std::nullopt};
  for (size_t i = 0; i < equation.size(); ++i) {
    std::string& term = terms.output ? *terms.output : terms.inputs.back();
    const char c = equation[i];
    if (c == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      term += c;
    } else if (equation.compare(i, 3, "...") == 0 && term.find('.') == std::string::npos) {
      term += '.';
      i += 2;
    } else if (equation.compare(i, 2, "->") == 0 && !terms.output) {
      terms.output.emplace();
      ++i;
    } else if (c == ',' && !terms.output) {
      terms.inputs.emplace_back();
    } else {
      return bad_equation(equation, "'" + std::string(1, c) + "' is not expected");
    }
  }
  return terms;
}

// Every operand's labels, one an axis, and the output's.
struct Equation {
  std::vector<std::vector<Label>> inputs;
  std::vector<Label> output;
};

Result<std::vector<Label>> labels_of(const std::string& equation, const std::string& term,
                                     size_t rank) {
  const size_t letters = term.size() - (term.find('.') == std::string::npos ? 0 : 1);
  if (letters > rank || (letters == term.size() && letters != rank)) {
    return bad_equation(equation,
                        "term '" + term + "' is for another rank than " + std::to_string(rank));
  }
  std::vector<Label> labels;
  for (const char c : term) {
    if (c != '.') {
      labels.push_back(c);
      continue;
    }
    for (size_t i = rank - letters; i-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(i));
  }
  return labels;
}

Result<Equation> parse_equation(const std::string& equation, const std::vector<size_t>& ranks) {
  ASSAY_ASSIGN(const Terms terms, split_terms(equation));
  if (terms.inputs.size() != ranks.size()) {
    return bad_equation(equation, "it has " + std::to_string(terms.inputs.size()) + " terms for " +
                                      std::to_string(ranks.size()) + " inputs");
  }
  Equation parsed;
  std::map<Label, int> uses;
  Label broadcast = 0;  // the number of axes that "..." stands for
  for (size_t i = 0; i < ranks.size(); ++i) {
    ASSAY_ASSIGN(std::vector<Label> labels, labels_of(equation, terms.inputs[i], ranks[i]));
    for (const Label label : labels) {
      ++uses[label];
      if (label >= kEllipsis) broadcast = std::max(broadcast, label - kEllipsis + 1);
    }
    parsed.inputs.push_back(std::move(labels));
  }
  const auto add_broadcast = [&] {
    for (Label i = broadcast; i-- > 0;) parsed.output.push_back(kEllipsis + i);
  };
  if (!terms.output) {
    add_broadcast();
    for (const auto& [label, count] : uses) {
      if (label < kEllipsis && count == 1) parsed.output.push_back(label);
    }
    return parsed;
  }
  for (const char c : *terms.output) {
    if (c == '.') {
      add_broadcast();
    } else if (!uses.contains(c) || std::ranges::count(*terms.output, c) != 1) {
      return bad_equation(equation, "the output's '" + std::string(1, c) + "'");
    } else {
      parsed.output.push_back(c);
    }
  }
  return parsed;
}

// The size of every label; axes of "..." broadcast.
Result<std::map<Label, Dim>> label_dims(const Equation& equation,
                                        const std::vector<const Shape*>& shapes) {
  std::map<Label, Dim> dims;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t axis = 0; axis < shapes[i]->rank(); ++axis) {
      const Dim& dim = (*shapes[i])[axis];
      const auto [it, added] = dims.try_emplace(equation.inputs[i][axis], dim);
      if (added || it->second == dim) continue;
      ASSAY_ASSIGN(const Shape both, broadcast(Shape{it->second}, Shape{dim}));
      it->second = both[0];
    }
  }
  return dims;
}

Result<Equation> equation_of(const Attributes& attributes,
                             const std::vector<const Shape*>& shapes) {
  std::vector<size_t> ranks;
  for (const Shape* shape : shapes) ranks.push_back(shape->rank());
  return parse_equation(attributes.string("equation"), ranks);
}

Result<Types> infer_einsum(const InferContext& context) {
  const DType dtype = context.type(0).dtype;
  if (!is_integer(dtype) || dtype_bits(dtype) < 8) ASSAY_TRY(expect_floating(context, 0));
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    if (!context.has(i)) return invalid("input " + std::to_string(i) + " is required");
    ASSAY_TRY(expect_same_dtype(context, 0, i));
    if (context.type(i).shape) shapes.push_back(&*context.type(i).shape);
  }
  if (shapes.size() < context.inputs.size()) return Types{TensorType::unranked(dtype)};
  ASSAY_ASSIGN(const Equation equation, equation_of(context.attributes, shapes));
  ASSAY_ASSIGN(const auto dims, label_dims(equation, shapes));
  Shape y;
  for (const Label label : equation.output) y.append(dims.at(label));
  return Types{TensorType(dtype, std::move(y))};
}

// One product of all operands for every combination of labels: operands - 1 multiply-adds, or an
// addition where there is one operand.
Cost cost_einsum(const CostContext& context) {
  Cost cost = context.operand_bytes();
  std::vector<const Shape*> shapes;
  for (const TensorType* type : context.inputs) shapes.push_back(&*type->shape);
  const auto equation = equation_of(context.attributes, shapes);
  if (!equation.ok()) return cost;
  const auto dims = label_dims(*equation, shapes);
  if (!dims.ok()) return cost;
  double products = 1;
  for (const auto& [label, dim] : *dims) products *= static_cast<double>(dim.size());
  if (shapes.size() == 1) {
    cost.flops = std::max(0.0, products - context.output_elements(0));
  } else {
    cost.macs = products * static_cast<double>(shapes.size() - 1);
    cost.flops = 2 * cost.macs;
  }
  return cost;
}

// All labels in walking order, the output's first, with their sizes and every operand's strides.
struct Plan {
  Sizes sizes;
  std::vector<Sizes> strides;
};

Result<Plan> plan_of(const KernelContext& context, const Equation& equation,
                     const std::map<Label, Dim>& dims) {
  std::vector<Label> order = equation.output;
  for (const auto& [label, dim] : dims) {
    if (std::ranges::find(order, label) == order.end()) order.push_back(label);
  }
  Plan plan;
  for (const Label label : order) plan.sizes.push_back(dims.at(label).size());
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Sizes& shape = input_shape(context, i);
    const Sizes packed = packed_strides(shape);
    Sizes strides(order.size(), 0);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const auto place = std::ranges::find(order, equation.inputs[i][axis]) - order.begin();
      // A label that occurs twice steps along both axes: a diagonal.
      if (shape[axis] != 1) strides[static_cast<size_t>(place)] += packed[axis];
    }
    plan.strides.push_back(std::move(strides));
  }
  return plan;
}

// To the next index in row-major order.
void advance(const Plan& plan, Sizes& index, Sizes& offsets) {
  for (size_t axis = index.size(); axis-- > 0;) {
    ++index[axis];
    for (size_t i = 0; i < offsets.size(); ++i) offsets[i] += plan.strides[i][axis];
    if (index[axis] < plan.sizes[axis]) return;
    for (size_t i = 0; i < offsets.size(); ++i) {
      offsets[i] -= plan.strides[i][axis] * plan.sizes[axis];
    }
    index[axis] = 0;
  }
}

// Walks all labels with one offset an operand; the output's labels are outermost.
template <class T>
void sum_products(const KernelContext& context, const Plan& plan) {
  const int64_t outputs = element_count(output_shape(context, 0));
  const size_t rank = plan.sizes.size();
  const size_t operands = plan.strides.size();
  Sizes reduced(plan.sizes.begin() + static_cast<ptrdiff_t>(output_shape(context, 0).size()),
                plan.sizes.end());
  const int64_t terms = element_count(reduced);
  Sizes index(rank, 0);
  Sizes offsets(operands, 0);
  T* y = output_data<T>(context, 0);
  for (int64_t out = 0; out < outputs; ++out) {
    Accumulator<T> sum = 0;
    for (int64_t term = 0; term < terms; ++term) {
      Accumulator<T> product = 1;
      for (size_t i = 0; i < operands; ++i) {
        product *= static_cast<Accumulator<T>>(input_data<T>(context, i)[offsets[i]]);
      }
      sum += product;
      advance(plan, index, offsets);
    }
    y[out] = static_cast<T>(sum);
  }
}

Result<void> kernel_einsum(const KernelContext& context) {
  std::vector<Shape> storage;
  for (const Tensor* input : context.inputs) storage.push_back(Shape::of(input->shape()));
  std::vector<const Shape*> shapes;
  for (const Shape& shape : storage) shapes.push_back(&shape);
  ASSAY_ASSIGN(const Equation equation, equation_of(context.attributes, shapes));
  ASSAY_ASSIGN(const auto dims, label_dims(equation, shapes));
  ASSAY_ASSIGN(const Plan plan, plan_of(context, equation, dims));
  return dispatch_arithmetic(context.inputs[0]->dtype(),
                             [&]<class T>() { sum_products<T>(context, plan); });
}

}  // namespace

void add_einsum_ops(OpTable& table) {
  table.add({.type = "Einsum",
             .since_version = 12,
             .min_inputs = 1,
             .max_inputs = OpEntry::kVariadic,
             .attributes = {{"equation", AttributeType::kString, {}, true}},
             .infer = infer_einsum,
             .cost = cost_einsum,
             .kernel = widen16<kernel_einsum>});
}

}  // namespace assay
