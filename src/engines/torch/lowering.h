// SPDX-License-Identifier: Apache-2.0
//
// Lowering: from a node of the graph to a Step. One function an operator, in lower_FAMILY.cpp,
// registered by explicit calls; what cannot be lowered is an error with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/torch/step.h"
#include "graph/graph.h"
#include "graph/operator.h"

namespace assay::torch_engine {

// What is known about the use of values, for in-place decisions.
struct ValueUse {
  uint32_t readers = 0;
  uint32_t last_reader = 0;  // index of the node
  bool is_output = false;    // of the graph, or the next value of a state
  bool viewed = false;       // some reader's output may share its memory
  bool fresh = false;        // computed, in memory of its own that autograd does not keep
};

struct LowerOptions {
  bool training = false;
  bool channels_last = false;
  bool fuse = true;     // inference only: fold batch norms, fuse activations
  bool frozen = false;  // inference only: nobody else sees the weights, which never change
  at::Device device = at::kCPU;
};

// An integer input ("axes", "starts"): its values, when they are constant, or where to read them.
struct IntegerInput {
  std::optional<std::vector<int64_t>> constant;
  size_t input = 0;
  // Empty where the input is omitted. Reading a computed one waits for its device.
  std::vector<int64_t> values(const Step& step, const at::Tensor* registers) const;
};

// What a lowering function sees of one node.
class Lowering {
 public:
  Lowering(const Graph& graph, uint32_t node, const std::vector<ValueUse>& uses,
           const LowerOptions& options)
      : graph_(graph), index_(node), uses_(uses), options_(options) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return graph_.nodes()[index_]; }
  const Attributes& attributes() const { return node().attributes; }
  const LowerOptions& options() const { return options_; }
  bool training() const { return options_.training; }
  bool has(size_t input) const {
    return input < node().inputs.size() && node().inputs[input] != kNoValue;
  }
  bool wants(size_t output) const;
  const TensorType& type(size_t input) const { return graph_.value(node().inputs[input]).type; }
  const TensorType& output_type(size_t output = 0) const {
    return graph_.value(node().outputs[output]).type;
  }
  Result<int64_t> rank(size_t input) const;  // kUnsupported where it is unknown
  // The values of a constant input.
  std::optional<std::vector<int64_t>> constant_integers(size_t input) const;
  IntegerInput integer_input(size_t input) const { return {constant_integers(input), input}; }
  // The values of a constant input, or kUnsupported: "input 1 is computed".
  Result<std::vector<int64_t>> require_integers(size_t input, std::string_view name) const;
  // Whether the step may write its result over this input: nobody reads it later, nobody else
  // shares its memory, and autograd does not need its value.
  bool may_overwrite(size_t input) const;
  // Whether output `output` is the next value of the state at input `input`, read by nobody else.
  bool updates_state(size_t input, size_t output) const;

  Step step(StepFunction run, std::string kernel, std::shared_ptr<void> data = nullptr) const;
  template <class Data>
  Step step_with(StepFunction run, const std::string& kernel, Data data) const {
    return step(run, kernel, std::make_shared<Data>(std::move(data)));
  }
  static Error unsupported(std::string reason) {
    return Error{ErrorCode::kUnsupported, std::move(reason), ""};
  }

 private:
  const Graph& graph_;
  uint32_t index_;
  const std::vector<ValueUse>& uses_;
  const LowerOptions& options_;
};

using LowerFunction = Result<Step> (*)(const Lowering&);

// What is known of an operator's memory. kOwn: every output is new memory that autograd does not
// keep for its backward pass, so the next step may overwrite it. kKept: new memory that autograd
// does keep. kView: an output may share memory with an input.
enum class OutputMemory : uint8_t { kOwn, kKept, kView };

struct LowerEntry {
  LowerFunction lower = nullptr;
  OutputMemory memory = OutputMemory::kView;
  std::string kernel;  // libtorch's name, where the function does not set it
};

class LoweringTable {
 public:
  // `type` is "Conv", or "assay.Dropout" for our own domain.
  void add(std::string type, LowerFunction lower, OutputMemory memory = OutputMemory::kView,
           std::string kernel = "");
  const LowerEntry* find(const Node& node) const;

 private:
  std::map<std::string, LowerEntry, std::less<>> entries_;
};

// Built on first use, constant afterwards.
const LoweringTable& lowering_table();

std::vector<ValueUse> value_uses(const Graph& graph, bool training);
// The step of one node, or the reason why there is none.
Result<Step> lower_node(const Graph& graph, uint32_t node, const std::vector<ValueUse>& uses,
                        const LowerOptions& options);

void add_convolution_lowerings(LoweringTable& table);
void add_pooling_lowerings(LoweringTable& table);
void add_normalization_lowerings(LoweringTable& table);
void add_matrix_lowerings(LoweringTable& table);
void add_activation_lowerings(LoweringTable& table);
void add_elementwise_lowerings(LoweringTable& table);
void add_softmax_lowerings(LoweringTable& table);
void add_reduction_lowerings(LoweringTable& table);
void add_layout_lowerings(LoweringTable& table);
void add_index_lowerings(LoweringTable& table);
void add_source_lowerings(LoweringTable& table);
void add_math_lowerings(LoweringTable& table);
void add_scatter_lowerings(LoweringTable& table);
void add_arrange_lowerings(LoweringTable& table);
void add_group_norm_lowerings(LoweringTable& table);
void add_quantized_lowerings(LoweringTable& table);
void add_resample_lowerings(LoweringTable& table);
void add_recurrent_lowerings(LoweringTable& table);
void add_backward_lowerings(LoweringTable& table);

}  // namespace assay::torch_engine
