# Link a target to isthmus_warnings to build it with the house's warnings.
option(ISTHMUS_WERROR "Treat warnings as errors" OFF)
add_library(isthmus_warnings INTERFACE)
target_compile_options(isthmus_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-align -Woverloaded-virtual)
if(ISTHMUS_WERROR)
  target_compile_options(isthmus_warnings INTERFACE -Werror)
endif()
