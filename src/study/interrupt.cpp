// SPDX-License-Identifier: Apache-2.0
#include "study/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace assay {
namespace {

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};

// What a signal handler may touch.
std::atomic<int> received{0};
std::atomic<int> write_fd{-1};

void on_signal(int number) {
  if (received.exchange(number) != 0) _exit(128 + number);
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(write_fd.load(), &byte, 1);
}

}  // namespace

struct Interrupt::Saved {
  std::array<struct sigaction, kSignals.size()> actions;
};

Interrupt::Interrupt() {
  ASSAY_ASSERT(write_fd.load() == -1, "a second Interrupt");
  int ends[2] = {-1, -1};
  ASSAY_ASSERT(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "no pipe");
  read_fd_ = ends[0];
  received = 0;
  write_fd = ends[1];
  saved_ = new Saved;
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &saved_->actions[i]);
}

Interrupt::~Interrupt() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &saved_->actions[i], nullptr);
  delete saved_;
  close(write_fd.exchange(-1));
  close(read_fd_);
}

int Interrupt::signal() const { return received.load(); }

}  // namespace assay
