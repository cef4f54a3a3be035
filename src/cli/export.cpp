// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/network.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "graph/count.h"
#include "onnx/write.h"

namespace assay::cli {
namespace {

int run_export(const Invocation& invocation) {
  const std::string& file = invocation.positionals[1];
  OnnxWriteOptions options;
  options.seed = invocation.seed("--weights").value_or(0);
  const Network network = open_network(invocation, invocation.has("--batch"));
  ok_or_fail(write_onnx(network.graph, file, options));

  const GraphCount total = count_known(network.graph);
  std::error_code error;
  Json row{{"file", file},
           {"model", network.model},
           {"bytes", std::filesystem::file_size(file, error)},
           {"parameters", total.parameters},
           {"nodes", total.nodes}};
  const std::string data = file + ".data";
  if (std::filesystem::exists(data, error) && total.parameter_bytes > options.inline_limit)
    row["data_bytes"] = std::filesystem::file_size(data, error);
  else
    row["missing"]["data_bytes"] = "the weights are in the file itself";
  print_rows(invocation, "export", "", Json::array({std::move(row)}));
  return kExitDone;
}

}  // namespace

Command export_command() {
  std::vector<Option> options = network_options();
  options.push_back({.name = "--weights",
                     .kind = OptionKind::kValue,
                     .value_name = "SEED",
                     .doc = "draw the weights from this seed",
                     .default_text = "0",
                     .choices = {},
                     .number = any_seed()});
  options.push_back(format_option());
  return {.name = "export",
          .summary = "writes a network as a standard ONNX file",
          .description =
              "Inference at opset 21, with weights drawn from a seed (those of an ONNX file are "
              "kept). Without --batch the batch size stays open. Weights of more than 1 GiB go "
              "into FILE.onnx.data beside it.",
          .positionals = {{"NAME", "a model or a workload of 'assay list', or an ONNX file"},
                          {"FILE.onnx", "the file to write"}},
          .options = std::move(options),
          .conflicts = {},
          .examples = {"assay export resnet resnet.onnx --batch 8"},
          .run = run_export};
}

}  // namespace assay::cli
