#include "file/error.hpp"

#include <system_error>

namespace isthmus::file {

void fail(const std::string& doing, int number) {
  throw Error(number, doing + ": " + std::generic_category().message(number));
}

}  // namespace isthmus::file
