// SPDX-License-Identifier: Apache-2.0
#include "engine/optimizer_step.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"

namespace assay {
namespace {

const std::vector<std::vector<int64_t>> kShapes = {{4, 3}, {3}, {2, 1, 2, 2}};

// The start and the gradients of make_golden.py.
std::vector<OptimizedParameter> first_parameters() {
  std::vector<OptimizedParameter> parameters;
  for (size_t p = 0; p < kShapes.size(); ++p) {
    OptimizedParameter parameter;
    parameter.value = Tensor::allocate(DType::kF32, kShapes[p]);
    parameter.gradient = Tensor::allocate(DType::kF32, kShapes[p]);
    double i = 0;
    for (float& w : parameter.value.values<float>()) {
      w = static_cast<float>(0.5 * std::sin(1 + i + 10 * static_cast<double>(p)));
      i += 1;
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

void set_gradients(std::vector<OptimizedParameter>& parameters, int64_t step) {
  for (size_t p = 0; p < parameters.size(); ++p) {
    const auto w = parameters[p].value.values<float>();
    const auto g = parameters[p].gradient.values<float>();
    for (size_t i = 0; i < w.size(); ++i) {
      const auto push = static_cast<float>(
          0.5 * std::cos(0.3 * static_cast<double>(step) + static_cast<double>(i + p)));
      g[i] = static_cast<float>(1 + p) * (0.2F * w[i] + push);
    }
  }
}

OptimizerConfig config_of(const Json& golden) {
  OptimizerConfig config;
  config.kind = parse_optimizer(golden["kind"].get<std::string>()).value();
  config.momentum = golden.value("momentum", 0.9);
  config.nesterov = golden.value("nesterov", false);
  config.beta2 = 0.95;
  config.weight_decay = golden["decay"].get<double>();
  if (golden.contains("clip")) config.clip_norm = golden["clip"].get<double>();
  return config;
}

double largest_error(const std::vector<OptimizedParameter>& parameters, const Json& wanted) {
  double worst = 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const auto values = parameters[p].value.values<float>();
    EXPECT_EQ(values.size(), wanted[p].size());
    for (size_t i = 0; i < values.size(); ++i) {
      worst =
          std::max(worst, std::abs(static_cast<double>(values[i]) - wanted[p][i].get<double>()));
    }
  }
  return worst;
}

Json golden_cases() {
  const auto path = std::string(ASSAY_SOURCE_DIR) + "/tests/engine/golden_optimizer.json";
  return parse_json(read_file(path).value(), path).value();
}

// Runs a golden case; the error at each kept step, by step.
std::vector<std::pair<int64_t, double>> errors_along(const Json& golden,
                                                     const OptimizerConfig& config) {
  std::vector<std::pair<int64_t, double>> errors;
  auto parameters = first_parameters();
  const double rate = golden["rate"].get<double>();
  for (int64_t step = 0; step < 100; ++step) {
    set_gradients(parameters, step);
    optimizer_step(config, rate * (1 - static_cast<double>(step) / 200), step, parameters);
    const std::string key = std::to_string(step + 1);
    if (golden["values"].contains(key)) {
      errors.emplace_back(step + 1, largest_error(parameters, golden["values"][key]));
    }
  }
  return errors;
}

// c * eps * sqrt(n) for values of order 1 and n steps, each a handful of roundings.
double allowed(int64_t steps) { return 32 * 0x1p-23 * std::sqrt(static_cast<double>(steps)); }

bool differs(const Json& golden, const OptimizerConfig& config) {
  return errors_along(golden, config).back().second > allowed(100);
}

TEST(OptimizerStep, FollowsPyTorchFor100Steps) {
  int cases = 0;
  for (const Json& golden : golden_cases()) {
    ++cases;
    const auto errors = errors_along(golden, config_of(golden));
    ASSERT_EQ(errors.size(), 4U);
    for (const auto& [step, error] : errors) {
      EXPECT_LT(error, allowed(step)) << golden["name"] << " at step " << step;
    }
  }
  EXPECT_EQ(cases, 8);
}

TEST(OptimizerStep, IsCaughtWhenItsDecayIsOnePerCentOff) {
  for (const Json& golden : golden_cases()) {
    OptimizerConfig wrong = config_of(golden);
    if (wrong.weight_decay == 0) continue;
    wrong.weight_decay *= 1.01;
    EXPECT_TRUE(differs(golden, wrong)) << golden["name"];
    wrong = config_of(golden);
    wrong.decay_matrices_only = false;
    EXPECT_TRUE(differs(golden, wrong)) << golden["name"] << ": decayed vectors";
  }
}

TEST(OptimizerStep, IsCaughtWhenItsMomentumIsOnePerCentOff) {
  for (const Json& golden : golden_cases()) {
    OptimizerConfig wrong = config_of(golden);
    if (wrong.kind == OptimizerKind::kSgd && wrong.momentum > 0) {
      wrong.momentum *= 1.01;
      EXPECT_TRUE(differs(golden, wrong)) << golden["name"];
      wrong = config_of(golden);
      wrong.nesterov = !wrong.nesterov;
      EXPECT_TRUE(differs(golden, wrong)) << golden["name"] << ": Nesterov";
    }
    if (wrong.kind != OptimizerKind::kSgd) {
      wrong.beta1 *= 1.01;
      EXPECT_TRUE(differs(golden, wrong)) << golden["name"] << ": beta1";
      wrong = config_of(golden);
      wrong.beta2 *= 1.01;
      EXPECT_TRUE(differs(golden, wrong)) << golden["name"] << ": beta2";
    }
  }
}

// Adam divides by the gradient's size, so scaling all gradients changes it little: SGD tells.
TEST(OptimizerStep, IsCaughtWhenItsClippingIsOnePerCentOff) {
  for (const Json& golden : golden_cases()) {
    OptimizerConfig wrong = config_of(golden);
    if (!wrong.clip_norm || wrong.kind != OptimizerKind::kSgd) continue;
    wrong.clip_norm = *wrong.clip_norm * 1.01;
    EXPECT_TRUE(differs(golden, wrong)) << golden["name"];
  }
}

TEST(ClipGradients, LeavesSmallGradientsAlone) {
  auto parameters = first_parameters();
  set_gradients(parameters, 0);
  const double norm = gradient_norm(parameters);
  const float before = parameters[0].gradient.values<float>()[0];
  EXPECT_DOUBLE_EQ(clip_gradients(parameters, norm * 2), norm);
  EXPECT_EQ(parameters[0].gradient.values<float>()[0], before);
}

TEST(ClipGradients, ScalesTheGlobalNormToTheLimit) {
  auto parameters = first_parameters();
  set_gradients(parameters, 0);
  clip_gradients(parameters, 0.25);
  EXPECT_NEAR(gradient_norm(parameters), 0.25, 1e-5);
}

}  // namespace
}  // namespace assay
