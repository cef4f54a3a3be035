# Run at build time: writes OUTPUT, the source of engine_build_id(), from the content of the files in
# the list file INPUTS and from COMPILER. Paths do not enter, so two checkouts of one state agree.
file(STRINGS ${INPUTS} files)
set(text "${COMPILER}\n")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  get_filename_component(name ${file} NAME)
  string(APPEND text "${name} ${hash}\n")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 16 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// SPDX-License-Identifier: Apache-2.0
// Written by cmake/build_id.cmake.
#include "engine/plugin.h"

namespace assay {

const char* engine_build_id() { return "@id@"; }

}  // namespace assay
]] @ONLY)
