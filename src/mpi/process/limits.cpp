#include "mpi/process/limits.hpp"

namespace isthmus::face {
namespace {

GridLimits agreed_limits;

}  // namespace

const GridLimits& limits() { return agreed_limits; }
void set_limits(const GridLimits& agreed) { agreed_limits = agreed; }

}  // namespace isthmus::face
