// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "base/units.h"

namespace assay::cli {
namespace {

size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string outcome_text(const SupervisorEvent& event) {
  const Record& record = *event.record;
  std::string text(status_name(record.status));
  if (event.resumed)
    text += ", from before";
  else
    text += fmt::format(", {}", human_seconds(record.duration_s));
  if (!record.reason.empty()) text += ": " + record.reason;
  return text;
}

}  // namespace

std::string case_title(const Case& measured_case) {
  std::string text = measured_case.text();
  for (const char* prefix : {"v1:", "activity="})
    if (text.starts_with(prefix)) text.erase(0, std::string_view(prefix).size());
  for (const char* key : {" workload=", " model=", " file="})
    if (const size_t at = text.find(key); at != std::string::npos)
      text.replace(at, std::string_view(key).size(), " ");
  return text;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

ProgressLine::ProgressLine(const Clock& clock, bool terminal)
    : clock_(clock), terminal_(terminal), case_start_(clock.now()) {}

ProgressLine::~ProgressLine() { rewrite(""); }

void ProgressLine::rewrite(const std::string& line) {
  if (!terminal_ || (line.empty() && !dirty_)) return;
  std::fprintf(stderr, "\r\033[K%s", line.substr(0, terminal_columns() - 1).c_str());
  std::fflush(stderr);
  dirty_ = !line.empty();
}

std::string ProgressLine::running_line(const SupervisorEvent& event) const {
  std::string line =
      fmt::format("[{}/{}] {}", event.index + 1, event.total, case_title(*event.current));
  const Progress& progress = event.progress;
  if (!progress.text.empty()) line += ": " + progress.text;
  if (progress.rate) line += fmt::format("  {:.0f} {}s/s", *progress.rate, progress.item);
  if (progress.fraction && *progress.fraction > 0) {
    const double elapsed = Seconds(clock_.now() - case_start_).count();
    const double left = elapsed * (1 - *progress.fraction) / *progress.fraction;
    line += fmt::format("  {:.0f} s left", left);
  }
  return line;
}

void ProgressLine::show(const SupervisorEvent& event) {
  if (event.record != nullptr) {
    rewrite("");
    std::fprintf(stderr, "[%zu/%zu] %s: %s\n", event.index + 1, event.total,
                 case_title(*event.current).c_str(), outcome_text(event).c_str());
    return;
  }
  if (event.index != current_ || event.progress.text.empty()) case_start_ = clock_.now();
  current_ = event.index;
  rewrite(running_line(event));
}

}  // namespace assay::cli
