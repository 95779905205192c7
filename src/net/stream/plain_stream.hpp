// A stream whose bytes go over the socket as they are.
#pragma once

#include "net/stream/stream.hpp"

namespace isthmus::net {

class PlainStream final : public Stream {
 public:
  using Stream::Stream;
  Moved read(std::span<const iovec> into) override;
  Moved write(std::span<const iovec> from) override;
  bool gathers() const override { return true; }
};

}  // namespace isthmus::net
