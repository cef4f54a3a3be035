// SPDX-License-Identifier: Apache-2.0
//
// assay-conformance: runs ONNX's test data on an engine and prints what passes, what is unsupported
// and why, and what fails. Tests run in a child process, so that one that crashes is one line.
#include <csignal>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "conformance/ledger.h"
#include "conformance/test_case.h"
#include "engine/plugin.h"

namespace assay::conformance {
namespace {

constexpr Nanoseconds kPatience{int64_t{120} * 1'000'000'000};

struct Arguments {
  std::string engine = "reference";
  std::string data = "/usr/share/libonnx-testdata/data";
  std::string filter;             // a part of the name
  std::string check;              // a ledger to compare with
  std::string write;              // a ledger to write
  bool all = false;               // also list what passed
  std::optional<int64_t> worker;  // in the child: the first test to run
};

constexpr std::string_view kUsage =
    "usage: assay-conformance [--engine NAME] [--data FOLDER] [--filter TEXT] [--all]\n"
    "                         [--check LEDGER] [--write LEDGER]\n";

std::optional<Arguments> parse(const std::vector<std::string>& words) {
  Arguments arguments;
  std::string first;
  const std::map<std::string, std::string*> options{
      {"--engine", &arguments.engine}, {"--data", &arguments.data},
      {"--filter", &arguments.filter}, {"--check", &arguments.check},
      {"--write", &arguments.write},   {"--worker", &first}};
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--all") {
      arguments.all = true;
      continue;
    }
    const auto option = options.find(words[i]);
    if (option == options.end() || i + 1 == words.size()) return std::nullopt;
    *option->second = words[++i];
  }
  if (!first.empty()) arguments.worker = parse_int(first).ok() ? *parse_int(first) : 0;
  return arguments;
}

int fail(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.text().c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "hint: %s\n", error.hint.c_str());
  return 2;
}

Result<std::vector<TestCase>> chosen_tests(const Arguments& arguments) {
  ASSAY_ASSIGN(std::vector<TestCase> tests, find_tests(arguments.data));
  std::erase_if(tests, [&](const TestCase& test) {
    return test.name.find(arguments.filter) == std::string::npos;
  });
  return tests;
}

// The child: one line a test, "OUTCOME<tab>REASON".
int work(const Arguments& arguments) {
  die_with_parent();
  const auto tests = chosen_tests(arguments);
  if (!tests.ok()) return fail(tests.error());
  const auto engine = load_engine(arguments.engine);
  if (!engine.ok()) return fail(engine.error());
  for (auto i = static_cast<size_t>(*arguments.worker); i < tests->size(); ++i) {
    Verdict verdict = run_test((*tests)[i], **engine);
    for (char& c : verdict.reason) c = c == '\n' ? ' ' : c;
    std::printf("%d\t%s\n", static_cast<int>(verdict.outcome), verdict.reason.c_str());
    std::fflush(stdout);
  }
  return 0;
}

// Verdicts of the tests from `first` on, until the child ends or hangs.
Result<void> read_verdicts(const Arguments& arguments, std::vector<TestedCase>& tests,
                           size_t& first) {
  ProcessOptions options;
  options.arguments = {(executable_folder() / "assay-conformance").string(),
                       "--engine",
                       arguments.engine,
                       "--data",
                       arguments.data,
                       "--filter",
                       arguments.filter,
                       "--worker",
                       std::to_string(first)};
  ASSAY_ASSIGN(ChildProcess child, ChildProcess::start(options));
  child.close_stdin();
  while (first < tests.size()) {
    const auto line = child.read_line(kPatience);
    if (line.ok() && *line) {
      const size_t tab = (*line)->find('\t');
      if (tab != 1) return Error{ErrorCode::kCorrupt, "the child said: " + **line, ""};
      tests[first++].verdict = {static_cast<Outcome>((**line)[0] - '0'), (*line)->substr(tab + 1)};
      continue;
    }
    std::string reason = "took too long";
    if (line.ok()) {
      ASSAY_ASSIGN(const ExitStatus status, child.wait(kPatience));
      if (status.code == 2) return Error{ErrorCode::kCrashed, child.stderr_tail(), ""};
      reason = "crashed: " + status.text() + " " + child.stderr_tail();
    }
    tests[first++].verdict = {Outcome::kFailed, std::move(reason)};
    return {};
  }
  return {};
}

Result<std::vector<TestedCase>> run(const Arguments& arguments) {
  ASSAY_ASSIGN(const std::vector<TestCase> cases, chosen_tests(arguments));
  std::vector<TestedCase> tests;
  for (const TestCase& test : cases) tests.push_back({test.name, subject_of(test), {}});
  size_t first = 0;
  while (first < tests.size()) ASSAY_TRY(read_verdicts(arguments, tests, first));
  return tests;
}

int compare(const Ledger& now, const std::string& file) {
  const auto kept = Ledger::read(file);
  if (!kept.ok()) return fail(kept.error());
  for (const std::string& name : kept->progress(now)) {
    std::printf("now passes: %s\n", name.c_str());
  }
  const std::vector<std::string> worse = kept->regressions(now);
  for (const std::string& line : worse)
    std::printf("worse than %s: %s\n", file.c_str(), line.c_str());
  return worse.empty() ? 0 : 1;
}

int report(const Arguments& arguments) {
  const auto tests = run(arguments);
  if (!tests.ok()) return fail(tests.error());
  for (const TestedCase& test : *tests) {
    if (test.verdict.outcome == Outcome::kPassed && !arguments.all) continue;
    std::printf("%-12s %s: %s\n", std::string(outcome_name(test.verdict.outcome)).c_str(),
                test.name.c_str(), test.verdict.reason.c_str());
  }
  const Ledger now = Ledger::of(*tests);
  std::printf("%s: %s of %zu\n", arguments.engine.c_str(), now.totals().c_str(), tests->size());
  if (!arguments.write.empty()) {
    if (const auto written = write_file(arguments.write, now.text()); !written.ok()) {
      return fail(written.error());
    }
  }
  if (!arguments.check.empty()) return compare(now, arguments.check);
  return now.has_failures() ? 1 : 0;
}

}  // namespace
}  // namespace assay::conformance

int main(int argc, char** argv) {
  using namespace assay::conformance;
  std::signal(SIGPIPE, SIG_IGN);
  const auto arguments = parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!arguments) {
    std::fputs(std::string(kUsage).c_str(), stderr);
    return 2;
  }
  return arguments->worker ? work(*arguments) : report(*arguments);
}
