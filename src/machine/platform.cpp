// SPDX-License-Identifier: Apache-2.0
#include "machine/platform.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"

namespace assay {
namespace {

std::string name_in(const Json& object, const char* field, const char* unknown) {
  if (!object.contains(field) || !object[field].is_string()) return unknown;
  return std::string(trim(object[field].get_ref<const std::string&>()));
}

}  // namespace

std::string platform_text(const Json& environment) {
  using Part = std::pair<std::string, int64_t>;
  std::vector<Part> parts{{name_in(environment, "cpu_model", "unknown processor"), 1}};
  // How many packages there are is sometimes hidden; that there is one is not.
  if (environment.contains("sockets") && environment["sockets"].is_number_integer())
    parts[0].second = std::max<int64_t>(1, environment["sockets"].get<int64_t>());
  if (environment.contains("gpus") && environment["gpus"].is_array()) {
    for (const Json& gpu : environment["gpus"]) {
      const std::string name = name_in(gpu, "name", "unknown GPU");
      const auto same = std::find_if(parts.begin() + 1, parts.end(),
                                     [&](const Part& part) { return part.first == name; });
      if (same != parts.end())
        ++same->second;
      else
        parts.emplace_back(name, 1);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, count] : parts) texts.push_back(std::to_string(count) + " x " + name);
  return join(texts, ", ");
}

}  // namespace assay
