#include "mpi/process/limits.hpp"

namespace isthmus::face {
namespace {

GridLimits current;

}  // namespace

const GridLimits& limits() { return current; }
void set_limits(const GridLimits& agreed) { current = agreed; }

}  // namespace isthmus::face
