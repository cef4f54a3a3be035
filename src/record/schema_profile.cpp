// SPDX-License-Identifier: Apache-2.0
//
// Rows of `assay profile`: counts taken on the graph; nothing runs.
#include "record/schema_tables.h"

namespace assay::schema_tables {
namespace {

using enum FieldType;

Field flops(std::string name, std::string doc) {
  return row(std::move(name), kNumber, "flops", std::move(doc));
}

RowSchema total() {
  return {
      "profile",
      "",
      "one graph: what it computes and moves, counted and not run",
      {text("model", "name or file"),
       text("variant", "size of the model"),
       count("batch", "items a call"),
       text("precision", "type of the activations"),
       count("parameters", "trained numbers"),
       hidden(bytes("parameter_bytes", "what they occupy")),
       row("macs", kNumber, "count", "multiply-adds"),
       flops("flops", "floating-point operations; a multiply-add is two"),
       bytes("read_bytes", "tensors read, each once a node"),
       bytes("write_bytes", "tensors written"),
       row("intensity_flop_per_byte", kNumber, "flop_per_byte",
           "flops over bytes read and written"),
       bytes("activation_bytes", "sum of all intermediate tensors"),
       bytes("peak_bytes", "largest sum of what is alive at once"),
       hidden(bytes("peak_parameter_bytes", "of that: parameters")),
       hidden(bytes("peak_state_bytes", "of that: states")),
       hidden(bytes("peak_constant_bytes", "of that: constants")),
       hidden(bytes("peak_input_bytes", "of that: inputs")),
       hidden(bytes("peak_activation_bytes", "of that: intermediate tensors")),
       hidden(bytes("peak_workspace_bytes", "of that: kernels' own")),
       hidden(text("peak_node", "where the memory is largest")),
       hidden(bytes("memory_bytes", "with --memory: what was given")),
       count("largest_batch", "with --memory: items a call whose peak fits"),
       count("nodes", "operators"),
       hidden(count("uncounted_nodes", "of unknown operators or shapes, which cost nothing here")),
       hidden(text("uncounted", "those by operator, with the first node of each")),
       flops("backward_flops", "with --train: of the backward pass"),
       bytes("optimizer_bytes", "with --train: state of the optimiser"),
       bytes("saved_bytes", "with --train: activations kept for the backward pass"),
       hidden(bytes("gradient_bytes", "with --train: gradients")),
       row("low_precision_flops_share", kNumber, "share",
           "with --precision: share of flops in the low precision")}};
}

RowSchema nodes() {
  return {
      "profile",
      "nodes",
      "with --per-node: one operator of the graph, in order of execution",
      {text("name", "of the node"), text("op_type", "operator"),
       row("output_shape", kList, "", "of its first output"),
       text("output_type", "type of its first output"), count("parameters", "it uses"),
       row("macs", kNumber, "count", "multiply-adds"), flops("flops", "floating-point operations"),
       bytes("read_bytes", "tensors read"), bytes("write_bytes", "tensors written"),
       row("intensity_flop_per_byte", kNumber, "flop_per_byte",
           "flops over bytes read and written"),
       row("flops_share", kNumber, "share", "of the whole graph")}};
}

RowSchema exported() {
  return {"export",
          "",
          "the file that was written",
          {text("file", "path"), text("model", "what it holds"), bytes("bytes", "of the file"),
           bytes("data_bytes", "of FILE.data beside it, where there is one"),
           count("parameters", "trained numbers"), count("nodes", "operators")}};
}

RowSchema outputs() {
  return {"run",
          "",
          "one output of the graph",
          {text("name", "of the output"), text("type", "of its elements"),
           row("shape", kList, "", "its sizes"), text("file", "where it was written")}};
}

}  // namespace

std::vector<RowSchema> profiles() { return {total(), nodes(), exported(), outputs()}; }

}  // namespace assay::schema_tables
