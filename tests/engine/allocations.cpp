// SPDX-License-Identifier: Apache-2.0
//
// Replaces operator new of the test program by one that counts. In a file of its own: inlined, the
// pair would look mismatched to the compiler.
#include "engine/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local int64_t count = 0;
}

void* operator new(size_t size) {
  ++count;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept { std::free(memory); }

namespace assay {

int64_t allocations() { return count; }

}  // namespace assay
