// SPDX-License-Identifier: Apache-2.0
//
// Typed node attributes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/tensor.h"

namespace assay {

class Graph;

using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Tensor, std::shared_ptr<const Graph>>;

enum class AttributeType : uint8_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kTensor,
  kGraph
};
AttributeType attribute_type(const Attribute& attribute);
std::string_view attribute_type_name(AttributeType type);

// A node's attributes, complete: the operator table has checked names and types and filled in
// defaults, so a getter of a declared attribute never fails.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> items)
      : items_(items) {}

  bool has(std::string_view name) const { return items_.find(name) != items_.end(); }
  void set(std::string name, Attribute value) {
    items_.insert_or_assign(std::move(name), std::move(value));
  }
  // Removes it and gives its value; nothing where it is absent.
  std::optional<Attribute> take(std::string_view name) {
    const auto it = items_.find(name);
    if (it == items_.end()) return std::nullopt;
    std::optional<Attribute> value = std::move(it->second);
    items_.erase(it);
    return value;
  }
  // Asserts that the attribute exists and has type T.
  template <class T>
  const T& get(std::string_view name) const {
    auto it = items_.find(name);
    ASSAY_ASSERT(it != items_.end() && std::holds_alternative<T>(it->second), name);
    return std::get<T>(it->second);
  }
  int64_t integer(std::string_view name) const { return get<int64_t>(name); }
  float number(std::string_view name) const { return get<float>(name); }
  const std::string& string(std::string_view name) const { return get<std::string>(name); }
  const std::vector<int64_t>& integers(std::string_view name) const {
    return get<std::vector<int64_t>>(name);
  }
  const std::map<std::string, Attribute, std::less<>>& items() const { return items_; }

 private:
  std::map<std::string, Attribute, std::less<>> items_;
};

}  // namespace assay
