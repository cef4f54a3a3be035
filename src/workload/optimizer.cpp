// SPDX-License-Identifier: Apache-2.0
#include "workload/optimizer.h"

#include <array>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::array<OptimizerKind, 3> kKinds = {OptimizerKind::kSgd, OptimizerKind::kAdam,
                                                 OptimizerKind::kAdamW};

}  // namespace

std::string_view optimizer_name(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "sgd";
    case OptimizerKind::kAdam:
      return "adam";
    case OptimizerKind::kAdamW:
      break;
  }
  return "adamw";
}

Result<OptimizerKind> parse_optimizer(std::string_view name) {
  std::vector<std::string> names;
  for (const OptimizerKind kind : kKinds) {
    if (optimizer_name(kind) == name) return kind;
    names.emplace_back(optimizer_name(kind));
  }
  const auto near = nearest_name(name, names);
  return Error{ErrorCode::kInvalid, "no optimizer is called '" + std::string(name) + "'", "",
               near ? "did you mean '" + *near + "'?" : "there are " + join(names, ", ")};
}

double OptimizerConfig::decay_for(const TensorType& parameter) const {
  const bool vector = parameter.shape && parameter.shape->rank() <= 1;
  return decay_matrices_only && vector ? 0 : weight_decay;
}

}  // namespace assay
