// Which algorithms of collectives this process has chosen, for `isthmus run --stats`.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "coll/engine/choose.hpp"

namespace isthmus::face {

class Choices {
 public:
  void count(const coll::Problem& problem, const coll::Choice& choice);
  /// Lines of a table; empty where there was no collective.
  std::string table() const;

 private:
  struct Sum {
    std::size_t calls = 0, bytes = 0;
  };
  std::map<const coll::Algorithm*, Sum> sums_;  // in the order of coll::algorithms()
};

}  // namespace isthmus::face
