# isthmus_test(NAME name SOURCES a_test.cpp ... LIBS lib ... [THREADS] [ALWAYS]): a GoogleTest program
# run by CTest. THREADS: it uses several threads, so ThreadSanitizer runs it (tools/sanitize).
# ALWAYS: sanitizers leave some of it out, so it is built with everything else. Others are built by
# the target unit_tests, and with sanitizers; their label shows that.
include(GoogleTest)
if(ISTHMUS_TESTS)
  find_package(GTest REQUIRED)
  add_custom_target(threaded_tests)
  add_custom_target(unit_tests)
endif()

function(isthmus_test)
  cmake_parse_arguments(T "THREADS;ALWAYS" "NAME" "SOURCES;LIBS" ${ARGN})
  if(NOT ISTHMUS_TESTS)
    return()
  endif()
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE ${T_LIBS} isthmus_warnings GTest::gtest GTest::gmock
                                          GTest::gtest_main)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT ISTHMUS_SANITIZE)
    target_compile_options(${T_NAME} PRIVATE -O1)  # compiled more often than run
  endif()
  add_dependencies(unit_tests ${T_NAME})
  set(label unit)
  if(T_THREADS)
    set(label threads)
    add_dependencies(threaded_tests ${T_NAME})
  endif()
  if(NOT T_ALWAYS)
    string(APPEND label "_sanitized")
    if(NOT ISTHMUS_SANITIZE)
      set_target_properties(${T_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endif()
  # A loaded machine takes longer than CMake's 5 s to start an instrumented program.
  gtest_discover_tests(${T_NAME} DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 120 LABELS ${label})
endfunction()
