# For builds that are not edited: compiles sources of a target together. Their includes are read and
# instantiated once for all of them. A full build took 740 s of a core instead of 1,370 with eight
# sources at a time; sixteen save some 15 % of that (2026-11).
option(ISTHMUS_UNITY "Compile the sources of a target sixteen at a time" OFF)
set(CMAKE_UNITY_BUILD ${ISTHMUS_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if(ISTHMUS_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # For coroutines' frames, which GCC 12 takes for types that other sources see too.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
