// The way of a process's frames from its engine to its conduits.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/streams/after_pause.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/endpoint/endpoint.hpp"

namespace isthmus::net {

/// Moves frames while conduits have room. On the thread whose turn it is; it locks the engine.
class Endpoint::Pump {
 public:
  Pump(Endpoint& owner, Io& its, const core::World& world);

  /// Moves what can be moved. Other threads pump the frames that they add meanwhile.
  void run();
  /// A short message, without a batch. False: nothing was done.
  bool send_at_once(core::SendOp& op);

 private:
  bool move_some(std::size_t most);
  void own_borrowed();
  void flushed_by(const ConduitDriver& way);
  void read_piece();
  void cut_finely();
  void cut_for(const ConduitDriver& way, core::NodeId peer);

  Endpoint& endpoint_;
  Io& io_;
  bool far_ = false;  // some link is long
  core::AfterPause pause_;
  bool reading_ = false;                                   // read_piece() has been posted
  bool owning_ = false;                                    // in own_borrowed()
  std::vector<std::shared_ptr<ConduitDriver>> borrowers_;  // with frames that borrow from sends
};

}  // namespace isthmus::net
