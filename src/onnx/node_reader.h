// SPDX-License-Identifier: Apache-2.0
//
// One node of a file into a graph: its operator found and upgraded, or kept as unknown.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "onnx/records.h"

namespace assay::onnx {

// The entries of operators that the table does not have, one for each, shared by all graphs of one
// model.
class UnknownOps {
 public:
  std::shared_ptr<const OpEntry> entry(std::string_view domain, std::string_view type,
                                       int64_t opset, const std::string& note);

 private:
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const OpEntry>> entries_;
};

class NodeReader {
 public:
  // `declared` are the types that the file gives to values, by name.
  NodeReader(GraphBuilder& builder, const std::vector<OpsetRecord>& opsets, UnknownOps& unknown,
             const std::unordered_map<std::string_view, const ValueRecord*>& declared)
      : builder_(builder), opsets_(opsets), unknown_(unknown), declared_(declared) {}

  // `inputs` are resolved, and captured values appended to them.
  Result<std::vector<ValueId>> add(const NodeRecord& node, std::vector<ValueId> inputs,
                                   Attributes attributes);

 private:
  Result<int64_t> opset_of(const NodeRecord& node) const;
  std::vector<ValueId> add_unknown(const NodeRecord& node, std::vector<ValueId> inputs,
                                   Attributes attributes, int64_t opset, const std::string& note);
  TensorType declared_type(std::string_view name, const std::vector<ValueId>& inputs,
                           bool& guessed);

  GraphBuilder& builder_;
  const std::vector<OpsetRecord>& opsets_;
  UnknownOps& unknown_;
  const std::unordered_map<std::string_view, const ValueRecord*>& declared_;
  std::unordered_set<ValueId> guessed_;  // values whose element type nobody has said
};

}  // namespace assay::onnx
