// SPDX-License-Identifier: Apache-2.0
//
// The two things a load test is run against. They may wrap a network, a socket or nothing at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "serve/completions.h"

namespace assay {

// Answers queries. Called from one thread; it may answer from any.
class SystemUnderTest {
 public:
  virtual ~SystemUnderTest() = default;
  virtual std::string name() const = 0;
  // Starts a query and may finish it. Every sample is answered once, through `done`, now or later.
  // `query` is valid until the call returns, `done` until drain() or abandon() has.
  virtual Result<void> issue(std::span<const QuerySample> query, Completions& done) = 0;
  // No query follows. Returns when everything issued was answered.
  virtual Result<void> drain() = 0;
  // The run is given up. Drops what has not begun, and returns when nothing more will be answered.
  virtual void abandon() = 0;
};

// The samples that queries name by index. Called from the thread that runs the test.
class SampleLibrary {
 public:
  virtual ~SampleLibrary() = default;
  virtual std::string name() const = 0;
  virtual int64_t total_count() const = 0;
  // How many fit into memory together.
  virtual int64_t performance_count() const = 0;
  // Before and after the timed part; every index once.
  virtual Result<void> load(std::span<const uint32_t> indices) = 0;
  virtual void unload(std::span<const uint32_t> indices) = 0;
};

}  // namespace assay
