#include "mpi/rma/access.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "mpi/comm/survival.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/require.hpp"
#include "mpi/rma/elements.hpp"
#include "mpi/rma/far_format.hpp"
#include "mpi/rma/moving.hpp"
#include "mpi/rma/quick.hpp"
#include "rma/combining.hpp"

namespace isthmus::face {
namespace {

/// Operations that have been gathered for this long are sent without a request for them: a round
/// trip in a machine room (2026-11). If the time were longer, data would wait while the program
/// computes.
constexpr std::chrono::microseconds kGather{50};

/// The native library judges the datatypes of calls without a request only.
void check_types(std::initializer_list<MPI_Datatype> types) {
  for (const MPI_Datatype type : types) {
    require(type != MPI_DATATYPE_NULL, MPI_ERR_TYPE, "a datatype is MPI_DATATYPE_NULL");
  }
}

/// Ends when its data has left, or come.
class AccessOperation final : public Operation {
 public:
  AccessOperation(rma::Ticket ticket, Incoming incoming, int node)
      : ticket_(std::move(ticket)), incoming_(std::move(incoming)), node_(node) {
    passive = true;
  }
  bool advance() override {
    if (rma::parts_left(ticket_) > 0) return false;
    if (rma::is_lost(ticket_)) return lose(loss_of_process(node_), "access to a window", result);
    result.error = incoming_.finish(incoming_.bytes().size());
    return true;
  }

