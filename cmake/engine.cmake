# assay_engine(NAME VERSION version SOURCES file... [LINK target...] [FOLDER folder]): the plugin
# NAME.so with its manifest NAME.json in lib/assay/engines below the build folder (or in FOLDER). A
# plugin carries static copies of the assay_* libraries that it uses and exports one function.
function(assay_engine name)
  cmake_parse_arguments(ARG "" "VERSION;FOLDER" "SOURCES;LINK" ${ARGN})
  set(target engine_${name})
  add_library(${target} MODULE ${ARG_SOURCES})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${CMAKE_BINARY_DIR}/lib/assay/engines)
    add_dependencies(program ${target})
  endif()
  target_link_libraries(${target} PRIVATE assay_options ${ARG_LINK} assay_engine)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  if(NOT ASSAY_SANITIZE)  # clang's sanitizers leave their symbols to the program
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME ${name}
                                             LIBRARY_OUTPUT_DIRECTORY ${ARG_FOLDER})
  file(CONFIGURE OUTPUT ${ARG_FOLDER}/${name}.json
       CONTENT "{\"name\": \"${name}\", \"version\": \"${ARG_VERSION}\"}\n")
endfunction()
