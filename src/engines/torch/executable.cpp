// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/executable.h"

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include "base/json.h"
#include "engines/torch/fusion.h"
#include "engines/torch/guarded.h"
#include "engines/torch/tensors.h"

namespace assay::torch_engine {
namespace {

// Values that never change while the program runs unless weights are loaded or trained.
std::vector<bool> persistent_values(const Graph& graph) {
  std::vector<bool> persistent(graph.values().size(), false);
  for (const Parameter& p : graph.parameters()) persistent[p.value] = true;
  for (const Constant& c : graph.constants()) persistent[c.value] = true;
  for (const State& s : graph.states()) persistent[s.value] = s.next == kNoValue;
  return persistent;
}

bool reads_only(const Node& node, const std::vector<bool>& persistent) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id == kNoValue || persistent[id]; });
}

// Steps whose results nobody reads: casts of weights that a fused step has taken in.
void drop_dead_steps(const Graph& graph, std::vector<Step>& steps) {
  std::vector<bool> live(graph.values().size(), false);
  for (const ValueId id : graph.outputs()) live[id] = true;
  for (const State& s : graph.states()) {
    if (s.next != kNoValue) live[s.next] = true;
  }
  std::vector<bool> dead(steps.size(), false);
  for (size_t s = steps.size(); s-- > 0;) {
    const auto& outputs = steps[s].outputs;
    dead[s] = std::none_of(outputs.begin(), outputs.end(),
                           [&](ValueId id) { return id != kNoValue && live[id]; });
    if (dead[s]) continue;
    for (const ValueId id : steps[s].inputs) {
      if (id != kNoValue) live[id] = true;
    }
  }
  size_t index = 0;
  std::erase_if(steps, [&](const Step&) { return dead[index++]; });
}

Result<std::vector<Step>> lower_all(const Graph& graph, const LowerOptions& options) {
  std::vector<ValueUse> uses = value_uses(graph, options.training);
  std::vector<bool> taken(graph.nodes().size(), false);
  std::vector<Step> steps;
  if (!options.training && options.fuse && options.device.is_cpu() && has_fused_convolution()) {
    steps = fuse_convolutions(graph, uses, options, taken);
  }
  std::vector<bool> persistent = persistent_values(graph);
  for (uint32_t n = 0; n < graph.nodes().size(); ++n) {
    if (taken[n]) continue;
    Result<Step> step = lower_node(graph, n, uses, options);
    if (!step.ok()) {
      Error error = step.error();
      error.place = graph.nodes()[n].name;
      return error;
    }
    step->once = !options.training && reads_only(graph.nodes()[n], persistent);
    for (const ValueId id : graph.nodes()[n].outputs) {
      if (id != kNoValue) persistent[id] = step->once;
    }
    steps.push_back(std::move(step).value());
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.nodes.back() < b.nodes.back(); });
  drop_dead_steps(graph, steps);
  return steps;
}

Error wrong_input(const Value& value, const TensorView& given) {
  return Error{ErrorCode::kInvalid,
               "input is " + std::string(dtype_name(given.dtype)) + " of rank " +
                   std::to_string(given.shape.size()) + ", the graph wants " + value.type.text(),
               value.name};
}

