// The launcher introduces the two roots to each other. Then they speak over the engine, in the
// context that the accepting one has offered. They join their sides as MPI_Intercomm_create does.
#include <functional>
#include <optional>

#include "coll/engine/party.hpp"
#include "core/base/own_order.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/sides.hpp"
#include "mpi/meeting/launcher.hpp"
#include "mpi/meeting/port.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

constexpr std::int32_t kSource = 0;

/// The other root, from the launcher.
struct Remote {
  core::NodeId node;
  std::uint64_t context;
};

/// `loss`: why the own side cannot meet another one. Then the call is given up.
Remote find_remote(At what, const PortCall& port,
                   const std::function<std::optional<Loss>()>& loss) {
  nlohmann::json request{{"do", what == At::Accept ? "accept" : "connect"}, {"port", port.name}};
  if (port.limit) request["limit"] = *port.limit;
  nlohmann::json withdrawal{{"do", "withdraw"}, {"port", port.name}};
  if (what == At::Accept) {
    request["context"] = random_context();
    withdrawal["context"] = request["context"];
  }
  std::optional<Loss> lost;
  const auto gives_up = [&] { return (lost = loss()).has_value(); };
  nlohmann::json answer;
  try {
    answer = ask_launcher(request, gives_up, withdrawal);
  } catch (const MpiError&) {
    if (lost) throw MpiError(lost->error_class, lost->because);
    throw;
  }
  const auto node = answer.find("peer");
  const auto context = answer.find("context");
  if (node == answer.end() || !node->is_number_unsigned() || context == answer.end() ||
      !context->is_number_unsigned()) {
    throw MpiError(MPI_ERR_OTHER, "the launcher's answer names no peer");
  }
  const auto peer = node->get<core::NodeId>();
  await_world(core::Group::range(static_cast<int>(peer), 1));
  return {peer, context->get<std::uint64_t>()};
}

/// The other root is gone.
std::optional<Loss> loss_of_remote(const Remote& remote) {
  const auto node = static_cast<int>(remote.node);
  const core::World& world = grid()->world();
  const std::size_t cluster = world.cluster_of(node);
  if (FailedClusters::all().has(cluster)) return loss_of_process(node);
  const std::string& run = world.clusters[cluster].run;
  if (run.empty() || !has_ended(run)) return std::nullopt;
  return Loss{may_lose() ? proc_failed() : MPI_ERR_OTHER, "the other run has ended"};
}

/// Waits for `done()`, or throws MpiError if the other root is gone. `op` is given up then.
template <class Op, class Done>
void await(const Remote& remote, Op* op, Done&& done) {
  std::optional<Loss> loss;
  wait_until([&] { return done() || (may_lose() && (loss = loss_of_remote(remote))); });
  if (!loss) return;
  if (op != nullptr && !op->done()) grid()->endpoint->give_up(*op);
  throw MpiError(loss->error_class, loss->because);
}

/// Sends the other root `words`, and returns its own. The context is theirs alone, so both use rank
/// 0 as the source: runs know each other's processes by different numbers.
Words converse(const Remote& remote, const Words& words) {
  const std::uint64_t context = remote.context | traffic::kMeetingContext;
  core::SendOp sent;
  sent.peer = remote.node;
  sent.envelope.context = context;
  sent.envelope.source = kSource;
  const Words crossing = core::as_little_endian(words);
  sent.data = std::as_bytes(std::span(crossing));
  net::Endpoint& endpoint = *grid()->endpoint;
  endpoint.send(sent);
  std::optional<core::Envelope> coming;
  await(remote, &sent, [&] { return (coming = endpoint.probe(context, kSource, 0)).has_value(); });
  Words theirs(static_cast<std::size_t>(coming->size) / sizeof(std::int32_t));
  core::RecvOp received;
  received.context = context;
  received.source = kSource;
  received.tag = 0;
  received.from = remote.node;
  received.buffer = reinterpret_cast<std::byte*>(theirs.data());
  received.capacity = theirs.size() * sizeof(std::int32_t);
  endpoint.recv(received);
  await(remote, &sent, [&] { return sent.done(); });
  await(remote, &received, [&] { return received.done(); });
  if (received.error == core::OpError::Failed) {
    const Loss loss = loss_of_process(static_cast<int>(remote.node));
    throw MpiError(loss.error_class, loss.because);
  }
  core::little_endian(theirs);
  return theirs;
}

}  // namespace

int meet_at_port(At what, const std::function<PortCall()>& port, int root, MPI_Comm comm,
                 MPI_Comm* newcomm) {
  int rank = 0;
  isthmus_Comm_rank(comm, &rank);
  std::optional<Remote> remote;
  const GridCommRef own = may_lose() ? share_comm(comm) : nullptr;
  const auto loss = [&own] { return own ? loss_of_all(*own) : std::nullopt; };
  const Side side{comm, root, rank == root, [&](const Words& words) -> std::optional<Words> {
                    if (const auto lost = remote ? std::nullopt : loss()) {
                      throw MpiError(lost->error_class, lost->because);
                    }
                    if (!remote) remote = find_remote(what, port(), loss);
                    return converse(*remote, words);
                  }};
  return join_sides(side, meet_remote(side), newcomm);
}

}  // namespace isthmus::face
