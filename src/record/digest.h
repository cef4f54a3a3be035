// SPDX-License-Identifier: Apache-2.0
//
// Digest: what was measured, as one number. Two records may be compared only when their digests
// are equal: the same graph, trained by the same recipe, on the same data.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// SHA-256, 64 hexadecimal digits, of the three parts, each preceded by its name and length so that
// no two different triples make the same bytes. A part that does not apply is empty.
//   graph: the graph's canonical text; recipe: recipe_json(...).dump(); data: checksum of the data.
std::string digest_of(std::string_view graph, std::string_view recipe, std::string_view data);

// The first 16 digits, for people.
std::string short_digest(std::string_view digest);

}  // namespace assay
