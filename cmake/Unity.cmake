# Builds that nobody edits in, as those with sanitizers, compile sources of a target together: what
# they include is read and instantiated once for all of them.
option(ISTHMUS_UNITY "Compile the sources of a target eight at a time" OFF)
set(CMAKE_UNITY_BUILD ${ISTHMUS_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
