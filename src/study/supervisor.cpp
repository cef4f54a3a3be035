// SPDX-License-Identifier: Apache-2.0
#include "study/supervisor.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "record/store.h"
#include "study/cost.h"
#include "study/worker_process.h"

namespace assay {
namespace {

constexpr size_t kMostWorkers = 4;
// A case that runs when the budget ends may finish until so many times the budget.
constexpr double kBudgetPatience = 1.5;

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

Bytes machine_memory() {
  return {static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)};
}

// Thread pools read these before main; Plan.threads alone comes too late for them. libgomp's usual
// patience at a barrier is some 15 ms of spinning: when another process holds a core, every barrier
// costs that much and two threads fall behind one many times over. A tenth of it loses nothing on
// an idle machine. What the user has set stays.
std::map<std::string, std::string> worker_environment(const Case& wanted) {
  const int64_t given = wanted.integer("threads");
  const std::string threads = std::to_string(given > 0 ? given : usable_cores());
  std::map<std::string, std::string> variables{
      {"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}, {"NPROC", threads}};
  if (std::getenv("OMP_WAIT_POLICY") == nullptr && std::getenv("GOMP_SPINCOUNT") == nullptr)
    variables["GOMP_SPINCOUNT"] = "30000";
  return variables;
}

std::string variables_text(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

bool readable(int fd) {
  if (fd < 0) return false;
  pollfd wanted{fd, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0 && wanted.revents != 0;
}

// With several seeds each has a log of its own: "log.txt" -> "log-seed3.txt".
std::string mllog_of(const std::string& file, const Case& wanted, size_t cases) {
  if (file.empty() || cases < 2) return file;
  std::filesystem::path path(file);
  path.replace_filename(path.stem().string() + "-seed" + wanted.get("seed") +
                        path.extension().string());
  return path.string();
}

}  // namespace

Status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnsupported:
      return Status::kUnsupported;
    case ErrorCode::kNotFound:
      return Status::kSkipped;
    case ErrorCode::kTimeout:
      return Status::kTimeout;
    case ErrorCode::kCrashed:
      return Status::kCrashed;
    default:
      return Status::kFailed;
  }
}

// The live workers, least recently used first.
class Supervisor::Workers {
 public:
  Result<WorkerProcess*> take(const Case& wanted, const std::vector<std::string>& command,
                              std::optional<Bytes> memory) {
    const std::string key =
        wanted.get("engine") + " " + wanted.get("device") + " " + wanted.get("threads");
    const auto found = std::find_if(live_.begin(), live_.end(),
                                    [&](const Entry& entry) { return entry.key == key; });
    if (found != live_.end()) {
      live_.splice(live_.end(), live_, found);
    } else {
      if (live_.size() == kMostWorkers) live_.pop_front();
      ASSAY_ASSIGN(WorkerProcess process,
                   WorkerProcess::start(command, worker_environment(wanted), memory));
      live_.push_back({key, std::move(process)});
    }
    return &live_.back().process;
  }
  // Ends the worker that take() gave last.
  void drop() { live_.pop_back(); }

 private:
  struct Entry {
    std::string key;
    WorkerProcess process;
  };
  std::list<Entry> live_;
};

Supervisor::Supervisor(Store& store, const Clock& clock, SupervisorOptions options)
    : store_(store),
      clock_(clock),
      options_(std::move(options)),
      workers_(std::make_unique<Workers>()) {
  if (options_.worker_command.empty()) options_.worker_command = {"/proc/self/exe", "worker"};
  if (!options_.memory_limit) options_.memory_limit = Bytes{machine_memory().count / 10 * 9};
}

Supervisor::~Supervisor() = default;

Outcome Supervisor::run_in_worker(const Case& wanted, const SupervisorEvent& event,
                                  double elapsed_s) {
  Limits limits{options_.timeout_s, options_.memory_limit, options_.wake_fd};
  bool by_budget = false;
  if (options_.budget_s) {
    const double rest = kBudgetPatience * *options_.budget_s - elapsed_s;
    by_budget = rest < limits.timeout_s.value_or(rest + 1);
    limits.timeout_s = std::min(limits.timeout_s.value_or(rest), rest);
  }
  const RunRequest request{
      .requested = wanted,
      .stopping = options_.stopping,
      .checkpoint_folder = options_.checkpoint_folder.string(),
      .checkpoint = options_.checkpoint,
      .mllog = mllog_of(options_.mllog, wanted, event.total),
      .organisation = options_.organisation,
  };
  Result<WorkerProcess*> worker =
      workers_->take(wanted, options_.worker_command, options_.memory_limit);
  if (!worker.ok()) return {.record = {}, .error = worker.error(), .digest = ""};
  const auto watch = [&](const Progress& progress) {
    SupervisorEvent now = event;
    now.progress = progress;
    if (options_.on_event) options_.on_event(now);
  };
  Outcome outcome = (*worker)->run(request, limits, clock_, watch);
  if (by_budget && outcome.error && outcome.error->code == ErrorCode::kTimeout)
    outcome.error->message =
        fmt::format("ended after {:.1f} times the time budget of {} ({:.0f} s)", kBudgetPatience,
                    options_.budget_name, *options_.budget_s);
  // A worker in which something failed may be damaged: the next case gets a new one.
  const bool sound = outcome.worker_alive && !outcome.error &&
                     (!outcome.record || outcome.record->status != Status::kFailed);
  if (!sound) workers_->drop();
  return outcome;
}

Result<std::optional<Record>> Supervisor::run_case(const Case& wanted, SupervisorEvent event,
                                                   double elapsed_s) {
  Record record;
  const auto started_at = clock_.unix_time();
  const Nanoseconds start = clock_.now();
  if (options_.budget_s && elapsed_s >= *options_.budget_s) {
    record.status = Status::kSkipped;
    record.reason = fmt::format("the time budget of {} ({:.0f} s) was used up",
                                options_.budget_name, *options_.budget_s);
  } else {
    Outcome outcome = run_in_worker(wanted, event, elapsed_s);
    if (outcome.error && outcome.error->code == ErrorCode::kCancelled && !outcome.record)
      return std::optional<Record>();
    if (outcome.record) record = std::move(*outcome.record);
    if (outcome.error) {
      record.status = status_of(outcome.error->code);
      record.reason = outcome.error->text();
    }
    if (record.digest.empty()) record.digest = outcome.digest;
  }
  for (const auto& [name, value] : options_.facts) record.facts[name] = value;
  record.facts["worker_environment"] = variables_text(worker_environment(wanted));
  record.run_id = options_.run_id;
  record.measured_case = wanted;
  add_cost(record, options_.price_per_hour_usd);
  record.environment_id = options_.environment_id;
  record.code_version = options_.code_version;
  record.started_at = started_at;
  record.duration_s = Seconds(clock_.now() - start).count();
  ASSAY_ASSIGN(record.id, store_.append(record));
  return std::optional<Record>(std::move(record));
}

Result<SupervisorResult> Supervisor::run(std::span<const Case> cases) {
  SupervisorResult result;
  const Nanoseconds start = clock_.now();
  for (size_t i = 0; i < cases.size(); ++i) {
    if (readable(options_.wake_fd)) {
      result.cancelled = true;
      break;
    }
    SupervisorEvent event;
    event.index = i;
    event.total = cases.size();
    event.current = &cases[i];
    std::optional<Record> record;
    if (options_.resume) {
      ASSAY_ASSIGN(record, store_.find_finished(cases[i], "", options_.run_id));
      event.resumed = record.has_value();
    }
    if (!record) {
      if (options_.on_event) options_.on_event(event);
      const double elapsed_s = Seconds(clock_.now() - start).count();
      ASSAY_ASSIGN(record, run_case(cases[i], event, elapsed_s));
    }
    if (!record) {
      result.cancelled = true;
      break;
    }
    event.record = &*record;
    if (options_.on_event) options_.on_event(event);
    result.records.push_back(std::move(*record));
  }
  return result;
}

}  // namespace assay
