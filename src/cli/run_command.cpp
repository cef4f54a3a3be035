// SPDX-License-Identifier: Apache-2.0
//
// `assay run`: one inference of an ONNX file, tensors in and out as .npy.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "data/npy.h"
#include "engine/plugin.h"
#include "graph/interpret.h"
#include "graph/passes/passes.h"
#include "onnx/read.h"
#include "study/subject.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

using Tensors = std::map<std::string, Tensor, std::less<>>;

Tensors given_inputs(const Invocation& invocation) {
  Tensors inputs;
  const auto given = invocation.options.find("--input");
  if (given == invocation.options.end()) return inputs;
  for (const std::string& text : given->second) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError(fmt::format("'{}' is not NAME=FILE.npy", text), "--input");
    const std::string file = text.substr(equals + 1);
    const std::string bytes = value_or_fail(read_file(file));
    inputs[text.substr(0, equals)] = value_or_fail(parse_npy(bytes, file));
  }
  return inputs;
}

// The file's graph for inputs of these shapes.
Graph graph_for(const std::string& file, const Tensors& inputs) {
  OnnxOptions options;
  for (const auto& [name, tensor] : inputs) options.input_shapes[name] = Shape::of(tensor.shape());
  return value_or_fail(read_onnx(file, options));
}

// In the graph's order.
std::vector<Tensor> ordered_inputs(const Graph& graph, const Tensors& inputs) {
  std::vector<Tensor> ordered;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    const auto given = inputs.find(value.name);
    if (given == inputs.end())
      throw UserError(
          fmt::format("input '{}' of type {} is missing", value.name, value.type.text()), "--input",
          fmt::format("--input {}=FILE.npy", value.name));
    if (given->second.dtype() != value.type.dtype)
      throw UserError(fmt::format("input '{}' is {}, the graph wants {}", value.name,
                                  given->second.type().text(), value.type.text()),
                      "--input");
    ordered.push_back(given->second);
  }
  return ordered;
}

std::vector<TensorView> views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> all;
  for (const Tensor& tensor : tensors) all.push_back(tensor.view());
  return all;
}

// Buffers for outputs whose shapes are known beforehand, as a compiled program needs them.
std::vector<Tensor> output_buffers(const Graph& graph, const std::string& engine) {
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs()) {
    const Value& value = graph.value(id);
    if (!value.type.known())
      throw UserError(fmt::format("{} needs to know the shape of output '{}' before running: {}",
                                  engine, value.name, value.type.text()),
                      graph.name(), "--engine reference finds it out");
    outputs.push_back(Tensor::zeros(value.type.dtype, value.type.shape->sizes()));
  }
  return outputs;
}

std::vector<Tensor> outputs_of(const Invocation& invocation, const Graph& graph,
                               const std::vector<Tensor>& inputs) {
  const std::string name = invocation.value_or("--engine", "torch");
  Plan plan;
  plan.device = value_or_fail(Device::parse(invocation.value_or("--device", "cpu")));
  plan.precision = value_or_fail(parse_precision(invocation.value_or("--precision", "f32")));
  plan.threads = static_cast<int>(invocation.integer("--threads").value_or(0));
  const EngineHandle engine = value_or_fail(load_engine(name));
  ok_or_fail(check_supported(*engine, graph, plan));
  if (name == "reference") return value_or_fail(interpret(graph, inputs));
  const auto program = value_or_fail(engine->compile(graph, plan, {}, RandomKey(0)));
  std::vector<Tensor> outputs = output_buffers(graph, name);
  ok_or_fail(program->run(views(inputs), views(outputs)));
  return outputs;
}

// A name of a value as the name of a file.
std::string file_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == '\0'; }, '_');
  if (name.starts_with('.')) name[0] = '_';
  return name + ".npy";
}

Json write_outputs(const Graph& graph, const std::vector<Tensor>& outputs, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError(error.message(), folder.string());
  Json rows = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.value(graph.outputs()[i]).name;
    const fs::path file = folder / file_name(name);
    ok_or_fail(write_file(file, npy_bytes(outputs[i])));
    rows.push_back({{"name", name},
                    {"type", dtype_name(outputs[i].dtype())},
                    {"shape", outputs[i].shape()},
                    {"file", file.string()}});
  }
  return rows;
}

int run_graph(const Invocation& invocation) {
  const Tensors inputs = given_inputs(invocation);
  const Graph graph = graph_for(invocation.positionals[0], inputs);
  const std::vector<Tensor> outputs = outputs_of(invocation, graph, ordered_inputs(graph, inputs));
  print_rows(invocation, "run", "",
             write_outputs(graph, outputs, invocation.value_or("--output", ".")));
  return kExitDone;
}

Option option(std::string name, OptionKind kind, std::string value_name, std::string doc,
              std::string fallback, std::optional<NumberRule> number = std::nullopt) {
  return {.name = std::move(name),
          .kind = kind,
          .value_name = std::move(value_name),
          .doc = std::move(doc),
          .default_text = std::move(fallback),
          .choices = {},
          .number = number};
}

}  // namespace

Command run_command() {
  return {
      .name = "run",
      .summary = "runs an ONNX file once, on any engine",
      .description =
          "Inputs and outputs are .npy files. Unknown dimensions of the file take "
          "the sizes of the inputs given.",
      .positionals = {{"FILE.onnx", "the graph and its weights"}},
      .options = {option("--input", OptionKind::kList, "NAME=FILE.npy", "value of an input", ""),
                  option("--output", OptionKind::kValue, "DIR",
                         "folder for NAME.npy of every output", "."),
                  option("--engine", OptionKind::kValue, "NAME", "who computes", "torch"),
                  option("--device", OptionKind::kValue, "NAME", "where", "cpu"),
                  option("--precision", OptionKind::kValue, "NAME", "precision policy", "f32"),
                  option("--threads", OptionKind::kValue, "N", "0: every core", "0",
                         rule_of_case_key("threads")),
                  format_option()},
      .conflicts = {},
      .examples = {"assay run net.onnx --input x=image.npy --output answers"},
      .run = run_graph};
}

}  // namespace assay::cli
