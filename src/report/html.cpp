// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include "base/error.h"

namespace assay {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// The length of the valid UTF-8 sequence of two to four bytes at text[at], or 0.
size_t sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  const size_t length = lead >= 0xf0 && lead <= 0xf4  ? 4
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else if (byte < 0x80) {
      const bool printable = (byte >= 0x20 && byte != 0x7f) || c == '\t' || c == '\n';
      out += printable ? std::string_view(&c, 1) : kReplacement;
    } else if (const size_t length = sequence_length(text, i); length > 0) {
      out += text.substr(i, length);
      i += length - 1;
    } else {
      out += kReplacement;
    }
  }
  return out;
}

void Html::tag(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const Attribute& attribute : attributes) {
    out_ += ' ';
    out_ += attribute.name;
    out_ += "=\"";
    out_ += html_escaped(attribute.value);
    out_ += '"';
  }
  out_ += '>';
}

Html& Html::open(std::string_view name, Attributes attributes) {
  tag(name, attributes);
  open_.emplace_back(name);
  return *this;
}

Html& Html::close() {
  ASSAY_ASSERT(!open_.empty(), "close() without open()");
  out_ += "</" + open_.back() + ">";
  // Lines keep the file readable and diffable; inside of phrases they would be blanks.
  static constexpr std::string_view kBlocks[] = {
      "p",   "div",  "section", "table",  "tr",      "thead", "tbody", "figure", "h1",
      "h2",  "h3",   "details", "li",     "ul",      "head",  "style", "script", "header",
      "nav", "main", "dl",      "footer", "caption", "title", "body"};
  for (const std::string_view block : kBlocks) {
    if (block == open_.back()) {
      out_ += '\n';
      break;
    }
  }
  open_.pop_back();
  return *this;
}

Html& Html::text(std::string_view text) {
  out_ += html_escaped(text);
  return *this;
}

Html& Html::element(std::string_view name, std::string_view content, Attributes attributes) {
  return open(name, attributes).text(content).close();
}

Html& Html::empty(std::string_view name, Attributes attributes) {
  tag(name, attributes);
  return *this;
}

Html& Html::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

const std::string& Html::markup() const {
  ASSAY_ASSERT(open_.empty(), "an element is still open");
  return out_;
}

}  // namespace assay
