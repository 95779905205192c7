// A stranger may send anything to a service first. The reader never reads beyond it, and an
// accepted opening names a key and a job that may stand in files and logs.
#include <cstdint>
#include <cstdlib>

#include "daemon/service/opening.hpp"

using namespace isthmus::daemon;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = read_opening({data, size});
  using State = OpeningRead::State;
  demand(found.opening.has_value() == (found.state == State::Whole));
  demand(found.why.empty() == (found.state != State::Wrong));
  if (found.opening) {
    demand(is_name(found.opening->key) && is_name(found.opening->job));
    demand(found.opening->name().size() <= 255);
  }
  demand(found.state != State::Incomplete || size < kMostOpening);
  return 0;
}
