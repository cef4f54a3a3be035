// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/rows.h"
#include "data/dataset.h"
#include "engine/plugin.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

Json check_row(std::string check, std::string detail, std::string needed_for) {
  return {{"check", std::move(check)},
          {"detail", std::move(detail)},
          {"needed_for", std::move(needed_for)},
          {"remedy", ""}};
}

Json bad(Json row, bool optional, const std::string& reason, const std::string& remedy) {
  row["status"] = optional ? "skipped" : "failed";
  row["reason"] = reason;
  row["remedy"] = remedy;
  return row;
}

struct Package {
  std::string name;
  std::string section;
};

// tools/packages.txt: PACKAGE [SECTION] [# what for].
std::vector<Package> listed_packages() {
  std::vector<Package> packages;
  const Result<std::string> text = read_file(share_folder() / "tools" / "packages.txt");
  if (!text.ok()) return packages;
  for (const std::string& line : split(*text, '\n')) {
    std::vector<std::string> words;
    for (const std::string& word : split(line.substr(0, line.find('#')), ' '))
      if (!trim(word).empty()) words.emplace_back(trim(word));
    if (!words.empty()) packages.push_back({words[0], words.size() > 1 ? words[1] : "build"});
  }
  return packages;
}

// The installed ones of `packages`, as dpkg says; empty where there is no dpkg.
std::set<std::string> installed(const std::vector<Package>& packages) {
  std::vector<std::string> command{"dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"};
  for (const Package& package : packages) command.push_back(package.name);
  // dpkg-query fails when one is unknown and still prints the others; the shell hides the code.
  std::string script = "\"$@\" 2>/dev/null; true";
  std::vector<std::string> arguments{"sh", "-c", script, "sh"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Result<std::string> output =
      run_process({.arguments = arguments, .environment = {}, .working_directory = ""},
                  std::chrono::seconds(10));
  std::set<std::string> names;
  if (!output.ok()) return names;
  for (const std::string& line : split(*output, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() == 2 && words[1] == "installed") names.insert(words[0]);
  }
  return names;
}

void check_packages(Json& rows) {
  const std::vector<Package> packages = listed_packages();
  if (packages.empty()) return;  // an installed program needs none of them
  const std::set<std::string> present = installed(packages);
  for (const char* section : {"build", "test", "lint"}) {
    std::vector<std::string> missing;
    int64_t count = 0;
    for (const Package& package : packages) {
      if (package.section != section) continue;
      ++count;
      if (!present.contains(package.name)) missing.push_back(package.name);
    }
    Json row = check_row(
        fmt::format("Debian packages ({})", section),
        fmt::format("{} of {} installed", count - static_cast<int64_t>(missing.size()), count),
        std::string(section) == "build"  ? "building and running"
        : std::string(section) == "test" ? "./dev test"
                                         : "./dev lint");
    if (!missing.empty())
      row = bad(std::move(row), std::string(section) != "build", "missing: " + join(missing, ", "),
                "apt-get install " + join(missing, " "));
    rows.push_back(std::move(row));
  }
}

// tools/wheels.tsv: SECTION NAME VERSION FOLDER ...; a folder appears whole or not at all.
void check_wheels(Json& rows) {
  const Result<std::string> text = read_file(share_folder() / "tools" / "wheels.tsv");
  if (!text.ok()) return;
  for (const std::string& line : split(*text, '\n')) {
    const std::vector<std::string> columns = split(line, '\t');
    if (line.starts_with("#") || columns.size() < 4 || columns[0] == "cuda") continue;
    const bool optional = columns[0] != "base";
    Json row = check_row(fmt::format("wheel {} {}", columns[1], columns[2]), "",
                         optional ? "./dev test" : columns[3]);
    const fs::path folder = assay_home() / columns[3];
    std::error_code ignored;
    if (fs::is_directory(folder, ignored))
      row["detail"] = "in " + folder.string();
    else
      row = bad(std::move(row), optional, "not in " + folder.string(),
                optional ? "./dev test" : "./dev setup");
    rows.push_back(std::move(row));
  }
}

void check_engines(Json& rows) {
  for (const EngineInfo& engine : available_engines()) {
    if (engine.available) {
      rows.push_back(check_row("engine " + engine.name,
                               engine.version.empty() ? "built in" : "version " + engine.version,
                               "--engine " + engine.name));
      continue;
    }
    rows.push_back(bad(check_row("engine " + engine.name, "", "--engine " + engine.name),
                       engine.name != "torch", engine.reason, "./dev setup && ./dev build"));
  }
}

void check_data(Json& rows) {
  for (const DatasetStatus& set : DatasetCatalogue(DataRoots::from_environment()).list()) {
    Json row = check_row("data set " + set.name, set.path, "workloads that use " + set.name);
    if (set.state != DatasetState::kReady) row = bad(std::move(row), true, set.reason, set.hint);
    rows.push_back(std::move(row));
  }
}

void check_home(Json& rows) {
  const fs::path home = assay_home();
  Json row = check_row("ASSAY_HOME", home.string(), "engines and data");
  std::error_code error;
  fs::create_directories(home, error);
  if (error || access(home.c_str(), W_OK) != 0) {
    row = bad(std::move(row), false, "it cannot be written", "set ASSAY_HOME to a folder of yours");
  } else {
    const fs::space_info space = fs::space(home, error);
    row["detail"] = fmt::format("{}, {} free", home.string(),
                                human_bytes({static_cast<int64_t>(space.available)}));
  }
  rows.push_back(std::move(row));
}

int run_doctor(const Invocation& invocation) {
  Json rows = Json::array();
  check_home(rows);
  check_packages(rows);
  check_wheels(rows);
  check_engines(rows);
  check_data(rows);
  print_rows(invocation, "doctor", "", rows);
  const bool healthy = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.value("status", "measured") == "failed";
  });
  return healthy ? kExitDone : kExitCaseFailed;
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .summary = "what is missing on this machine, with the command that mends it",
          .description =
              "Status failed is a thing that every use needs, skipped one that only some "
              "uses need. Exits with 1 when something needed is missing.",
          .positionals = {},
          .options = {format_option()},
          .conflicts = {},
          .examples = {},
          .run = run_doctor};
}

}  // namespace assay::cli
