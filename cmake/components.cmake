# assay_component(NAME [LINK target...]): the static library assay_NAME from every .cpp below the
# calling folder. LINK names assay_* components above it in the list and outside libraries.
function(assay_component name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    add_library(assay_${name} INTERFACE)
    target_link_libraries(assay_${name} INTERFACE assay_options ${ARG_LINK})
    return()
  endif()
  add_library(assay_${name} STATIC ${sources})
  target_link_libraries(assay_${name} PUBLIC assay_options ${ARG_LINK})
endfunction()

# assay_test(NAME [FOLDER folder] [LINK target...]): the test program test_NAME from every *_test.cpp
# of the folder tests/NAME (or tests/FOLDER; and helpers beside them; not plugins/), one ctest entry per test case.
function(assay_test name)
  cmake_parse_arguments(ARG "" "FOLDER" "LINK;LABELS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${ARG_FOLDER}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_fuzz\\.cpp|/plugins/[^/]*)$")
  if(NOT sources)
    return()
  endif()
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                  ASSAY_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(test_${name} PRIVATE assay_options ${ARG_LINK} GTest::gmock_main)
  # Half of all compile time is test code, and it need not be fast.
  target_compile_options(test_${name} PRIVATE -O0)
  gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}/"
                       PROPERTIES TIMEOUT 300 LABELS "${ARG_LABELS}")
endfunction()

add_custom_target(fuzzers)
# assay_fuzz(NAME SOURCE file [LINK target...]): the libFuzzer program NAME_fuzz, part of the target
# `fuzzers`. Only the preset asan builds it; its seeds lie in tests/COMPONENT/corpus/NAME, where NAME
# is without the component.
function(assay_fuzz name)
  cmake_parse_arguments(ARG "" "SOURCE" "LINK" ${ARGN})
  if(NOT ASSAY_FUZZ)
    return()
  endif()
  add_executable(${name}_fuzz ${ARG_SOURCE})
  target_include_directories(${name}_fuzz PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name}_fuzz PRIVATE assay_options ${ARG_LINK})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${name}_fuzz)
endfunction()
