// SPDX-License-Identifier: Apache-2.0
#include "cli/run_assay.h"

#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "record/store.h"

namespace assay::cli {
namespace {

constexpr std::chrono::seconds kPatience{120};

std::string program() { return std::string(ASSAY_BINARY_DIR) + "/bin/assay"; }

std::map<std::string, std::string> test_environment(std::map<std::string, std::string> added) {
  added.try_emplace("ASSAY_HOME", std::string(ASSAY_BINARY_DIR) + "/test-home");
  added.try_emplace("ASSAY_SHARE", ASSAY_SOURCE_DIR);
  added.try_emplace("NO_COLOR", "1");
  return added;
}

ChildProcess start(const std::filesystem::path& folder, std::vector<std::string> command,
                   const std::map<std::string, std::string>& environment) {
  auto child = ChildProcess::start({.arguments = std::move(command),
                                    .environment = test_environment(environment),
                                    .working_directory = folder.string()});
  if (!child.ok()) throw std::runtime_error(child.error().text());
  child->close_stdin();
  return std::move(*child);
}

Finished finish_child(ChildProcess& child) {
  Finished finished;
  while (true) {
    const auto line = child.read_line(kPatience);
    if (!line.ok()) {
      ADD_FAILURE() << "assay does not end: " << line.error().text();
      child.kill_group(SIGKILL);
      break;
    }
    if (!line->has_value()) break;
    finished.out += **line + "\n";
  }
  const auto status = child.wait(kPatience);
  if (status.ok()) {
    finished.code = status->code;
    finished.signal = status->signal;
  } else {
    ADD_FAILURE() << "assay does not end: " << status.error().text();
  }
  finished.err = child.stderr_tail();
  return finished;
}

std::vector<std::string> with_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program());
  return arguments;
}

}  // namespace

RunningAssay::RunningAssay(const std::filesystem::path& folder, std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment)
    : child_(start(folder, with_program(std::move(arguments)), environment)) {}

void RunningAssay::signal(int number) const { ::kill(pid(), number); }

pid_t RunningAssay::worker() const {
  const std::string file =
      "/proc/" + std::to_string(pid()) + "/task/" + std::to_string(pid()) + "/children";
  pid_t found = 0;
  eventually([&] {
    std::ifstream children(file);
    return static_cast<bool>(children >> found) || !process_lives(pid());
  });
  return found;
}

Finished RunningAssay::finish() { return finish_child(child_); }

Finished run_assay(const std::filesystem::path& folder, std::vector<std::string> arguments,
                   const std::map<std::string, std::string>& environment) {
  return RunningAssay(folder, std::move(arguments), environment).finish();
}

Finished run_shell(const std::filesystem::path& folder, const std::string& script) {
  ChildProcess child = start(folder, {"bash", "-c", script}, {{"ASSAY", program()}});
  return finish_child(child);
}

std::vector<Record> records_of(const std::filesystem::path& database) {
  const auto store = Store::open_read_only(database);
  if (!store.ok()) return {};
  auto records = store->query({});
  return records.ok() ? std::move(*records) : std::vector<Record>();
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2400; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  return false;
}

// A zombie has ended.
bool process_lives(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("State:")) return line.find('Z') == std::string::npos;
  return false;
}

}  // namespace assay::cli