 private:
  const rma::Ticket ticket_;
  Incoming incoming_;
  int node_;  // of the target
};

/// Throws if no epoch allows access to a rank, or it has failed. Locks it, if MPI_Win_lock_all
/// must.
void check_access(GridWindow& window, int rank) {
  check_alive(window, {rank});
  bool lock = false;
  {
    const core::Lock guard(window.mutex);
    Epochs& epochs = window.epochs;
    if (epochs.locks.contains(rank)) return;
    if (epochs.lock_all) {
      lock = !epochs.lock_all_unchecked && epochs.lazy.insert(rank).second;
    } else if (epochs.started) {
      const std::vector<int>& ranks = *epochs.started;
      require(std::find(ranks.begin(), ranks.end(), rank) != ranks.end(), MPI_ERR_RMA_SYNC,
              "the target is not in the group of MPI_Win_start");
    } else {
      require(epochs.fenced, MPI_ERR_RMA_SYNC,
              "no epoch has been begun for this target: fence, start or lock first");
      epochs.used = true;
    }
  }
  if (!lock) return;
  with_part(window, [rank](rma::Window& part) { part.lock(rank, rma::LockType::Passing); });
}

/// The operation's place in the window.
struct Where {
  rma::Place place;
  TypeMapRef map;         // keeps place.map
  std::size_t bytes = 0;  // packed
};

void check_range(const GridWindow& window, const Remote& to, std::int64_t low, std::int64_t high) {
  if (window.dynamic() || low >= high) return;
  const Exposed& there = window.exposed[static_cast<std::size_t>(to.rank)];
  require(to.displacement >= 0, MPI_ERR_DISP, "the target displacement is negative");
  const std::int64_t begin = to.displacement * there.disp_unit;
  require(begin + low >= 0 && begin + high <= static_cast<std::int64_t>(there.size),
          MPI_ERR_RMA_RANGE, "the operation reaches beyond the target's window");
}

/// `element`: for an accumulate, whose predefined pairs are elements in a row.
Where locate(const GridWindow& window, const Remote& to, const rma::Element* element) {
  Where where;
  const std::int64_t unit =
      window.dynamic() ? 1 : window.exposed[static_cast<std::size_t>(to.rank)].disp_unit;
  where.bytes = packed_size(to.count, to.type);
  where.place.rank = to.rank;
  where.place.displacement = to.displacement * unit;
  // The memory that others attach is not known. A program that has a GPU here may use one there.
  where.place.staged = window.exposed[static_cast<std::size_t>(to.rank)].on_device() ||
                       (window.dynamic() && has_gpu_driver());
  MPI_Aint lower = 0;
  if (is_contiguous(to.count, to.type, &lower)) {
    where.place.displacement += lower;
    check_range(window, to, lower, lower + static_cast<std::int64_t>(where.bytes));
  } else if (element != nullptr && is_predefined(to.type)) {
    check_range(window, to, 0,
                (to.count - 1) * static_cast<std::int64_t>(element->extent) +
                    element->index_offset + element->index_size);
  } else {
    where.map = map_of(to.type);
    where.place.map = where.map.get();
    where.place.count = to.count;
    const auto bounds = where.map->bounds(to.count);
    require(bounds.has_value(), MPI_ERR_COUNT, "the target's elements exceed all memory");
    check_range(window, to, bounds->low, bounds->high);
  }
  return where;
}

void check_sizes(std::size_t origin, std::size_t target) {
  require(origin == target, MPI_ERR_TRUNCATE,
          "the origin's and the target's data are not of one size");
}

/// Waits until more may be begun towards the rank; then `begin(part)` does.
template <class Begin>
void begin_with_room(GridWindow& window, int rank, bool urgent, Begin&& begin) {
  const auto room = [rank](const rma::Window& part) { return part.has_room(rank); };
  const auto room_or_send = [&](rma::Window& part) {
    if (room(part)) return true;
    part.send_now(rank);
    return false;
  };
  if (!with_part(window, room_or_send)) {
    wait_for_each(window, "an operation on a window", {rank},
                  [&](const rma::Window& part, std::size_t) { return room(part); });
  }
  const auto now = std::chrono::steady_clock::now();
  bool send = urgent;
  {
    const core::Lock guard(window.mutex);
    send = send || now - window.sent > kGather;
    if (send) window.sent = now;
  }
  with_part(window, [&](rma::Window& part) {
    begin(part);
    if (send) part.send_now(rank);
  });
}

/// This process's access to the target's memory without the target, for the rest of the epoch that
/// began with `epochs`. Null: it has none, or the access must wait for something that has not come.
const core::PeerMemory* direct(GridWindow& window, int rank, bool may_be_gathered,
                               std::uint64_t epochs, MPI_Datatype type) {
  const core::PeerMemory* const peer = window.near.peer(rank);
  if (peer == nullptr || (may_be_gathered && !window.near.goes_alone(rank))) return nullptr;
  if (!with_part(window, [rank](const rma::Window& part) { return part.open(rank); })) {
    return nullptr;
  }
  window.near.allow(rank, epochs);
  quick_from_now_on(type);
  return peer;
}

void unpack(Incoming& incoming) {
  const int code = incoming.finish(incoming.bytes().size());
  require_success(code, code == MPI_ERR_BUFFER
                            ? "a result cannot be copied to the memory of a GPU: it was freed, or "
                              "its driver failed. Keep buffers until the operation is complete"
                            : "what a get brought cannot be unpacked");
}

bool is_fatal_on(const GridWindow& window) {
  const Inside inside;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  native.Win_get_errhandler(window.native, &handler);
  const bool fatal = handling_of(handler) == Handling::Fatal;
  if (handler != MPI_ERRHANDLER_NULL) native.Errhandler_free(&handler);
  return fatal;
}

/// False: the target has died. The access then goes as a record, and waits for the job's end.
bool done_directly(const core::PeerMemory& peer, bool moved) {
  require(moved || !peer.there(), MPI_ERR_RMA_RANGE,
          "some of the target's window is no memory of its process");
  return moved;
}

/// Whether the rank's memory is here and may be accessed now, and then so for the rest of the epoch
/// that began with `epochs`.
bool is_near(GridWindow& window, int rank, std::uint64_t epochs, MPI_Datatype type) {
  if (window.near.memory(rank) == nullptr) return false;
  if (!with_part(window, [rank](const rma::Window& part) { return part.open(rank); })) return false;
  window.near.allow(rank, epochs);
  quick_from_now_on(type);
  return true;
}

bool fetched_directly(GridWindow& window, const rma::Place& from, std::span<std::byte> into,
                      std::uint64_t epochs, MPI_Datatype type) {
  if (is_near(window, from.rank, epochs, type)) {
    read_from(window.near.memory(from.rank), from, into);
    return true;
  }
  const core::PeerMemory* const peer = direct(window, from.rank, false, epochs, type);
  return peer != nullptr && done_directly(*peer, read_from(*peer, from, into));
}

/// The turn for accumulates to that rank that are done here; null: they go as records. One origin's
/// accumulates are executed in order, so none may be on its way there.
rma::Turn* turn_here(GridWindow& window, int rank, std::uint64_t epochs) {
  rma::Turn* const turn = window.near.turn(rank);
  if (turn == nullptr) return nullptr;
  const bool now = with_part(
      window, [rank](const rma::Window& part) { return part.open(rank) && part.caught_up(rank); });
  if (!now) return nullptr;
  window.near.allow(rank, epochs);
  return turn;
}

/// False: it has changed nothing.
bool combined_here(GridWindow& window, const Where& where, const rma::Combination& how,
                   std::span<const std::byte> data, std::span<std::byte> before,
                   std::uint64_t epochs) {
  rma::Turn* const turn = turn_here(window, where.place.rank, epochs);
  if (turn == nullptr) return false;
  const rma::Elements there{
      .memory = window.near.memory(where.place.rank) + where.place.displacement,
      .map = where.place.map,
      .count = where.place.count,
      .size = where.bytes};
  require(rma::combine_there(there, how, data, before, turn), MPI_ERR_TYPE,
          "the target's datatype does not consist of whole elements");
  return true;
}

Rest rest_of(GridWindow& window, int rank, rma::Ticket ticket, Incoming incoming, bool in_place,
             bool as_request) {
  if (as_request) {
    auto operation = std::make_unique<AccessOperation>(std::move(ticket), std::move(incoming),
                                                       window.comm->group.node(rank));
    if (may_lose() && !is_fatal_on(window)) operation->comm = window.handle;  // its errors return
    return operation;
  }
  if (!in_place) {
    const core::Lock guard(window.mutex);
    window.gets.push_back({rank, std::move(ticket), std::move(incoming)});
    window.part->unsettle();
  }
  return nullptr;
}

rma::Ticket new_ticket() { return std::make_shared<std::atomic<int>>(0); }

}  // namespace

Rest put(GridWindow& window, const Source& from, const Remote& to, bool as_request) {
  const std::uint64_t epochs = window.near.epochs();
  check_types({from.type, to.type});
  check_rank(window, to.rank);
  check_access(window, to.rank);
  auto outgoing = std::make_shared<Outgoing>(from.address, from.count, from.type);
  change_for_target(window, to.rank, *outgoing);
  const Where where = locate(window, to, nullptr);
  check_sizes(outgoing->bytes().size(), where.bytes);
  rma::Ticket ticket = as_request ? new_ticket() : nullptr;
  if (is_near(window, to.rank, epochs, to.type)) {
    write_to(window.near.memory(to.rank), where.place, outgoing->bytes());
    return rest_of(window, to.rank, std::move(ticket), {}, true, as_request);
  }
  const core::PeerMemory* const peer =
      direct(window, to.rank, where.bytes < kSmallPut, epochs, to.type);
  if (peer != nullptr && done_directly(*peer, write_to(*peer, where.place, outgoing->bytes()))) {
    return rest_of(window, to.rank, std::move(ticket), {}, true, as_request);
  }
  begin_with_room(window, to.rank, as_request, [&](rma::Window& part) {
    part.put(where.place, outgoing->bytes(), outgoing, ticket);
  });
  return rest_of(window, to.rank, std::move(ticket), {}, true, as_request);
}

Rest get(GridWindow& window, const Destination& into, const Remote& from, bool as_request) {
  const std::uint64_t epochs = window.near.epochs();
  check_types({into.type, from.type});
  check_rank(window, from.rank);
  check_access(window, from.rank);
  Incoming incoming(into.address, into.count, into.type);
  change_from_target(window, from.rank, incoming);
  const Where where = locate(window, from, nullptr);
  check_sizes(incoming.bytes().size(), where.bytes);
  rma::Ticket ticket = new_ticket();
  if (fetched_directly(window, where.place, incoming.bytes(), epochs, from.type)) {
    if (as_request) return rest_of(window, from.rank, ticket, std::move(incoming), true, true);
    unpack(incoming);
    return nullptr;
  }
  begin_with_room(window, from.rank, as_request,
                  [&](rma::Window& part) { part.get(where.place, incoming.bytes(), ticket); });
  const bool in_place = incoming.in_place();
  return rest_of(window, from.rank, std::move(ticket), std::move(incoming), in_place, as_request);
}

Rest accumulate(GridWindow& window, const Source& from, const Remote& to, MPI_Op op,
                bool as_request) {
  const std::uint64_t epochs = window.near.epochs();
  check_types({from.type, to.type});
  check_rank(window, to.rank);
  check_access(window, to.rank);
  const rma::Combination how = combination_of(op, to.count, to.type);
  auto outgoing = std::make_shared<Outgoing>(from.address, from.count, from.type);
  change_for_target(window, to.rank, *outgoing);
  const Where where = locate(window, to, &how.element);
  check_sizes(outgoing->bytes().size(), where.bytes);
  rma::Ticket ticket = as_request ? new_ticket() : nullptr;
  if (combined_here(window, where, how, outgoing->bytes(), {}, epochs)) {
    if (to.count > 0) quick_from_now_on(op, to.type, how);
    return rest_of(window, to.rank, std::move(ticket), {}, true, as_request);
  }
  begin_with_room(window, to.rank, as_request, [&](rma::Window& part) {
    part.accumulate(where.place, how, outgoing->bytes(), outgoing, ticket);
  });
  return rest_of(window, to.rank, std::move(ticket), {}, true, as_request);
}

Rest get_accumulate(GridWindow& window, const Source& from, const Destination& before,
                    const Remote& to, MPI_Op op, bool as_request) {
  const std::uint64_t epochs = window.near.epochs();
  check_rank(window, to.rank);
  check_access(window, to.rank);
  const rma::Combination how = combination_of(op, to.count, to.type);
  const bool reads = how.op == rma::Op::NoOp;
  check_types({before.type, to.type, reads ? MPI_BYTE : from.type});
  Outgoing outgoing =
      reads ? Outgoing(nullptr, 0, MPI_BYTE) : Outgoing(from.address, from.count, from.type);
  Incoming incoming(before.address, before.count, before.type);
  change_for_target(window, to.rank, outgoing);
  change_from_target(window, to.rank, incoming);
  const Where where = locate(window, to, &how.element);
  if (!reads) check_sizes(outgoing.bytes().size(), where.bytes);
  check_sizes(incoming.bytes().size(), where.bytes);
  if (combined_here(window, where, how, outgoing.bytes(), incoming.bytes(), epochs)) {
    if (to.count > 0) quick_from_now_on(op, to.type, how);
    if (as_request) return rest_of(window, to.rank, new_ticket(), std::move(incoming), true, true);
    unpack(incoming);
    return nullptr;
  }
  rma::Ticket ticket = new_ticket();
  begin_with_room(window, to.rank, as_request, [&](rma::Window& part) {
    part.fetch(where.place, how, outgoing.bytes(), incoming.bytes(), ticket);
  });
  const bool in_place = incoming.in_place();
  return rest_of(window, to.rank, std::move(ticket), std::move(incoming), in_place, as_request);
}

void compare_and_swap(GridWindow& window, const void* swap, const void* compare, void* before,
                      const Remote& to) {
  const std::uint64_t epochs = window.near.epochs();
  check_rank(window, to.rank);
  check_access(window, to.rank);
  Outgoing expected(compare, 1, to.type), wanted(swap, 1, to.type);
  Incoming incoming(before, 1, to.type);
  change_for_target(window, to.rank, expected);
  change_for_target(window, to.rank, wanted);
  change_from_target(window, to.rank, incoming);
  const Where where = locate(window, to, nullptr);
  require(where.place.map == nullptr && is_predefined(to.type), MPI_ERR_TYPE,
          "compare and swap takes one element of a predefined datatype without gaps");
  if (rma::Turn* const turn = turn_here(window, to.rank, epochs)) {
    quick_swaps_from_now_on(to.type);
    rma::swap_there(window.near.memory(to.rank) + where.place.displacement, expected.bytes(),
                    wanted.bytes(), incoming.bytes(), turn);
    unpack(incoming);
    return;
  }
  const bool in_place = incoming.in_place();
  const rma::Ticket ticket = in_place ? nullptr : new_ticket();
  begin_with_room(window, to.rank, false, [&](rma::Window& part) {
    part.compare_and_swap(where.place, expected.bytes(), wanted.bytes(), incoming.bytes(), ticket);
  });
  rest_of(window, to.rank, ticket, std::move(incoming), in_place, false);
}

void unpack_gets(GridWindow& window, int rank) {
  std::list<PendingGet> over;
  {
    const core::Lock guard(window.mutex);
    for (auto it = window.gets.begin(); it != window.gets.end();) {
      const auto next = std::next(it);
      if ((rank < 0 || it->rank == rank) && rma::parts_left(it->ticket) == 0) {
        over.splice(over.end(), window.gets, it);
      }
      it = next;
    }
  }
  for (PendingGet& get : over) {
    if (!rma::is_lost(get.ticket)) unpack(get.incoming);
  }
}

}  // namespace isthmus::face
