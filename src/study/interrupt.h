// SPDX-License-Identifier: Apache-2.0
//
// Interrupt: SIGINT, SIGTERM and SIGHUP as something one can wait for. While it lives, the first of
// them is remembered and makes fd() readable; a second one ends the process at once, in case the
// orderly way hangs. One at a time in a process (signal handlers are the process's).
#pragma once

#include <array>

namespace assay {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();  // the previous handlers are back
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  int fd() const { return read_fd_; }
  int signal() const;  // 0 while there was none
  bool requested() const { return signal() != 0; }

 private:
  struct Saved;
  int read_fd_ = -1;
  Saved* saved_ = nullptr;
};

}  // namespace assay
