#include "net/host/software.hpp"

namespace isthmus::net {

std::string software() { return ISTHMUS_VERSION; }

}  // namespace isthmus::net
