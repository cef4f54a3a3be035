// SPDX-License-Identifier: Apache-2.0
//
// The part of ChildProcess that speaks with the operating system: pipes and posix_spawn.
#pragma once

#include <sys/types.h>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/process.h"

namespace assay {

// Where the process leaves its number for die_with_parent().
inline constexpr const char* kParentVariable = "ASSAY_PARENT_PID";

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Both ends close on exec and lie above the standard descriptors, which the child's dup2 overwrites
// (a parent may run with stdin closed).
Result<Pipe> make_pipe();

void make_nonblocking(const Descriptor& descriptor);

// The descriptors of ours that become the child's standard ones; the child gets no other.
struct ChildStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

// In a new process group, with an empty signal mask and default handlers.
Result<pid_t> spawn(const ProcessOptions& options, const ChildStreams& streams);

}  // namespace assay
