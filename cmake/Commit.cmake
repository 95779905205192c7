# The commit that is built, as a source file. isthmus_commit(TARGET) adds it. It is looked up at each
# build and rewritten only if it has changed. CMake also runs this file as a script, with SOURCE and
# OUT. git tells the commit. In a source archive the file COMMIT does; the archive's maker wrote it
# (CMakeLists.txt).
function(isthmus_find_commit source result)
  set(commit "")
  if(EXISTS "${source}/.git")
    execute_process(COMMAND git -C "${source}" describe --always --dirty --abbrev=12 "--exclude=*"
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT commit AND EXISTS "${source}/COMMIT")
    file(READ "${source}/COMMIT" commit)
    string(STRIP "${commit}" commit)
  endif()
  if(NOT commit MATCHES "^[0-9a-f]+(-dirty)?$")
    set(commit unknown)
  endif()
  set(${result} "${commit}" PARENT_SCOPE)
endfunction()

function(isthmus_commit target)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/commit.cpp")
  add_custom_target(isthmus_commit
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${out}"
            -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    BYPRODUCTS "${out}")
  target_sources(${target} PRIVATE "${out}")
  set_source_files_properties("${out}" PROPERTIES GENERATED TRUE SKIP_UNITY_BUILD_INCLUSION TRUE)
  add_dependencies(${target} isthmus_commit)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND OUT)
  isthmus_find_commit("${SOURCE}" commit)
  file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT [[
#include "daemon/host/build.hpp"

namespace isthmus::daemon {
const char* commit() { return "@commit@"; }
}  // namespace isthmus::daemon
]])
endif()
