# isthmus_test(NAME name SOURCES a_test.cpp ... LIBS lib ... [THREADS]): a GoogleTest program run by
# CTest. THREADS: there are several in it, so ThreadSanitizer is to look at it (tools/sanitize).
include(GoogleTest)
if(ISTHMUS_TESTS)
  find_package(GTest REQUIRED)
  add_custom_target(threaded_tests)
endif()

function(isthmus_test)
  cmake_parse_arguments(T "THREADS" "NAME" "SOURCES;LIBS" ${ARGN})
  if(NOT ISTHMUS_TESTS)
    return()
  endif()
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBS} isthmus_warnings GTest::gtest GTest::gmock
                                          GTest::gtest_main)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT ISTHMUS_SANITIZE)
    target_compile_options(${T_NAME} PRIVATE -O1)  # compiled oftener than run
  endif()
  set(label unit)
  if(T_THREADS)
    set(label threads)
    add_dependencies(threaded_tests ${T_NAME})
  endif()
  gtest_discover_tests(${T_NAME} PROPERTIES TIMEOUT 120 LABELS ${label})
endfunction()
