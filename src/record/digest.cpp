// SPDX-License-Identifier: Apache-2.0
#include "record/digest.h"

#include "base/hash.h"

namespace assay {

std::string digest_of(std::string_view graph, std::string_view recipe, std::string_view data) {
  std::string bytes = "assay-digest-1\n";
  const auto append = [&bytes](std::string_view name, std::string_view part) {
    bytes += name;
    bytes += ' ';
    bytes += std::to_string(part.size());
    bytes += '\n';
    bytes += part;
    bytes += '\n';
  };
  append("graph", graph);
  append("recipe", recipe);
  append("data", data);
  return sha256_hex(bytes);
}

std::string short_digest(std::string_view digest) { return std::string(digest.substr(0, 16)); }

}  // namespace assay
