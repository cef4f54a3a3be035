// SPDX-License-Identifier: Apache-2.0
#include "graph/attribute.h"

#include <array>

namespace assay {

AttributeType attribute_type(const Attribute& attribute) {
  return static_cast<AttributeType>(attribute.index());
}

std::string_view attribute_type_name(AttributeType type) {
  constexpr std::array<std::string_view, 8> kNames{"int",    "float",   "string", "ints",
                                                   "floats", "strings", "tensor", "graph"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace assay
