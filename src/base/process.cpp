// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/descriptor.h"
#include "base/files.h"
#include "base/spawn.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr size_t kTailBytes = 8192;
constexpr size_t kLongestLine = size_t{256} << 20;
constexpr Bytes kLargestOutput{int64_t{16} << 20};
constexpr int kWritePatienceMs = 60'000;

std::string describe(int number) { return std::generic_category().message(number); }

// Milliseconds for poll(): rounded up, so that a wait never ends early. -1 waits for ever.
int poll_timeout(const std::optional<Nanoseconds>& deadline, const Clock& clock) {
  if (!deadline) return -1;
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(*deadline - clock.now());
  return static_cast<int>(std::clamp<int64_t>(rest.count(), 0, 1'000'000'000));
}

std::optional<Nanoseconds> deadline_after(std::optional<Nanoseconds> timeout) {
  if (!timeout) return std::nullopt;
  return SteadyClock().now() + *timeout;
}

// write() that returns EPIPE without raising SIGPIPE in this process.
ssize_t write_quietly(int fd, const char* data, size_t size) {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = ::write(fd, data, size);
  const int error = errno;
  if (written < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace

std::string ExitStatus::text() const {
  if (signal == 0) return fmt::format("exit code {}", code);
  const char* description = ::sigdescr_np(signal);
  return fmt::format("signal {} ({})", signal, description != nullptr ? description : "unknown");
}

struct ChildProcess::State {
  pid_t pid = -1;
  Descriptor in;
  Descriptor out;
  std::string buffer;   // of stdout
  size_t returned = 0;  // bytes of the buffer already given away
  size_t searched = 0;  // from there up to here there is no newline
  bool ended = false;   // stdout is at its end
  std::optional<ExitStatus> exit;

  Descriptor err;
  Descriptor stop;  // an eventfd that ends the reader of stderr
  std::mutex tail_mutex;
  std::string tail;
  std::thread reader;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (pid > 0 && !exit) {
      ::kill(-pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    } else if (pid > 0) {
      ::kill(-pid, SIGKILL);  // grandchildren left in the group
    }
    stop_reader();
  }

  void read_stderr() {
    std::array<pollfd, 2> wanted{pollfd{err.get(), POLLIN, 0}, pollfd{stop.get(), POLLIN, 0}};
    std::array<char, 4096> piece{};
    while (true) {
      if (::poll(wanted.data(), wanted.size(), -1) < 0) {
        if (errno == EINTR) continue;
        return;
      }
      // Read what is there before obeying `stop`, so that the last words are kept.
      if (wanted[0].revents == 0) return;
      const ssize_t got = ::read(err.get(), piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      const std::scoped_lock lock(tail_mutex);
      tail.append(piece.data(), static_cast<size_t>(got));
      if (tail.size() > kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    }
  }

  void stop_reader() {
    if (!reader.joinable()) return;
    const uint64_t one = 1;
    if (::write(stop.get(), &one, sizeof(one)) < 0) return;  // an eventfd takes 8 bytes always
    reader.join();
  }

  void take_status(int status) {
    exit =
        WIFSIGNALED(status) ? ExitStatus{0, WTERMSIG(status)} : ExitStatus{WEXITSTATUS(status), 0};
  }

  // Appends what stdout has ready; at its end sets `ended`.
  Result<void> read_more() {
    buffer.erase(0, returned);
    searched -= returned;
    returned = 0;
    const size_t used = buffer.size();
    buffer.resize(used + (size_t{64} << 10));
    const ssize_t got = ::read(out.get(), buffer.data() + used, buffer.size() - used);
    const int error = errno;
    buffer.resize(used + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) ended = true;
    if (got < 0 && error != EINTR && error != EAGAIN) {
      return Error{ErrorCode::kIo, "cannot read from the child: " + describe(error)};
    }
    return {};
  }

  // Waits for stdout and appends what it has.
  Result<void> wait_for_more(std::optional<Nanoseconds> deadline, int wake_fd) {
    std::array<pollfd, 2> wanted{pollfd{out.get(), POLLIN, 0}, pollfd{wake_fd, POLLIN, 0}};
    const int ready = ::poll(wanted.data(), wanted.size(), poll_timeout(deadline, SteadyClock()));
    if (ready < 0 && errno == EINTR) return {};
    if (ready < 0) return Error{ErrorCode::kIo, "cannot wait for the child: " + describe(errno)};
    if (ready == 0) return Error{ErrorCode::kTimeout, "the child did not answer in time"};
    if (wanted[1].revents != 0) return Error{ErrorCode::kCancelled, "cancelled"};
    return read_more();
  }

  // A whole line of the buffer, or the rest at the end of the file.
  std::optional<std::string> take_line() {
    const size_t newline = buffer.find('\n', searched);
    if (newline == std::string::npos && (!ended || returned == buffer.size())) {
      searched = buffer.size();
      return std::nullopt;
    }
    const size_t end = std::min(newline, buffer.size());
    std::string line = buffer.substr(returned, end - returned);
    returned = searched = std::min(end + 1, buffer.size());
    return line;
  }
};

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChildProcess::ChildProcess(ChildProcess&& other) noexcept = default;
ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept = default;
ChildProcess::~ChildProcess() = default;

Result<ChildProcess> ChildProcess::start(const ProcessOptions& options) {
  ASSAY_ASSERT(!options.arguments.empty(), "a process needs a program");
  ASSAY_ASSIGN(Pipe in, make_pipe());
  ASSAY_ASSIGN(Pipe out, make_pipe());
  ASSAY_ASSIGN(Pipe err, make_pipe());
  auto state = std::make_unique<State>();
  state->stop = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!state->stop.open()) {
    return Error{ErrorCode::kIo, "cannot make an eventfd: " + describe(errno)};
  }
  ASSAY_ASSIGN(state->pid, spawn(options, {in.read.get(), out.write.get(), err.write.get()}));
  state->in = std::move(in.write);
  state->out = std::move(out.read);
  state->err = std::move(err.read);
  make_nonblocking(state->in);
  make_nonblocking(state->out);
  state->reader = std::thread([child = state.get()] { child->read_stderr(); });
  return ChildProcess(std::move(state));
}

pid_t ChildProcess::pid() const { return state_->pid; }

Result<void> ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!state_->in.open()) return Error{ErrorCode::kCrashed, "the child's stdin is closed", ""};
    const ssize_t written = write_quietly(state_->in.get(), rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wanted{state_->in.get(), POLLOUT, 0};
      if (::poll(&wanted, 1, kWritePatienceMs) == 0) {
        return Error{ErrorCode::kTimeout, "the child does not read its input", ""};
      }
    } else if (errno != EINTR) {
      return Error{ErrorCode::kCrashed, "cannot write to the child: " + describe(errno), ""};
    }
  }
  return {};
}

Result<std::optional<std::string>> ChildProcess::read_line(std::optional<Nanoseconds> timeout,
                                                           int wake_fd) {
  const std::optional<Nanoseconds> deadline = deadline_after(timeout);
  while (true) {
    if (std::optional<std::string> line = state_->take_line()) return line;
    if (state_->ended) return std::optional<std::string>();
    if (state_->buffer.size() > kLongestLine) {
      return Error{ErrorCode::kCorrupt, "the child wrote a line without end"};
    }
    ASSAY_TRY(state_->wait_for_more(deadline, wake_fd));
  }
}

Result<std::string> ChildProcess::read_rest(std::optional<Nanoseconds> timeout, Bytes limit) {
  const std::optional<Nanoseconds> deadline = deadline_after(timeout);
  while (!state_->ended) {
    ASSAY_TRY(state_->wait_for_more(deadline, -1));
    if (state_->buffer.size() - state_->returned > static_cast<size_t>(limit.count)) {
      return Error{ErrorCode::kInvalid, "wrote more than " + human_bytes(limit)};
    }
  }
  std::string rest = state_->buffer.substr(state_->returned);
  state_->returned = state_->searched = state_->buffer.size();
  return rest;
}

void ChildProcess::close_stdin() { state_->in.close(); }

std::string ChildProcess::stderr_tail() {
  const std::scoped_lock lock(state_->tail_mutex);
  return state_->tail;
}

Result<ExitStatus> ChildProcess::wait(std::optional<Nanoseconds> timeout) {
  const SteadyClock clock;
  const Nanoseconds start = clock.now();
  Nanoseconds pause = std::chrono::microseconds(100);
  while (!state_->exit) {
    int status = 0;
    const pid_t got = ::waitpid(state_->pid, &status, timeout ? WNOHANG : 0);
    if (got == state_->pid) {
      state_->take_status(status);
      state_->stop_reader();
    } else if (got < 0 && errno != EINTR) {
      return Error{ErrorCode::kIo, "cannot wait for the child: " + describe(errno), ""};
    } else if (got == 0) {
      const Nanoseconds waited = clock.now() - start;
      if (waited >= *timeout) return Error{ErrorCode::kTimeout, "the child still runs", ""};
      clock.sleep(std::min(pause, *timeout - waited));
      pause = std::min<Nanoseconds>(2 * pause, std::chrono::milliseconds(5));
    }
  }
  return *state_->exit;
}

void ChildProcess::kill_group(int signal) {
  // The group's number is not given anew while the child is unreaped or members live.
  ::kill(-state_->pid, signal);
}

Bytes ChildProcess::resident() const {
  if (state_->exit) return {};
  const auto text = read_file(fmt::format("/proc/{}/statm", state_->pid));
  if (!text.ok()) return {};
  const std::vector<std::string> fields = split(*text, ' ');
  if (fields.size() < 2) return {};
  const auto pages = parse_int(fields[1]);
  return pages.ok() ? Bytes{*pages * ::sysconf(_SC_PAGESIZE)} : Bytes{};
}

void die_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* variable = std::getenv(kParentVariable);
  if (variable == nullptr) return;
  const auto parent = parse_int(variable);
  if (!parent.ok() || *parent == ::getppid()) return;
  // Not our parent: it is gone, or a launcher stands between us.
  if (::kill(static_cast<pid_t>(*parent), 0) != 0 && errno == ESRCH) ::_exit(1);
}

Result<std::string> run_process(const ProcessOptions& options, Nanoseconds timeout) {
  const SteadyClock clock;
  const Nanoseconds deadline = clock.now() + timeout;
  ASSAY_ASSIGN(ChildProcess child, ChildProcess::start(options));
  child.close_stdin();
  const std::string& program = options.arguments[0];
  // A timeout is told of the whole run, whichever step it met.
  const auto named = [&](Error error) {
    if (error.code == ErrorCode::kTimeout) {
      const std::chrono::duration<double> limit = timeout;
      error.message = "took more than " + human_seconds(limit.count());
    }
    error.place = program;
    return error;
  };
  auto output = child.read_rest(deadline - clock.now(), kLargestOutput);
  if (!output.ok()) return named(output.error());
  const auto status = child.wait(deadline - clock.now());
  if (!status.ok()) return named(status.error());
  if (!status->success()) {
    const std::string words(trim(child.stderr_tail()));
    return Error{ErrorCode::kCrashed,
                 words.empty() ? status->text() : status->text() + ": " + words, program};
  }
  return output;
}

}  // namespace assay
