#include "core/base/mark.hpp"

#include <random>

namespace isthmus::core {

Mark new_mark() {
  std::random_device device;
  const auto half = [&] { return std::uint64_t{device()} << 32U | device(); };
  return {half(), half()};
}

}  // namespace isthmus::core
