# ISTHMUS_SANITIZE=address|undefined|thread instruments every target of the tree.
if(ISTHMUS_SANITIZE)
  add_compile_options(-fsanitize=${ISTHMUS_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ISTHMUS_SANITIZE})
  # These four take a quarter of GCC's time (2026-11). The address sanitizer notices most of their
  # errors, and the fuzzers, built by clang, run them over all code that reads others' input.
  if(ISTHMUS_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  # gcc warns that it does not see asio's fences, but it does see the atomics beside them.
  if(ISTHMUS_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()
