// SPDX-License-Identifier: Apache-2.0
//
// A tree of kernel files of a test's own, removed at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "machine/system_roots.h"

namespace assay {

class SystemTree {
 public:
  SystemTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-tree.XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  SystemTree(const SystemTree&) = delete;
  SystemTree& operator=(const SystemTree&) = delete;
  ~SystemTree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  SystemRoots roots() const { return {path_ / "sys", path_ / "proc", path_}; }
  const std::filesystem::path& path() const { return path_; }

  // "sys/class/...", "proc/...", "etc/..."; with the kernel's newline at the end.
  void write(const std::filesystem::path& name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content << '\n';
  }
  void remove(const std::filesystem::path& name) const {
    std::filesystem::remove_all(path_ / name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay
