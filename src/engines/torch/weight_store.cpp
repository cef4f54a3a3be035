// SPDX-License-Identifier: Apache-2.0
#include "engines/torch/weight_store.h"

#include "engines/torch/tensors.h"

namespace assay::torch_engine {

Bytes WeightStore::bytes() const {
  Bytes total;
  for (const auto& [name, tensor] : tensors) total += Bytes{static_cast<int64_t>(tensor.nbytes())};
  return total;
}

Result<std::shared_ptr<WeightStore>> make_store(NamedTensors values, at::Device device,
                                                bool channels_last) {
  auto store = std::make_shared<WeightStore>();
  while (!values.empty()) {
    const auto first = values.begin();
    ASSAY_ASSIGN(store->tensors[first->first], from_host(first->second, device, channels_last));
    values.erase(first);
  }
  return store;
}

}  // namespace assay::torch_engine
