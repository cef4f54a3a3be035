// SPDX-License-Identifier: Apache-2.0
#include "onnx/node_reader.h"

#include <algorithm>
#include <array>

#include "onnx/upgrade.h"
#include "onnx/value_type.h"

namespace assay::onnx {
namespace {

constexpr int64_t kOldestOpset = 1;
constexpr int64_t kNewestOpset = 25;

struct OutOfScope {
  std::string_view type;
  std::string_view what;
};
constexpr std::array kOutOfScope{
    OutOfScope{"SequenceAt", "sequences"},
    OutOfScope{"SequenceConstruct", "sequences"},
    OutOfScope{"SequenceEmpty", "sequences"},
    OutOfScope{"SequenceErase", "sequences"},
    OutOfScope{"SequenceInsert", "sequences"},
    OutOfScope{"SequenceLength", "sequences"},
    OutOfScope{"SequenceMap", "sequences"},
    OutOfScope{"SplitToSequence", "sequences"},
    OutOfScope{"ConcatFromSequence", "sequences"},
    OutOfScope{"Optional", "optionals"},
    OutOfScope{"OptionalGetElement", "optionals"},
    OutOfScope{"OptionalHasElement", "optionals"},
    OutOfScope{"StringNormalizer", "strings"},
    OutOfScope{"StringConcat", "strings"},
    OutOfScope{"StringSplit", "strings"},
    OutOfScope{"RegexFullMatch", "strings"},
    OutOfScope{"ImageDecoder", "compressed images"},
};

std::string place_of(const NodeRecord& node) {
  return "node '" + std::string(node.name) + "' (" + std::string(node.type) + ")";
}

Result<std::vector<TensorType>> infer_nothing(const InferContext& /*context*/) {
  return Error{ErrorCode::kUnsupported, "the operator is not known", ""};
}

GraphBuilder::Names names_of(const NodeRecord& node) {
  GraphBuilder::Names names{std::string(node.name), {}};
  names.outputs.assign(node.outputs.begin(), node.outputs.end());
  while (names.outputs.size() > 1 && names.outputs.back().empty()) names.outputs.pop_back();
  return names;
}

// Inputs omitted at the end are as if they were not there.
void drop_omitted(std::vector<ValueId>& inputs) {
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
}

}  // namespace

std::shared_ptr<const OpEntry> UnknownOps::entry(std::string_view domain, std::string_view type,
                                                 int64_t opset, const std::string& note) {
  auto& entry = entries_[{std::string(domain), std::string(type)}];
  if (entry == nullptr) {
    OpEntry made;
    made.domain = domain;
    made.type = type;
    made.since_version = static_cast<int>(opset);
    made.max_inputs = made.max_outputs = OpEntry::kVariadic;
    made.infer = infer_nothing;
    made.note = note;
    entry = std::make_shared<const OpEntry>(std::move(made));
  }
  return entry;
}

Result<int64_t> NodeReader::opset_of(const NodeRecord& node) const {
  const auto& opsets = node.opsets != nullptr ? *node.opsets : opsets_;
  const auto found = std::ranges::find_if(opsets, [&](const OpsetRecord& opset) {
    return opset.domain == node.domain || (node.domain.empty() && opset.domain == "ai.onnx");
  });
  if (found == opsets.end()) {
    // Of other domains only names matter.
    if (!node.domain.empty()) return int64_t{1};
    return Error{ErrorCode::kInvalid, "no opset of the default domain is imported", place_of(node)};
  }
  if (node.domain.empty() && (found->version < kOldestOpset || found->version > kNewestOpset)) {
    return Error{ErrorCode::kUnsupported,
                 "opset " + std::to_string(found->version) + " is not one of " +
                     std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset),
                 place_of(node)};
  }
  return std::clamp<int64_t>(found->version, 0, INT32_MAX);
}

TensorType NodeReader::declared_type(std::string_view name, const std::vector<ValueId>& inputs,
                                     bool& guessed) {
  guessed = false;
  if (const auto found = declared_.find(name); found != declared_.end()) {
    if (auto type = tensor_type_of(*found->second); type.ok()) return *std::move(type);
  }
  guessed = true;
  const auto floating = std::ranges::find_if(
      inputs, [&](ValueId id) { return id != kNoValue && is_floating(builder_.type(id).dtype); });
  return TensorType::unranked(floating == inputs.end() ? DType::kF32
                                                       : builder_.type(*floating).dtype);
}

std::vector<ValueId> NodeReader::add_unknown(const NodeRecord& node, std::vector<ValueId> inputs,
                                             Attributes attributes, int64_t opset,
                                             const std::string& note) {
  GraphBuilder::Names names = names_of(node);
  std::vector<TensorType> types;
  std::vector<bool> guessed(names.outputs.size());
  for (size_t i = 0; i < names.outputs.size(); ++i) {
    bool guess = false;
    types.push_back(declared_type(names.outputs[i], inputs, guess));
    guessed[i] = guess;
  }
  std::vector<ValueId> ids =
      builder_.add_unknown(unknown_.entry(node.domain, node.type, opset, note), std::move(inputs),
                           std::move(types), std::move(attributes), std::move(names));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (guessed[i]) guessed_.insert(ids[i]);
  }
  return ids;
}

Result<std::vector<ValueId>> NodeReader::add(const NodeRecord& node, std::vector<ValueId> inputs,
                                             Attributes attributes) {
  if (node.outputs.empty()) {
    return Error{ErrorCode::kInvalid, "it has no outputs", place_of(node)};
  }
  ASSAY_ASSIGN(const int64_t opset, opset_of(node));
  if (node.domain.empty()) {
    const auto out = std::ranges::find(kOutOfScope, node.type, &OutOfScope::type);
    if (out != kOutOfScope.end()) {
      return Error{ErrorCode::kUnsupported, std::string(out->what) + " are out of scope",
                   place_of(node)};
    }
  }
  drop_omitted(inputs);
  const bool replaced = node.domain.empty() && (node.type == "Upsample" || node.type == "Scatter");
  const OpEntry* op = op_table().find(node.domain, node.type);
  if (op == nullptr && !replaced) {
    return add_unknown(node, std::move(inputs), std::move(attributes), opset,
                       "the operator is not known");
  }
  const bool guessed =
      std::ranges::any_of(inputs, [&](ValueId id) { return guessed_.contains(id); });
  auto added = node.domain.empty() ? add_upgraded({builder_, std::string(node.type), opset, inputs,
                                                   attributes, names_of(node)})
                                   : builder_.try_add(*op, inputs, attributes, names_of(node));
  if (added.ok() || !guessed) return added;
  return add_unknown(node, std::move(inputs), std::move(attributes), opset,
                     "the type of its input is not known");
}

}  // namespace assay::onnx
