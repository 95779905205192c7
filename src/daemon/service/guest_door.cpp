#include "daemon/service/guest_door.hpp"

#include <algorithm>
#include <utility>

#include "daemon/host/failure.hpp"
#include "daemon/log/log.hpp"
#include "net/host/address.hpp"

namespace isthmus::daemon {
namespace {

constexpr int kMostMeetings = 256;  // as many other runs as one meets
constexpr const char* kUser = "guests";

}  // namespace

GuestDoor::GuestDoor(asio::io_context& io, const std::string& self, const std::string& key,
                     const std::string& secret)
    : key_(key), doorway_(io, *this) {
  worker_ = std::make_unique<UserWorker>(
      io, kUser, self,
      UserWorker::Events{
          [this](const nlohmann::json& event) { log_turned_away("of guests: " + event.dump()); },
          [] { log::warn("the process that joins guests' connections is lost"); }});
  ServiceKey own;
  own.id = key;
  own.user = kUser;
  own.secret = secret;
  UserLimits limits;
  limits.jobs = kMostMeetings;
  worker_->tell({own}, limits);
}

std::string GuestDoor::listen(const std::string& text) {
  net::Address address = net::parse_address(text);
  const int last = std::max(address.port, std::exchange(address.last_port, 0));
  for (int port = address.port;; ++port) {
    address.port = static_cast<std::uint16_t>(port);
    try {
      return doorway_.listen(net::to_string(address));
    } catch (const Failure&) {
      if (port >= last) throw;
    }
  }
}

void GuestDoor::log_turned_away(const std::string& what) {
  if (const auto line = rare_.add(what)) log::debug("{}", log::text_of(*line));
}

void GuestDoor::refused(const std::string& from, const std::string& why) {
  log_turned_away("a guest from " + from + " is turned away: " + why);
}

void GuestDoor::short_of_files(const std::string& sentence) {
  log::warn("the agent, which other runs reach, {}", sentence);
}

// False: the process that serves guests has no room for it now.
bool GuestDoor::named(asio::ip::tcp::socket& socket, const std::string& from,
                      const Opening& opening) {
  std::error_code error;
  if (opening.key == key_) {
    const bool v6 = socket.local_endpoint(error).address().is_v6();
    if (!worker_->serve(socket.native_handle(), v6, from, opening)) return false;
  } else {
    log_turned_away(from + " has not the key of this run's guests");
  }
  socket.close(error);  // the process that serves it has a copy
  return true;
}

}  // namespace isthmus::daemon
