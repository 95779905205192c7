// The leg where UCX's headers were missing when Isthmus was built.

#include "net/stream/handshake.hpp"
#include "net/ucx/leg.hpp"
#include "net/ucx/said.hpp"

namespace isthmus::net::ucx {

std::string library_trouble() {
  return "this Isthmus was built without UCX's headers (Debian's package libucx-dev)";
}

asio::awaitable<std::shared_ptr<Stream>> ask(std::shared_ptr<Stream> stream, Ends, bool must) {
  if (must) {
    throw Refusal(
        "net = \"ucx\" of the grid file cannot be had: this Isthmus was built without UCX's "
        "headers (Debian's package libucx-dev); \"auto\" in its place goes on by TCP");
  }
  co_return stream;
}

asio::awaitable<std::shared_ptr<Stream>> answer(std::shared_ptr<Stream> stream, Ends ends,
                                                std::span<const std::byte>) {
  const Said no{Says::No, "its Isthmus was built without UCX's headers (libucx-dev)"};
  co_await say(*stream, ends.self, no);
  co_return stream;
}

}  // namespace isthmus::net::ucx
