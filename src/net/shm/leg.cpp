#include "net/shm/leg.hpp"

#include <asio/this_coro.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "net/shm/ring_stream.hpp"
#include "net/stream/handshake.hpp"
#include "net/ucx/said.hpp"

namespace isthmus::net::shm {
namespace {

using ucx::Said;
using ucx::Says;

// Empty if the host gives no memory: /dev/shm is full, or a sandbox forbids it.
std::optional<SharedMemory> make(std::size_t ring_bytes) {
  try {
    return RingStream::make(ring_bytes);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace

asio::awaitable<std::shared_ptr<Stream>> ask(std::shared_ptr<Stream> stream, core::NodeId self,
                                             std::size_t ring_bytes,
                                             std::chrono::milliseconds limit) {
  auto memory = make(ring_bytes);
  if (!memory) co_return stream;
  const auto executor = co_await asio::this_coro::executor;
  const Deadline deadline(executor, limit, [stream] { stream->close(); });
  const Said offer{Says::Memory};
  co_await ucx::say(*stream, self, offer);
  send_descriptor(stream->socket().native_handle(), memory->file());
  const Said reply = co_await ucx::hear(*stream);
  if (reply.says != Says::Good) co_return stream;
  co_return std::make_shared<RingStream>(std::move(stream->socket()), stream->where(),
                                         *std::move(memory), RingStream::Side::Maker);
}

asio::awaitable<std::shared_ptr<Stream>> answer(std::shared_ptr<Stream> stream, core::NodeId self,
                                                std::chrono::milliseconds limit) {
  const auto executor = co_await asio::this_coro::executor;
  const Deadline deadline(executor, limit, [stream] { stream->close(); });
  Descriptor file = co_await RingStream::descriptor(stream);
  std::optional<SharedMemory> memory;
  Said reply{Says::Good};
  try {
    memory.emplace(RingStream::take(std::move(file)));
  } catch (const std::runtime_error& error) {
    reply = {Says::No, error.what()};
  }
  co_await ucx::say(*stream, self, reply);
  if (!memory) co_return stream;
  co_return std::make_shared<RingStream>(std::move(stream->socket()), stream->where(),
                                         *std::move(memory), RingStream::Side::Taker);
}

}  // namespace isthmus::net::shm
