// Standard input for a rank on another host, past a native launcher that cannot carry much of it:
// `isthmusd exec` fetches it there (input_feed.hpp).
//
// The stream is authenticated by a secret of its own, and encrypted between hosts. It holds blocks,
// each after its size in 4 bytes, the lowest first; an empty block is the end of input.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/launch/rank_input.hpp"
#include "net/host/credentials.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::daemon {

/// The facts that the rank's side must know, as text of one word.
struct InputAddress {
  std::vector<std::string> addresses;
  net::Credentials credentials;

  std::string text() const;
  /// Empty if `text` is something else, such as the name of a pipe.
  static std::optional<InputAddress> parse(const std::string& text);
};

class InputDoor : public RankInput {
 public:
  /// Listens on all interfaces until the rank has come. Throws Failure.
  explicit InputDoor(asio::io_context& context);
  ~InputDoor() override;

  InputAddress address() const;

  void write(const std::string& bytes) override;
  void close() override;
  std::size_t unwritten() const override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
