// SPDX-License-Identifier: Apache-2.0
#include "conformance/ledger.h"

#include <algorithm>

#include "base/files.h"
#include "base/text.h"

namespace assay::conformance {
namespace {

constexpr std::string_view kHeading =
    "# Written by assay-conformance --write; compared by the test of the same name.\n"
    "# total OUTCOME TESTS | operator NAME PASSED TESTS | OUTCOME TEST REASON\n";

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

Ledger Ledger::of(const std::vector<TestedCase>& tests) {
  Ledger ledger;
  for (const TestedCase& test : tests) {
    const std::string outcome(outcome_name(test.verdict.outcome));
    ++ledger.totals_[outcome];
    if (!test.op.empty() && test.verdict.outcome != Outcome::kOutOfScope) {
      auto& [passed, all] = ledger.operators_[test.op];
      passed += test.verdict.outcome == Outcome::kPassed ? 1 : 0;
      ++all;
    }
    if (test.verdict.outcome == Outcome::kPassed) continue;
    ledger.open_[test.name] = {outcome, one_line(test.verdict.reason)};
  }
  return ledger;
}

Result<Ledger> Ledger::read(const std::filesystem::path& file) {
  ASSAY_ASSIGN(const std::string text, read_file(file));
  Ledger ledger;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.starts_with("#")) continue;
    const std::vector<std::string> fields = split(line, '\t');
    const auto count = [&](size_t i) {
      return i < fields.size()
                 ? static_cast<int>(parse_int(fields[i]).ok() ? *parse_int(fields[i]) : 0)
                 : 0;
    };
    if (fields.size() < 3) {
      return Error{ErrorCode::kCorrupt, "a line without three fields: " + line, file.string()};
    }
    if (fields[0] == "total") {
      ledger.totals_[fields[1]] = count(2);
    } else if (fields[0] == "operator") {
      ledger.operators_[fields[1]] = {count(2), count(3)};
    } else {
      ledger.open_[fields[1]] = {fields[0], fields[2]};
    }
  }
  return ledger;
}

std::string Ledger::text() const {
  std::string text(kHeading);
  for (const auto& [outcome, tests] : totals_) {
    text += "total\t" + outcome + "\t" + std::to_string(tests) + "\n";
  }
  for (const auto& [name, counts] : operators_) {
    text += "operator\t" + name + "\t" + std::to_string(counts.first) + "\t" +
            std::to_string(counts.second) + "\n";
  }
  for (const auto& [name, entry] : open_) {
    text += entry.outcome + "\t" + name + "\t" + entry.reason + "\n";
  }
  return text;
}

std::string Ledger::totals() const {
  std::vector<std::string> parts;
  for (const auto& [outcome, tests] : totals_) {
    parts.push_back(outcome + " " + std::to_string(tests));
  }
  return join(parts, ", ");
}

std::vector<std::string> Ledger::regressions(const Ledger& now) const {
  std::vector<std::string> worse;
  for (const auto& [name, entry] : now.open_) {
    const auto known = open_.find(name);
    if (known != open_.end() &&
        (known->second.outcome == entry.outcome || known->second.outcome == "failed")) {
      continue;
    }
    worse.push_back(name + " is " + entry.outcome + ": " + entry.reason);
  }
  return worse;
}

std::vector<std::string> Ledger::progress(const Ledger& now) const {
  std::vector<std::string> better;
  for (const auto& [name, entry] : open_) {
    if (!now.open_.contains(name)) better.push_back(name);
  }
  return better;
}

bool Ledger::has_failures() const { return totals_.contains("failed"); }

}  // namespace assay::conformance
