// Messages that are found by a probe of some kind before they are received.
#include <sched.h>

#include "kinds.hpp"

namespace storm {

namespace {

enum Form { kProbe, kIprobe, kMprobe, kImprobe, kForms };

struct Found {
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
};

Found find(const Step& step, int source, int tag, int form) {
  Found found;
  int flag = 0;
  if (form == kProbe) MPI_Probe(source, tag, step.comm, &found.status);
  if (form == kMprobe) MPI_Mprobe(source, tag, step.comm, &found.message, &found.status);
  while (form == kIprobe && (MPI_Iprobe(source, tag, step.comm, &flag, &found.status), !flag)) {
    sched_yield();
  }
  while (form == kImprobe &&
         (MPI_Improbe(source, tag, step.comm, &flag, &found.message, &found.status), !flag)) {
    sched_yield();
  }
  return found;
}

}  // namespace

// Ends with a barrier, since probes here take whatever comes from any source.
void probes(Step& step) {
  const int each = step.random.between(1, 8);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < each; ++i) sizes.push_back(step.draw_size(std::size_t{256} << 10));
  const bool any_source = step.random.chance(60), any_tag = step.random.chance(40);

  UnderWay sends;
  for (int which = 0; which < each; ++which) {
    for (int to = 0; to < step.size; ++to) {
      const Bytes bytes(sizes[static_cast<std::size_t>(which)], step.key(step.rank, to, which));
      MPI_Isend(bytes.data(), bytes.count(), MPI_BYTE, to, step.tag(which), step.comm,
                sends.add([bytes](const MPI_Status&) { bytes.spoil(); }));
    }
  }
  // The next tag of a source is known, and messages come in order.
  std::vector<int> next(static_cast<std::size_t>(step.size));
  UnderWay receives;
  for (int i = 0; i < each * step.size; ++i) {
    const int form = step.own.below(kForms);
    // The loop takes all messages with one tag before the next tag, unless it takes any tag.
    const int tag = any_tag ? MPI_ANY_TAG : step.tag(i / step.size);
    const int source = any_source ? MPI_ANY_SOURCE : i % step.size;
    Found found = find(step, source, tag, form);
    const int from = found.status.MPI_SOURCE;
    const int which = next[static_cast<std::size_t>(from)]++;
    int count = 0;
    MPI_Get_count(&found.status, MPI_BYTE, &count);
    if (which >= each) step.wrong(text("a message too many from %d", from));
    step.expect_equal(found.status.MPI_TAG, step.tag(which), "the tag that a probe found", from);
    step.expect_equal(count, static_cast<long long>(sizes[static_cast<std::size_t>(which)]),
                      "the count that a probe found", from);
    const Bytes bytes(static_cast<std::size_t>(count));
    const auto check = [bytes, step, from, which](const MPI_Status&) {
      step.expect(bytes.all(), step.key(from, step.rank, which), "a probed message", from);
    };
    const bool wait = step.own.chance(50);
    if (found.message == MPI_MESSAGE_NULL && form != kMprobe && form != kImprobe) {
      MPI_Recv(bytes.data(), count, MPI_BYTE, from, found.status.MPI_TAG, step.comm,
               MPI_STATUS_IGNORE);
      check({});
    } else if (wait) {
      MPI_Mrecv(bytes.data(), count, MPI_BYTE, &found.message, MPI_STATUS_IGNORE);
      check({});
    } else {
      MPI_Imrecv(bytes.data(), count, MPI_BYTE, &found.message, receives.add(check));
    }
  }
  receives.complete(step.own);
  sends.complete(step.own);
  MPI_Barrier(step.comm);
}

}  // namespace storm
