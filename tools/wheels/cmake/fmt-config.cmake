# fmt, compiled from its headers: Debian's library is made for another C++ library than Zig's.
add_library(fmt::fmt INTERFACE IMPORTED)
target_include_directories(fmt::fmt SYSTEM INTERFACE "${CMAKE_FIND_ROOT_PATH}/usr/include")
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
