// Which algorithms of collectives this process has chosen, for `isthmus run --stats`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coll/engine/choose.hpp"

namespace isthmus::face {

class Choices {
 public:
  void count(const coll::Problem& problem, const coll::Choice& choice);
  /// Lines of a table; empty without collectives.
  std::string table() const;

 private:
  struct Sum {
    std::size_t calls = 0, bytes = 0;
  };
  std::vector<Sum> sums_ = std::vector<Sum>(coll::algorithms().size());  // of each of them
};

}  // namespace isthmus::face
