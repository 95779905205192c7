// Persistent sends and receives, started several times.
#include "kinds.hpp"

namespace storm {

namespace {

struct Channel {
  int from, to, which;
  std::size_t size;
  bool synchronous;
};

struct Request {
  Channel channel;
  Bytes bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::vector<Channel> draw(Step& step) {
  std::vector<Channel> all;
  const int count = step.random.between(1, 2 * step.size);
  for (int i = 0; i < count; ++i) {
    all.push_back({step.random.below(step.size), step.random.below(step.size), i,
                   step.draw_size(std::size_t{256} << 10), step.random.chance(30)});
  }
  return all;
}

}  // namespace

void persistent(Step& step) {
  std::vector<Request> sends, receives;
  for (const Channel& c : draw(step)) {
    const int tag = step.tag(c.which % 8);
    if (c.to == step.rank) {
      Request made{c, Bytes(c.size)};
      MPI_Recv_init(made.bytes.data(), made.bytes.count(), MPI_BYTE, c.from, tag, step.comm,
                    &made.request);
      receives.push_back(made);
    }
    if (c.from == step.rank) {
      Request made{c, Bytes(c.size)};
      const auto call = c.synchronous ? MPI_Ssend_init : MPI_Send_init;
      call(made.bytes.data(), made.bytes.count(), MPI_BYTE, c.to, tag, step.comm, &made.request);
      sends.push_back(made);
    }
  }
  const int rounds = step.random.between(1, 6);
  for (int round = 0; round < rounds; ++round) {
    const auto key = [&](const Channel& c) {
      return step.key(c.from * 1000 + c.to, c.which, round);
    };
    std::vector<MPI_Request> all;
    for (const Request& r : receives) all.push_back(r.request);
    for (const Request& s : sends) {
      fill(s.bytes.all(), key(s.channel));
      all.push_back(s.request);
    }
    if (step.own.chance(50) && !all.empty()) {
      MPI_Startall(static_cast<int>(all.size()), all.data());
    } else {
      for (MPI_Request& request : all) MPI_Start(&request);
    }
    MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
    for (const Request& s : sends) s.bytes.spoil();
    for (const Request& r : receives) {
      step.expect(r.bytes.all(), key(r.channel), "a persistent message", r.channel.from);
      r.bytes.spoil();
    }
  }
  for (Request& s : sends) MPI_Request_free(&s.request);
  for (Request& r : receives) MPI_Request_free(&r.request);
}

}  // namespace storm
