// A collective of an intercommunicator: it goes over the communicator of both sides.
#pragma once

#include <utility>

#include "coll/inter/inter.hpp"
#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/coll_checks.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/comm/inter.hpp"

namespace isthmus::face {

inline coll::TwoSides two_sides(const GridComm& intercomm) {
  const int local = intercomm.inter->local_size();
  const bool local_first = intercomm.inter->here == 0;
  return {local_first ? local : intercomm.size, local_first ? intercomm.size : local};
}

/// A root in the form of coll/inter. Throws MpiError.
inline int root_among_both(const GridComm& intercomm, int root) {
  if (root == MPI_PROC_NULL) return coll::kNoPart;
  if (root == MPI_ROOT) return intercomm.inter->whole->rank;
  check_root(intercomm, root);
  return intercomm.inter->there + root;
}

/// `Begin` is called with the party, the sides, and the bytes that go out and come in.
template <class Begin>
class InterCollective final : public Collective {
 public:
  InterCollective(const Call& call, OutBlocks out, InBlocks in, Outline outline, Begin begin)
      : Collective(everyone(call.comm), call.function),
        outline_(std::move(outline)),
        sides_(two_sides(*call.comm)),
        out_(std::move(out)),
        in_(std::move(in)),
        begin_(std::move(begin)) {}

 private:
  coll::Task start(coll::Party& party) override {
    return begin_(party, sides_, out_.bytes(), in_.bytes());
  }
  void finish() override { in_.finish(); }
  std::optional<Outline> outline() const override { return outline_; }

  const Outline outline_;
  coll::TwoSides sides_;
  OutBlocks out_;
  InBlocks in_;
  Begin begin_;
};

template <class Begin>
int launch_inter(const Call& call, OutBlocks out, InBlocks in, Outline outline, Begin begin) {
  return launch(std::make_unique<InterCollective<Begin>>(call, std::move(out), std::move(in),
                                                         std::move(outline), std::move(begin)),
                call);
}

/// That of a rank on the root's side that is not the root.
inline int launch_without_part(const Call& call, Outline::Kind kind) {
  return launch_inter(call, {}, {}, {.kind = kind}, [](auto&&...) { return coll::Task(); });
}

/// The outline of a collective in which each side gets what all of the other side give.
inline Outline across(Outline::Kind kind, const GridComm& intercomm) {
  return {.kind = kind,
          .first_giver = intercomm.inter->there,
          .end_of_givers = intercomm.inter->there + intercomm.size};
}

inline void check_given(const GridComm& intercomm, const void* buffer, MPI_Count count,
                        MPI_Datatype type) {
  check_not_in_place(buffer);
  check_data(intercomm, count, type);
}

}  // namespace isthmus::face
