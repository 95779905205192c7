// The WAN box: a link between two network devices, driven in real time.
#pragma once

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/channel.hpp"
#include "lab/control_socket.hpp"
#include "lab/file_descriptor.hpp"
#include "lab/lateness.hpp"
#include "lab/settings.hpp"

namespace isthmus::lab {

struct WanBoxOptions {
  LinkSettings settings;
  std::string control;                        ///< path of the control socket; may be empty
  std::size_t memory = std::size_t{1} << 30;  ///< most bytes on their way, in both directions
  std::uint64_t seed = 1;
};

class WanBox {
 public:
  /// `a` and `b` read and write frames with a virtio header, without blocking.
  WanBox(FileDescriptor a, FileDescriptor b, const WanBoxOptions& options);

  /// Forwards until `stop` is true, which a signal handler may set.
  void run(const std::atomic<bool>& stop);

  /// Answers a line of the control socket: `{"op": "get"}` (settings, counters, lateness, backlog),
  /// `{"op": "set", "link": {...}}` (see `changed`), `{"op": "reset"}` (counters to zero), `{"op":
  /// "traffic", "way": "ab", "since": MS}`. The last one answers with that direction's milliseconds
  /// from then on, each as [time, wire bytes, dropped segments], and the time `now`. An answer
  /// holds a limited number, so ask again behind the last. Every answer has `"ok"`; one that is
  /// false has
  /// `"error"`.
  std::string answer(const std::string& line);

 private:
  struct Direction {
    const char* name;
    int in, out;
    Channel channel;
    Lateness lateness;
    std::uint64_t failed_writes = 0;
  };

  bool read_some(Direction& direction);
  void write_due(Direction& direction);
  void wait(bool busy);
  nlohmann::json state();
  nlohmann::json traffic(const nlohmann::json& request) const;
  void change(const nlohmann::json& link);

  BufferPool pool_;  // before what borrows from it
  FileDescriptor a_, b_;
  std::array<Direction, 2> directions_;
  Nanos last_delivery_ = 0;
  BufferPool::Buffer scratch_;
  ControlSocket control_;
  std::vector<pollfd> polled_;
};

}  // namespace isthmus::lab
