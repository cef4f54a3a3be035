// SPDX-License-Identifier: Apache-2.0
//
// Html: markup written so that it is well-formed and that no text of a record can become markup.
// Everything that is not a tag goes through an escape; raw() is for text that we made ourselves
// (style, script, SVG).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// '&', '<', '>', '"' and '\'' as entities; control characters (but tab and newline) and invalid
// UTF-8 as U+FFFD.
std::string html_escaped(std::string_view text);

struct Attribute {
  std::string_view name;
  std::string value;
};
using Attributes = std::initializer_list<Attribute>;

class Html {
 public:
  Html& open(std::string_view tag, Attributes attributes = {});
  Html& close();  // the innermost open element
  Html& text(std::string_view text);
  // open, text, close.
  Html& element(std::string_view tag, std::string_view text, Attributes attributes = {});
  // An element that has no content and no end: <meta>, <br>.
  Html& empty(std::string_view tag, Attributes attributes = {});
  Html& raw(std::string_view markup);
  // The markup; every element must be closed.
  const std::string& markup() const;

 private:
  void tag(std::string_view name, Attributes attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace assay
