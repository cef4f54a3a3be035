// SPDX-License-Identifier: Apache-2.0
//
// A Graph and its subgraphs as protobuf messages.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "base/random.h"
#include "graph/graph.h"

namespace assay::onnx {

// Where the bytes of a tensor go that are not to stand in the message itself.
class ExternalSink {
 public:
  virtual ~ExternalSink() = default;
  virtual std::string_view location() const = 0;
  virtual Result<int64_t> append(const Tensor& tensor) = 0;  // its offset
};

class GraphWriter {
 public:
  // `external` may be null: all bytes stand in the message.
  GraphWriter(uint64_t seed, ExternalSink* external) : key_(seed), external_(external) {}

  // The fields of a GraphProto.
  Result<void> graph(const Graph& graph, protozero::pbf_writer& out);
  // What the graph's nodes use beside the default domain: domain to version.
  const std::map<std::string, int>& domains() const { return domains_; }

 private:
  using Names = std::vector<std::string>;  // by ValueId

  std::string unique(const std::string& wanted);
  Result<void> body(const Graph& graph, const std::vector<std::string>& outer,
                    protozero::pbf_writer& out);
  Result<void> contents(const Graph& graph, const Names& names, size_t inputs,
                        protozero::pbf_writer& out);
  Result<void> initializers(const Graph& graph, const Names& names, protozero::pbf_writer& out);
  Result<void> initializer(const Graph& graph, ValueId id, const Initializer& initializer,
                           const Names& names, protozero::pbf_writer& out);
  Result<void> tensor(const Tensor& tensor, const std::string& name, protozero::pbf_writer& out);
  Result<void> node(const Graph& graph, const Node& node, const Names& names,
                    protozero::pbf_writer& out);
  Result<void> attribute(const std::string& name, const Attribute& value,
                         const std::vector<std::string>& captured, protozero::pbf_writer& out);

  RandomKey key_;
  ExternalSink* external_;
  std::map<std::string, int> domains_;
  std::unordered_set<std::string> used_;
};

}  // namespace assay::onnx
