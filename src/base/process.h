// SPDX-License-Identifier: Apache-2.0
//
// Child processes: started with posix_spawn in a process group of their own, so that a group can be
// ended whole. They die with their parent: its destructor kills the group, and a child whose main
// calls die_with_parent() is ended by the kernel even when the parent is killed with SIGKILL.
#pragma once

#include <map>
#include <memory>
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

// A running child with pipes to its stdin and from its stdout; a thread reads its stderr and keeps
// a bounded tail, so the child never waits for us to read it. Every other descriptor of ours is
// closed in the child, its signal mask is empty and its signal handlers are the default ones. Start
// costs about a millisecond. Not thread-safe. The destructor kills the group and reaps the child.
class ChildProcess {
 public:
  // kNotFound when there is no such program. With die_with_parent() in the child, the calling
  // thread must outlive it: the kernel ends the child when the thread that started it ends.
  static Result<ChildProcess> start(const ProcessOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const;
  // Writes the line and a newline. kCrashed when the child has closed its stdin or died, kTimeout
  // when it has read nothing for a minute.
  Result<void> write_line(const std::string& line);
  // The next line of stdout without its newline. kTimeout when none came in time; nullopt at end of
  // file. Returns early with kCancelled when `wake_fd` (if not -1) becomes readable. A line of more
  // than 256 MiB is kCorrupt. No timeout: waits for ever.
  Result<std::optional<std::string>> read_line(std::optional<Nanoseconds> timeout,
                                               int wake_fd = -1);
  // The rest of stdout until its end. kTimeout as above; kInvalid when it is more than `limit`.
  Result<std::string> read_rest(std::optional<Nanoseconds> timeout, Bytes limit);
  void close_stdin();
  // At most the last 8 KiB of stderr so far. After wait() everything the child itself wrote is in.
  std::string stderr_tail();
  // How the child ended; kTimeout when it still runs. May be called again.
  Result<ExitStatus> wait(std::optional<Nanoseconds> timeout);
  void kill_group(int signal);
  Bytes resident() const;  // of the child itself (/proc/PID/statm), 0 when it is gone

 private:
  struct State;
  explicit ChildProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// For the main of a child: the kernel kills this process when its parent ends, however that ends
// (PR_SET_PDEATHSIG). A parent that was gone before the call is noticed by its number, which
// start() leaves in ASSAY_PARENT_PID; then the process exits at once. Under a launcher between the
// two (such as mpirun) it is the launcher's death that counts.
void die_with_parent();

// Runs to the end, stdin empty, and returns stdout (at most 16 MiB, else kInvalid). kCrashed, with
// the end of stderr, when it did not succeed; kTimeout when it took too long (it is killed).
Result<std::string> run_process(const ProcessOptions& options, Nanoseconds timeout);

}  // namespace assay
