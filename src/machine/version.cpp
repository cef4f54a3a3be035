// SPDX-License-Identifier: Apache-2.0
#include "machine/version.h"

namespace assay {
namespace {

constexpr std::string_view kCommit =
#include "machine/git_commit.inc"  // one string literal, written at every build
    ;

}  // namespace

BuildInfo build_info() {
  return {ASSAY_VERSION, kCommit, ASSAY_COMPILER, ASSAY_FLAGS, ASSAY_BUILD_TYPE, ASSAY_SANITIZERS};
}

std::string code_version() {
  const BuildInfo build = build_info();
  std::string text(build.version);
  if (!build.commit.empty()) text.append("+").append(build.commit);
  return text;
}

}  // namespace assay