Result<void> check_input(const Value& value, const TensorView& given) {
  if (given.dtype != value.type.dtype) return wrong_input(value, given);
  if (!value.type.shape) return {};
  const Shape& shape = *value.type.shape;
  if (shape.rank() != given.shape.size()) return wrong_input(value, given);
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis].known() && shape[axis].size() != given.shape[axis]) {
      return Error{ErrorCode::kInvalid,
                   "axis " + std::to_string(axis) + " has size " +
                       std::to_string(given.shape[axis]) + ", the graph wants " + value.type.text(),
                   value.name};
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Executable>> Executable::build(Graph graph, const LowerOptions& options,
                                                      std::shared_ptr<WeightStore> store) {
  std::unique_ptr<Executable> made(new Executable(std::move(graph), options, std::move(store)));
  made->registers_.resize(made->graph_.values().size());
  ASSAY_TRY(made->bind_persistent());
  ASSAY_ASSIGN(std::vector<Step> steps, lower_all(made->graph_, options));
  for (Step& step : steps) (step.once ? made->once_ : made->steps_).push_back(std::move(step));
  made->plan_frees();
  return made;
}

Result<void> Executable::bind_persistent() {
  const auto bind = [this](ValueId id) -> Result<void> {
    const Value& value = graph_.value(id);
    const auto found = store_->tensors.find(value.name);
    if (found == store_->tensors.end()) {
      return Error{ErrorCode::kInvalid, "'" + value.name + "' has no values", graph_.name()};
    }
    registers_[id] = found->second;
    return {};
  };
  for (const Parameter& p : graph_.parameters()) ASSAY_TRY(bind(p.value));
  for (const State& s : graph_.states()) ASSAY_TRY(bind(s.value));
  for (const Constant& c : graph_.constants()) {
    ASSAY_ASSIGN(registers_[c.value], from_host(c.data, options_.device, false));
  }
  return {};
}

// A register is emptied after the last step that reads it, unless it holds a weight, a constant, a
// value made once, or a result.
void Executable::plan_frees() {
  std::vector<bool> held(graph_.values().size(), false);
  for (const Parameter& p : graph_.parameters()) held[p.value] = true;
  for (const Constant& c : graph_.constants()) held[c.value] = true;
  for (const State& s : graph_.states()) {
    held[s.value] = true;
    if (s.next != kNoValue) held[s.next] = true;
  }
  for (const Step& step : once_) {
    for (const ValueId id : step.outputs) {
      if (id != kNoValue) held[id] = true;
    }
  }
  for (const ValueId id : graph_.outputs()) held[id] = true;
  std::vector<bool> seen = held;
  for (size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    for (const auto* ids : {&step.inputs, &step.outputs}) {
      for (const ValueId id : *ids) {
        if (id == kNoValue || seen[id]) continue;
        seen[id] = true;
        step.frees.push_back(id);
      }
    }
  }
  for (const ValueId id : graph_.inputs()) leftovers_.push_back(id);
  for (const State& s : graph_.states()) {
    if (s.next != kNoValue && graph_.value(s.next).kind == ValueKind::kComputed) {
      leftovers_.push_back(s.next);
    }
  }
  for (const ValueId id : graph_.outputs()) {
    if (graph_.value(id).kind == ValueKind::kComputed) leftovers_.push_back(id);
  }
  // What a run does not make must survive it.
  std::erase_if(leftovers_, [&](ValueId id) {
    return std::any_of(once_.begin(), once_.end(), [&](const Step& step) {
      return std::find(step.outputs.begin(), step.outputs.end(), id) != step.outputs.end();
    });
  });
}

Result<void> Executable::bind_inputs(std::span<const TensorView> inputs) {
  if (inputs.size() != graph_.inputs().size()) {
    return Error{ErrorCode::kInvalid,
                 std::to_string(inputs.size()) + " inputs given, the graph has " +
                     std::to_string(graph_.inputs().size()),
                 graph_.name()};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph_.value(graph_.inputs()[i]);
    ASSAY_TRY(check_input(value, inputs[i]));
    const bool host = inputs[i].device.kind == DeviceKind::kCpu;
    ASSAY_ASSIGN(at::Tensor tensor,
                 alias(inputs[i], host ? at::Device(at::kCPU) : options_.device));
    if (options_.channels_last && tensor.dim() == 4) {
      tensor = tensor.to(options_.device, tensor.scalar_type(), false, false,
                         at::MemoryFormat::ChannelsLast);
    } else if (host && !options_.device.is_cpu()) {
      tensor = tensor.to(options_.device);
    }
    registers_[graph_.inputs()[i]] = std::move(tensor);
  }
  return {};
}

void Executable::bind_keys(RandomKey key, std::optional<uint64_t> run) {
  for (const ValueId id : graph_.random_keys()) {
    const RandomKey stream = key.derive(graph_.value(id).name);
    const uint64_t value = run ? stream.derive(*run).value() : stream.value();
    uint32_t words[2] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
    registers_[id] =
        at::from_blob(words, {2}, at::TensorOptions().dtype(at::ScalarType::UInt32)).clone();
  }
}

Result<void> Executable::prepare() {
  if (options_.training || prepared_version_ == store_->version) return {};
  if (options_.frozen && prepared_version_ != 0) return {};
  const std::vector<std::vector<ValueId>> done_with = originals_done_with();
  if (options_.frozen) store_->tensors.clear();  // the registers hold them
  size_t index = 0;
  const auto drop = [&] {
    for (const ValueId id : done_with[index]) registers_[id].reset();
    ++index;
  };
  for (const Step& step : once_) {
    step.run(step, registers_.data());
    drop();
  }
  for (const Step& step : steps_) {
    if (step.prepare != nullptr) step.prepare(step, registers_.data());
    drop();
  }
  prepared_version_ = store_->version;
  return {};
}

// For every step, in the order of preparing, the weights that are not needed after it because they
// were only folded or cast into others. Nothing is dropped that another program may read.
std::vector<std::vector<ValueId>> Executable::originals_done_with() const {
  std::vector<std::vector<ValueId>> done_with(once_.size() + steps_.size());
  if (!options_.frozen) return done_with;
  std::vector<bool> kept(registers_.size(), false);
  for (const Step& step : steps_) {
    for (size_t i = 0; i < std::min(step.inputs.size(), step.run_inputs); ++i) {
      if (step.inputs[i] != kNoValue) kept[step.inputs[i]] = true;
    }
  }
  for (const ValueId id : graph_.outputs()) kept[id] = true;
  for (const State& s : graph_.states()) {
    if (s.next != kNoValue) kept[s.value] = kept[s.next] = true;
  }
  for (size_t index = done_with.size(); index-- > 0;) {
    const Step& step = index < once_.size() ? once_[index] : steps_[index - once_.size()];
    for (const ValueId id : step.inputs) {
      if (id == kNoValue || kept[id]) continue;
      kept[id] = true;
      done_with[index].push_back(id);
    }
  }
  return done_with;
}

void Executable::move_states() {
  const c10::AutoGradMode no_gradient(false);
  bool moved = false;
  for (const State& state : graph_.states()) {
    if (state.next == kNoValue) continue;
    moved = true;
    at::Tensor& current = registers_[state.value];
    const at::Tensor& next = registers_[state.next];
    if (!current.is_same(next)) current.copy_(next);
  }
  if (moved) ++store_->version;
}

Result<void> Executable::run(std::span<const TensorView> inputs, RandomKey key,
                             std::optional<uint64_t> run) {
  ASSAY_TRY(prepare());
  ASSAY_TRY(bind_inputs(inputs));
  if (!graph_.random_keys().empty()) bind_keys(key, run);
  at::Tensor* registers = registers_.data();
  for (const Step& step : steps_) {
    try {
      step.run(step, registers);
    } catch (const c10::Error& error) {
      forget_computed();
      return error_from(error, graph_.nodes()[step.nodes.back()].name);
    }
    for (const ValueId id : step.frees) registers[id].reset();
  }
  if (!graph_.states().empty()) move_states();
  return {};
}

// After a failure in the middle of a run: nothing of it may be seen by the next one.
void Executable::forget_computed() {
  for (const Step& step : steps_) {
    for (const ValueId id : step.frees) registers_[id].reset();
  }
  release();
}

void Executable::release() {
  for (const ValueId id : leftovers_) registers_[id].reset();
}

Json Executable::nodes_json() const {
  Json list = Json::array();
  const auto describe = [&](const Step& step) {
    Json nodes = Json::array();
    for (const uint32_t n : step.nodes) nodes.push_back(graph_.nodes()[n].name);
    Json entry = {{"nodes", nodes}, {"kernel", step.kernel}};
    if (!step.note.empty()) entry["note"] = step.note;
    if (step.once) entry["runs"] = "when weights change";
    list.push_back(std::move(entry));
  };
  for (const Step& step : once_) describe(step);
  for (const Step& step : steps_) describe(step);
  return list;
}

}  // namespace assay::torch_engine
