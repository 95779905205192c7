#include "rma/window.hpp"

#include <utility>

namespace isthmus::rma {

Window::Window(core::Engine& engine, WindowConfig config, Memory memory)
    : Channel{engine, std::move(config)},
      Origin(static_cast<Channel&>(*this)),
      target_(*this, std::move(memory), *this) {
  engine.serve(service(), *this);
}

Window::~Window() { engine.end_service(service()); }

void Window::post(int rank) {
  std::vector<std::byte> records;
  RecordWriter(records).put(Kind::Post);
  Channel::post(rank, std::move(records));
}

void Window::fail(core::NodeId first, core::NodeId count) {
  for (int rank = 0; static_cast<std::size_t>(rank) < config.nodes.size(); ++rank) {
    if (node(rank) < first || node(rank) - first >= count) continue;
    Origin::fail(rank);
    target_.fail(rank);
  }
}

bool Window::take(core::NodeId from, const core::Envelope& envelope,
                  std::span<const std::byte> bytes) {
  const int rank = envelope.source;
  if (rank < 0 || static_cast<std::size_t>(rank) >= config.nodes.size() || node(rank) != from) {
    return false;
  }
  return target_.take(rank, envelope.tag == kDataTag, bytes);
}

}  // namespace isthmus::rma
