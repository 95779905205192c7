#include "coll/engine/party.hpp"

#include "coll/engine/choose.hpp"

namespace isthmus::coll {

const Network& Party::network() const {
  static const Network unmeasured;
  return unmeasured;
}

const Forced& Party::forced() const {
  static const Forced none;
  return none;
}

void Party::chosen(const Problem&, const Choice&) {}

}  // namespace isthmus::coll
