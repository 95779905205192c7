# Every library that is not ours, all from the distribution. docs/decisions gives the reasons.
# One message lists all missing ones, with their packages (tools/setup/packages-install.txt).
set(missing_libraries)
set(missing_packages)
macro(needs what package found)
  if(NOT ${found})
    list(APPEND missing_libraries "${what}")
    list(APPEND missing_packages "${package}")
  endif()
endmacro()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 QUIET)
needs("OpenSSL 3" libssl-dev OpenSSL_FOUND)
find_package(fmt QUIET)
needs("fmt" libfmt-dev fmt_FOUND)
find_path(SPDLOG_INCLUDE_DIR spdlog/spdlog.h)
needs("spdlog" libspdlog-dev SPDLOG_INCLUDE_DIR)
find_package(nlohmann_json QUIET)
needs("nlohmann-json" nlohmann-json3-dev nlohmann_json_FOUND)
find_package(CLI11 QUIET)
needs("CLI11" libcli11-dev CLI11_FOUND)
find_path(ASIO_INCLUDE_DIR asio.hpp)
needs("asio" libasio-dev ASIO_INCLUDE_DIR)
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(ZSTD_INCLUDE_DIR AND ZSTD_LIBRARY)
  set(ZSTD_FOUND TRUE)
endif()
needs("Zstandard" libzstd-dev ZSTD_FOUND)
# Opened at run time, and optional: clusters on a fabric have it, others do not.
find_path(UCX_INCLUDE_DIR ucp/api/ucp.h)
# Likewise. It is for x86-64 only, and the library's name has the major version.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  find_path(IPSEC_MB_INCLUDE_DIR intel-ipsec-mb.h)
endif()
set(IPSEC_MB_FOUND FALSE)
if(IPSEC_MB_INCLUDE_DIR)
  file(STRINGS "${IPSEC_MB_INCLUDE_DIR}/intel-ipsec-mb.h" version REGEX "define IMB_VERSION_STR +\"1\\.")
  if(version)
    set(IPSEC_MB_FOUND TRUE)
  endif()
endif()
if(ISTHMUS_TESTS)
  find_package(GTest QUIET)
  needs("GoogleTest (for ISTHMUS_TESTS)" "libgtest-dev libgmock-dev" GTest_FOUND)
endif()
if(missing_libraries)
  list(JOIN missing_libraries ", " libraries)
  list(JOIN missing_packages " " packages)
  message(FATAL_ERROR "Isthmus cannot be built: these libraries are missing: ${libraries}.\n"
                      "On Debian and Ubuntu:  sudo apt-get install ${packages}\n"
                      "README.md lists all that building needs.")
endif()

# Disables aligned_alloc in asio. Its use depends on earlier includes, so one source file could free
# memory that another allocated differently.
add_library(isthmus_asio INTERFACE)
target_include_directories(isthmus_asio SYSTEM INTERFACE "${ASIO_INCLUDE_DIR}")
target_compile_definitions(isthmus_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
                           ASIO_DISABLE_STD_ALIGNED_ALLOC)
target_link_libraries(isthmus_asio INTERFACE Threads::Threads)

# Header-only, over the fmt found above: clusters do not need a library for it.
add_library(isthmus_spdlog INTERFACE)
target_include_directories(isthmus_spdlog SYSTEM INTERFACE "${SPDLOG_INCLUDE_DIR}")
target_compile_definitions(isthmus_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_link_libraries(isthmus_spdlog INTERFACE fmt::fmt)

add_library(isthmus_zstd INTERFACE)
target_include_directories(isthmus_zstd SYSTEM INTERFACE "${ZSTD_INCLUDE_DIR}")
target_link_libraries(isthmus_zstd INTERFACE "${ZSTD_LIBRARY}")
