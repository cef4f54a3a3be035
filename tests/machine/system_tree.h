// SPDX-License-Identifier: Apache-2.0
//
// A tree of kernel files of a test's own, removed at the end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/scratch_folder.h"
#include "machine/system_roots.h"

namespace assay {

class SystemTree {
 public:
  SystemRoots roots() const { return {path() / "sys", path() / "proc", path()}; }
  const std::filesystem::path& path() const { return folder_.path(); }

  // "sys/class/...", "proc/...", "etc/..."; with the kernel's newline at the end.
  void write(const std::filesystem::path& name, std::string_view content) const {
    folder_.write(name, std::string(content) + '\n');
  }
  void remove(const std::filesystem::path& name) const {
    std::filesystem::remove_all(path() / name);
  }

 private:
  ScratchFolder folder_;
};

}  // namespace assay
