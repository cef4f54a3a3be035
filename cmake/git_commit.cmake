# Writes OUTPUT with the commit of SOURCE_DIR, touching the file only when it changes. Run at every
# build: cmake -DSOURCE_DIR=... -DOUTPUT=... -P git_commit.cmake
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE failed)
if(failed)
  set(commit "")
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} diff --quiet HEAD -- src cmake CMakeLists.txt
                  RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "-modified")
  endif()
endif()
set(content "\"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL content)
  file(WRITE ${OUTPUT} ${content})
endif()
