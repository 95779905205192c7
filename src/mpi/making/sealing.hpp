// In a run whose clusters may fail, the last exchange of a call that makes something may end well
// at some members and with an error at others. So the members that live agree on the outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/world/group.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/survival/agreeing.hpp"

namespace isthmus::face {

/// Runs `exchange`, which returns whether all members of `group` have succeeded, or throws. If it
/// ends well at one of them, all have begun it and know `context`, which is of this call alone.
/// Then it ends well at all members that live, or throws MpiError at all. A member that fails in it
/// waits for nobody. Other runs, and members
/// of several: just the exchange.
bool sealed(const core::Group& group, std::uint64_t context, const std::function<bool()>& exchange);

/// The same in steps, for a call that does not wait. A seal that is destroyed early keeps its
/// flags.
class Seal {
 public:
  /// All members know `context`.
  Seal(const core::Group& group, std::uint64_t context) : group_(group), context_(context) {}
  ~Seal();
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;
  /// The exchange has ended well here. Once.
  void say_well();
  /// After that. True: it has ended well at all that live. False: this is not known yet. Throws
  /// MpiError if it has not.
  bool poll();

 private:
  core::Group group_;
  std::uint64_t context_;
  std::optional<Agreeing> agreeing_;
};

/// all_succeeded(), sealed, for all members of a communicator.
bool all_succeeded(const GridCommRef& comm, std::uint64_t context, bool mine);

/// Whether all these processes are of this run, and clusters of it may fail. Other runs may not
/// survive, so members of several runs agree on nothing.
bool may_lose_some(const core::Group& group);

/// A barrier of the members that live, of both sides in an intercommunicator. It is the last call
/// with the communicator.
void meet_living(const GridCommRef& comm);

}  // namespace isthmus::face
