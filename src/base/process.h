// SPDX-License-Identifier: Apache-2.0
//
// Child processes: started with posix_spawn in a process group of their own, so that a group can be
// ended whole, and die with their parent (a pipe the child watches, see watch_parent).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

namespace assay {

struct ProcessOptions {
  std::vector<std::string> arguments;              // arguments[0] is the program (PATH is searched)
  std::map<std::string, std::string> environment;  // added to ours
  std::string working_directory;                   // empty: ours
};

struct ExitStatus {
  int code = 0;    // exit code, when signal is 0
  int signal = 0;  // the signal that ended it
  bool success() const { return code == 0 && signal == 0; }
  std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

// A running child with pipes to its stdin and from its stdout; stderr is captured to a bounded
// tail. Not thread-safe. The destructor kills the group and reaps the child.
class ChildProcess {
 public:
  static Result<ChildProcess> start(const ProcessOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const;
  Result<void> write_line(const std::string& line);
  // The next line of stdout without its newline. kTimeout when none came in time; nullopt at end of
  // file. Returns early with kCancelled when `wake_fd` (if not -1) becomes readable.
  Result<std::optional<std::string>> read_line(std::optional<Nanoseconds> timeout,
                                               int wake_fd = -1);
  void close_stdin();
  std::string stderr_tail();  // at most the last 8 KiB
  Result<ExitStatus> wait(std::optional<Nanoseconds> timeout);
  void kill_group(int signal);
  Bytes resident() const;  // sum over the child's VmRSS, 0 when it is gone

 private:
  struct State;
  explicit ChildProcess(State* state) : state_(state) {}
  State* state_;
};

// Runs to the end and returns stdout (at most 16 MiB).
Result<std::string> run_process(const ProcessOptions& options, Nanoseconds timeout);

}  // namespace assay
