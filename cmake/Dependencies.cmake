# Every library that is not ours, all from the distribution. docs/decisions says why each one.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)

find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
# Whether asio uses aligned_alloc hangs on what was included before it, so that one source file
# would free what another got otherwise: it must not.
add_library(isthmus_asio INTERFACE)
target_include_directories(isthmus_asio SYSTEM INTERFACE "${ASIO_INCLUDE_DIR}")
target_compile_definitions(isthmus_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
                           ASIO_DISABLE_STD_ALIGNED_ALLOC)
target_link_libraries(isthmus_asio INTERFACE Threads::Threads)
