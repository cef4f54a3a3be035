// SPDX-License-Identifier: Apache-2.0
//
// What the networks compute, move and need: counted on the graph, not measured.
#include <algorithm>

#include "report/pages.h"
#include "report/table.h"

namespace assay::pages {
namespace {

std::string graph_of(const Record& record) {
  std::string text =
      subject_of(record.measured_case) + ", " + record.measured_case.get("precision");
  if (const auto batch = used_number(record, "batch")) {
    text += ", batch " + std::to_string(static_cast<int64_t>(*batch));
  }
  return text;
}

// One row a graph: its subject, these fields, its case.
HtmlTable table_of(const ReportData& data, std::string caption, std::vector<std::string> columns,
                   const std::vector<std::string>& fields) {
  columns.insert(columns.begin(), "graph");
  columns.push_back("case");
  HtmlTable table{std::move(caption), std::move(columns), {}};
  for (const Record* record : data.profiles) {
    const RecordRow row(*record);
    std::vector<HtmlCell> cells{text_cell(graph_of(*record))};
    for (const std::string& field : fields) cells.push_back(row.cell(field));
    cells.push_back(case_cell(*record));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string tag(const Metric& metric, const std::string& name) {
  const auto found = metric.tags.find(name);
  return found == metric.tags.end() ? "" : found->second;
}

const Metric* of_same_node(const Record& record, const Metric& metric, std::string_view name) {
  const auto found = std::find_if(
      record.metrics.begin(), record.metrics.end(),
      [&](const Metric& other) { return other.name == name && other.tags == metric.tags; });
  return found == record.metrics.end() ? nullptr : &*found;
}

HtmlTable heaviest_of(const Record& record) {
  HtmlTable table{"Heaviest nodes: " + graph_of(record),
                  {"node", "operator", "output", "FLOPs", "of all", "bytes moved"},
                  {}};
  const Metric* total = record.metric("flops");
  for (const Metric& metric : record.metrics) {
    if (metric.name != "node_flops") continue;
    const Metric* bytes = of_same_node(record, metric, "node_bytes");
    const bool has_share = total != nullptr && total->value > 0;
    std::vector<HtmlCell> cells{
        text_cell(tag(metric, "node")),
        text_cell(tag(metric, "op_type")),
        text_cell(tag(metric, "output")),
        number_cell("node_flops", unit_field("flops"), metric.value),
        number_cell("node_share", unit_field("share"),
                    has_share ? std::optional(metric.value / total->value) : std::nullopt,
                    "the graph computes nothing"),
        number_cell("node_bytes", unit_field("bytes"),
                    bytes == nullptr ? std::nullopt : std::optional(bytes->value), "not recorded")};
    for (HtmlCell& cell : cells) cell.record = record.id;
    table.rows.push_back(std::move(cells));
  }
  return table;
}

bool applies(const ReportData& data) { return !data.profiles.empty(); }

void write(const ReportData& data, Html& html) {
  html.element("p",
               "Counted on the graph of inference; nothing ran. A multiply-add is one MAC and two "
               "FLOPs. Traffic is unfused: each tensor once for every operator that reads or "
               "writes it. Memory is what is alive at the worst operator.");
  write_table(html, table_of(data, "What the networks compute and move",
                             {"parameters", "MACs", "FLOPs", "read", "written", "intensity"},
                             {"parameters", "macs", "flops", "read_bytes", "write_bytes",
                              "intensity_flop_per_byte"}));
  write_table(html, table_of(data, "Memory by purpose, at the worst operator",
                             {"peak", "parameters", "states", "constants", "inputs", "activations",
                              "workspace", "at"},
                             {"peak_bytes", "peak_parameter_bytes", "peak_state_bytes",
                              "peak_constant_bytes", "peak_input_bytes", "peak_activation_bytes",
                              "peak_workspace_bytes", "peak_node"}));
  for (const Record* record : data.profiles) {
    const HtmlTable table = heaviest_of(*record);
    if (!table.rows.empty()) write_table(html, table);
  }
}

}  // namespace

Page counts() { return {"counts", "What the networks need", applies, write}; }

}  // namespace assay::pages
