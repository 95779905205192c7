# Link a target to isthmus_warnings to build it with the house's warnings.
option(ISTHMUS_WERROR "Treat warnings as errors" OFF)
add_library(isthmus_warnings INTERFACE)
target_compile_options(isthmus_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wcast-align -Woverloaded-virtual)
if(NOT ISTHMUS_UNITY)  # there one source sees the names of others
  target_compile_options(isthmus_warnings INTERFACE -Wshadow)
endif()
if(ISTHMUS_WERROR)
  target_compile_options(isthmus_warnings INTERFACE -Werror)
endif()
