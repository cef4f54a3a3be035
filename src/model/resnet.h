// SPDX-License-Identifier: Apache-2.0
//
// Residual networks: He et al. 2015, "Deep residual learning for image recognition", with the
// stride of a bottleneck on its 3x3 convolution (v1.5, as torchvision and MLPerf have it) or on its
// first 1x1 (v1). Small and published networks come from the same function; parameter names are
// torchvision's.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "model/phase.h"

namespace assay {

enum class ResNetBlock : uint8_t { kBasic, kBottleneck };

struct ResNetConfig {
  int64_t channels = 3;  // of the image
  int64_t height = 224;
  int64_t width = 224;
  int64_t classes = 1000;

  int64_t stem_kernel = 7;
  int64_t stem_stride = 2;
  int64_t stem_width = 64;
  bool stem_pool = true;  // 3x3 max-pool of stride 2 behind the stem

  ResNetBlock block = ResNetBlock::kBottleneck;
  std::vector<int64_t> blocks{3, 4, 6, 3};         // of each stage
  std::vector<int64_t> widths{64, 128, 256, 512};  // inner width of each stage
  int64_t expansion = 4;                           // output width / inner width of a bottleneck
  bool stride_in_3x3 = true;                       // v1.5; false: v1

  bool zero_init_last_gamma = true;  // the last scale of a block starts at 0: the block is identity
  float bn_epsilon = 1e-5f;
  float bn_momentum = 0.9f;  // ONNX's: running = running * 0.9 + batch * 0.1
  float fc_deviation = 0;    // 0: uniform within 1/sqrt(fan-in); else N(0, deviation)
};

// Inference: image[batch, C, H, W] -> logits[batch, classes].
// Training: image and label (i64[batch]) -> loss (scalar mean), logits; batch-norm statistics are
// states. With label smoothing e the loss is (1 - e) * cross entropy + e * the mean over batch and
// classes of -log probability, as PyTorch defines it.
// Asserts that the config is sensible; resnet_config() checks outside text.
Graph resnet(const ResNetConfig& config, Phase phase, float label_smoothing = 0);

}  // namespace assay
