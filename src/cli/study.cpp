// SPDX-License-Identifier: Apache-2.0
#include "study/study.h"

#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/cases.h"
#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plan_rows.h"
#include "cli/session.h"
#include "report/report.h"

namespace assay::cli {
namespace {

struct PartCases {
  const StudyPart* part = nullptr;
  std::vector<Case> cases;
};

// The cases of every part, with the command line's engine, device and threads over the file's.
std::vector<PartCases> cases_of_parts(const Invocation& invocation, const Study& study) {
  std::vector<PartCases> parts;
  for (const StudyPart& part : study.parts) {
    PartCases& own = parts.emplace_back(PartCases{&part, {}});
    for (Sweep sweep : part.sweeps) {
      for (const char* key : {"engine", "device", "threads"}) {
        const auto given = invocation.options.find(std::string("--") + key);
        if (given != invocation.options.end()) sweep.set(key, given->second);
      }
      for (Case& one : shuffled_cases(invocation, sweep)) own.cases.push_back(std::move(one));
    }
  }
  return parts;
}

// After the table: where the report is. On stderr, as it is no row.
void write_study_report(Session& session, const Study& study, const Invocation& invocation) {
  const std::string out = invocation.value_or("--out", study.report);
  if (out.empty()) return;
  ReportOptions options;
  options.run_id = session.run_id();
  options.title = study.title;
  const Result<ReportResult> report = write_report(session.store(), options, out);
  if (!report.ok() && report.error().code == ErrorCode::kNotFound) return;  // nothing was finished
  std::fputs(
      fmt::format("report: {} ({} records)\n", value_or_fail(report).path.string(), report->records)
          .c_str(),
      stderr);
}

int run_study(const Invocation& invocation) {
  const Study study = value_or_fail(read_study(study_file(invocation.positionals[0])));
  const std::string out = invocation.value_or("--out", study.report);
  if (!out.empty()) check_can_be_written(out, "--out");
  const std::vector<PartCases> parts = cases_of_parts(invocation, study);
  std::vector<Case> all;
  for (const PartCases& part : parts) all.insert(all.end(), part.cases.begin(), part.cases.end());
  if (invocation.has("--dry-run")) return print_plan(invocation, all, stopping_options(invocation));
  check_cases(all);
  Session session(invocation, "study");
  for (const PartCases& part : parts) {
    std::fputs(fmt::format("{}: {} cases in at most {:.0f} s\n", part.part->name, part.cases.size(),
                           part.part->budget_s)
                   .c_str(),
               stderr);
    if (!session.run({.cases = part.cases,
                      .stopping = stopping_options(invocation, part.part->stopping),
                      .budget_s = part.part->budget_s,
                      .part = part.part->name}))
      break;
  }
  const int code = session.finish();
  write_study_report(session, study, invocation);
  return session.interrupted() ? kExitInterrupted : code;
}

}  // namespace

Command study_command() {
  std::vector<Option> plan;
  for (const Option& option : case_options())
    if (option.name == "--engine" || option.name == "--device" || option.name == "--threads") {
      plan.push_back(option);
      plan.back().default_text = "the study's";
    }
  return {
      .name = "study",
      .summary = "runs a whole study, then writes its report",
      .description =
          "A study is a text file: parts, each some sweeps and a time budget. What does not fit "
          "into a part's budget is recorded as skipped. 'quick' takes at most ten minutes.",
      .positionals = {{"NAME", "a study of 'assay list studies', or a file ending in .toml"}},
      .options = joined({{{.name = "--out",
                           .kind = OptionKind::kValue,
                           .value_name = "FILE",
                           .doc = "the report",
                           .default_text = "the study's, report.html",
                           .choices = {},
                           .group = "Options of output"}},
                         plan,
                         measuring_options()}),
      .conflicts = {repeat_conflict()},
      .examples = {"assay study quick", "assay study quick --resume"},
      .run = run_study};
}

}  // namespace assay::cli
