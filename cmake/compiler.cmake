# How our own code is compiled. Everything is position independent because engine plugins are shared
# objects that carry a static copy of the components they use.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_CCACHE})
endif()

add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
# The release compiler's warnings are errors; another compiler's only show up.
target_compile_options(assay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Werror>)
# GCC 12 sees overlapping copies in "text" + std::string where there are none (GCC bug 105329).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # clang-tidy reads this command line too and does not know the name.
  target_compile_options(assay_options INTERFACE -Wno-restrict -Wno-unknown-warning-option)
endif()
# Debug information doubles the build time; line tables are enough for a stack trace.
target_compile_options(assay_options INTERFACE $<$<CONFIG:Debug>:-O1 -g1>)
target_include_directories(assay_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(ASSAY_SANITIZE)
  # GCC's own manual: with sanitizers -Wmaybe-uninitialized gives false alarms (here on variants).
  target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_compile_options(assay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
  # Compiling is most of the time of a sanitizer run: no test computes for a second.
  target_compile_options(assay_options INTERFACE -O0)
endif()
