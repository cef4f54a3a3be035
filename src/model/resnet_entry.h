// SPDX-License-Identifier: Apache-2.0
//
// Residual networks in the catalogue, and their configuration from text.
#pragma once

#include <vector>

#include "base/error.h"
#include "model/config_reader.h"
#include "model/model.h"
#include "model/resnet.h"

namespace assay {

void add_resnet_models(std::vector<ModelEntry>& models);

// The configuration, with every bound checked: the result can be built.
Result<ResNetConfig> resnet_config(const ConfigReader& reader);

}  // namespace assay
