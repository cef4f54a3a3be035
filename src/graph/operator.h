// SPDX-License-Identifier: Apache-2.0
//
// The operator table: one entry an operator, registered by explicit calls, one file a family in
// graph/ops/. An entry answers every question about its operator: legal attributes, shapes, cost,
// gradient, and what it computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/attribute.h"
#include "graph/graph.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace assay {

struct AttributeSpec {
  std::string name;
  AttributeType type = AttributeType::kInt;
  std::optional<Attribute> default_value = {};  // nothing: absent unless given
  bool required = false;
};

// What shape inference of one node sees. `constants` holds the data of inputs that are constants
// (null otherwise), for operators whose output shape is data (Reshape, Slice, Expand ...).
struct InferContext {
  std::span<const TensorType* const> inputs;  // null where omitted
  std::span<const Tensor* const> constants;   // null unless the input is a constant
  const Attributes& attributes;
  size_t output_count = 1;

  bool has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  const TensorType& type(size_t input) const { return *inputs[input]; }
  const Tensor* constant(size_t input) const {
    return input < constants.size() ? constants[input] : nullptr;
  }
};

// Forward cost of one node. A multiply-add is 1 MAC and 2 FLOPs; a comparison, a maximum or an
// element-wise arithmetic operation is 1 FLOP; exp, log, tanh, erf, sqrt, pow, division's
// reciprocal count in `transcendentals`, not in `flops`. Traffic is unfused: each operand once;
// views move nothing. docs/method/cost.md has every operator's formula.
struct Cost {
  double macs = 0;
  double flops = 0;
  double transcendentals = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  // Something inside is not known (how often a Loop runs): a lower bound, not the cost.
  bool lower_bound = false;
};

struct CostContext {
  std::span<const TensorType* const> inputs;   // null where omitted, known otherwise
  std::span<const TensorType* const> outputs;  // null where omitted, known otherwise
  const Attributes& attributes;
  std::span<const Tensor* const> constants = {};  // as in InferContext; empty: none known

  bool has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  double input_elements(size_t input) const;    // 0 where omitted
  double output_elements(size_t output) const;  // 0 where omitted
  Cost operand_bytes() const;                   // only the traffic of a node that is not a view
};

// What a reference kernel sees: packed host tensors in, allocated packed host tensors out. Where
// the inferred type of an output is not fully known although every input's data is (NonZero), or
// the entry says sizes_outputs, the output is an empty Tensor and the kernel assigns it.
struct KernelContext {
  std::span<const Tensor* const> inputs;  // null where omitted
  std::span<Tensor> outputs;              // allocated with the inferred types, or empty
  const Attributes& attributes;

  bool has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
};

class GraphBuilder;
// What a gradient sees. It adds nodes that compute the gradients of those inputs that are wanted
// from the gradients of the outputs, by means of graph/ops/gradient.h.
struct GradientContext {
  GraphBuilder& builder;                      // holds the forward nodes, and more gets added
  uint32_t node;                              // index of the node
  std::span<const ValueId> output_gradients;  // kNoValue where none arrives
  std::span<const uint8_t> wanted;            // per input
  std::span<ValueId> input_gradients;         // to fill; kNoValue where none exists
};

using InferFunction = Result<std::vector<TensorType>> (*)(const InferContext&);
using CostFunction = Cost (*)(const CostContext&);
using KernelFunction = Result<void> (*)(const KernelContext&);
// The outputs' values where the types alone give them (Shape), or the attributes (Constant).
using FoldFunction = std::optional<Tensor> (*)(const InferContext&);
using GradientFunction = Result<void> (*)(const GradientContext&);
// Bytes that the reference kernel allocates beside its outputs while it runs.
using WorkspaceFunction = int64_t (*)(const CostContext&);

struct OpEntry {
  std::string domain = {};  // "" is ONNX's default domain, "assay" ours
  std::string type = {};    // "Conv"
  int since_version = 1;    // the ONNX version whose semantics the entry has
  size_t min_inputs = 0;
  size_t max_inputs = 0;  // kVariadic: any number
  size_t min_outputs = 1;
  size_t max_outputs = 1;
  std::vector<AttributeSpec> attributes = {};
  InferFunction infer = nullptr;          // never null
  CostFunction cost = nullptr;            // null: only the operands' bytes
  KernelFunction kernel = nullptr;        // null: the reference engine cannot
  GradientFunction gradient = nullptr;    // null: not differentiable, or not yet
  FoldFunction fold = nullptr;            // null: foldable only when every input is a constant
  WorkspaceFunction workspace = nullptr;  // null: none
  bool is_view = false;  // output 0 is input 0's data with another shape: no traffic, no memory
  // The kernel assigns every output itself, nothing is inferred before it runs: sizes that depend
  // on data, and control flow.
  bool sizes_outputs = false;
  bool is_random = false;  // draws numbers: never folded
  std::string note = {};   // why something is missing, for docs

  static constexpr size_t kVariadic = static_cast<size_t>(-1);
};

// Whether it is control flow: an attribute is a graph.
bool has_body(const OpEntry& op);

class OpTable {
 public:
  void add(OpEntry entry);  // asserts that it is new
  // The gradient of an operator that is there already.
  void set_gradient(std::string_view domain, std::string_view type, GradientFunction gradient);
  const OpEntry* find(std::string_view domain, std::string_view type) const;
  std::vector<const OpEntry*> entries() const;  // sorted by domain and type

 private:
  std::vector<std::unique_ptr<OpEntry>> entries_;
};

// The table of all families, built once on first use (thread-safe) and constant afterwards.
const OpTable& op_table();

// The attributes completed with defaults; kInvalid names an unknown attribute with the nearest
// known one, a value of the wrong type, and a missing one.
Result<Attributes> complete_attributes(const OpEntry& op, Attributes attributes);

// Every node's cost: the entry's function, or operand bytes alone. Asserts that types are known.
Cost node_cost(const Graph& graph, const Node& node);

}  // namespace assay
