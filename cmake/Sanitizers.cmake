# ISTHMUS_SANITIZE=address|undefined|thread instruments every target of the tree.
if(ISTHMUS_SANITIZE)
  add_compile_options(-fsanitize=${ISTHMUS_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ISTHMUS_SANITIZE})
  # These four are a quarter of the time that GCC takes (2026-11). The address sanitizer notices most
  # of what they do, and the fuzzers, of clang, have them over all that reads what others write.
  if(ISTHMUS_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  # gcc warns that it does not see asio's fences; the atomics beside them it does see.
  if(ISTHMUS_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>)
  endif()
endif()
