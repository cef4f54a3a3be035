// SPDX-License-Identifier: Apache-2.0
#include "study/worker_process.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWatchInterval{200};  // between looks at the worker's memory
constexpr milliseconds kCancelPatience{5000};
constexpr milliseconds kExitPatience{2000};

Nanoseconds nanoseconds(double seconds) {
  return std::chrono::duration_cast<Nanoseconds>(Seconds(std::min(seconds, 1e9)));
}

// The last non-empty line a dying worker wrote, short enough for a reason.
std::string last_words(const std::string& text) {
  constexpr size_t kLongest = 300;
  std::string last;
  for (const std::string& line : split(text, '\n'))
    if (!trim(line).empty()) last = std::string(trim(line));
  if (last.size() > kLongest) last.resize(kLongest);
  return last;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& arguments,
                                           const std::map<std::string, std::string>& environment,
                                           std::optional<Bytes> memory) {
  ASSAY_ASSIGN(ChildProcess child,
               ChildProcess::start(
                   {.arguments = arguments, .environment = environment, .working_directory = ""}));
  std::optional<MemoryGroup> group;
  if (memory) {
    Result<MemoryGroup> made = MemoryGroup::create(*memory);
    if (made.ok() && made->add(child.pid()).ok()) group = std::move(*made);
  }
  return WorkerProcess(std::move(child), std::move(group));
}

WorkerProcess::~WorkerProcess() {
  if (!child_) return;
  child_->close_stdin();
  if (!child_->wait(kExitPatience).ok()) child_->kill_group(SIGKILL);
}

Outcome WorkerProcess::ended(Outcome outcome, Error error) {
  child_->kill_group(SIGKILL);
  outcome.error = std::move(error);
  outcome.worker_alive = false;
  return outcome;
}

Outcome WorkerProcess::crashed(Outcome outcome, const Limits& limits) {
  child_->close_stdin();
  const Result<ExitStatus> status = child_->wait(kExitPatience);
  const Result<int64_t> kills = group_ ? group_->kills() : Result<int64_t>(0);
  if (limits.memory && kills.ok() && *kills > 0)
    return ended(std::move(outcome),
                 {ErrorCode::kOutOfMemory,
                  fmt::format("out of memory: the kernel ended the worker at its limit of {}",
                              human_bytes(*limits.memory))});
  std::string reason =
      "the worker ended: " + (status.ok() ? status->text() : std::string("it closed its output"));
  const std::string words = last_words(child_->stderr_tail());
  if (!words.empty()) reason += "; its last words: " + words;
  return ended(std::move(outcome), {ErrorCode::kCrashed, std::move(reason)});
}

// Lets the worker stop where it can, so that files it was writing are whole.
Outcome WorkerProcess::cancelled(Outcome outcome) {
  bool answered = false;
  if (child_->write_line(to_line(Request{CancelRequest{}})).ok()) {
    const SteadyClock clock;
    const Nanoseconds deadline = clock.now() + kCancelPatience;
    while (!answered && clock.now() < deadline) {
      const auto line = child_->read_line(deadline - clock.now());
      if (!line.ok() || !line->has_value()) break;
      const Result<Reply> reply = parse_reply(**line);
      answered = reply.ok() && (std::holds_alternative<CancelledReply>(*reply) ||
                                std::holds_alternative<RecordReply>(*reply));
      // What was finished before the request came is kept.
      if (answered && std::holds_alternative<RecordReply>(*reply)) {
        outcome.record = std::get<RecordReply>(*reply).record;
        return outcome;
      }
    }
  }
  const Error error{ErrorCode::kCancelled, "cancelled"};
  if (!answered) return ended(std::move(outcome), error);
  outcome.error = error;
  return outcome;
}

Outcome WorkerProcess::run(const RunRequest& request, const Limits& limits, const Clock& clock,
                           const std::function<void(const Progress&)>& progress) {
  Outcome outcome;
  if (!child_->write_line(to_line(Request{request})).ok())
    return crashed(std::move(outcome), limits);
  const Nanoseconds start = clock.now();
  while (true) {
    Nanoseconds patience = kWatchInterval;
    if (limits.timeout_s) {
      const Nanoseconds rest = start + nanoseconds(*limits.timeout_s) - clock.now();
      if (rest <= Nanoseconds::zero())
        return ended(std::move(outcome),
                     {ErrorCode::kTimeout,
                      fmt::format("no result within {}", human_seconds(*limits.timeout_s))});
      patience = std::min(patience, rest);
    }
    const Bytes resident = limits.memory ? child_->resident() : Bytes{};
    if (limits.memory && resident > *limits.memory)
      return ended(std::move(outcome),
                   {ErrorCode::kOutOfMemory,
                    fmt::format("out of memory: the worker held {}, the limit is {}",
                                human_bytes(resident), human_bytes(*limits.memory))});
    const auto line = child_->read_line(patience, limits.wake_fd);
    if (!line.ok() && line.error().code == ErrorCode::kTimeout) continue;
    if (!line.ok() && line.error().code == ErrorCode::kCancelled)
      return cancelled(std::move(outcome));
    if (!line.ok()) return ended(std::move(outcome), {ErrorCode::kCrashed, line.error().text()});
    if (!line->has_value()) return crashed(std::move(outcome), limits);
    Result<Reply> reply = parse_reply(**line);
    if (!reply.ok()) return ended(std::move(outcome), {ErrorCode::kCrashed, reply.error().text()});
    if (const auto* update = std::get_if<Progress>(&*reply)) {
      if (progress) progress(*update);
    } else if (const auto* digest = std::get_if<DigestReply>(&*reply)) {
      outcome.digest = digest->digest;
    } else if (auto* answer = std::get_if<RecordReply>(&*reply)) {
      outcome.record = std::move(answer->record);
      return outcome;
    } else {
      outcome.error = Error{ErrorCode::kCancelled, "cancelled"};
      return outcome;
    }
  }
}

}  // namespace assay
