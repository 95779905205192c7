// Algorithms requested by name, as text:
//   gather=direct:senders=4,bcast=striped:segment=16K
// `auto` as a name leaves the choice to the cost model.
#pragma once

#include <array>
#include <string_view>

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

struct Forced {
  struct Wish {
    const Algorithm* algorithm = nullptr;  ///< null: not requested
    Parameters parameters;
  };
  std::array<Wish, kKinds> wishes;  ///< by Kind

  const Wish& of(Kind kind) const { return wishes[static_cast<std::size_t>(kind)]; }
};

/// Reads the text; values that it does not name stay as in `base`. Throws std::invalid_argument
/// with a sentence that names the error and lists what is allowed.
Forced parse_forced(std::string_view text, const Forced& base = {});

}  // namespace isthmus::coll
