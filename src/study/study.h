// SPDX-License-Identifier: Apache-2.0
//
// Study: parts, each some sweeps and a time budget, read from a TOML file. docs/studies.md has the
// format.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "study/protocol.h"
#include "study/sweep.h"

namespace assay {

struct StudyPart {
  std::string name;
  double budget_s = 0;
  std::vector<Sweep> sweeps;
  StoppingOptions stopping;
};

struct Study {
  std::string name;  // of the file, without .toml
  std::string title;
  std::string report;  // file name of the page; empty: none
  std::vector<StudyPart> parts;
  double budget_s = 0;  // of everything the file gives a budget to
};

// kNotFound without such a file; kInvalid names the key and, where one is near, the right one.
Result<Study> read_study(const std::filesystem::path& file);
// The same from text; `place` names it in errors.
Result<Study> parse_study(const std::string& text, const std::string& place);

// Names of the studies in a folder (NAME.toml), sorted.
std::vector<std::string> study_names(const std::filesystem::path& folder);

}  // namespace assay
