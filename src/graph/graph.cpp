// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "base/hash.h"
#include "base/text.h"
#include "graph/operator.h"

namespace assay {

std::optional<ValueId> Graph::find_value(std::string_view name) const {
  const auto it = std::ranges::find(values_, name, &Value::name);
  if (it == values_.end()) return std::nullopt;
  return static_cast<ValueId>(std::distance(values_.begin(), it));
}

const Tensor* Graph::constant_data(ValueId id) const {
  if (id >= values_.size() || values_[id].kind != ValueKind::kConstant) return nullptr;
  return &constants_[values_[id].producer].data;
}

std::shared_ptr<const OpEntry> Graph::unknown_op(const Node& node) const {
  const auto it = std::ranges::find(unknown_ops_, node.op, &std::shared_ptr<const OpEntry>::get);
  return it == unknown_ops_.end() ? nullptr : *it;
}

namespace {

std::string tensor_text(const Tensor& tensor) {
  const std::string_view bytes(static_cast<const char*>(tensor.data()),
                               static_cast<size_t>(tensor.bytes()));
  return tensor.type().text() + "#" + sha256_hex(bytes);
}

// Length-prefixed, so that no content can be mistaken for structure.
std::string quoted(std::string_view text) {
  return std::to_string(text.size()) + ":" + std::string(text);
}

struct AttributeText {
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return shortest(static_cast<double>(value)); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const Tensor& value) const { return tensor_text(value); }
  std::string operator()(const std::shared_ptr<const Graph>& value) const {
    return value ? sha256_hex(canonical_text(*value)) : "null";
  }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "(";
    for (const T& value : values) text += (*this)(value) + " ";
    return text + ")";
  }
};

std::string initializer_text(const Initializer& initializer) {
  if (initializer.kind == InitializerKind::kGiven) return "given " + tensor_text(initializer.given);
  return initializer.text();
}

// Numbers the values a graph needs in the order a depth-first walk from its outputs and states
// finishes them: the order nodes were added in, and dead nodes, leave no trace.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(const Graph& graph) : graph_(graph) {}

  std::string write() {
    out_ << "assay-graph 1 opset " << kInternalOpset << "\n";
    write_inputs();
    write_parameters();
    write_states();
    for (const ValueId id : graph_.outputs()) visit(id);
    for (const State* state : sorted_states_) visit(state->next);
    for (const ValueId id : graph_.outputs()) out_ << "output " << label(id) << "\n";
    for (const State* state : sorted_states_) {
      out_ << "next " << quoted(graph_.value(state->value).name) << " " << label(state->next)
           << "\n";
    }
    return std::move(out_).str();
  }

 private:
  void write_source(std::string_view kind, ValueId id) {
    labels_.emplace(id, std::to_string(labels_.size()));
    const Value& value = graph_.value(id);
    out_ << labels_[id] << " " << kind << " " << quoted(value.name) << " " << value.type.text();
  }

  void write_inputs() {
    for (const ValueId id : graph_.inputs()) {
      write_source("input", id);
      out_ << "\n";
    }
    for (const ValueId id : graph_.random_keys()) {
      write_source("key", id);
      out_ << "\n";
    }
  }

  template <class Item>
  std::vector<const Item*> sorted(std::span<const Item> items) const {
    std::vector<const Item*> order;
    for (const Item& item : items) order.push_back(&item);
    std::ranges::sort(order, {}, [&](const Item* item) -> const std::string& {
      return graph_.value(item->value).name;
    });
    return order;
  }

  void write_parameters() {
    for (const Parameter* parameter : sorted(graph_.parameters())) {
      write_source("parameter", parameter->value);
      out_ << " " << initializer_text(parameter->initializer)
           << (parameter->trainable ? "\n" : " frozen\n");
    }
  }

  void write_states() {
    sorted_states_ = sorted(graph_.states());
    for (const State* state : sorted_states_) {
      write_source("state", state->value);
      out_ << " " << initializer_text(state->initializer) << "\n";
    }
  }

  std::string label(ValueId id) const { return id == kNoValue ? "-" : labels_.at(id); }

  // Writes what `root` depends on, then its producer. Iterative: graphs may be deep.
  void visit(ValueId root) {
    std::vector<ValueId> stack{root};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      if (id == kNoValue || labels_.contains(id)) {
        stack.pop_back();
        continue;
      }
      if (graph_.value(id).kind != ValueKind::kComputed) {
        write_constant(id);
        stack.pop_back();
        continue;
      }
      const Node& node = graph_.nodes()[graph_.value(id).producer];
      const size_t depth = stack.size();
      for (auto it = node.inputs.rbegin(); it != node.inputs.rend(); ++it) {
        if (*it != kNoValue && !labels_.contains(*it)) stack.push_back(*it);
      }
      if (stack.size() == depth) {
        write_node(node);
        stack.pop_back();
      }
    }
  }

  void write_constant(ValueId id) {
    const Tensor* data = graph_.constant_data(id);
    ASSAY_ASSERT(data != nullptr, "a value that no section declares");
    labels_.emplace(id, std::to_string(labels_.size()));
    out_ << labels_[id] << " constant " << tensor_text(*data) << "\n";
  }

  void write_node(const Node& node) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) labels_.emplace(id, std::to_string(labels_.size()));
    }
    for (const ValueId id : node.outputs) out_ << label(id) << " ";
    out_ << "= " << quoted(node.op->domain) << " " << node.op->type << " "
         << node.op->since_version;
    for (const ValueId id : node.inputs) out_ << " " << label(id);
    for (const auto& [name, value] : node.attributes.items()) {
      out_ << " " << name << "=" << std::visit(AttributeText{}, value);
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) out_ << " " << graph_.value(id).type.text();
    }
    out_ << "\n";
  }

  const Graph& graph_;
  std::map<ValueId, std::string> labels_;
  std::vector<const State*> sorted_states_;
  std::ostringstream out_;
};

}  // namespace

std::string canonical_text(const Graph& graph) { return CanonicalWriter(graph).write(); }

}  // namespace assay
