// SPDX-License-Identifier: Apache-2.0
//
// Progress of a run on stderr: on a terminal one line that is rewritten, with rate and time left;
// elsewhere one line a finished case. Never on stdout. Not thread-safe.
#pragma once

#include <string>

#include "base/clock.h"
#include "study/supervisor.h"

namespace assay::cli {

// "train image-classification seed=3": a case without version and names of its main keys.
std::string case_title(const Case& measured_case);

class ProgressLine {
 public:
  ProgressLine(const Clock& clock, bool terminal);
  ~ProgressLine();  // the terminal's line is cleared
  void show(const SupervisorEvent& event);

 private:
  void rewrite(const std::string& line);
  std::string running_line(const SupervisorEvent& event) const;

  const Clock& clock_;
  bool terminal_;
  bool dirty_ = false;
  size_t current_ = 0;
  Nanoseconds case_start_{0};
};

// Whether stderr is a terminal.
bool stderr_is_terminal();

}  // namespace assay::cli
