// The ranks of a platform, whose real collectives run in simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "coll/engine/choose.hpp"
#include "sim/events.hpp"
#include "sim/lanes.hpp"
#include "sim/party.hpp"
#include "sim/platform.hpp"
#include "sim/wires.hpp"

namespace isthmus::sim {

/// A collective takes more messages than are simulated.
struct TooManyMessages : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Simulation {
 public:
  Simulation(Platform platform, const coll::Forced& forced, std::uint64_t most_messages);
  Simulation(const Simulation&) = delete;

  /// Runs body(party) on every rank, from time 0 to the end of the last. Once. Throws
  /// std::logic_error if ranks wait for messages that are never sent, and also exceptions of a
  /// body.
  void run(const std::function<coll::Task(SimulatedParty&)>& body);

  const Platform& platform() const { return platform_; }
  const Wires& wires() const { return wires_; }
  const coll::Choice& choice() const { return choice_; }
  const std::vector<double>& ends() const { return ends_; }  ///< of ranks
  std::uint64_t messages() const { return messages_; }
  std::uint64_t events() const { return events_.count(); }

 private:
  friend class SimulatedParty;
  const coll::Forced& forced() const { return forced_; }
  void chosen(const coll::Choice& choice) { choice_ = choice; }
  double now() const { return now_; }
  coll::Pending send(SimulatedParty& party, int to, int tag, coll::ConstBytes data,
                     bool synchronous);
  coll::Pending recv(SimulatedParty& party, int from, int tag, coll::Bytes data);

  void happen(const Event& event);
  void leave(Message& message);
  void begin(Message& message);
  void hand_over(Message& message);
  void end(Awaited& awaited, int rank);
  void step(int rank);
  SimulatedParty& party(int rank) { return parties_[static_cast<std::size_t>(rank)]; }

  Platform platform_;
  coll::Forced forced_;
  coll::Choice choice_;
  Events events_;
  Wires wires_;
  Lanes lanes_;
  std::vector<SimulatedParty> parties_;
  std::vector<coll::Task> tasks_;
  std::vector<double> ends_;
  std::size_t running_ = 0;
  double now_ = 0;
  std::uint64_t messages_ = 0, most_messages_;
};

}  // namespace isthmus::sim
