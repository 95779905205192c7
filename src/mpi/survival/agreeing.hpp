// One agreement of the members of a grid communicator, for MPIX_Comm_agree and for functions that
// make communicators although members fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/agreement/agreement.hpp"
#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/request/request.hpp"
#include "mpi/survival/failed_members.hpp"
#include "mpi/survival/survivors.hpp"

namespace isthmus::face {

/// Takes part in the next agreement of a communicator, with both sides of an intercommunicator. All
/// living members begin the same calls in the same order.
class Agreeing {
 public:
  /// So that members that call different functions notice it.
  enum class Call : std::uint64_t {
    Agree = std::uint64_t{1} << 32,
    Shrink = std::uint64_t{1} << 33,
    Make = std::uint64_t{1} << 34,
    Free = std::uint64_t{1} << 35
  };

  /// `flags`: combined by AND.
  Agreeing(const GridCommRef& comm, std::uint32_t flags, Call call);
  /// In the only agreement of `group` to make something, or to free it. `context`: its own, the
  /// same on all members. This takes part even if it is destroyed before the decision.
  Agreeing(const core::Group& group, std::uint64_t context, std::uint32_t flags, Call call);
  /// The decision, once, and when this process has heard of all failures in it. Throws MpiError if
  /// others call something else.
  std::optional<core::Decision> poll();
  core::Decision wait();

 private:
  bool heard_of_failures() const;

  Call call_;
  core::Group group_;
  std::shared_ptr<Survivors> survivors_;
  Survivors::Ticket ticket_;
  std::optional<core::Decision> decision_;
};

/// MPIX_Comm_agree: `*flag` becomes the AND of all living members' flags, of the remote side in an
/// intercommunicator. Throws MpiError with proc_failed() on all of them, after that, if one has
/// failed that a member has not acknowledged.
void agree_on_flag(const GridCommRef& comm, int* flag);
/// The same while the program does other things.
std::unique_ptr<Operation> begin_agreeing(const GridCommRef& comm, int* flag);

}  // namespace isthmus::face
