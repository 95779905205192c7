#include "mpi/request/whence.hpp"

namespace isthmus::face {

constinit thread_local std::atomic<Whence>* told_whence = nullptr;
std::atomic<int> far_accesses{0};

}  // namespace isthmus::face
