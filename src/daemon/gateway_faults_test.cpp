// What goes wrong in the network ends in a sentence everywhere, and nobody hangs.
#include "daemon/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;

}  // namespace
}  // namespace isthmus::daemon
