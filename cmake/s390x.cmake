set(arch s390x)
include("${CMAKE_CURRENT_LIST_DIR}/foreign.cmake")
