#include "net/ucx/leg.hpp"

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "net/stream/handshake.hpp"
#include "net/ucx/said.hpp"
#include "net/ucx/ucx_stream.hpp"
#include "net/ucx/worker.hpp"

namespace isthmus::net::ucx {
namespace {

// In which the first message of the other end must come by UCX.
constexpr std::chrono::milliseconds kFirstMessage{3000};

// This end of a pipe, and why there is none.
struct Begun {
  std::unique_ptr<Pipe> pipe{};
  std::string trouble{};
};

Begun begin(Stream& stream) {
  auto& io = static_cast<asio::io_context&>(
      asio::query(stream.socket().get_executor(), asio::execution::context));
  Begun begun;
  try {
    begun.pipe = std::make_unique<Pipe>(Worker::of(io));
  } catch (const std::runtime_error& error) {
    begun.trouble = error.what();
  }
  return begun;
}

// Waits for the other end's first message. Says why it has not come; empty: it has.
asio::awaitable<std::string> meet(Pipe& pipe, const Card& peer) {
  try {
    pipe.connect(peer);
  } catch (const std::runtime_error& error) {
    co_return error.what();
  }
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, kFirstMessage);
  pipe.news = [&] {
    if (pipe.heard() || !pipe.broken().empty()) timer.cancel();
  };
  if (!pipe.heard() && pipe.broken().empty()) {
    std::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  pipe.news = nullptr;
  if (!pipe.broken().empty()) co_return "UCX says: " + pipe.broken();
  if (pipe.heard()) co_return "";
  co_return "nothing has come by UCX within " + std::to_string(kFirstMessage.count() / 1000) +
      " s (UCX_TLS and UCX_NET_DEVICES choose what it uses)";
}

// Both ends do the same once each knows the other's card.
asio::awaitable<std::shared_ptr<Stream>> settle(std::shared_ptr<Stream> stream, core::NodeId self,
                                                std::unique_ptr<Pipe> pipe, const Card& peer,
                                                std::string& trouble) {
  trouble = co_await meet(*pipe, peer);
  const Said mine{trouble.empty() ? Says::Good : Says::No, trouble};
  co_await say(*stream, self, mine);
  const Said verdict = co_await hear(*stream);
  if (trouble.empty() && verdict.says != Says::Good) {
    trouble = stream->where() + " says: " + verdict.why;
  }
  if (!trouble.empty()) co_return stream;
  co_return std::make_shared<UcxStream>(std::move(stream->socket()), stream->where(),
                                        std::move(pipe));
}

}  // namespace

std::string library_trouble() {
  try {
    static_cast<void>(Library::open());
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

asio::awaitable<std::shared_ptr<Stream>> ask(std::shared_ptr<Stream> stream, Ends ends, bool must) {
  auto [pipe, trouble] = begin(*stream);
  if (pipe) {
    const auto executor = co_await asio::this_coro::executor;
    const Deadline deadline(executor, ends.limit + kFirstMessage, [stream] { stream->close(); });
    const Said here{Says::Here, {}, pipe->card()};
    co_await say(*stream, ends.self, here);
    const Said reply = co_await hear(*stream);
    if (reply.says == Says::Here) {
      stream = co_await settle(stream, ends.self, std::move(pipe), reply.card, trouble);
    } else {
      trouble = stream->where() + " says: " + reply.why;
    }
  }
  if (must && !trouble.empty()) {
    throw Refusal("net = \"ucx\" of the grid file cannot be had: " + trouble +
                  "; \"auto\" in its place goes on by TCP");
  }
  co_return stream;
}

asio::awaitable<std::shared_ptr<Stream>> answer(std::shared_ptr<Stream> stream, Ends ends,
                                                std::span<const std::byte> offer) {
  const auto said = read_said(offer);
  if (!said || said->says != Says::Here) {
    throw std::runtime_error(stream->where() + " does not agree on a leg as Isthmus does");
  }
  auto [pipe, trouble] = begin(*stream);
  if (!pipe) {
    const Said no{Says::No, trouble};
    co_await say(*stream, ends.self, no);
    co_return stream;
  }
  const auto executor = co_await asio::this_coro::executor;
  const Deadline deadline(executor, ends.limit + kFirstMessage, [stream] { stream->close(); });
  const Said here{Says::Here, {}, pipe->card()};
  co_await say(*stream, ends.self, here);
  co_return co_await settle(stream, ends.self, std::move(pipe), said->card, trouble);
}

}  // namespace isthmus::net::ucx
