// The library that a face loads.
#include "papers/papers.hpp"

extern "C" __attribute__((visibility("default"))) void isthmus_algorithms(
    std::span<const isthmus::coll::Algorithm>* rows) {
  *rows = isthmus::coll::algorithms_of_papers();
}
