// SPDX-License-Identifier: Apache-2.0
#include "engine/optimizer_step.h"

#include <cmath>

namespace assay {
namespace {

void sgd(const OptimizerConfig& config, double rate, float decay, OptimizedParameter& p) {
  const std::span<float> w = p.value.values<float>();
  const std::span<float> g = p.gradient.values<float>();
  const auto momentum = static_cast<float>(config.momentum);
  const auto lr = static_cast<float>(rate);
  const bool keeps = config.momentum != 0;
  const bool first = keeps && p.first.empty();
  if (first) p.first = Tensor::zeros(DType::kF32, p.value.shape());
  const std::span<float> m = keeps ? p.first.values<float>() : std::span<float>();
  for (size_t i = 0; i < w.size(); ++i) {
    const float gradient = g[i] + decay * w[i];
    float direction = gradient;
    if (keeps) {
      m[i] = first ? gradient : momentum * m[i] + gradient;
      direction = config.nesterov ? gradient + momentum * m[i] : m[i];
    }
    w[i] -= lr * direction;
  }
}

void adam(const OptimizerConfig& config, double rate, int64_t step, float decay,
          OptimizedParameter& p) {
  if (p.first.empty()) {
    p.first = Tensor::zeros(DType::kF32, p.value.shape());
    p.second = Tensor::zeros(DType::kF32, p.value.shape());
  }
  const std::span<float> w = p.value.values<float>();
  const std::span<const float> g = p.gradient.values<float>();
  const std::span<float> m = p.first.values<float>();
  const std::span<float> v = p.second.values<float>();
  const auto t = static_cast<double>(step + 1);
  const double correction1 = 1 - std::pow(config.beta1, t);
  const double correction2 = std::sqrt(1 - std::pow(config.beta2, t));
  const auto size = static_cast<float>(rate / correction1);
  const auto root = static_cast<float>(correction2);
  const auto beta1 = static_cast<float>(config.beta1);
  const auto beta2 = static_cast<float>(config.beta2);
  const auto epsilon = static_cast<float>(config.epsilon);
  const bool decoupled = config.kind == OptimizerKind::kAdamW;
  const auto shrink = static_cast<float>(1 - rate * static_cast<double>(decay));
  for (size_t i = 0; i < w.size(); ++i) {
    if (decoupled) w[i] *= shrink;
    const float gradient = decoupled ? g[i] : g[i] + decay * w[i];
    m[i] += (gradient - m[i]) * (1 - beta1);
    v[i] = beta2 * v[i] + (1 - beta2) * gradient * gradient;
    w[i] -= size * m[i] / (std::sqrt(v[i]) / root + epsilon);
  }
}

}  // namespace

double gradient_norm(std::span<const OptimizedParameter> parameters) {
  double sum = 0;
  for (const OptimizedParameter& p : parameters) {
    for (const float g : p.gradient.values<float>()) {
      sum += static_cast<double>(g) * static_cast<double>(g);
    }
  }
  return std::sqrt(sum);
}

double clip_gradients(std::span<OptimizedParameter> parameters, double limit) {
  const double norm = gradient_norm(parameters);
  const auto scale = static_cast<float>(limit / (norm + 1e-6));
  if (scale < 1) {
    for (OptimizedParameter& p : parameters) {
      for (float& g : p.gradient.values<float>()) g *= scale;
    }
  }
  return norm;
}

void optimizer_step(const OptimizerConfig& config, double rate, int64_t step,
                    std::span<OptimizedParameter> parameters) {
  if (config.clip_norm) clip_gradients(parameters, *config.clip_norm);
  for (OptimizedParameter& p : parameters) {
    const auto decay = static_cast<float>(config.decay_for(p.value.type()));
    if (config.kind == OptimizerKind::kSgd) {
      sgd(config, rate, decay, p);
    } else {
      adam(config, rate, step, decay, p);
    }
  }
}

}  // namespace assay
