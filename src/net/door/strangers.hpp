// The connections at a door that have not proved who they are: core/base/admission.hpp decides
// which one gives way, this closes it. On the door's thread.
#pragma once

#include <functional>
#include <map>

#include "core/base/admission.hpp"

namespace isthmus::net {

/// Connections at a door that ended before they had proved anything.
struct DoorCount {
  std::uint64_t refused = 0;  ///< turned down, out of time, or left by themselves
  std::uint64_t dropped = 0;  ///< made room for others

  DoorCount operator+(const DoorCount& other) const {
    return {refused + other.refused, dropped + other.dropped};
  }
};

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
    /// This door asks for no proof, and has served it.
    void served() { served_ = true; }
    bool dropped() const { return dropped_; }

   private:
    friend class Strangers;
    Strangers& door_;
    std::function<void()> drop_;
    core::Admission::Ticket ticket_;
    bool dropped_ = false, served_ = false;
  };

  /// Counts a connection that was refused before it had a place.
  void refused() { ++refused_; }
  DoorCount turned_away() const { return {refused_, admission_.dropped()}; }
  /// The most places at a time.
  std::size_t most() const { return admission_.most(); }

 private:
  core::Admission admission_;
  std::map<core::Admission::Ticket, Place*> places_;
  std::uint64_t refused_ = 0;
};

}  // namespace isthmus::net
