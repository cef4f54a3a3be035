// SPDX-License-Identifier: Apache-2.0
//
// What a contestant of a race (bench/race.py) says: {"ready": true, "startup_bytes": n} once, then
// for every line "K" on stdin it runs K steps and says {"seconds": s, "cpu_seconds": c,
// "peak_bytes": p}.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include <sys/resource.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/error.h"

namespace assay {

[[noreturn]] inline void give_up(const std::string& message) {
  std::cerr << "error: " << message << '\n';
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) give_up(result.error().text());
  return std::move(result).value();
}

inline void must(const Result<void>& result) {
  if (!result.ok()) give_up(result.error().text());
}

// A field of /proc/self/status, in bytes.
inline int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

// The most memory there ever was, without pages of program files: how many of those are in memory
// depends on what start-up touched, and the peer's touches more of libtorch than ours.
inline int64_t peak_bytes() { return status_bytes("VmHWM") - status_bytes("RssFile"); }

inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// `step(i)` is the i-th step, counted over all runs.
template <class Step>
void answer_runs(int64_t startup, const Step& step) {
  std::printf("{\"ready\": true, \"startup_bytes\": %lld}\n", static_cast<long long>(startup));
  std::fflush(stdout);
  const SteadyClock clock;
  int64_t done = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const int64_t count = std::stoll(line);
    const double cpu = cpu_seconds();
    const auto begin = clock.now();
    for (int64_t i = 0; i < count; ++i) step(done++);
    const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
    std::printf("{\"seconds\": %.9f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld}\n", seconds,
                cpu_seconds() - cpu, static_cast<long long>(peak_bytes()));
    std::fflush(stdout);
  }
}

}  // namespace assay
