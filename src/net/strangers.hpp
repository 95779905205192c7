// The connections at a door that have not proved who they are: core/admission.hpp decides which one
// gives way, this closes it. On the door's thread.
#pragma once

#include <functional>
#include <map>

#include "core/admission.hpp"

namespace isthmus::net {

class Strangers {
 public:
  /// They take at most a quarter of the files that this process may open.
  explicit Strangers(const core::Admission::Limits& limits = {});
  Strangers(const Strangers&) = delete;
  Strangers& operator=(const Strangers&) = delete;

  /// The place of one connection, until it is gone. The door outlives it.
  class Place {
   public:
    /// `drop` closes the connection, and must not end the place at once.
    Place(Strangers& door, const core::PeerAddress& from, std::function<void()> drop);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// It has proved who it is, and is dropped no more.
    void proved();
    bool dropped() const { return dropped_; }

   private:
    friend class Strangers;
    Strangers& door_;
    std::function<void()> drop_;
    core::Admission::Ticket ticket_;
    bool dropped_ = false;
  };

  /// The number of dropped connections.
  std::uint64_t dropped() const { return admission_.dropped(); }

 private:
  core::Admission admission_;
  std::map<core::Admission::Ticket, Place*> places_;
};

}  // namespace isthmus::net
