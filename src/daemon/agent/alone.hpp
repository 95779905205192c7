// An agent whose launcher is lost, in a run that goes on without it (docs/surviving.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/gateway/gateway.hpp"
#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {

/// Keeps the ranks' output in files, and hears of the gateways' news in the launcher's place.
class Alone final : public GatewayUser {
 public:
  struct Events {
    std::function<void(core::NodeId process, std::uint64_t number, const std::string& reply)>
        answer;
    /// The ranks here have to end, with this status. May come several times.
    std::function<void(int status)> end;
    // GatewayUser's
    std::function<void(std::size_t cluster)> suspect;
    std::function<void(core::NodeId gateway)> agreed;
    std::function<void()> all_done, abandoned;
    std::function<void(const std::string& run, const std::string& text)> parted;
  };

  /// The files are NAME.out, NAME.err and NAME.status, in the first of the folders that can be
  /// written. Without folders there are none.
  Alone(std::string name, const std::vector<std::string>& folders, Events events);

  void output(int fd, std::string_view bytes);
  /// A line for the user, in NAME.err and in the log.
  void say(const std::string& sentence);
  /// Says it, and ends the ranks here.
  void end(const std::string& why);
  /// The end of the ranks here: writes NAME.status.
  void ended(int status);

  void abort(int rank, int code, const std::string& text) override;
  void fault(const std::string& text, int code) override;
  void suspect(core::NodeId gateway, std::size_t cluster, const std::string& text) override;
  void agreed(core::NodeId gateway) override { events_.agreed(gateway); }
  void warning(const std::string& text) override { say("warning: " + text); }
  void abandoned() override { events_.abandoned(); }
  void all_done() override { events_.all_done(); }
  void parted(const std::string& run, const std::string& text) override;
  void ask(core::NodeId process, std::uint64_t number, const std::string& text) override;

 private:
  const std::string name_;
  Events events_;
  std::string folder_;  // empty: there are no files
  FileDescriptor out_, err_;
};

}  // namespace isthmus::daemon
