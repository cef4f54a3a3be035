// SPDX-License-Identifier: Apache-2.0
//
// A graph made from arbitrary bytes: operators, attributes, shapes and constants that mostly make
// no sense. Whatever they are, try_add() must refuse or accept, never crash. Used by the fuzz
// target and, with random bytes, by a test.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/count.h"
#include "graph/operator.h"

namespace assay {

class RandomNodes {
 public:
  explicit RandomNodes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // The number of nodes and folded constants that were accepted.
  size_t run() {
    const std::vector<const OpEntry*> ops = op_table().entries();
    for (size_t i = 0; i < 4; ++i) values_.push_back(source());
    size_t accepted = 0;
    for (size_t i = 0; i < 12 && next_ < bytes_.size(); ++i) {
      const OpEntry& op = *ops[byte() % ops.size()];
      if (byte() % 4 == 0) values_.push_back(source());
      const size_t outputs = 1 + byte() % 3 % op.max_outputs;
      auto added = builder_.try_add(op.domain, op.type, inputs(op), outputs, attributes(op), "");
      if (!added.ok()) continue;
      ++accepted;
      for (const ValueId id : *added) values_.push_back(id);
    }
    if (!values_.empty()) builder_.output(values_.back(), "result");
    const Graph graph = std::move(builder_).build();
    (void)count(graph).ok();
    (void)canonical_text(graph).size();
    return accepted;
  }

 private:
  uint8_t byte() { return next_ < bytes_.size() ? bytes_[next_++] : uint8_t{0}; }

  // Small sizes mostly, and now and then one that breaks arithmetic.
  int64_t number() {
    constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    constexpr int64_t kOdd[] = {kMin, kMin + 1, kMax, kMax - 1,         int64_t{1} << 31, -1,
                                -2,   0,        1,    int64_t{1} << 40, int64_t{1} << 62, 65536,
                                1000, -1000};
    const uint8_t kind = byte();
    if (kind % 8 == 0) return kOdd[byte() % std::size(kOdd)];
    return kind % 8 == 1 ? -static_cast<int64_t>(byte() % 5) : static_cast<int64_t>(byte() % 9);
  }

  std::vector<int64_t> numbers() {
    std::vector<int64_t> all(byte() % 6);
    for (int64_t& value : all) value = number();
    return all;
  }

  Shape shape() {
    Shape result;
    const size_t rank = byte() % 6;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t size = number();
      result.append(size >= 0 ? Dim(size) : size == -1 ? Dim::symbol("n") : Dim());
    }
    return result;
  }

  DType dtype() {
    constexpr DType kTypes[] = {DType::kF32,  DType::kF32, DType::kF32,  DType::kI64, DType::kI64,
                                DType::kI32,  DType::kF16, DType::kBF16, DType::kF64, DType::kU8,
                                DType::kBool, DType::kI4,  DType::kU32};
    return kTypes[byte() % std::size(kTypes)];
  }

  ValueId source() {
    const std::string name = "v" + std::to_string(names_++);
    const uint8_t kind = byte();
    if (kind % 3 == 0) return builder_.constant(name, Tensor::vector_i64(numbers()));
    if (kind % 3 == 1) return builder_.constant(name, small_constant());
    if (kind % 16 == 2) return builder_.input(name, TensorType::unranked(dtype()));
    TensorType type(dtype(), shape());
    // What a reader checks before it declares an input.
    if (type.known() && !type.bytes().ok()) type.shape = Shape();
    return builder_.input(name, type);
  }

  Tensor small_constant() {
    std::vector<int64_t> sizes(byte() % 4);
    for (int64_t& size : sizes) size = byte() % 4;
    Tensor tensor = Tensor::zeros(dtype(), sizes);
    auto* data = static_cast<uint8_t*>(tensor.data());
    for (int64_t i = 0; i < tensor.bytes(); ++i) data[i] = byte() & 0x7f;
    return tensor;
  }

  std::vector<ValueId> inputs(const OpEntry& op) {
    const size_t most = op.max_inputs == OpEntry::kVariadic ? 4 : op.max_inputs;
    const size_t extra = most > op.min_inputs ? byte() % (most - op.min_inputs + 1) : 0;
    std::vector<ValueId> ids;
    for (size_t i = 0; i < op.min_inputs + extra; ++i) {
      const uint8_t choice = byte();
      ids.push_back(choice % 16 == 0 ? kNoValue : values_[choice % values_.size()]);
    }
    return ids;
  }

  Attribute attribute(AttributeType type) {
    constexpr const char* kWords[] = {"NOTSET",  "SAME_UPPER", "VALID", "mean", "none",
                                      "reflect", "wrap",       "tanh",  ""};
    switch (type) {
      case AttributeType::kInt:
        return number();
      case AttributeType::kFloat:
        return static_cast<float>(number()) / 4;
      case AttributeType::kString:
        return std::string(kWords[byte() % std::size(kWords)]);
      case AttributeType::kInts:
        return numbers();
      case AttributeType::kFloats:
        return std::vector<float>(byte() % 4, 1.5f);
      case AttributeType::kTensor:
        return byte() % 4 == 0 ? Tensor() : small_constant();
      default:
        return std::vector<std::string>{};
    }
  }

  Attributes attributes(const OpEntry& op) {
    Attributes result;
    for (const AttributeSpec& spec : op.attributes) {
      const uint8_t choice = byte();
      if (choice % 3 == 0 && !spec.required) continue;
      const auto type = choice % 64 == 1 ? static_cast<AttributeType>(byte() % 6) : spec.type;
      result.set(spec.name, attribute(type));
    }
    if (byte() % 64 == 1) result.set("unheard_of", int64_t{1});
    return result;
  }

  std::span<const uint8_t> bytes_;
  size_t next_ = 0;
  size_t names_ = 0;
  GraphBuilder builder_{"random"};
  std::vector<ValueId> values_;
};

}  // namespace assay
