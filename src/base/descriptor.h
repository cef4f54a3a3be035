// SPDX-License-Identifier: Apache-2.0
//
// Descriptor owns one file descriptor of the operating system and closes it. Not thread-safe.
#pragma once

#include <unistd.h>

#include <utility>

namespace assay {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // What close() of the system says: some file systems report a full disk only here.
  int close() { return open() ? ::close(std::exchange(fd_, -1)) : 0; }

 private:
  int fd_ = -1;
};

}  // namespace assay
