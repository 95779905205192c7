// The messages of persistent requests, which count whenever they are started.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/profile/members.hpp"
#include "mpi/profile/thread.hpp"

namespace isthmus::face::profile {

struct Kept {
  struct Message {
    int world_rank;
    std::uint64_t bytes;
  };
  std::vector<Message> messages;
  unsigned collective = 0;  ///< 0: not a collective
  MembersRef members;
  std::uint64_t given = 0;
};

/// Bounded by the requests that the program has: let_go() takes them out.
void keep(MPI_Request request, Kept kept);
/// For MPI_Request_free.
void let_go(MPI_Request request);
/// Counts the request's messages; does nothing for one that was not kept.
void start_kept(Thread& thread, MPI_Request request);

}  // namespace isthmus::face::profile
