// SPDX-License-Identifier: Apache-2.0
//
// The null engine computes nothing and obeys every interface, without allocating in a call: what a
// measurement costs with it is our own book-keeping. "null" has one pretend device, "null:4" four.
// Outputs are zeros. The loss of training step s (0-based) is ln(10) / (1 + s / 100), so training
// "converges". state() holds the initial parameters and states and the number of steps taken.
//
// It can also misbehave on purpose, to test those who run engines. ASSAY_NULL_FAULT=KIND@WHEN,
// where WHEN is the 0-based number of a call (accumulate() of a trainer, enqueue() of a program
// from compile()) or "compile", and KIND is
//   hang    the call never returns
//   crash   the process dies of SIGSEGV
//   nan     the loss is NaN from that step on (not with "compile")
//   slow    every call from that one on takes 100 ms
//   error   the call fails with kInternal
//   memory  every call from that one on keeps 32 MiB more
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "engine/engine.h"

namespace assay {

// `name` is "null" or "null:N" with 1 <= N <= 1024.
Result<std::unique_ptr<Engine>> make_null_engine(const std::string& name);

}  // namespace assay
