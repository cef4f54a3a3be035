// SPDX-License-Identifier: Apache-2.0
//
// Rows of commands that measure nothing.
#include "record/schema_tables.h"

namespace assay::schema_tables {
namespace {

using enum FieldType;

RowSchema list_all() {
  return {"list",
          "all",
          "one name of the catalogue, whatever it names",
          {text("kind", "workloads, models, datasets, engines ..."),
           text("name", "name for the command line"), text("doc", "what it is")}};
}

RowSchema list_workloads() {
  return {"list",
          "workloads",
          "a variant of a workload; status is skipped where its data are not here",
          {text("name", "name for the command line"), text("variant", "for --variant"),
           text("domain", "vision, language ..."), text("suite", "benchmark suite it re-creates"),
           text("model", "network"), text("dataset", "data it learns"),
           text("metric", "quality metric"), row("target", kNumber, "", "quality to reach"),
           hidden(row("variants", kList, "", "names of all its sizes"))}};
}

RowSchema list_models() {
  return {"list",
          "models",
          "a network of Assay",
          {text("name", "name for the command line"), text("family", "kind of network"),
           row("variants", kList, "", "names of its sizes"),
           count("parameters", "trained numbers, of the first variant"),
           text("doc", "what it is and where it comes from")}};
}

RowSchema list_datasets() {
  return {"list",
          "datasets",
          "a data set",
          {text("name", "name for the command line"), count("items", "examples, all splits"),
           text("license", "terms of the data"), text("package", "where it is fetched from"),
           row("prepared", kBoolean, "", "whether it is on this machine")}};
}

RowSchema list_engines() {
  return {"list",
          "engines",
          "a framework that executes graphs",
          {text("name", "name for --engine"), text("version", "of the framework"),
           row("devices", kList, "", "what it can run on"),
           row("precisions", kList, "", "what it can compute in"),
           row("trains", kBoolean, "", "whether it can train"),
           hidden(text("path", "of the shared object"))}};
}

RowSchema list_operators() {
  return {"list",
          "operators",
          "an operator of the table, with ONNX's semantics; its shapes are always inferred",
          {text("name", "of the operator"), text("domain", "empty: ONNX's default one"),
           count("since_version", "of ONNX, whose semantics it has"),
           row("view", kBoolean, "", "whether it only changes the shape and moves nothing"),
           row("cost", kBoolean, "", "whether it has a formula beyond the bytes of its operands"),
           row("reference", kBoolean, "", "whether the reference engine computes it"),
           text("doc", "what is special about it")}};
}

RowSchema list_texts(const std::string& kind, const std::string& doc) {
  return {"list",
          kind,
          doc,
          {text("name", "name for the command line"), text("doc", "what it is"),
           hidden(text("path", "of the text file"))}};
}

RowSchema environment() {
  return {"env",
          "",
          "the machine and its software, as kept with every record",
          {text("cpu_model", "processor"),
           count("sockets", "processor packages"),
           count("cores", "physical cores this process may use"),
           count("threads", "hardware threads this process may use"),
           count("numa_nodes", "memory nodes"),
           row("isa", kList, "", "instruction set extensions that matter here"),
           row("caches", kList, "", "caches: level, kind, bytes, sharing"),
           row("memory_bytes", kInteger, "bytes", "main memory"),
           row("gpus", kList, "", "accelerators: name, memory, driver"),
           text("governor", "frequency governor"),
           text("turbo", "whether turbo is on"),
           text("virtualised", "hypervisor, or none"),
           text("container", "container, or none"),
           text("os", "distribution"),
           text("kernel", "operating system kernel"),
           text("libc", "C library"),
           text("compiler", "that built Assay"),
           text("assay_version", "version of Assay"),
           text("git_commit", "of Assay"),
           row("engines", kList, "", "engines found: name, version"),
           text("energy", "sources of energy readings, or why there are none"),
           hidden(row("details", kObject, "", "everything else that is recorded"))}};
}

RowSchema doctor() {
  return {
      "doctor",
      "",
      "one thing Assay needs; status failed where it is missing, skipped where it is optional",
      {text("check", "what was looked for"), text("detail", "what was found"),
       text("needed_for", "what works only with it"), text("remedy", "the command that mends it")}};
}

RowSchema data() {
  return {
      "data",
      "",
      "a data set on this machine",
      {text("name", "name for the command line"),
       row("prepared", kBoolean, "", "whether it is ready for use"),
       count("items", "examples, all splits"), bytes("size_bytes", "on disk"),
       text("license", "terms of the data"), text("package", "where it is fetched from"),
       hidden(text("checksum", "SHA-256 of the converted data")), text("path", "where it lies")}};
}

RowSchema plan(const std::string& command) {
  return {command,
          "plan",
          "with --dry-run: a case that would be measured",
          {row("flops", kNumber, "flops", "of a call, or of the forward pass of a training step"),
           bytes("bytes", "tensors read and written by it, each once a node"),
           row("expected_time_s", kNumber, "s", "of the case: what it took before")}};
}

RowSchema schema() {
  return {"schema",
          "",
          "a field of a command's rows",
          {text("command", "whose rows"), text("kind", "form of row, where there are several"),
           text("field", "name"), text("type", "text, integer, number, boolean, list or object"),
           text("unit", "of the value; it also ends the name"),
           row("nullable", kBoolean, "", "whether it may be null, with its reason in missing"),
           text("doc", "meaning")}};
}

RowSchema report() {
  return {"report",
          "",
          "the file written",
          {text("path", "the HTML file"), bytes("size_bytes", "of the file"),
           count("records", "records shown"), count("failures", "of them without a result"),
           text("plots", "interactive, or static with the reason")}};
}

}  // namespace

std::vector<RowSchema> catalogue() {
  return {list_all(),
          list_workloads(),
          list_models(),
          list_datasets(),
          list_engines(),
          list_operators(),
          list_texts("kernels", "a list of kernels"),
          list_texts("studies", "a study"),
          list_texts("devices", "a device sheet"),
          environment(),
          schema(),
          report(),
          data(),
          doctor(),
          plan("infer"),
          plan("train"),
          plan("sweep"),
          plan("study")};
}

}  // namespace assay::schema_tables
