# libtorch from the unpacked wheel, as imported targets made by hand: find_package(Torch) asks for a
# CUDA tool kit even where only CPU kernels are wanted. Sets ASSAY_TORCH_FOUND and ASSAY_TORCH_VERSION.
set(ASSAY_TORCH_FOUND FALSE)
set(torch_root "${ASSAY_TORCH_ROOT}")
if(NOT torch_root)
  if(DEFINED ENV{ASSAY_HOME})
    set(torch_root "$ENV{ASSAY_HOME}/engines/torch")
  else()
    set(torch_root "$ENV{HOME}/.cache/assay/engines/torch")
  endif()
endif()
set(torch_version_file "${torch_root}/torch/include/torch/headeronly/version.h")
if(NOT EXISTS "${torch_version_file}")  # before 2.10
  set(torch_version_file "${torch_root}/torch/include/torch/csrc/api/include/torch/version.h")
endif()
if(NOT EXISTS "${torch_version_file}" OR NOT EXISTS "${torch_root}/torch/lib/libtorch_cpu.so")
  message(STATUS "engine torch: left out, no libtorch in ${torch_root} (./dev setup, or "
                 "-DASSAY_TORCH_ROOT=FOLDER)")
  return()
endif()
file(STRINGS "${torch_version_file}" torch_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
list(TRANSFORM torch_lines REPLACE ".* ([0-9]+)$" "\\1")
list(JOIN torch_lines "." ASSAY_TORCH_VERSION)
message(STATUS "engine torch: libtorch ${ASSAY_TORCH_VERSION} in ${torch_root}")

foreach(library c10 torch_cpu)
  add_library(assay_libtorch_${library} SHARED IMPORTED)
  set_target_properties(assay_libtorch_${library} PROPERTIES
    IMPORTED_LOCATION "${torch_root}/torch/lib/lib${library}.so"
    INTERFACE_INCLUDE_DIRECTORIES
      "${torch_root}/torch/include;${torch_root}/torch/include/torch/csrc/api/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES
      "${torch_root}/torch/include;${torch_root}/torch/include/torch/csrc/api/include")
endforeach()
add_library(assay_libtorch INTERFACE)
target_link_libraries(assay_libtorch INTERFACE assay_libtorch_torch_cpu assay_libtorch_c10)
# libtorch_cpu itself needs libraries of the nvidia wheels beside it, found by its own RPATH.
target_link_options(assay_libtorch INTERFACE -Wl,--allow-shlib-undefined)
set(ASSAY_TORCH_FOUND TRUE)
