# All that is compiled: how, and what.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Lines for backtraces, but no variables: those take a good part of the time of a build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

option(ISTHMUS_TESTS "Build the unit tests" ON)
option(ISTHMUS_FUZZ "Build the fuzzers (clang only)" OFF)
set(ISTHMUS_SANITIZE "" CACHE STRING "Sanitizer to build with: address, undefined or thread")

include(Ccache)
include(Unity)
include(Warnings)
include(Sanitizers)
include(Dependencies)
include(Fuzzers)
include(IsthmusTest)
set(ISTHMUS_LIBDIR "${CMAKE_INSTALL_LIBDIR}/isthmus" CACHE STRING
    "Where the preloaded parts are installed, below the prefix")

enable_testing()
add_subdirectory(src)
add_subdirectory(lab)
add_subdirectory(bench)
