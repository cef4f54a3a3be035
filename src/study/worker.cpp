// SPDX-License-Identifier: Apache-2.0
#include "study/worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/process.h"
#include "base/queue.h"
#include "study/activity.h"
#include "study/protocol.h"
#include "study/supervisor.h"

namespace assay {
namespace {

constexpr int kExitBadRequest = 2;

// Whole lines to the supervisor, from any thread.
class Replies {
 public:
  explicit Replies(int fd) : fd_(fd) {}

  void send(const Reply& reply) {
    const std::string line = to_line(reply) + "\n";
    const std::scoped_lock lock(mutex_);
    size_t done = 0;
    while (done < line.size()) {
      const ssize_t written = write(fd_, line.data() + done, line.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) _exit(kExitBadRequest);  // the supervisor is gone
      done += static_cast<size_t>(written);
    }
  }

 private:
  int fd_;
  std::mutex mutex_;
};

// The next line of stdin, or nothing at its end.
bool read_stdin_line(std::string& buffer, std::string& line) {
  while (true) {
    const size_t newline = buffer.find('\n');
    if (newline != std::string::npos) {
      line = buffer.substr(0, newline);
      buffer.erase(0, newline + 1);
      return true;
    }
    char piece[4096];
    const ssize_t got = read(STDIN_FILENO, piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    buffer.append(piece, static_cast<size_t>(got));
  }
}

void read_requests(BoundedQueue<RunRequest>& queue, std::atomic<bool>& cancelled) {
  std::string buffer;
  std::string line;
  while (read_stdin_line(buffer, line)) {
    Result<Request> request = parse_request(line);
    if (!request.ok()) {
      std::fprintf(stderr, "%s\n", request.error().text().c_str());
      _exit(kExitBadRequest);
    }
    if (std::holds_alternative<CancelRequest>(*request)) {
      cancelled = true;
    } else {
      cancelled = false;
      queue.push(std::get<RunRequest>(std::move(*request)));
    }
  }
  // Frameworks' destructors are of no use to anybody now, and some take seconds or crash.
  _exit(0);
}

Reply answer(const ActivityContext& context) {
  Result<Record> result = Error{ErrorCode::kInternal, "no answer"};
  try {
    result = run_activity(context);
  } catch (const std::bad_alloc&) {
    result = Error{ErrorCode::kOutOfMemory, "out of memory"};
  } catch (const std::exception& error) {
    result = Error{ErrorCode::kInternal, error.what()};
  }
  if (result.ok()) return RecordReply{std::move(*result)};
  if (result.error().code == ErrorCode::kCancelled) return CancelledReply{};
  Record record;
  record.status = status_of(result.error().code);
  record.reason = result.error().text();
  if (!result.error().hint.empty()) record.reason += "; " + result.error().hint;
  return RecordReply{std::move(record)};
}

}  // namespace

int worker_main() {
  die_with_parent();
  const int replies_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (replies_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kExitBadRequest;
  Replies replies(replies_fd);
  BoundedQueue<RunRequest> queue(1);
  std::atomic<bool> cancelled{false};
  std::thread(read_requests, std::ref(queue), std::ref(cancelled)).detach();
  const SteadyClock clock;
  LoadedEngines engines;
  while (const std::optional<RunRequest> request = queue.pop()) {
    const ActivityContext context{
        .request = *request,
        .clock = clock,
        .engines = engines,
        .cancelled = cancelled,
        .progress = [&](const Progress& progress) { replies.send(progress); },
        .digest = [&](const std::string& digest) { replies.send(DigestReply{digest}); }};
    replies.send(answer(context));
  }
  return 0;
}

}  // namespace assay
