// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/cases.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plan_rows.h"
#include "machine/version.h"
#include "record/row.h"

namespace assay::cli {
namespace {

constexpr double kNoTimeLimit = 1e9;  // seconds

// The command line without what may differ between the first run and its continuation.
std::string without_resume(const std::string& command_line) {
  std::string text;
  for (const std::string& word : split(command_line, ' '))
    if (word != "--resume") text += (text.empty() ? "" : " ") + word;
  return text;
}

Store open_store(const Invocation& invocation) {
  const std::filesystem::path file = invocation.value_or("--db", "assay.db");
  std::error_code ignored;
  if (invocation.has("--resume") && !std::filesystem::exists(file, ignored))
    throw UserError("there is nothing to resume: no such database", file.string(),
                    "leave --resume out to start");
  return value_or_fail(Store::open(file));
}

// "20261201T112833Z-4f2a": readable, and different for two commands of the same second.
std::string new_run_id(const Clock& clock, const std::string& command) {
  std::string stamp = iso8601(clock.unix_time());
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  const RandomKey key = RandomKey(static_cast<uint64_t>(clock.now().count())).derive(command);
  return fmt::format("{}-{:04x}", stamp, key.value() & 0xffff);
}

// The newest run of the same command line.
std::string run_to_resume(const Store& store, const std::string& command) {
  const std::vector<Run> runs = value_or_fail(store.runs());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->command == command) return run->run_id;
  throw UserError("there is nothing to resume: this command has not been run",
                  store.path().string(), "leave --resume out to start");
}

// Weights of trained workloads lie beside the database: "assay.db" has "assay.checkpoints/".
std::filesystem::path checkpoint_folder(const Store& store) {
  std::filesystem::path folder = std::filesystem::absolute(store.path());
  return folder.replace_extension(".checkpoints");
}

std::optional<Bytes> memory_limit(const Invocation& invocation) {
  const std::optional<int64_t> bytes = invocation.integer("--memory-limit");
  if (!bytes) return std::nullopt;
  return Bytes{*bytes};
}

}  // namespace

StoppingOptions stopping_options(const Invocation& invocation, StoppingOptions defaults) {
  StoppingOptions stopping = defaults;
  if (const std::optional<int64_t> repeat = invocation.integer("--repeat")) {
    stopping.min_samples = *repeat;
    stopping.max_samples = *repeat;
    stopping.min_time_s = 0;
    stopping.max_time_s = kNoTimeLimit;
    return stopping;
  }
  stopping.min_time_s = invocation.number("--min-time").value_or(stopping.min_time_s);
  stopping.max_time_s = invocation.number("--max-time").value_or(stopping.max_time_s);
  if (!invocation.has("--max-time"))
    stopping.max_time_s = std::max(stopping.max_time_s, stopping.min_time_s);
  stopping.max_noise = invocation.number("--max-noise").value_or(stopping.max_noise);
  if (stopping.max_time_s < stopping.min_time_s)
    throw UserError("--max-time is below --min-time", "--max-time");
  return stopping;
}

Session::Session(const Invocation& invocation, std::string command)
    : invocation_(invocation),
      command_(std::move(command)),
      format_(
          stdout_options(value_or_fail(parse_format(invocation.value_or("--format", "table"))))),
      store_(open_store(invocation)),
      progress_(clock_, stderr_is_terminal()) {
  const std::string line = without_resume(invocation.command_line);
  run_id_ = invocation.has("--resume") ? run_to_resume(store_, line) : new_run_id(clock_, line);
  environment_id_ = value_or_fail(store_.put_environment(environment_json()));
  ok_or_fail(store_.start_run({run_id_, line, clock_.unix_time()}));
}

SupervisorOptions Session::supervisor_options(const CaseGroup& group) {
  SupervisorOptions options;
  options.run_id = run_id_;
  options.environment_id = environment_id_;
  options.code_version = code_version();
  options.timeout_s = invocation_.number("--timeout").value_or(3600);
  options.memory_limit = memory_limit(invocation_);
  options.resume = invocation_.has("--resume");
  options.stopping = group.stopping;
  options.checkpoint_folder = checkpoint_folder(store_);
  options.checkpoint = invocation_.value_or("--checkpoint", "");
  options.mllog = invocation_.value_or("--mllog", "");
  options.organisation = invocation_.value_or("--organisation", kNoOrganisation);
  options.price_per_hour_usd = invocation_.number("--price");
  options.budget_s = group.budget_s;
  options.budget_name = group.part;
  if (!group.part.empty()) options.facts["part"] = group.part;
  options.wake_fd = interrupt_.fd();
  options.on_event = [this](const SupervisorEvent& event) { take(event); };
  return options;
}

void Session::take(const SupervisorEvent& event) {
  progress_.show(event);
  if (event.record == nullptr) return;
  records_.push_back(*event.record);
  if (format_.format != Format::kJsonl) return;
  const RowSchema& schema = *find_row_schema(command_);
  write_result(format_rows(schema, Json::array({row_of(*event.record, schema)}), format_));
  flush_results();
}

bool Session::run(const CaseGroup& group) {
  planned_ += group.cases.size();
  prepare_data(std::vector<Case>(group.cases.begin(), group.cases.end()));
  Supervisor supervisor(store_, clock_, supervisor_options(group));
  return !value_or_fail(supervisor.run(group.cases)).cancelled;
}

int Session::exit_code() const {
  const bool strict = invocation_.has("--strict");
  const bool failed = std::any_of(records_.begin(), records_.end(), [&](const Record& record) {
    return is_failure(record.status) ||
           (strict && (record.status == Status::kSkipped || record.status == Status::kUnsupported));
  });
  return failed ? kExitCaseFailed : kExitDone;
}

int Session::finish() {
  const RowSchema& schema = *find_row_schema(command_);
  if (format_.format != Format::kJsonl) {
    Json rows = Json::array();
    for (const Record& record : records_) rows.push_back(row_of(record, schema));
    write_result(format_rows(schema, rows, format_));
    flush_results();
  }
  const int signal = interrupt_.signal();
  if (signal == 0) return exit_code();
  std::fputs(fmt::format("interrupted: {} of {} cases are finished and kept in {}\n"
                         "hint: the same command with --resume continues\n",
                         records_.size(), planned_, store_.path().string())
                 .c_str(),
             stderr);
  return signal == SIGINT ? kExitInterrupted : 128 + signal;
}

int measure_cases(const Invocation& invocation, const std::string& command,
                  std::vector<Case> cases) {
  const StoppingOptions stopping = stopping_options(invocation);
  shuffle_cases(cases, invocation.seed("--order-seed").value_or(0));
  if (invocation.has("--dry-run")) return print_plan(invocation, cases, stopping);
  check_cases(cases);
  Session session(invocation, command);
  session.run({.cases = cases, .stopping = stopping});
  return session.finish();
}

}  // namespace assay::cli
