// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/rows.h"

namespace assay::cli {
namespace {

// Field of the row, and its name in the environment.
constexpr std::array<std::pair<const char*, const char*>, 12> kFields{{
    {"cpu_model", "cpu_model"},
    {"sockets", "sockets"},
    {"cores", "cores"},
    {"threads", "threads_allowed"},
    {"isa", "isa"},
    {"caches", "caches"},
    {"memory_bytes", "memory_bytes"},
    {"gpus", "gpus"},
    {"governor", "governor"},
    {"container", "container"},
    {"kernel", "kernel"},
    {"libc", "libc"},
}};

void put(Json& row, const char* field, const Json& object, const char* name) {
  if (object.contains(name) && !object[name].is_null()) {
    row[field] = object[name];
    return;
  }
  const Json& missing = object.contains("missing") ? object["missing"] : Json::object();
  row["missing"][field] = missing.contains(name) ? missing[name] : Json("not known");
}

void put_text_of_boolean(Json& row, const char* field, const Json& object, const char* name) {
  put(row, field, object, name);
  if (row.contains(field) && row[field].is_boolean())
    row[field] = row[field].get<bool>() ? "yes" : "no";
}

Json environment_row(const Json& environment) {
  Json row = Json::object();
  for (const auto& [field, name] : kFields) put(row, field, environment, name);
  put(row, "virtualised", environment, "hypervisor");
  put(row, "os", environment, "distribution");
  put_text_of_boolean(row, "turbo", environment, "turbo");
  if (environment.contains("numa_nodes") && environment["numa_nodes"].is_array())
    row["numa_nodes"] = environment["numa_nodes"].size();
  else
    put(row, "numa_nodes", environment, "numa_nodes");
  const Json& build = environment["build"];
  put(row, "compiler", build, "compiler");
  put(row, "assay_version", build, "version");
  put(row, "git_commit", build, "commit");
  row["engines"] = environment["engines"];
  put(row, "energy", environment, "energy");
  row["details"] = environment;
  return row;
}

int run_env(const Invocation& invocation) {
  const Json environment = environment_json();
  print_rows(invocation, "env", "", Json::array({environment_row(environment)}));
  return kExitDone;
}

}  // namespace

Command env_command() {
  return {.name = "env",
          .summary = "the machine and its software, as recorded with every result",
          .description = "",
          .positionals = {},
          .options = {format_option()},
          .conflicts = {},
          .examples = {"assay env --format json"},
          .run = run_env};
}

}  // namespace assay::cli
