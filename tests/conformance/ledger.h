// SPDX-License-Identifier: Apache-2.0
//
// What an engine passes of ONNX's test data, as a small text file that is kept in the tree: totals,
// passed tests by operator, and every test that is not passed, with its reason. That list may only
// shrink.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "conformance/test_case.h"

namespace assay::conformance {

struct TestedCase {
  std::string name;
  std::string op;
  Verdict verdict;
};

class Ledger {
 public:
  static Ledger of(const std::vector<TestedCase>& tests);
  static Result<Ledger> read(const std::filesystem::path& file);
  std::string text() const;
  std::string totals() const;  // "passed 850, unsupported 3, ..."

  // What is worse in `now` than here: tests that are not passed and not in this list, or whose
  // outcome is another; empty when nothing is.
  std::vector<std::string> regressions(const Ledger& now) const;
  // Tests that `now` passes and this list still has.
  std::vector<std::string> progress(const Ledger& now) const;
  bool has_failures() const;

 private:
  struct Entry {
    std::string outcome;
    std::string reason;
  };
  std::map<std::string, int> totals_;                     // by outcome
  std::map<std::string, std::pair<int, int>> operators_;  // passed, of tests in scope
  std::map<std::string, Entry> open_;                     // by test
};

}  // namespace assay::conformance
